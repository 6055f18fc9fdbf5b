// Fair shares of the slots: a free one goes to the repository that waits for it and holds the fewest.

/** `since`: when it began to wait, ms; of two that hold as many, the first comes first. */
export type SlotShare = { readonly held: number; readonly wants: number; readonly since: number };

/**
 * How many of the free slots one repository may take now.
 * @param own counted as wanting all that it can get
 * @param others those that share the slots with it
 */
export function sharedSlots(slots: number, own: SlotShare, others: readonly SlotShare[]): number {
  let free = slots - own.held - others.reduce((sum, { held }) => sum + held, 0);
  const rivals = others.filter(({ wants }) => wants > 0).map((share) => ({ ...share }));
  let granted = 0;
  while (free > 0) {
    const held = own.held + granted;
    const first = rivals
      .filter((one) => one.wants > 0 && (one.held < held || (one.held === held && one.since < own.since)))
      .sort((one, other) => one.held - other.held || one.since - other.since)[0];
    if (first === undefined) granted += 1;
    else {
      first.held += 1;
      first.wants -= 1;
    }
    free -= 1;
  }
  return granted;
}
