// Runs the suite on the majors of Node beside the one that is installed here. Arguments go on to scripts/test.ts.

import { spawnSync } from 'node:child_process';
import { nodeProgram } from '../test/support/node.ts';

for (const major of [22, 24]) {
  const node = nodeProgram(major);
  process.stdout.write(`\n=== the suite on ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout}`);
  const { status } = spawnSync(node, ['--import', 'tsx', 'scripts/test.ts', ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (status !== 0) {
    process.stderr.write(`the suite fails on Node ${major}\n`);
    process.exitCode = 1;
  }
}
