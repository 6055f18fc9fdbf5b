// Runs the checks of `npm run check`, one on each core at a time. Prints the output of each when it has ended; all run, whatever fails.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

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

/** @returns whether it passes. npm puts the programs on the PATH. */
function passes(check: string): Promise<boolean> {
  const child = spawn(check, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.stdout.write(`=== ${check}\n${Buffer.concat(output).toString()}`);
      resolve(code === 0);
    });
  });
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
