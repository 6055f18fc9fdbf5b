// Runs tests with Node's own runner, against dist/ and compiled tests; fails where a file executed no test, or too little was reached.
// usage: tsx scripts/test.ts [--integration] [--coverage] [--least=PCT] [folder or file …]
// Without a folder or file: the fast suite, or with --integration the files *.integration.test.ts beside it.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { COMPILED_VARIABLE } from '../test/support/compiled.ts';
import { compileBuiltTests, networkTests } from './built-tests.ts';
import { compiledFile, compileTests, sourceAt } from './compile-tests.ts';
import { reportCoverage } from './coverage.ts';

const AT_ONCE = 3;
/** The longest file takes a third of it on a slow machine. */
const LONGEST_MS = 20 * 60_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const flags = { integration: { type: 'boolean' }, coverage: { type: 'boolean' }, least: { type: 'string' } } as const;
const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
const { integration = false, coverage = false, least = '0' } = values;

const isSlow = (file: string) => /^test\/(?:slow|hosts)\//.test(file);
const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => join('test', file))
  .sort();
const named = positionals.map((one) =>
  all.filter((file) => `${file}/`.startsWith(`${normalize(one).replace(/\/$/, '')}/`)),
);
for (const [index, found] of named.entries())
  if (found.length === 0) throw new Error(`${positionals[index]}: expected a file of tests, or a folder with some`);
const files =
  positionals.length > 0
    ? [...new Set(named.flat())]
    : all.filter((file) => !isSlow(file) && file.endsWith('.integration.test.ts') === integration);

// Each start of Node would load them, which takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const built = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], { cwd: root, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);
// Below the root, where what is compiled finds its packages; the counters outside, where agents in namespaces may write.
mkdirSync(join(root, '.cache'), { recursive: true });
const place = mkdtempSync(join(root, '.cache', 'tests-'));
const counters = mkdtempSync(join(tmpdir(), 'toolcrew-coverage-'));
process.once('exit', () => {
  for (const directory of [place, counters]) rmSync(directory, { recursive: true, force: true });
});
const [source, bundle] = [join(place, 'compiled'), join(place, 'bundle')];
const metafile = await compileTests(root, files, source);
const network = networkTests(
  metafile,
  files.filter((file) => !isSlow(file)),
);
if (network.length > 0) await compileBuiltTests(root, network, metafile, bundle);

/** Entry files that import several files of tests each: most take less time than the start of a process. */
function entriesOf(some: readonly string[], directory: string, perProcess: number): readonly string[] {
  const count = Math.max(Math.ceil(some.length / perProcess), Math.min(some.length, AT_ONCE));
  return Array.from({ length: count }, (_, group) => {
    const ours = some.filter((_, index) => index % count === group).map((file) => compiledFile(directory, file));
    const imports = ours.map((file) => `await import(${JSON.stringify(pathToFileURL(file).href)});\n`).join('');
    // The first test lasts until all files are loaded: hooks that follow all tests would else run before the last file's.
    const first =
      "import test from 'node:test';\nlet loaded;\ntest('files are loaded', () => new Promise((resolve) => { loaded = resolve; }));\n";
    const entry = `${directory}-${perProcess}-${group + 1}.js`;
    writeFileSync(entry, `${first}${imports}loaded();\n`);
    return entry;
  });
}

/** @returns whether all went well */
function run(entries: readonly string[], directory: string, expected: readonly string[]): boolean {
  if (entries.length === 0) return true;
  const list = `${directory}.ended`;
  const reporters = ['spec', 'stdout', './scripts/tests-reporter.js', list];
  const options = reporters.map((value, index) => `--test-reporter${index % 2 === 0 ? '' : '-destination'}=${value}`);
  const limits = [`--test-concurrency=${AT_ONCE}`, `--test-timeout=${LONGEST_MS}`];
  const counting = coverage && directory === source ? { NODE_V8_COVERAGE: counters } : {};
  const env = { ...process.env, [COMPILED_VARIABLE]: source, ...counting };
  const command = ['--enable-source-maps', '--test', ...options, ...limits, ...entries];
  const { status } = spawnSync(process.execPath, command, { cwd: root, env, stdio: 'inherit' });
  const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  const told = new Set(
    lines.map((line) => JSON.parse(line)).map((one) => sourceAt(root, one.file, one.line, one.column)),
  );
  // A test may stand in a module that several files import.
  const isTold = (file: string) =>
    told.has(file) || [...told].some((path) => readFileSync(join(root, file), 'utf8').includes(`/${basename(path)}'`));
  const idle = expected.filter((file) => !isTold(file));
  if (idle.length > 0) process.stderr.write(`not one test was executed in ${idle.join(', ')}\n`);
  return status === 0 && idle.length === 0;
}

const isFast = positionals.length === 0 && !integration;
const shared = files.filter((file) => !isSlow(file));
const entries = [...entriesOf(shared, source, isFast ? 16 : 4), ...entriesOf(files.filter(isSlow), source, 1)];
const results = [run(entries, source, files), run(entriesOf(network, bundle, 4), bundle, network)];
const isCovered = !coverage || (await reportCoverage(root, counters, Number(least)));
process.exitCode = results.every(Boolean) && isCovered ? 0 : 1;
