// The lines that the tests reached: the arithmetic, and the reports that are read without a package.

import { failure, type ToolError } from '../../base/rules/errors.ts';
import { clip } from '../../base/rules/text.ts';
import { isObject } from '../../base/rules/values.ts';
import { GATE_CODES } from './gate-codes.ts';

export type FileCoverage = {
  /** From the project's root, with `/` between its parts. */
  readonly path: string;
  readonly percent: number;
  /** Lines; of a Go profile, statements. */
  readonly covered: number;
  readonly total: number;
};

export type Coverage = { readonly percent: number; readonly files: readonly FileCoverage[] };

/** What a change is held against: the lines of the report, and the source of the tree that it does not name. */
export type Reach = {
  readonly covered: number;
  readonly total: number;
  readonly unreported: readonly { readonly path: string; readonly lines: number }[];
  /** Files of the report below the target, the worst first. */
  readonly below: readonly FileCoverage[];
};

type Counted = Pick<FileCoverage, 'path' | 'covered' | 'total'>;

/** How many uncovered files are named. */
export const MAX_NAMED = 20;

function percentOf(covered: number, total: number): number {
  return total === 0 ? 100 : (100 * covered) / total;
}

/** All files together; what lies outside of the root, or was installed into it, is none of the project's own. */
export function coverageOf(files: readonly Counted[]): Coverage {
  const own = files.filter(({ path }) => !/^(\/|[A-Za-z]:|\.\.?(\/|$))|(^|\/)node_modules\//.test(path) && path !== '');
  const sum = (pick: (file: Counted) => number) => own.reduce((all, file) => all + pick(file), 0);
  return {
    percent: percentOf(
      sum((file) => file.covered),
      sum((file) => file.total),
    ),
    files: own.map(({ path, covered, total }) => ({ path, percent: percentOf(covered, total), covered, total })),
  };
}

/** Several reports as one, like those of a project in two languages. */
export function joinCoverage(reports: readonly Coverage[]): Coverage {
  return coverageOf(reports.flatMap((report) => report.files));
}

export function hasLines(coverage: Coverage): boolean {
  return coverage.files.some((file) => file.total > 0);
}

/** Files below the target, the worst first. */
export function uncovered(coverage: Coverage, target: number, most = MAX_NAMED): readonly FileCoverage[] {
  return coverage.files
    .filter((file) => file.percent < target)
    .sort((a, b) => a.percent - b.percent || b.total - a.total || (a.path < b.path ? -1 : 1))
    .slice(0, most);
}

/** Rounded down, so that what is below a target never reads as if it had met it. */
export function percentText(percent: number): string {
  return `${shownPercent(percent)} %`;
}

/** The same as a number. */
export function shownPercent(percent: number): number {
  return Math.floor(percent * 10 + 1e-6) / 10;
}

export function fileLine(file: FileCoverage): string {
  return `${file.path}: ${percentText(file.percent)} (${file.covered} of ${file.total} lines)`;
}

/** A path of a report as it is from the root; what is not below the root stays absolute. */
export function reportedPath(path: string, root: string): string {
  const plain = path.replaceAll('\\', '/').replace(/^file:\/\//, '');
  const base = root.replaceAll('\\', '/').replace(/\/+$/, '');
  const relative = plain.startsWith(`${base}/`) ? plain.slice(base.length + 1) : plain;
  return relative.replace(/^(\.\/)+/, '');
}

function wrongFormat(expected: string, got?: string): ToolError {
  return failure(GATE_CODES.coverage_format_wrong, got === undefined ? { expected } : { expected, got });
}

/** lcov.info. A file that comes several times counts once: a line is covered when any of them reached it. */
export function readLcov(text: string, root: string): Coverage {
  const files = new Map<string, Map<number, boolean>>();
  let lines: Map<number, boolean> | undefined;
  for (const row of text.split(/\r?\n/)) {
    if (row.startsWith('SF:')) {
      const path = reportedPath(row.slice(3).trim(), root);
      lines = files.get(path) ?? new Map();
      files.set(path, lines);
    }
    const hit = /^DA:(\d+),(-?\d+(?:\.\d+)?(?:e\+?\d+)?)/i.exec(row);
    if (hit !== null) {
      if (lines === undefined) throw wrongFormat('SF: before the first DA:', clip(row, 80));
      const line = Number(hit[1]);
      lines.set(line, lines.get(line) === true || Number(hit[2]) > 0);
    }
    if (row.startsWith('end_of_record')) lines = undefined;
  }
  if (files.size === 0 && text.trim() !== '' && !/^(TN|SF):/m.test(text))
    throw wrongFormat('lines that begin with TN: or SF:');
  return coverageOf([...files].map(([path, seen]) => countLines(path, seen)));
}

function countLines(path: string, lines: ReadonlyMap<number, boolean>): Counted {
  return { path, covered: [...lines.values()].filter(Boolean).length, total: lines.size };
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : [];
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}

/** coverage-final.json: the line on which a statement begins counts, covered when any of its statements ran. */
export function readIstanbulFinal(text: string, root: string): Coverage {
  return coverageOf(
    istanbulEntries(text).map(([key, file]) => {
      const path = at(file, 'path');
      if (!isObject(at(file, 'statementMap'))) throw wrongFormat(`a statementMap at ${clip(key, 120)}`);
      const lines = new Map<number, boolean>();
      for (const [id, statement] of entriesOf(at(file, 'statementMap'))) {
        const line = at(statement, 'start', 'line');
        if (typeof line !== 'number') continue;
        const count = at(file, 's', id);
        lines.set(line, lines.get(line) === true || (typeof count === 'number' && count > 0));
      }
      return countLines(reportedPath(typeof path === 'string' ? path : key, root), lines);
    }),
  );
}

/** coverage-summary.json: what it says of each file's lines. */
export function readIstanbulSummary(text: string, root: string): Coverage {
  return coverageOf(
    istanbulEntries(text)
      .filter(([key]) => key !== 'total')
      .map(([key, file]) => {
        const [covered, total] = [at(file, 'lines', 'covered'), at(file, 'lines', 'total')];
        if (typeof covered !== 'number' || typeof total !== 'number')
          throw wrongFormat(`lines.covered and lines.total at ${clip(key, 120)}`);
        return { path: reportedPath(key, root), covered, total };
      }),
  );
}

function istanbulEntries(text: string): readonly (readonly [string, unknown])[] {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw wrongFormat('an object of files');
  return Object.entries(value);
}

/** A profile of `go test -coverprofile`: statements; blocks that come several times count once. */
export function readGoCover(text: string, root: string, modulePath: string | null = null): Coverage {
  const blocks = new Map<string, { path: string; statements: number; isCovered: boolean }>();
  for (const row of text.split(/\r?\n/)) {
    if (row === '' || row.startsWith('mode:')) continue;
    const parts = /^(.+):(\d+\.\d+,\d+\.\d+) (\d+) (\d+)$/.exec(row);
    if (parts === null) throw wrongFormat('file:line.column,line.column statements count', clip(row, 80));
    const [, file = '', place = '', statements, count] = parts;
    const inModule = modulePath !== null && file.startsWith(`${modulePath}/`);
    const path = inModule ? file.slice(modulePath.length + 1) : reportedPath(file, root);
    const known = blocks.get(`${file}:${place}`);
    const isCovered = known?.isCovered === true || Number(count) > 0;
    blocks.set(`${file}:${place}`, { path, statements: Number(statements), isCovered });
  }
  const files = new Map<string, Counted>();
  for (const { path, statements, isCovered } of blocks.values()) {
    const { covered, total } = files.get(path) ?? { covered: 0, total: 0 };
    files.set(path, { path, covered: covered + (isCovered ? statements : 0), total: total + statements });
  }
  return coverageOf([...files.values()]);
}

/** Names and directories of tests; below `src/` a directory `test` or `tests` may be a part of the program. */
const TESTS: readonly RegExp[] = [
  /(^|\/)__tests__\/|^(?!(.*\/)?src\/)(.*\/)?tests?\/|^(cypress|playwright)\//,
  /\.(test|spec)\.[^/]+$|_test\.go$|(^|\/)tests\/.*\.py$|(^|\/)(test_[^/]*|[^/]*_test|conftest)\.py$/,
  /^(?!(.*\/)?src\/).*((^|\/)test(-[^/]+)?|[-_]test)\.[cm]?[jt]s$/,
];

/** Whether a file holds tests, which reach themselves and say nothing of the program. */
export function isTestFile(path: string): boolean {
  return TESTS.some((pattern) => pattern.test(path));
}
