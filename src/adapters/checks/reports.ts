// Finding the coverage report that a run left, telling it from an older one, and choosing its reader.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path/posix';
import {
  type Coverage,
  hasLines,
  joinCoverage,
  readGoCover,
  readIstanbulFinal,
  readIstanbulSummary,
  readLcov,
} from '../../domain/coverage.ts';
import { messageOf } from '../../domain/errors.ts';
import { trackedFiles } from '../git/tracked.ts';
import { readRegular } from '../own-file.ts';
import { readCobertura } from './cobertura.ts';
import { modulePathOf } from './go-project.ts';

/** Where tools leave their reports, the more exact ones first. */
const USUAL_PLACES = [
  'coverage/lcov.info',
  'lcov.info',
  'coverage/coverage-final.json',
  'coverage/coverage-summary.json',
  'coverage/cobertura-coverage.xml',
  'coverage/cobertura.xml',
  'coverage/coverage.xml',
  'coverage.xml',
  'cobertura.xml',
  'coverage.lcov',
  'coverage.out',
  'cover.out',
  'c.out',
  'target/llvm-cov/lcov.info',
];

/** What a package of a repository is found by, whose own tests may leave a report beside it. */
const MANIFEST = /^(.+)\/(?:package\.json|pyproject\.toml|go\.mod|Cargo\.toml)$/;
/** Of more packages no reports are looked for. */
const MAX_PACKAGES = 500;

const MAX_BYTES = 256 * 1024 * 1024;

/** `parts`: directories of packages that it was put together from, or is about; missing: it is one report of the whole. */
export type Reading =
  | { readonly coverage: Coverage; readonly parts?: readonly string[] }
  | { readonly problem: string };

export type Places = {
  /** The report that was written since; null when none was. */
  read(): Promise<Reading | null>;
  /** Why there is none. */
  whyNone(): string;
};

function stampOf(path: string): string | null {
  try {
    const { mtimeNs, ctimeNs, size, ino } = statSync(path, { bigint: true });
    return [mtimeNs, ctimeNs, size, ino].join(' ');
  } catch {
    return null;
  }
}

/** Directories of the project's packages, from its root; without the root itself. */
export async function packagesOf(root: string): Promise<readonly string[]> {
  const files = await trackedFiles(root).catch(() => []);
  const found = new Set(files.flatMap((path) => MANIFEST.exec(path)?.[1] ?? []));
  return [...found].sort().slice(0, MAX_PACKAGES);
}

/**
 * Looks now, to tell later what is new. Whether a report was written is told by the file having changed, not by its
 * time: the clock of a file system is coarser than ours.
 * @param packages whose reports together count where the project as a whole has none
 * @param started where what measures is started; null: that is not said
 */
export function watchPlaces(
  root: string,
  configured: string | null,
  packages: readonly string[],
  started: string | null,
): Places {
  const places = configured === null ? USUAL_PLACES : [configured];
  const before = new Map<string, string | null>();
  const stampIn = (directory: string, place: string) => stampOf(join(root, directory, place));
  for (const directory of configured === null ? ['', ...packages] : [''])
    for (const place of places) before.set(join(directory, place), stampIn(directory, place));
  const writtenIn = (directory: string) =>
    places.find((place) => {
      const stamp = stampIn(directory, place);
      return stamp !== null && stamp !== before.get(join(directory, place));
    });
  const oldIn = (directory: string) => {
    const place = places.find((one) => before.get(join(directory, one)) !== null);
    return place === undefined ? undefined : join(directory, place);
  };
  return {
    read: async () => {
      const place = writtenIn('');
      if (place !== undefined) return readReport(join(root, place), place, root, started);
      if (configured !== null) return null;
      const written = packages.flatMap((directory) => {
        const own = writtenIn(directory);
        return own === undefined ? [] : [{ directory, place: own }];
      });
      if (written.length === 0) return null;
      const isWritten = (directory: string) => written.some((one) => one.directory === directory);
      const left = packages.flatMap((directory) => (isWritten(directory) ? [] : (oldIn(directory) ?? [])));
      return left.length === 0 ? readTogether(root, written) : { problem: staleWords(left) };
    },
    whyNone: () => {
      const old = places.find((place) => before.get(place) !== null);
      if (old !== undefined) return `${old} is older than this run of the tests and does not count`;
      return configured === null
        ? 'no coverage report was written to a usual place (coverage/lcov.info and the like)'
        : `no coverage report was written to ${configured}`;
    },
  };
}

/** Some may be of packages whose tests a runner has not run again. */
function staleWords(left: readonly string[]): string {
  const named = left.slice(0, 5).join(', ');
  return `${named} ${left.length === 1 ? 'is' : 'are'} older than this run of the tests: remove what is left over, or have the packages measured again (a runner's cache may have kept them from it)`;
}

/** The reports of packages as one. */
async function readTogether(
  root: string,
  written: readonly { readonly directory: string; readonly place: string }[],
): Promise<Reading> {
  const all: Coverage[] = [];
  for (const { directory, place } of written) {
    const name = join(directory, place);
    const reading = await readOne(join(root, name), name, join(root, directory));
    if ('problem' in reading) return reading;
    const files = reading.coverage.files.map((file) => ({ ...file, path: join(directory, file.path) }));
    all.push({ ...reading.coverage, files });
  }
  const names = written.map(({ directory, place }) => join(directory, place)).join(', ');
  return withLines({ coverage: joinCoverage(all), parts: written.map(({ directory }) => directory) }, names);
}

/**
 * @param name what the report is called when it cannot be read
 * @param started where what has left it was started; null: that is not said
 */
export async function readReport(path: string, name: string, root: string, started: string | null): Promise<Reading> {
  return withLines(from(root, started, await readOne(path, name, root)), name);
}

/** A runner may name files from where it was started, which is told by all of them being there. */
function from(root: string, started: string | null, reading: Reading): Reading {
  if (started === null || 'problem' in reading) return reading;
  const files = reading.coverage.files.map((file) => ({ ...file, path: join(started, file.path) }));
  if (!files.every(({ path }) => existsSync(join(root, path)))) return reading;
  return { coverage: { ...reading.coverage, files }, parts: [started] };
}

function withLines(reading: Reading, name: string): Reading {
  return 'problem' in reading || hasLines(reading.coverage)
    ? reading
    : { problem: `${name} names no line of the project` };
}

async function readOne(path: string, name: string, root: string): Promise<Reading> {
  const text = readRegular(path, MAX_BYTES);
  if (text === null) return { problem: `${name}: expected a coverage report, got no file that can be read` };
  try {
    return { coverage: await readAny(text, root) };
  } catch (error) {
    return { problem: `${name} cannot be read as a coverage report: ${messageOf(error).split('\n')[0]}` };
  }
}

/** Told by the content: tools are free in what they call their reports. */
async function readAny(text: string, root: string): Promise<Coverage> {
  const start = text.trimStart();
  if (start.startsWith('<')) return readCobertura(start, root);
  if (start.startsWith('mode:')) return readGoCover(start, root, modulePathOf(root));
  if (!start.startsWith('{')) return readLcov(start, root);
  return /"statementMap"/.test(start) ? readIstanbulFinal(start, root) : readIstanbulSummary(start, root);
}
