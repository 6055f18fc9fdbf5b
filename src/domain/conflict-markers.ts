// What git writes into a file where both sides of a merge changed the same lines.

const STEPS = [/^<{7} /, /^={7}\r?$/, /^>{7} /];

/** Whether a text holds both sides of a conflict, between all three of its markers. */
export function holdsBothSides(text: string): boolean {
  let step = 0;
  for (const line of text.split('\n')) {
    if (STEPS[step]?.test(line) === true) step += 1;
    if (step === STEPS.length) return true;
  }
  return false;
}
