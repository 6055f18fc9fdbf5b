// The source of a project that its coverage report does not name, and what it names that is none.

import { join } from 'node:path';
import { type Coverage, coverageOf, type Reach, uncovered } from '../../domain/coverage.ts';
import { isGeneratedPath, saysGenerated } from '../../domain/generated.ts';
import type { QualitySettings } from '../../domain/quality.ts';
import { isSourceIn, type Language, reachableLines, unreportedPaths } from '../../domain/unreported.ts';
import { trackedFiles } from '../git/tracked.ts';
import { readRegular } from '../own-file.ts';
import { partScopes, scopesOf } from './coverage-scope.ts';
import type { Line } from './script-programs.ts';

/** Larger ones are written by nobody, but by programs. */
const MAX_BYTES = 512 * 1024;
const MAX_GENERATED = 16 * 1024 * 1024;
/** More are not looked through. */
const MAX_FILES = 5_000;
/** More are not kept. */
const MAX_BELOW = 2_000;

/**
 * Of the tree alone: which of it has changed is for others to say.
 * @param lines what was run to measure the coverage
 * @param parts directories of packages that it was put together from; empty: it is one report
 */
export async function reachOf(
  root: string,
  coverage: Coverage,
  lines: readonly Line[],
  { coverageTarget }: QualitySettings,
  parts: readonly string[],
): Promise<Reach> {
  const scopes = await scopesOf(root, lines);
  const own = await Promise.all(
    parts.map(async (directory) => ({ directory, scopes: await partScopes(root, directory) })),
  );
  const found = unreportedPaths(coverage, { files: await trackedFiles(root), scopes, parts: own });
  const unreported = found.slice(0, MAX_FILES).flatMap((one) => {
    const text = readRegular(join(root, one.path), MAX_BYTES);
    const lines = text === null ? 0 : reachableLines(one.path, text);
    return lines === 0 ? [] : [{ ...one, lines }];
  });
  const sum = (pick: 'covered' | 'total') => coverage.files.reduce((all, file) => all + file[pick], 0);
  return {
    covered: sum('covered'),
    total: sum('total'),
    unreported,
    below: uncovered(coverage, coverageTarget, MAX_BELOW),
  };
}

/** Without what a program has written: nobody tests that. What a comment leaves out its runner has left out already. */
export function withoutGenerated(root: string, { files }: Coverage): Coverage {
  const isGenerated = (path: string) =>
    isGeneratedPath(path) || saysGenerated(readRegular(join(root, path), MAX_GENERATED) ?? '');
  return coverageOf(files.filter(({ path }) => !isGenerated(path)));
}

/** Whether the project has source in one of these languages that tests are for. */
export async function hasSource(root: string, languages: readonly Language[]): Promise<boolean> {
  const paths = (await trackedFiles(root)).filter((path) => isSourceIn(path, languages));
  return paths.some((path) => reachableLines(path, readRegular(join(root, path), MAX_BYTES) ?? '') > 0);
}
