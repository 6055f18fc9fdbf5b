// Finding the coverage report that a run left, telling it from an older one, and choosing its reader.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Coverage,
  hasLines,
  readGoCover,
  readIstanbulFinal,
  readIstanbulSummary,
  readLcov,
} from '../../domain/coverage.ts';
import { messageOf } from '../../domain/errors.ts';
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

const MAX_BYTES = 256 * 1024 * 1024;

export type Reading = { readonly coverage: Coverage } | { readonly problem: string };

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

/**
 * Looks now, to tell later what is new. Whether a report was written is told by the file having changed, not by its
 * time: the clock of a file system is coarser than ours.
 */
export function watchPlaces(root: string, configured: string | null): Places {
  const places = configured === null ? USUAL_PLACES : [configured];
  const before = places.map((place) => stampOf(join(root, place)));
  return {
    read: async () => {
      const place = places.find((candidate, index) => {
        const stamp = stampOf(join(root, candidate));
        return stamp !== null && stamp !== before[index];
      });
      return place === undefined ? null : readReport(join(root, place), place, root);
    },
    whyNone: () => {
      const old = places.find((_, index) => before[index] !== null);
      if (old !== undefined) return `${old} is older than this run of the tests and does not count`;
      return configured === null
        ? 'no coverage report was written to a usual place (coverage/lcov.info and the like)'
        : `no coverage report was written to ${configured}`;
    },
  };
}

/** @param name what the report is called when it cannot be read */
export async function readReport(path: string, name: string, root: string): Promise<Reading> {
  const text = readRegular(path, MAX_BYTES);
  if (text === null) return { problem: `${name}: expected a coverage report, got no file that can be read` };
  try {
    const coverage = await readAny(text, root);
    return hasLines(coverage) ? { coverage } : { problem: `${name} names no line of the project` };
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
