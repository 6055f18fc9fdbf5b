// Which lines of a change skip tests that were not skipped before it.

import { ToolError } from '../../domain/errors.ts';
import { newSkips, type SkipMark } from '../../domain/new-skips.ts';
import { mayHoldTests } from '../../domain/spec/sync.ts';
import { areaOf } from '../../domain/team/areas.ts';
import { treeEnvironment } from '../git/work-tree.ts';
import { type Range, readAt, readDiff, readGone } from './diff.ts';
import { skippedTests } from './skipped-tests.ts';

/** Without one of these no line skips anything. */
const HINT = /skip|todo|ignore|\bx(?:test|it|specify|describe|context)\b/i;

function isTestFile(path: string): boolean {
  return mayHoldTests(path, areaOf(path, []) === 'tests');
}

async function marksIn(range: Range, commit: string, path: string): Promise<readonly SkipMark[]> {
  const text = await readAt(range, commit, path);
  if (text === null || !HINT.test(text)) return [];
  const lines = text.split(/\r?\n/);
  // A statement and the call in it are told both.
  const marks = new Set((await skippedTests(path, text)).flatMap(({ mark }) => mark ?? []));
  return [...marks].sort((one, other) => one - other).map((line) => ({ path, line, text: lines[line - 1] ?? '' }));
}

/** @param objects takes the objects of the two ends, where these are trees; null: they are commits */
export async function measureSkips(
  ends: Pick<Range, 'root' | 'base' | 'head'>,
  objects: string | null,
): Promise<readonly SkipMark[]> {
  const { signal } = new AbortController();
  const trees = objects === null ? null : await treeEnvironment(ends.root, objects);
  try {
    return await skipsOf({ ...ends, signal, ...(trees === null ? {} : { trees }) });
  } catch (error) {
    // Too large to be looked through, or gone.
    if (error instanceof ToolError && error.code === 'git') return [];
    throw error;
  }
}

async function skipsOf(range: Range): Promise<readonly SkipMark[]> {
  const { base, head } = range;
  const files = (await readDiff(range)).files.filter(({ path }) => isTestFile(path));
  if (!files.some(({ added }) => added.some(({ text }) => HINT.test(text)))) return [];
  const added = new Map(files.map((file) => [file.path, new Set(file.added.map(({ line }) => line))]));
  const gone = (await readGone(range)).filter(isTestFile);
  const marks: SkipMark[] = [];
  const before: string[] = [];
  for (const { path } of files) marks.push(...(await marksIn(range, head, path)));
  for (const path of [...added.keys(), ...gone])
    before.push(...(await marksIn(range, base, path)).map(({ text }) => text));
  return newSkips(marks, (path, line) => added.get(path)?.has(line) === true, before);
}
