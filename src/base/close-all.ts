// Closing several things in order.

export type Closer = () => Promise<void> | void;

/** One that fails keeps none of the others from closing; the first failure is thrown at the end. */
export async function closeAll(closers: readonly Closer[]): Promise<void> {
  const failures: unknown[] = [];
  for (const closer of closers) {
    try {
      await closer();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
