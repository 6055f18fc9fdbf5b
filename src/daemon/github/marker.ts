// Invisible marker of a comment: after a crash it tells whether the comment was posted.

/** The service takes 65,536 characters. */
const MAX_COMMENT = 65_000;

function markerText(marker: string): string {
  return `<!-- toolcrew:${marker} -->`;
}

export function withMarker(body: string, marker: string): string {
  return `${body.slice(0, MAX_COMMENT)}\n\n${markerText(marker)}`;
}

export function carriesMarker(body: string, marker: string): boolean {
  return body.includes(markerText(marker));
}
