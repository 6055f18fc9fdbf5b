// The nearest known name to a mistyped one.

/** Edits (insert, delete, replace, swap of neighbours) between two words: optimal string alignment distance. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** The known name closest to `name`, or undefined when none is close enough to be meant (at most a third of it differs, at least two edits allowed). */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = (word: string) => word.toLowerCase().replace(/[-_.\s]/g, '');
  const wanted = plain(name);
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (best === undefined || distance < best.distance) best = { name: candidate, distance };
  }
  if (best === undefined) return undefined;
  // A name that was only begun means the one that begins so.
  const begun = wanted.length < 3 ? [] : known.filter((candidate) => plain(candidate).startsWith(wanted));
  const [only, other] = begun;
  if (only !== undefined && other === undefined) return only;
  return best.distance <= Math.max(2, Math.floor(wanted.length / 3)) ? best.name : undefined;
}
