// Runs the fast suite on the majors of Node beside the installed one. Arguments go on to scripts/test.ts.

import { execaSync } from 'execa';
import { nodeProgram } from '../test/support/node.ts';

for (const major of [22, 24]) {
  process.stdout.write(`\n=== the suite on Node ${major}\n`);
  const args = ['--import', 'tsx', 'scripts/test.ts', ...process.argv.slice(2)];
  if (!execaSync(nodeProgram(major), args, { stdio: 'inherit', reject: false }).failed) continue;
  process.stderr.write(`the suite fails on Node ${major}\n`);
  process.exitCode = 1;
}
