// Coverage reports of one run: those in $TOOL_REPORTS, and the one that is configured or in a usual place.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path/posix';
import { readRegular } from '../../base/files/safe-read.ts';
import { refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { modulePathOf } from '../detect/project-files.ts';
import {
  type Coverage,
  hasLines,
  joinCoverage,
  readGoCover,
  readIstanbulFinal,
  readIstanbulSummary,
  readLcov,
} from '../rules/coverage.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';
import { readCobertura } from './cobertura.ts';

/** Where tools leave their reports, the more exact ones first. */
const USUAL_PLACES = [
  'coverage/lcov.info',
  'lcov.info',
  'coverage/coverage-final.json',
  'coverage/coverage-summary.json',
  'coverage/cobertura-coverage.xml',
  'coverage.xml',
  'coverage.lcov',
  'coverage.out',
  'target/llvm-cov/lcov.info',
];

/** In $TOOL_REPORTS; programs leave other files beside their reports. */
const REPORT = /\.(?:info|lcov|out|xml)$|^coverage-(?:final|summary)\.json$/;

const MAX_BYTES = 256 * 1024 * 1024;

export type Reading = { readonly coverage: Coverage } | { readonly problem: string };

function fileVersionOf(path: string): string | null {
  try {
    const { mtimeNs, ctimeNs, size, ino } = statSync(path, { bigint: true });
    return [mtimeNs, ctimeNs, size, ino].join(' ');
  } catch {
    return null;
  }
}

/** Paths that a configured place names: `*` stands for any directory. */
function expanded(root: string, place: string): readonly string[] {
  return place.split('/').reduce<readonly string[]>(
    (starts, part) =>
      starts.flatMap((start) => {
        if (part !== '*') return [join(start, part)];
        const at = join(root, start);
        return existsSync(at) ? readdirSync(at).map((name) => join(start, name)) : [];
      }),
    [''],
  );
}

/**
 * Looks at the places now, to tell later which report is new: a changed file, not its time, since the clock of a file
 * system is coarser than ours.
 * @param configured `quality.coverage_report`; null: a usual place
 */
export function watchReports(root: string, configured: string | null) {
  const places = () => (configured === null ? USUAL_PLACES : expanded(root, configured));
  const before = new Map(places().map((place) => [place, fileVersionOf(join(root, place))]));
  const isNew = (place: string) => {
    const version = fileVersionOf(join(root, place));
    return version !== null && version !== (before.get(place) ?? null);
  };
  return {
    /** The reports that were written since; null when none was. @param reports the value of $TOOL_REPORTS */
    read: async (reports: string): Promise<Reading | null> => {
      const left = filesBelow(reports)
        .filter((path) => REPORT.test(basename(path)))
        .map((path) => ({ path, place: relative(reports, path) }));
      const written = places().filter(isNew);
      const used = configured === null ? written.slice(0, 1) : written;
      const found = [...left, ...used.map((place) => ({ path: join(root, place), place }))];
      return found.length === 0 ? null : readAll(found, root);
    },
    whyNone: (): string => {
      const old = [...before].find(([, version]) => version !== null)?.[0];
      if (old !== undefined) return textOf(refusal(GATE_CODES.coverage_report_old, { path: old }));
      const place = configured ?? '$TOOL_REPORTS or a usual place (coverage/lcov.info and the like)';
      return textOf(refusal(GATE_CODES.coverage_report_missing, { place }));
    },
  };
}

function filesBelow(directory: string): readonly string[] {
  const rows = existsSync(directory) ? readdirSync(directory, { withFileTypes: true }) : [];
  return rows
    .filter(({ name }) => !name.startsWith('.') && name !== 'tmp')
    .flatMap((row) => {
      const path = join(directory, row.name);
      return row.isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}

async function readAll(
  found: readonly { readonly path: string; readonly place: string }[],
  root: string,
): Promise<Reading> {
  const all: Coverage[] = [];
  for (const { path, place } of found) {
    const text = readRegular(path, MAX_BYTES);
    if (text === null) return { problem: textOf(refusal(GATE_CODES.coverage_report_no_file, { path: place })) };
    try {
      const read = placed(await readAny(text, root), dirname(place), root);
      // A file that two reports name counts once, as the first has it.
      const known = new Set(all.flatMap(({ files }) => files.map((file) => file.path)));
      all.push({ ...read, files: read.files.filter((file) => !known.has(file.path)) });
    } catch (error) {
      const [said = ''] = messageOf(error).split('\n');
      return { problem: textOf(refusal(GATE_CODES.coverage_report_unusable, { path: place, said })) };
    }
  }
  const coverage = joinCoverage(all);
  const names = found.map(({ place }) => place).join(', ');
  if (hasLines(coverage)) return { coverage };
  return { problem: textOf(refusal(GATE_CODES.coverage_report_foreign, { path: names })) };
}

/** A report in a directory of the project may say its paths from there, or from one above. */
function placed(coverage: Coverage, directory: string, root: string): Coverage {
  const above = (place: string): readonly string[] => (place === '.' ? [] : [place, ...above(dirname(place))]);
  const places = above(directory);
  const files = coverage.files.map((file) => {
    const place = places.find((one) => existsSync(join(root, one, file.path)));
    return place === undefined ? file : { ...file, path: join(place, file.path) };
  });
  return { ...coverage, files };
}

/** Told by the content: tools are free in what they call their reports. */
async function readAny(text: string, root: string): Promise<Coverage> {
  const start = text.trimStart();
  if (start.startsWith('<')) return readCobertura(start, root);
  if (start.startsWith('mode:')) return readGoCover(start, root, modulePathOf(root));
  if (!start.startsWith('{')) return readLcov(start, root);
  return /"statementMap"/.test(start) ? readIstanbulFinal(start, root) : readIstanbulSummary(start, root);
}
