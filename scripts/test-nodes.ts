// Runs the fast suite on the majors of Node beside the installed one. Arguments go on to scripts/test.ts.
// Network tests run against the bundle alone, which is what users have: the source runs on the installed one.

import { spawnSync } from 'node:child_process';
import { nodeProgram } from '../test/support/node.ts';

for (const major of [22, 24]) {
  const node = nodeProgram(major);
  process.stdout.write(`\n=== the suite on ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout}`);
  const args = ['--import', 'tsx', 'scripts/test.ts', '--bundled', ...process.argv.slice(2)];
  const { status } = spawnSync(node, args, { stdio: 'inherit' });
  if (status !== 0) {
    process.stderr.write(`the suite fails on Node ${major}\n`);
    process.exitCode = 1;
  }
}
