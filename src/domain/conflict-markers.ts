// What git writes into a file where both sides of a merge changed the same lines.

/** The first or the last line of a conflict; what stands between may be anything. */
const MARKER = /^(?:<{7,}|>{7,}) \S/m;

/** The lines that begin or end a conflict, counted from 1. */
export function conflictLines(text: string): readonly { readonly text: string; readonly line: number }[] {
  return text.split(/\r\n?|\n/).flatMap((line, index) => (MARKER.test(line) ? [{ text: line, line: index + 1 }] : []));
}

/** Whether a text holds a conflict as git left it, or what begins or ends one. */
export function holdsConflict(text: string): boolean {
  return MARKER.test(text);
}
