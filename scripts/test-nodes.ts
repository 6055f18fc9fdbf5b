// Runs the fast suite without its pure rules, what the host starts, and two slow files on the majors of Node beside the installed one.
// Arguments go on to scripts/test.ts.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { nodeProgram } from '../test/support/node.ts';

const NO_TESTS: ReadonlySet<string> = new Set(['docs', 'fixtures', 'hosts', 'slow', 'support']);
/** Of what starts programs by the dozen: what the host starts. */
const STARTED = join('test', 'claude-code', 'hooks');
/** What depends on Node's version and stands in no fast test: watching a file, following a log, the start of the built daemon. */
const SLOW = ['logs', 'serve-start'].map((name) => join('test', 'slow', `${name}.test.ts`));
const fast = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !NO_TESTS.has(path.split(sep)[0] ?? ''))
  .filter((path) => !path.split(sep).includes('rules'))
  .map((path) => join('test', path))
  .filter((path) => !path.endsWith('.integration.test.ts') || dirname(path) === STARTED)
  .sort();
const files = [...fast, ...SLOW];

for (const major of [22, 24]) {
  const node = nodeProgram(major);
  process.stdout.write(`\n=== the suite on ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout}`);
  const args = ['--import', 'tsx', 'scripts/test.ts', ...files, ...process.argv.slice(2)];
  const { status } = spawnSync(node, args, { stdio: 'inherit' });
  if (status !== 0) {
    process.stderr.write(`the suite fails on Node ${major}\n`);
    process.exitCode = 1;
  }
}
