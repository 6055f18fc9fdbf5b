// Runs the checks of `npm run check`, one on each core at a time. Prints the output of each when it has ended; all run, whatever fails.

import { availableParallelism } from 'node:os';
import { execa } from 'execa';

/** Longest first. */
const CHECKS = [
  'tsc -p .',
  'biome check .',
  'tsx scripts/check-directions.ts',
  'knip',
  'tsx scripts/rooms.ts --check',
  'tsx scripts/generate.ts --check',
  'tsx scripts/check-texts.ts',
  'tsx scripts/check-commits.ts',
];

/** @returns whether it passes */
async function passes(check: string): Promise<boolean> {
  const { failed, all } = await execa({
    all: true,
    preferLocal: true,
    reject: false,
    stdin: 'ignore',
  })`${check.split(' ')}`;
  process.stdout.write(`=== ${check}\n${all}\n`);
  return !failed;
}

const waiting = [...CHECKS];
const failed: string[] = [];
async function work(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
    if (!(await passes(check))) failed.push(check);
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  process.stderr.write(`failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
