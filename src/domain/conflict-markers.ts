// What git writes into a file where both sides of a merge changed the same lines.

/** The first or the last line of a conflict; what stands between may be anything. */
const MARKER = /^(?:<{7,}|>{7,}) \S/m;

/** Whether a text holds a conflict as git left it, or what begins or ends one. */
export function holdsConflict(text: string): boolean {
  return MARKER.test(text);
}
