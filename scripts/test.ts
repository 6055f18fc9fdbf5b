// Runs the tests: builds first, counts what ran, and fails when fewer ran than should or too little of src was reached.
// usage: tsx scripts/test.ts [--coverage] [folder or file …]; without any, all but test/slow.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportCoverage } from './coverage.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const coverage = args.includes('--coverage');
const wanted = args.filter((arg) => !arg.startsWith('--'));

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

const files =
  wanted.length > 0
    ? wanted.flatMap(testFiles)
    : testFiles('test').filter((file) => !file.startsWith(join('test', 'slow')));
if (files.length === 0) throw new Error('no test files found');

// With roots of its own to load, each start of Node takes three times as long; no test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
const built = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], { cwd: root, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

const counters = coverage ? mkdtempSync(join(tmpdir(), 'toolcrew-coverage-')) : undefined;
const child = spawn(
  process.execPath,
  ['--import', 'tsx', '--test', '--test-reporter=spec', '--test-concurrency=3', ...files],
  {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(counters === undefined ? {} : { NODE_V8_COVERAGE: counters }) },
  },
);
let output = '';
child.stdout.on('data', (chunk: Buffer) => {
  process.stdout.write(chunk);
  output = (output + chunk.toString('utf8')).slice(-20_000);
});
const [code] = (await once(child, 'close')) as [number | null];
const ran = Number(/^ℹ tests (\d+)$/m.exec(output)?.[1] ?? 0);
process.exitCode = code ?? 1;
if (ran < files.length) {
  process.stderr.write(`only ${ran} tests ran in ${files.length} files: something was not executed\n`);
  process.exitCode = 1;
}
if (counters !== undefined) {
  if (!(await reportCoverage(root, counters))) process.exitCode = 1;
  rmSync(counters, { recursive: true, force: true });
}
