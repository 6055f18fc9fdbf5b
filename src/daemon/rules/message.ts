// Question of an agent, and a text of a person for an agent (types, and who counts).

export type Question = {
  readonly attempt: number;
  readonly text: string;
  /** The label that shows it. */
  readonly label: string;
  /** ms since the epoch. */
  readonly at: number;
  /** False: nothing waits for an answer any more; the label may still have to come off. */
  readonly isOpen: boolean;
};

export type Message = {
  readonly key: string;
  /** Login on the hosting service; null: an operator of the daemon. */
  readonly author: string | null;
  readonly text: string;
  /** The question that it answers; null: none was open. */
  readonly question: string | null;
};

/** Marker of a comment under its effect key, by which it is found again. */
export function markerOf(entry: { readonly number: number; readonly life: number }, key: string): string {
  return `${entry.number}-${entry.life}-${key.replaceAll(/[^\w-]/g, '-')}`;
}

/** Words that the daemon wrote carry its marker. */
export function isOurs(body: string): boolean {
  return body.includes('<!-- toolcrew:');
}
