// Runs the tests: builds first, counts what ran, and fails when fewer ran than should or too little of src was reached.
// usage: tsx scripts/test.ts [--coverage] [--again] [folder or file …]; without any, all but test/slow.
// --again: up to three files that fail are run once more, by themselves, and it is said aloud what only then passed.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportCoverage } from './coverage.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const coverage = args.includes('--coverage');
const again = args.includes('--again');
const wanted = args.filter((arg) => !arg.startsWith('--'));
const MOST_AGAIN = 3;

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

/** Runs these files, `atOnce` of them at a time; the files in which something failed, and whether all is well. */
async function runFiles(
  files: readonly string[],
  atOnce: number,
  env: NodeJS.ProcessEnv,
): Promise<{ failed: string[]; ok: boolean }> {
  const list = join(place, 'failed');
  const child = spawn(
    process.execPath,
    [
      ...['--import', 'tsx', '--test', `--test-concurrency=${atOnce}`],
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./scripts/failed-files.js', `--test-reporter-destination=${list}`],
      ...files,
    ],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    output = (output + chunk.toString('utf8')).slice(-20_000);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const ran = Number(/^ℹ tests (\d+)$/m.exec(output)?.[1] ?? 0);
  if (ran < files.length)
    process.stderr.write(`only ${ran} tests ran in ${files.length} files: something was not executed\n`);
  const failed = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  return {
    failed: [...new Set(failed.flatMap((file) => testsOf(file, files)))],
    ok: code === 0 && ran >= files.length,
  };
}

const files =
  wanted.length > 0
    ? wanted.flatMap(testFiles)
    : testFiles('test').filter((file) => !file.startsWith(join('test', 'slow')));
if (files.length === 0) throw new Error('no test files found');

// With roots of its own to load, each start of Node takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const built = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], { cwd: root, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

const place = mkdtempSync(join(tmpdir(), 'toolcrew-tests-'));
const counters = join(place, 'coverage');
const env = coverage ? { NODE_V8_COVERAGE: counters } : {};
let { failed, ok } = await runFiles(files, 3, env);
if (!ok && again && failed.length > 0 && failed.length <= MOST_AGAIN) {
  process.stdout.write(`\n=== failed, and run once more by themselves: ${failed.join(', ')}\n`);
  const raced = failed;
  ({ failed, ok } = await runFiles(raced, 1, env));
  if (ok) process.stdout.write(`\n=== PASSED ONLY WHEN RUN ALONE, a race to be mended: ${raced.join(', ')}\n`);
}
process.exitCode = ok ? 0 : 1;
if (coverage && !(await reportCoverage(root, counters))) process.exitCode = 1;
rmSync(place, { recursive: true, force: true });
