// The source of a project that its coverage report does not name.

import { join } from 'node:path';
import { type Coverage, type Reach, uncovered } from '../../domain/coverage.ts';
import { type ListedFiles, reachableLines, unreportedPaths } from '../../domain/unreported.ts';
import { trackedFiles } from '../git/tracked.ts';
import { readRegular } from '../own-file.ts';
import { readText } from './project.ts';

/** Larger ones are written by nobody. */
const MAX_BYTES = 512 * 1024;
/** More are not looked through. */
const MAX_FILES = 5_000;
/** More are not kept. */
const MAX_BELOW = 2_000;

type Configuration = { readonly files: readonly string[]; readonly words: RegExp };

/** Where a project says which files its coverage is about. */
const SCRIPTS: readonly Configuration[] = [
  {
    files: ['package.json'],
    words:
      /--(?:test-coverage-|coverage\.)?(?:in|ex)clude\b|"(?:c8|nyc)"\s*:\s*\{[^}]*"(?:in|ex)clude"|collectCoverageFrom|coveragePathIgnorePatterns/,
  },
  {
    files: ['.c8rc', '.c8rc.json', '.nycrc', '.nycrc.json', '.nycrc.yml', 'nyc.config.js'],
    words: /\b(?:in|ex)clude\b/,
  },
  {
    files: ['js', 'cjs', 'mjs', 'ts', 'json'].map((end) => `jest.config.${end}`),
    words: /collectCoverageFrom|coveragePathIgnorePatterns/,
  },
  {
    files: ['vitest', 'vite'].flatMap((name) =>
      ['js', 'mjs', 'cjs', 'ts', 'mts'].map((end) => `${name}.config.${end}`),
    ),
    words: /\bcoverage\b[\s\S]*\b(?:in|ex)clude\b/,
  },
];
const PYTHON: readonly Configuration[] = [
  { files: ['.coveragerc'], words: /^\s*(?:omit|include|source)\b/m },
  { files: ['pyproject.toml'], words: /^\[tool\.coverage[^[]*^\s*(?:omit|include|source)\b/m },
  { files: ['setup.cfg', 'tox.ini'], words: /^\[coverage:[^[]*^\s*(?:omit|include|source)\b/m },
];

function configuredIn(root: string): ListedFiles['configured'] {
  const says = (all: readonly Configuration[]) =>
    all.some(({ files, words }) => files.some((name) => words.test(readText(root, name) ?? '')));
  return [
    ...(says(SCRIPTS) ? (['javascript', 'typescript'] as const) : []),
    ...(says(PYTHON) ? (['python'] as const) : []),
  ];
}

/** Of the tree alone: which of it has changed is for others to say. */
export async function reachOf(root: string, coverage: Coverage, target: number): Promise<Reach> {
  const paths = unreportedPaths(coverage, { files: await trackedFiles(root), configured: configuredIn(root) });
  const unreported = paths.slice(0, MAX_FILES).flatMap((path) => {
    const text = readRegular(join(root, path), MAX_BYTES);
    const lines = text === null ? 0 : reachableLines(path, text);
    return lines === 0 ? [] : [{ path, lines }];
  });
  const sum = (pick: 'covered' | 'total') => coverage.files.reduce((all, file) => all + file[pick], 0);
  return { covered: sum('covered'), total: sum('total'), unreported, below: uncovered(coverage, target, MAX_BELOW) };
}
