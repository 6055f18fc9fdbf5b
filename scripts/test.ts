// Runs tests with Node's own runner, against dist/ and compiled tests; fails where a file executed no test, or too little was reached.
// usage: tsx scripts/test.ts [--integration] [--count] [--coverage] [--least=PCT] [--built] [--node=PATH …] [folder or file …]
// Without a folder or file: the fast suite. With --integration: the files *.integration.test.ts, and those that are named.
// --count keeps what the tests reach for the next run with --coverage, which reports both. Beside --integration, slow tests are not counted.
// --built: dist/ is that of these sources, and is not built again.
// --node: programs that run the same compiled tests one after the other; by default this one.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { COMPILED_VARIABLE } from '../test/support/compiled.ts';
import { compileTests, idleFiles, testEntries } from './compile-tests.ts';
import { reportCoverage, sourcesHash } from './coverage.ts';
import { isLong, isOfHosts, isSlow, testFiles } from './test-files.ts';

/** Files at once on two cores. Tests that start programs wait for them, those of the hosts more than half of their time. */
const AT_ONCE = 3;
const PROGRAMS_AT_ONCE = 5;
const HOSTS_AT_ONCE = 6;
const LONGEST_MS = 20 * 60_000; // thrice the longest file on a slow machine

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const flags = {
  integration: { type: 'boolean' },
  count: { type: 'boolean' },
  coverage: { type: 'boolean' },
  least: { type: 'string' },
  built: { type: 'boolean' },
  node: { type: 'string', multiple: true },
} as const;
const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
const { integration = false, count = false, coverage = false, least = '0', built = false } = values;
const files = testFiles(root, positionals, integration);
const startsPrograms = integration || files.some(isSlow);
const atOnce = files.some(isOfHosts) ? HOSTS_AT_ONCE : startsPrograms ? PROGRAMS_AT_ONCE : AT_ONCE;

// Each start of Node would load them, which takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const run = execaSync({ cwd: root, preferLocal: true, stdio: 'inherit', reject: false });
if (!built && run`tsx scripts/build.ts`.failed) process.exit(1);
// Below the root, where what is compiled finds its packages; the counters outside, where agents in namespaces may write.
mkdirSync(join(root, '.cache'), { recursive: true });
const place = mkdtempSync(join(root, '.cache', 'tests-'));
const counters = mkdtempSync(join(tmpdir(), 'toolcrew-coverage-'));
const gone: string[] = [];
process.once('exit', () => gone.map((directory) => rmSync(directory, { recursive: true, force: true })));
if (!count || coverage) gone.push(place, counters);
const compiled = join(place, 'compiled');
await compileTests(root, files, compiled);

const perProcess = positionals.length === 0 && !integration ? 16 : 4;
const isAlone = (file: string) => isSlow(file) || isLong(file);
const alone = files.filter(isAlone);
const together = files.filter((file) => !isAlone(file));
// Node runs files in the order of their names: the long ones first.
const entries = [
  ...testEntries(alone, compiled, {
    rank: 1,
    perProcess: 1,
    atLeast: atOnce,
    isCounted: (file) => !integration || !isSlow(file),
  }),
  ...testEntries(together, compiled, { rank: 2, perProcess, atLeast: atOnce, isCounted: () => true }),
];

function passes(node: string): boolean {
  const list = join(place, 'ended');
  const reporters = ['spec', './scripts/tests-reporter.js'].map((name) => `--test-reporter=${name}`);
  const places = ['stdout', list].map((path) => `--test-reporter-destination=${path}`);
  const limits = [`--test-concurrency=${atOnce}`, `--test-timeout=${LONGEST_MS}`];
  const counting = count || coverage ? { NODE_V8_COVERAGE: counters } : {};
  const env = { ...process.env, [COMPILED_VARIABLE]: compiled, ...counting };
  const command = ['--enable-source-maps', '--test', ...reporters, ...places, ...limits, ...entries];
  const { failed } = run({ env })(node, command);
  const idle = idleFiles(root, list, files);
  if (idle.length > 0) process.stderr.write(`not one test was executed in ${idle.join(', ')}\n`);
  return !failed && idle.length === 0;
}

const nodes = values.node ?? [process.execPath];
const results = nodes.map((node) => {
  const version = execaSync(node, ['--version']).stdout;
  if (nodes.length > 1) process.stdout.write(`\n=== the suite on Node ${version}\n`);
  const passed = passes(node);
  if (!passed) process.stderr.write(`the suite fails on Node ${version}\n`);
  return passed;
});

/** Where the last run with `--count` left what it compiled, and its counters; they count for the sources that it ran. */
type Counted = { readonly sources: string; readonly place: string; readonly counters: string };
const counted = join(root, '.cache', 'counted.json');
const earlier: Counted | null = existsSync(counted) ? JSON.parse(readFileSync(counted, 'utf8')) : null;
if (count || coverage) {
  if (earlier !== null) gone.push(earlier.place, earlier.counters);
  if (coverage) gone.push(counted);
  else writeFileSync(counted, JSON.stringify({ sources: sourcesHash(root), place, counters } satisfies Counted));
}
const isKnown = earlier !== null && existsSync(earlier.counters) && earlier.sources === sourcesHash(root);
const all = [...(isKnown ? [earlier.counters] : []), counters];
const isCovered = !coverage || (await reportCoverage(root, all, Number(least)));
process.exitCode = results.every(Boolean) && isCovered ? 0 : 1;
