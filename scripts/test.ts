// Runs the tests: builds first, and fails when a file's tests were not executed or too little of src was reached.
// usage: tsx scripts/test.ts [--coverage] [--again] [folder or file …]; without any, all but test/slow.
// --again: up to three files that fail are run once more, by themselves, and it is said aloud what only then passed.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { reportCoverage } from './coverage.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const coverage = args.includes('--coverage');
const again = args.includes('--again');
const wanted = args.filter((arg) => !arg.startsWith('--'));
const MOST_AGAIN = 3;
const AT_ONCE = 3;
const SLOW = join('test', 'slow');
/** To start Node with tsx and load what is tested takes longer than most files' tests; those of test/slow stand alone. */
const FILES_PER_PROCESS = 16;

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

/** The files of tests among `files` that a failure is of: it may stand in a module that several of them use. */
function testsOf(place: string, files: readonly string[]): readonly string[] {
  const path = relative(root, resolve(root, place));
  if (files.includes(path)) return [path];
  return files.filter((file) => readFileSync(join(root, file), 'utf8').includes(`/${basename(path)}'`));
}

/** What each process runs: a file, or one that brings several in, every n-th of them. */
function shared(files: readonly string[]): readonly string[] {
  const apart = files.filter((file) => file.startsWith(SLOW));
  const rest = files.filter((file) => !file.startsWith(SLOW));
  const count = Math.max(Math.ceil(rest.length / FILES_PER_PROCESS), Math.min(rest.length, AT_ONCE));
  const groups = Array.from({ length: count }, (_, group) => rest.filter((_, index) => index % count === group));
  const entries = groups.map((group, index) => {
    const [only] = group;
    if (group.length === 1 && only !== undefined) return only;
    const entry = join(place, `group-${index + 1}.test.mjs`);
    const urls = group.map((file) => pathToFileURL(join(root, file)).href);
    writeFileSync(entry, urls.map((url) => `import ${JSON.stringify(url)};\n`).join(''));
    return entry;
  });
  return [...entries, ...apart];
}

/** Runs these files, `atOnce` processes at a time; the files in which something failed, and whether all is well. */
async function runFiles(
  files: readonly string[],
  atOnce: number,
  env: NodeJS.ProcessEnv,
): Promise<{ failed: readonly string[]; ok: boolean }> {
  const list = join(place, 'files');
  const child = spawn(
    process.execPath,
    [
      ...['--import', 'tsx', '--test', `--test-concurrency=${atOnce}`],
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./scripts/files-reporter.js', `--test-reporter-destination=${list}`],
      ...(atOnce === 1 ? files : shared(files)),
    ],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } },
  );
  const [code] = (await once(child, 'close')) as [number | null];
  const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  const ended = (how: 'ran' | 'failed'): ReadonlySet<string> =>
    new Set(
      lines.filter((line) => line.startsWith(`${how} `)).flatMap((line) => testsOf(line.slice(how.length + 1), files)),
    );
  const failed = ended('failed');
  const ran = ended('ran');
  const idle = files.filter((file) => !ran.has(file) && !failed.has(file));
  if (idle.length > 0) process.stderr.write(`not one test was executed in ${idle.join(', ')}\n`);
  return { failed: [...failed], ok: code === 0 && idle.length === 0 };
}

const files =
  wanted.length > 0 ? wanted.flatMap(testFiles) : testFiles('test').filter((file) => !file.startsWith(SLOW));
if (files.length === 0) throw new Error('no test files found');

// With roots of its own to load, each start of Node takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const built = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], { cwd: root, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

const place = mkdtempSync(join(tmpdir(), 'toolcrew-tests-'));
const counters = join(place, 'coverage');
const env = coverage ? { NODE_V8_COVERAGE: counters } : {};
let { failed, ok } = await runFiles(files, AT_ONCE, env);
if (!ok && again && failed.length > 0 && failed.length <= MOST_AGAIN) {
  process.stdout.write(`\n=== failed, and run once more by themselves: ${failed.join(', ')}\n`);
  const raced = failed;
  ({ failed, ok } = await runFiles(raced, 1, env));
  if (ok) process.stdout.write(`\n=== PASSED ONLY WHEN RUN ALONE, a race to be mended: ${raced.join(', ')}\n`);
}
process.exitCode = ok ? 0 : 1;
if (coverage && !(await reportCoverage(root, counters))) process.exitCode = 1;
rmSync(place, { recursive: true, force: true });
