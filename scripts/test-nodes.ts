// Runs the fast suite on the majors of Node beside the installed one. Arguments go on to scripts/test.ts.

import { execaSync } from 'execa';
import { nodeProgram } from '../test/support/node.ts';

const nodes = [22, 24].map((major) => `--node=${nodeProgram(major)}`);
const args = ['scripts/test.ts', ...nodes, ...process.argv.slice(2)];
if (execaSync('tsx', args, { preferLocal: true, stdio: 'inherit', reject: false }).failed) process.exitCode = 1;
