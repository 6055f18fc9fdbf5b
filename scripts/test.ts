// Runs the tests: builds first, and fails when a file's tests were not executed or too little of src was reached.
// usage: tsx scripts/test.ts [--integration] [--coverage[=PCT]] [--again] [--within=MINUTES] [folder or file …]
// Without a folder or file: the fast suite. It is all but test/slow, test/hosts and the files *.integration.test.ts.
// --integration: these files, and no others. Each starts programs by the dozen.
// Network tests run in two forms: against the sources, and against these as the build bundles them.
// --coverage: also tells which lines of src were reached, by this run and by those before it on the same text of src.
// With PCT it fails below so many per cent.
// --again: up to three files that fail are run once more, by themselves, and it is said aloud what only then passed.
// --within: for a machine that may be too slow for all of it. What is not begun after so many minutes is not run, and is
// named; the files come in another order each day, so that it is not always the same ones.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { COMPILED_VARIABLE } from '../test/support/compiled.ts';
import { compileBuiltTests, networkTests } from './built-tests.ts';
import { compiledFile, compileTests, sourceAt } from './compile-tests.ts';
import { reportCoverage } from './coverage.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const coverage = args.some((arg) => arg === '--coverage' || arg.startsWith('--coverage='));
const least = args.find((arg) => arg.startsWith('--coverage='))?.slice('--coverage='.length);
const integration = args.includes('--integration');
const again = args.includes('--again');
const within = args.find((arg) => arg.startsWith('--within='))?.slice('--within='.length);
const wanted = args.filter((arg) => !arg.startsWith('--'));
const MOST_AGAIN = 3;
const AT_ONCE = 3;
/** What waits for ever says so while the other files still have time. The longest takes a third of it, on a slow machine. */
const LONGEST_MS = 20 * 60_000;
/** What is no part of the fast suite. */
const SLOW = [join('test', 'slow'), join('test', 'hosts')];
/** To start Node and load what is tested takes longer than most files' tests; slow ones stand alone. Fewer share one where each takes long, or none may. */
const FILES_PER_PROCESS = within === undefined && !integration ? 16 : 4;

function testFiles(path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .flatMap((item) =>
      item.isDirectory()
        ? testFiles(join(path, item.name))
        : item.name.endsWith('.test.ts')
          ? [join(path, item.name)]
          : [],
    )
    .sort();
}

function isSlow(file: string): boolean {
  return SLOW.includes(dirname(file));
}

function isIntegration(file: string): boolean {
  return file.endsWith('.integration.test.ts');
}

/** Tests against the sources, or against the bundle of them. */
type Form = 'source' | 'bundle';

/** What one process runs: files of tests, and the one that brings them in. */
type Run = {
  readonly files: readonly string[];
  readonly entry: string;
  readonly form: Form;
};

/** A process for each slow file; the others share. */
function runsOf(files: readonly string[]): readonly Run[] {
  const rest = files.filter((file) => !isSlow(file));
  const alone = files.filter(isSlow).map((file) => runOf([file], file, 'source'));
  return [...sharedRuns(rest, 'source'), ...sharedRuns(bundled, 'bundle'), ...alone];
}

/** Each process takes every n-th file. */
function sharedRuns(files: readonly string[], form: Form): readonly Run[] {
  const count = Math.max(Math.ceil(files.length / FILES_PER_PROCESS), Math.min(files.length, AT_ONCE));
  const groups = Array.from({ length: count }, (_, group) => files.filter((_, index) => index % count === group));
  return groups.map((group, index) => runOf(group, `group-${index + 1}`, form));
}

/**
 * A file that brings others in. Node takes what is to happen after all tests for due once those that it knows have ended: the first
 * one ends when the last file is there. So is by then the one that tells how they ended: a test may become another user for a while,
 * who may not open it.
 */
function sharedEntry(paths: readonly string[]): string {
  const imports = paths.map((path) => `  await import(${JSON.stringify(pathToFileURL(path).href)});\n`).join('');
  return `import { existsSync } from 'node:fs';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
let there = () => {};
const loaded = new Promise((resolve) => { there = resolve; });
test('the files are there', async () => {
  await loaded;
  while (!existsSync(import.meta.filename + '.ended')) await setTimeout(5);
});
try {
${imports}} finally {
  there();
}
`;
}

function runOf(files: readonly string[], name: string, form: Form): Run {
  const entry = join(place, `${form}-${name.replaceAll(sep, '-')}.js`);
  const directory = form === 'source' ? compiled : compiledBundle;
  writeFileSync(entry, sharedEntry(files.map((file) => compiledFile(directory, file))));
  return { files, entry, form };
}

/** A file by itself, in each of its forms. */
function alone(file: string): readonly Run[] {
  const source = runOf([file], file, 'source');
  return bundled.includes(file) ? [source, runOf([file], file, 'bundle')] : [source];
}

