// Secrets that a change brings: in the lines that are there now, and in those that only its commits still hold.

import picomatch from 'picomatch';
import { ToolError } from '../../base/rules/errors.ts';
import { treeEnvironment } from '../../git/work-tree.ts';
import type { QualitySettings } from '../rules/quality.ts';
import type { HeldSecret } from '../rules/secrets.ts';
import type { Finding, SecretFacts } from '../rules/trust5-facts.ts';
import { type Diff, type Range, readCommitDiffs, readDiff, readEach } from './diff.ts';

/** A finding with what tells it from another; the value leaves this file in no other way. */
type Found = Finding & { readonly key: string; readonly isAllowed: boolean };

type Allows = (path: string, value: string) => boolean;

function allowsOf({ allowedPaths, allowedValues }: QualitySettings['secrets']): Allows {
  const values = new Set(allowedValues);
  const isPath = picomatch([...allowedPaths], { dot: true });
  return (path, value) => values.has(value) || (allowedPaths.length > 0 && isPath(path));
}

type Placed = { readonly path: string; readonly line: number; readonly kind: string; readonly value: string };

/** Secrets in the added lines of each file. */
async function secretsOfChange({ files }: Diff): Promise<readonly Placed[]> {
  const { secretsIn } = await import('./secretlint.ts');
  const found: Placed[] = [];
  for (const { path, added } of files) {
    const text = added.map((one) => one.text).join('\n');
    for (const { kind, value, at } of await secretsIn(text, path))
      found.push({ path, line: added[text.slice(0, at).split('\n').length - 1]?.line ?? 1, kind, value });
  }
  return found;
}

async function foundIn(change: Diff, allows: Allows): Promise<readonly Found[]> {
  const { commit } = change;
  return (await secretsOfChange(change)).map(({ path, line, kind, value }) => ({
    path,
    line,
    words: commit === null ? kind : `${kind}, removed since, but commit ${commit} still holds it`,
    ...(commit === null ? {} : { heldBy: commit }),
    key: `${path}\0${kind}\0${value}`,
    isAllowed: allows(path, value),
  }));
}

export async function measureSecrets(range: Range, settings: QualitySettings['secrets']): Promise<SecretFacts> {
  const now = await readDiff(range);
  const before = await readCommitDiffs(range);
  const known = new Set<string>();
  const allows = allowsOf(settings);
  const found: Found[] = [];
  for (const change of [now, ...before]) found.push(...(await foundIn(change, allows)));
  const all = found.filter(({ key }) => !known.has(key) && known.add(key));
  const findings = all.filter(({ isAllowed }) => !isAllowed);
  return {
    source: `git ${range.trees === undefined ? 'log -p' : 'diff'} ${range.base.slice(0, 12)}..${range.head.slice(0, 12)}`,
    lines: now.files.reduce((sum, { added }) => sum + added.length, 0),
    allowed: all.length - findings.length,
    findings: findings.map(({ key: _, isAllowed: __, ...finding }) => finding),
  };
}

/**
 * Secrets that these commits add, whether or not a later one takes them out, or that a tree has more than another.
 * @param objects takes the objects of trees
 */
export async function secretsOf(
  root: string,
  objects: string,
  work: readonly string[] | Pick<Range, 'base' | 'head'>,
  settings: QualitySettings['secrets'],
): Promise<readonly HeldSecret[]> {
  const allows = allowsOf(settings);
  const changes = await changesOf(root, objects, work).catch((error) => {
    // Too large to be looked through: what is measured of the whole says so.
    if (error instanceof ToolError && error.kind === 'git') return [];
    throw error;
  });
  const held: HeldSecret[] = [];
  // What was there before, and was moved or stands on a line that was changed, is not added.
  for (const change of changes)
    for (const { path, line, kind, value } of await secretsOfChange(change))
      if (!allows(path, value) && !change.removed.includes(value))
        held.push({ commit: change.commit, path, line, kind });
  return held;
}

async function changesOf(
  root: string,
  objects: string,
  work: readonly string[] | Pick<Range, 'base' | 'head'>,
): Promise<readonly Diff[]> {
  const { signal } = new AbortController();
  if (!('base' in work)) return readEach({ root, signal }, work);
  const trees = await treeEnvironment(root, objects);
  return trees === null ? [] : [await readDiff({ root, signal, ...work, trees })];
}
