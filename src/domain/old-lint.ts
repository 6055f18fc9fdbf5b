// Lint errors that a linter tells of which no script runs: what the project never had linted is held against no work.

import type { GateResult } from './quality.ts';
import type { CommandEnd } from './test-ends.ts';
import { visible } from './text.ts';

/** More errors than the linter shows. */
const CUT = /^\s*(?:The number of diagnostics exceeds|Diagnostics not shown)/m;

/** A line that begins with where an error is, by path, line and column. */
const PLACE = /^[\s,─╭]*(?:-?\[)?(?!\d+:\d)(\S.*?):\d+:\d+(?![\d:])/;

/** Where these are wrong, nothing else was looked at. */
const SETTINGS =
  /(?:^|\/)(?:\.?biome\.jsonc?|\.oxlintrc\.json|\.eslintrc[^/]*|eslint\.config\.\w+|package\.json|tsconfig[^/]*\.json)$/;

/** Files that linters have found errors in; null: that cannot be told, as where one broke down. */
export function filesWithErrors(ends: readonly CommandEnd[], files: readonly string[]): readonly string[] | null {
  const there = new Set(files);
  const named = ends.map(({ exitCode, output }) => {
    if (exitCode !== 1 || CUT.test(output)) return [];
    const lines = output.split('\n');
    const places = lines.flatMap((line) => PLACE.exec(line)?.[1] ?? []).map((path) => path.replace(/^\.\//, ''));
    // A place that is no file of the project's is one that is not understood.
    if (!places.every((path) => there.has(path))) return [];
    return [...places, ...lines.map((line) => line.trim().replace(/^\.\//, '')).filter((line) => there.has(line))];
  });
  return named.length === 0 || named.some((own) => own.length === 0 || own.some((path) => SETTINGS.test(path)))
    ? null
    : [...new Set(named.flat())];
}

/** @param changed paths; null: it is not known what changed */
export function withoutOldLint(gate: GateResult, changed: readonly string[] | null): GateResult {
  const { lintErrors } = gate;
  if (lintErrors === undefined || changed === null) return gate;
  const own = lintErrors.filter((path) => changed.includes(path));
  const count = lintErrors.length - own.length;
  const others = `${count} other ${count === 1 ? 'file' : 'files'} with errors ${count === 1 ? 'is' : 'are'} linted by no script`;
  const checks = gate.checks.map((one) => {
    if (one.check !== 'lint' || one.outcome !== 'failed' || count === 0) return one;
    if (own.length === 0)
      return { ...one, outcome: 'passed' as const, reason: `no lint errors in what changed; ${others}`, details: [] };
    const details = own.map((path) => `${visible(path)}: changed, and has lint errors`);
    return { ...one, reason: `${one.command} finds errors in changed files; ${others}`, details };
  });
  return { ...gate, checks, ok: checks.every(({ outcome }) => outcome !== 'failed') };
}
