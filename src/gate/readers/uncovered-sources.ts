// The source of a project that its coverage report does not name, and generated code that it names.

import { join } from 'node:path';
import { readRegular } from '../../base/files/safe-read.ts';
import { trackedFiles } from '../../git/tracked-files.ts';
import { type Coverage, coverageOf, isTestFile, type Reach, uncovered } from '../rules/coverage.ts';
import { isGeneratedPath, isMarkedGenerated } from '../rules/generated-code.ts';
import type { QualitySettings } from '../rules/quality.ts';
import { reachableLines, unreportedPaths } from '../rules/uncovered-sources.ts';

/** Larger source files are not written by hand. */
const MAX_BYTES = 512 * 1024;
const MAX_GENERATED = 16 * 1024 * 1024;
/** More are not looked through. */
const MAX_FILES = 5_000;
/** More are not kept. */
const MAX_BELOW = 2_000;

/** Of the tree alone: the caller says which of it has changed. */
export async function reachOf(root: string, coverage: Coverage, { coverageTarget }: QualitySettings): Promise<Reach> {
  const found = unreportedPaths(coverage, await trackedFiles(root));
  const unreported = found.slice(0, MAX_FILES).flatMap((path) => {
    const text = readRegular(join(root, path), MAX_BYTES);
    const lines = text === null ? 0 : reachableLines(path, text);
    return lines === 0 ? [] : [{ path, lines }];
  });
  const sum = (pick: 'covered' | 'total') => coverage.files.reduce((all, file) => all + file[pick], 0);
  return {
    covered: sum('covered'),
    total: sum('total'),
    unreported,
    below: uncovered(coverage, coverageTarget, MAX_BELOW),
  };
}

/** Without tests, which reach themselves, and without generated code. */
export function ownCoverage(root: string, { files }: Coverage): Coverage {
  const isGenerated = (path: string) =>
    isGeneratedPath(path) || isMarkedGenerated(readRegular(join(root, path), MAX_GENERATED) ?? '');
  return coverageOf(files.filter(({ path }) => !isTestFile(path) && !isGenerated(path)));
}
