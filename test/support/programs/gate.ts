// Runs the quality gate in a process of its own. usage: gate.ts <root> <cache directory> <settings as JSON>

import { createChecks } from '../../../src/gate/run/checks.ts';

const [root = '', cacheDirectory = '', settings = '{}'] = process.argv.slice(2);
const checks = createChecks({ root, cacheDirectory, now: Date.now });
const result = await checks.run(JSON.parse(settings), new AbortController().signal);
console.log(JSON.stringify(result));
