// What git writes into a file where both sides of a merge changed the same lines.

const MARKERS = [/^<{7} /, /^={7}\r?$/, /^>{7} /];
/** Of the three, in their order: one that was forgotten when the others were taken out may be anything. */
const ENOUGH = 2;

/** Whether a text holds a conflict as git left it, or the greater part of its markers. */
export function holdsConflict(text: string): boolean {
  let [last, seen] = [-1, 0];
  for (const line of text.split('\n')) {
    const marker = MARKERS.findIndex((pattern) => pattern.test(line));
    if (marker === -1) continue;
    seen = marker > last ? seen + 1 : 1;
    last = marker;
    if (seen === ENOUGH) return true;
  }
  return false;
}
