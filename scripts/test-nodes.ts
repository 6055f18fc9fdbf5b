// Runs the fast suite on the majors of Node beside the installed one. Arguments go on to scripts/test.ts.

import { spawnSync } from 'node:child_process';
import { nodeProgram } from '../test/support/node.ts';

const nodes = [22, 24].map((major) => `--node=${nodeProgram(major)}`);
const args = ['--import', 'tsx', 'scripts/test.ts', ...nodes, ...process.argv.slice(2)];
if (spawnSync(process.execPath, args, { stdio: 'inherit' }).status !== 0) process.exitCode = 1;
