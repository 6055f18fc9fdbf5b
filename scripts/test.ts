// Runs tests with Node's own runner, against dist/ and compiled tests; fails where a file executed no test, or too little was reached.
// usage: tsx scripts/test.ts [--integration] [--coverage] [--least=PCT] [--built] [--bundled] [folder or file …]
// Without a folder or file: the fast suite, or with --integration the files *.integration.test.ts beside it.
// --built: dist/ is that of these sources, and is not built again. --bundled: network tests run against the bundle alone.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { COMPILED_VARIABLE } from '../test/support/compiled.ts';
import { compileBuiltTests, networkTests } from './built-tests.ts';
import { compileTests, idleFiles, testEntries } from './compile-tests.ts';
import { reportCoverage } from './coverage.ts';
import { isOfHosts, isSlow, testFiles } from './test-files.ts';

/** Files at once on two cores. Tests that start programs wait for them, those of the hosts more than half of their time. */
const AT_ONCE = 3;
const PROGRAMS_AT_ONCE = 4;
const HOSTS_AT_ONCE = 5;
const LONGEST_MS = 20 * 60_000; // thrice the longest file on a slow machine

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const flags = {
  integration: { type: 'boolean' },
  coverage: { type: 'boolean' },
  least: { type: 'string' },
  built: { type: 'boolean' },
  bundled: { type: 'boolean' },
} as const;
const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
const { integration = false, coverage = false, least = '0', built = false, bundled = false } = values;
const files = testFiles(root, positionals, integration);
const startsPrograms = integration || files.some(isSlow);
const atOnce = files.some(isOfHosts) ? HOSTS_AT_ONCE : startsPrograms ? PROGRAMS_AT_ONCE : AT_ONCE;
const quick = files.filter((file) => !isSlow(file));

// Each start of Node would load them, which takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const build = ['--import', 'tsx', 'scripts/build.ts'];
if (!built && spawnSync(process.execPath, build, { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1);
// Below the root, where what is compiled finds its packages; the counters outside, where agents in namespaces may write.
mkdirSync(join(root, '.cache'), { recursive: true });
const place = mkdtempSync(join(root, '.cache', 'tests-'));
const counters = mkdtempSync(join(tmpdir(), 'toolcrew-coverage-'));
process.once('exit', () => [place, counters].map((directory) => rmSync(directory, { recursive: true, force: true })));
const [source, bundle] = [join(place, 'compiled'), join(place, 'bundle')];
const metafile = await compileTests(root, files, source);
const network = networkTests(metafile, quick);
const unbundled = bundled ? files.filter((file) => !network.includes(file)) : files;
if (network.length > 0) await compileBuiltTests(root, network, metafile, bundle);

function passes(entries: readonly string[], directory: string, expected: readonly string[]): boolean {
  if (entries.length === 0) return true;
  const list = `${directory}.ended`;
  const reporters = ['spec', './scripts/tests-reporter.js'].map((name) => `--test-reporter=${name}`);
  const places = ['stdout', list].map((path) => `--test-reporter-destination=${path}`);
  const limits = [`--test-concurrency=${atOnce}`, `--test-timeout=${LONGEST_MS}`];
  const counting = coverage && directory === source ? { NODE_V8_COVERAGE: counters } : {};
  const env = { ...process.env, [COMPILED_VARIABLE]: source, ...counting };
  const command = ['--enable-source-maps', '--test', ...reporters, ...places, ...limits, ...entries];
  const { status } = spawnSync(process.execPath, command, { cwd: root, env, stdio: 'inherit' });
  const idle = idleFiles(root, list, expected);
  if (idle.length > 0) process.stderr.write(`not one test was executed in ${idle.join(', ')}\n`);
  return status === 0 && idle.length === 0;
}

const perProcess = positionals.length === 0 && !integration ? 16 : 4;
const [many, single] = [unbundled.filter((file) => !isSlow(file)), unbundled.filter(isSlow)];
const entries = [...testEntries(many, source, perProcess, atOnce), ...testEntries(single, source, 1, atOnce)];
const results = [passes(entries, source, unbundled), passes(testEntries(network, bundle, 4, atOnce), bundle, network)];
const isCovered = !coverage || (await reportCoverage(root, counters, Number(least)));
process.exitCode = results.every(Boolean) && isCovered ? 0 : 1;
