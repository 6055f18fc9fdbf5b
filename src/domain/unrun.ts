// Tests of packages below the root that none of the commands runs: changed work there would pass whatever they say.

import { type GateResult, NOT_RUN } from './quality.ts';
import { clip } from './text.ts';

/** Nothing that tests speak of. */
const WORDS = /\.(?:mdx?|txt|rst)$|(?:^|\/)(?:LICENSE|\.gitignore)$/;

/** @param changed paths; null: it is not known what changed */
export function withUnrun(gate: GateResult, changed: readonly string[] | null): GateResult {
  const left = (gate.unrun ?? []).filter(({ manifest }) => {
    const below = manifest.slice(0, manifest.lastIndexOf('/') + 1);
    return changed?.some((path) => path.startsWith(below) && !WORDS.test(path)) === true;
  });
  const [first] = left;
  if (first === undefined) return gate;
  const reason = `${clip(first.manifest, 80)} ${NOT_RUN}: have the project's test command run them too, or name one for all in quality.commands.tests of .tool/config/workflow.yaml, as: ${first.like}`;
  const details = left.map(({ manifest, like }) => `${manifest}: ${like}`);
  const checks = gate.checks.map((one) =>
    one.check === 'tests' && one.outcome === 'passed' ? { ...one, outcome: 'failed' as const, reason, details } : one,
  );
  return { ...gate, checks, ok: checks.every(({ outcome }) => outcome !== 'failed') };
}
