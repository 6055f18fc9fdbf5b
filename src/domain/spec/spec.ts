// SPEC documents: what their ids, places and states are.

const SPEC_ID = /^SPEC(?:-[A-Z0-9]+)+-\d{3}$/;

export type SpecStatus = 'draft' | 'approved' | 'completed';

const STATUSES: readonly SpecStatus[] = ['draft', 'approved', 'completed'];

/** `SPEC-<NAME>-<NNN>`. */
export function isSpecId(id: string): boolean {
  return SPEC_ID.test(id);
}

/** The directory of a SPEC, from the project's root. */
export function specDirectory(id: string): string {
  return `.tool/specs/${id}`;
}

/** The SPEC whose `spec.md` a path is; null when it is none's. */
export function specOfPath(path: string): string | null {
  const [, id = ''] = /(?:^|\/)\.tool\/specs\/([^/]+)\/spec\.md$/.exec(path) ?? [];
  return isSpecId(id) ? id : null;
}

const FRONT = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const STATUS_LINE = /^status:[ \t]*["']?([a-z_]+)["']?[ \t]*$/m;

/** The status that the front matter of a `spec.md` states; null when it states none that is known. */
export function statusOfSpec(text: string): SpecStatus | null {
  const found = STATUS_LINE.exec(FRONT.exec(text)?.[1] ?? '')?.[1];
  return STATUSES.find((status) => status === found) ?? null;
}

/** The text with that status in its front matter, which is added where it is missing. */
export function withStatus(text: string, status: SpecStatus): string {
  const front = FRONT.exec(text);
  if (front === null) return `---\nstatus: ${status}\n---\n${text}`;
  const [whole, inner = ''] = front;
  const line = `status: ${status}`;
  const changed = STATUS_LINE.test(inner) ? inner.replace(STATUS_LINE, line) : `${inner}\n${line}`;
  return whole.replace(inner, () => changed) + text.slice(whole.length);
}
