// Tests that a piece of work has skipped: told beside what was measured of the tests that ran.

import type { GateResult } from './quality.ts';

/** A line that skips a test, as it is written there. */
export type SkipMark = { readonly path: string; readonly line: number; readonly text: string };

/** So many are named. */
const SHOWN = 5;

/**
 * Those of the marks that the work has made. One that stands where no line was added is older, and so is one of the same words,
 * moved or indented anew: each that was there before accounts for one.
 * @param added whether the work added that line
 * @param before the words of those that the same files held before, and those of files that are gone
 */
export function newSkips(
  marks: readonly SkipMark[],
  added: (path: string, line: number) => boolean,
  before: readonly string[],
): readonly SkipMark[] {
  const left = new Map<string, number>();
  const count = (text: string, change: number) => left.set(text.trim(), (left.get(text.trim()) ?? 0) + change);
  for (const text of before) count(text, 1);
  for (const { path, line, text } of marks) if (!added(path, line)) count(text, -1);
  return marks.filter(({ path, line, text }) => {
    if (!added(path, line)) return false;
    const isOld = (left.get(text.trim()) ?? 0) > 0;
    if (isOld) count(text, -1);
    return !isOld;
  });
}

/** In words; empty where there is none. */
function skipWords(skips: readonly SkipMark[]): string {
  if (skips.length === 0) return '';
  const places = skips.slice(0, SHOWN).map(({ path, line }) => `${path}:${line}`);
  const more = skips.length > SHOWN ? ` and ${skips.length - SHOWN} more` : '';
  return `skipped by this work: ${skips.length} (${places.join(', ')}${more})`;
}

/** The result with what the work itself has skipped, whether or not it passes. */
export function withSkips(gate: GateResult, skips: readonly SkipMark[]): GateResult {
  const words = skipWords(skips);
  if (words === '') return gate;
  const checks = gate.checks.map((one) =>
    one.check === 'tests' ? { ...one, reason: `${one.reason}; ${words}` } : one,
  );
  return { ...gate, checks };
}
