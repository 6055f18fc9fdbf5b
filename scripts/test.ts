// Runs tests with Node's own runner, against dist/ and compiled tests; fails where a file executed no test, or too little was reached.
// usage: tsx scripts/test.ts [--integration] [--count] [--least=PCT] [--built] [folder or file …]
// Without a folder or file: the fast suite. With --integration: the files *.integration.test.ts, and those that are named.
// --count tells which lines of src/ were reached, by earlier runs as well, but not by slow tests; with --least it fails below so many per cent.
// --built: dist/ is that of these sources, and is not built again.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { COMPILED_VARIABLE } from '../test/support/compiled.ts';
import { compileTests, idleFiles, testEntries } from './compile-tests.ts';
import { reportCoverage } from './coverage.ts';
import { filesAtOnce, testFiles } from './test-files.ts';

const LONGEST_MS = 20 * 60_000; // thrice the longest file on a slow machine

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const flags = {
  integration: { type: 'boolean', default: false },
  count: { type: 'boolean', default: false },
  least: { type: 'string', default: '0' },
  built: { type: 'boolean', default: false },
} as const;
const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
const { integration, count, least, built } = values;
const files = testFiles(root, positionals, integration);

// Each start of Node would load them, which takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const run = execaSync({ cwd: root, preferLocal: true, stdio: 'inherit', reject: false });
if (!built && run`tsx scripts/build.ts`.failed) process.exit(1);
// Below the root, where what is compiled finds its packages; the counters outside, where agents in namespaces may write.
mkdirSync(join(root, '.cache'), { recursive: true });
const place = mkdtempSync(join(root, '.cache', 'tests-'));
const counters = mkdtempSync(join(tmpdir(), 'toolcrew-coverage-'));
process.once('exit', () => [place, counters].map((directory) => rmSync(directory, { recursive: true, force: true })));
const compiled = join(place, 'compiled');
const { outputs } = await compileTests(root, files, compiled);

const list = join(place, 'ended');
const reporters = ['spec', './scripts/tests-reporter.js'].map((name) => `--test-reporter=${name}`);
const places = ['stdout', list].map((path) => `--test-reporter-destination=${path}`);
const limits = [`--test-concurrency=${filesAtOnce(files)}`, `--test-timeout=${LONGEST_MS}`];
const env = { [COMPILED_VARIABLE]: compiled, ...(count ? { NODE_V8_COVERAGE: counters } : {}) };
const args = ['--enable-source-maps', '--test', ...reporters, ...places, ...limits, ...testEntries(files, compiled)];
const { failed } = run({ env })(process.execPath, args);
const idle = idleFiles(root, { list, files, directory: compiled, outputs });
if (idle.length > 0) process.stderr.write(`not one test was executed in ${idle.join(', ')}\n`);
const isCovered = !count || (await reportCoverage(root, counters, Number(least)));
process.exitCode = failed || idle.length > 0 || !isCovered ? 1 : 0;
