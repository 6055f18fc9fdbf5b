// Measures a project by the command that it is given, for as long as that takes.

import { DEFAULT_QUALITY } from '../../../src/gate/rules/quality.ts';
import { createChecks } from '../../../src/gate/run/checks.ts';

const [root = '', tests = ''] = process.argv.slice(2);
const checks = createChecks({ root, cacheDirectory: `${root}/.tool/cache/checks`, now: Date.now });
const commands = { ...DEFAULT_QUALITY.commands, tests };
await checks.run({ ...DEFAULT_QUALITY, commands }, new AbortController().signal);