/** As scripts/tests-reporter.js tells it. */
type EndedTest = {
  readonly how: 'passed' | 'failed' | 'skipped';
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

/** The files of tests among `files` that a test of this source is of: it may stand in a module that several of them use. */
function testsOf(path: string, files: readonly string[]): readonly string[] {
  if (files.includes(path)) return [path];
  return files.filter((file) => readFileSync(join(root, file), 'utf8').includes(`/${basename(path)}'`));
}

/** How many tests ended how, the files in which something failed, and those of which nothing was executed. */
type Outcome = {
  readonly counts: Record<EndedTest['how'], number>;
  readonly failed: Set<string>;
  readonly idle: Set<string>;
};

async function runOne({ files, entry, form }: Run, outcome: Outcome): Promise<void> {
  const list = `${entry}.ended`;
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./scripts/tests-reporter.js', `--test-reporter-destination=${list}`],
      entry,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        [COMPILED_VARIABLE]: compiled,
        ...(coverage && form === 'source' ? { NODE_V8_COVERAGE: counters } : {}),
      },
    },
  );
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    said += part;
  });
  const limit = setTimeout(() => {
    said += `=== NOT ENDED after ${LONGEST_MS / 60_000} minutes, and killed in the first test that is missing here\n`;
    child.kill('SIGKILL');
    // What it has started may hold it open.
    child.stdout.destroy();
  }, LONGEST_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  process.stdout.write(
    `\n=== ${files.length === 1 ? files[0] : `${files.length} files, ${basename(entry)}`}${form === 'bundle' ? ', against the bundle' : ''}\n${said}`,
  );
  const ended = (existsSync(list) ? readFileSync(list, 'utf8') : '')
    .split('\n')
    .filter(Boolean)
    .map((line): EndedTest => JSON.parse(line))
    .filter(({ how, file }) => how === 'failed' || file !== entry);
  const told = new Set<string>();
  for (const { how, file, line, column } of ended) {
    outcome.counts[how] += 1;
    for (const its of testsOf(sourceAt(root, file, line, column), files)) {
      told.add(its);
      if (how === 'failed') outcome.failed.add(its);
    }
  }
  for (const file of files) if (!told.has(file)) outcome.idle.add(file);
  // It ended badly, and nothing tells in which of them.
  if (code !== 0 && !files.some((file) => outcome.failed.has(file))) for (const file of files) outcome.failed.add(file);
}

/** Runs so many at once; those that were not begun in time. */
async function runAll(runs: readonly Run[], atOnce: number, outcome: Outcome): Promise<readonly Run[]> {
  const waiting = [...runs];
  // One is begun however late it is: a suite of which nothing runs says nothing.
  const next = () => (waiting.length === runs.length || inTime() ? waiting.shift() : undefined);
  const work = async () => {
    for (let run = next(); run !== undefined; run = next()) await runOne(run, outcome);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return waiting;
}

function inTime(): boolean {
  return within === undefined || process.uptime() < Number(within) * 60;
}

function outcomeNow(): Outcome {
  return { counts: { passed: 0, failed: 0, skipped: 0 }, failed: new Set(), idle: new Set() };
}

/** Says how it was; true when all is well. */
function told({ counts, failed, idle }: Outcome): boolean {
  const { passed, skipped } = counts;
  process.stdout.write(
    `\n=== tests: ${passed + counts.failed + skipped}, passed: ${passed}, failed: ${counts.failed}, skipped: ${skipped}\n`,
  );
  if (failed.size > 0) process.stdout.write(`=== failed in ${[...failed].join(', ')}\n`);
  if (idle.size > 0) process.stdout.write(`=== not one test was executed in ${[...idle].join(', ')}\n`);
  return passed > 0 && failed.size === 0 && idle.size === 0;
}

/** In an order that is another one each day. */
function mixed(runs: readonly Run[]): readonly Run[] {
  const day = new Date().toISOString().slice(0, 10);
  const key = ({ files }: Run) => createHash('sha256').update(`${day}${files.join()}`).digest('hex');
  return runs
    .map((run) => ({ run, at: key(run) }))
    .sort((a, b) => a.at.localeCompare(b.at))
    .map(({ run }) => run);
}

const files =
  wanted.length > 0
    ? wanted.flatMap(testFiles)
    : testFiles('test').filter((file) => !isSlow(file) && isIntegration(file) === integration);
if (files.length === 0) throw new Error('no test files found');
if (within !== undefined && !/^-?\d+$/.test(within)) throw new Error(`--within: minutes expected, got ${within}`);
if (least !== undefined && !/^\d+$/.test(least)) throw new Error(`--coverage: per cent expected, got ${least}`);

// With roots of its own to load, each start of Node takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const built = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], { cwd: root, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

// Below the root: what is compiled finds its packages there.
mkdirSync(join(root, '.cache'), { recursive: true });
const place = mkdtempSync(join(root, '.cache', 'tests-'));
// Outside of it: agents that are isolated write there too, and may not write below the root.
const counters = mkdtempSync(join(tmpdir(), 'toolcrew-coverage-'));
process.once('exit', () => {
  for (const directory of [place, counters]) rmSync(directory, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const compiled = join(place, 'compiled');
const compiledBundle = join(place, 'bundle');
const metafile = await compileTests(root, files, compiled);
// The slow ones start dist/ itself.
const bundled = networkTests(
  metafile,
  files.filter((file) => !isSlow(file)),
);
if (wanted.length === 0 && bundled.length === 0) throw new Error('no network tests found');
if (bundled.length > 0) await compileBuiltTests(root, bundled, metafile, compiledBundle);

const runs = runsOf(files);
const first = outcomeNow();
const left = await runAll(within === undefined ? runs : mixed(runs), AT_ONCE, first);
let ok = told(first);
const raced = [...first.failed];
const ranAll = [...first.idle].every((file) => first.failed.has(file));
if (!ok && again && ranAll && raced.length <= MOST_AGAIN) {
  process.stdout.write(`\n=== failed, and run once more by themselves: ${raced.join(', ')}\n`);
  const second = outcomeNow();
  await runAll(raced.flatMap(alone), 1, second);
  ok = told(second);
  if (ok) process.stdout.write(`\n=== PASSED ONLY WHEN RUN ALONE, a race to be mended: ${raced.join(', ')}\n`);
}
if (left.length > 0)
  process.stdout.write(`\n=== NOT RUN, for lack of time: ${left.flatMap((run) => run.files).join(', ')}\n`);
process.exitCode = ok ? 0 : 1;
if (coverage && !(await reportCoverage(root, counters, Number(least ?? 0)))) process.exitCode = 1;
