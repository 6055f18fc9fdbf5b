// Git's merge conflict markers, and their detection in a text.

/** First or last line of a conflict. The `=======` between is not tested: it may be ordinary text. */
const MARKER = /^(?:<{7,}|>{7,}) \S/m;

/** The lines that begin or end a conflict, counted from 1. */
export function conflictLines(text: string): readonly { readonly text: string; readonly line: number }[] {
  return text.split(/\r\n?|\n/).flatMap((line, index) => (MARKER.test(line) ? [{ text: line, line: index + 1 }] : []));
}

/** Whether a text contains a line that begins or ends a conflict. */
export function holdsConflict(text: string): boolean {
  return MARKER.test(text);
}
