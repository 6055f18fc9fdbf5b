// Secrets that a change brings: in the lines that are there now, and in those that only its commits still hold.

import { secretsIn } from '../../domain/secrets.ts';
import type { Finding, SecretFacts } from '../../domain/trust5-facts.ts';
import { type Change, type Range, readCommitDiffs, readDiff } from './diff.ts';

/** A finding with what tells it from another; the value leaves this file in no other way. */
type Found = Finding & { readonly key: string };

function foundIn({ commit, files }: Change): readonly Found[] {
  return files.flatMap(({ path, added }) =>
    added.flatMap(({ line, text }) =>
      secretsIn(text).map(({ kind, value }) => ({
        path,
        line,
        words: commit === null ? kind : `${kind}, removed since, but commit ${commit} still holds it`,
        ...(commit === null ? {} : { heldBy: commit }),
        key: `${path}\0${kind}\0${value}`,
      })),
    ),
  );
}

export async function measureSecrets(range: Range): Promise<SecretFacts> {
  const now = await readDiff(range);
  const before = await readCommitDiffs(range);
  const known = new Set<string>();
  const findings = [now, ...before].flatMap(foundIn).filter(({ key }) => !known.has(key) && known.add(key));
  return {
    source: `git ${range.trees === undefined ? 'log -p' : 'diff'} ${range.base.slice(0, 12)}..${range.head.slice(0, 12)}`,
    lines: now.files.reduce((sum, { added }) => sum + added.length, 0),
    findings: findings.map(({ key: _, ...finding }) => finding),
  };
}
