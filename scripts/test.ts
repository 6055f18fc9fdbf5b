// Runs the tests: builds first, counts what ran, and fails when fewer ran than should.
// usage: tsx scripts/test.ts [--coverage] [folder or file …]; without any, all but test/slow.

import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

const built = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], { cwd: root, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

const node = [process.execPath, '--import', 'tsx', '--test', '--test-reporter=spec', '--test-concurrency=3', ...files];
const c8 = ['node_modules/c8/bin/c8.js', '--config', '.c8rc.json'];
rmSync(join(root, 'coverage'), { recursive: true, force: true });
const child = spawn(process.execPath, coverage ? [...c8, ...node] : node.slice(1), {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
});
let output = '';
child.stdout.on('data', (chunk: Buffer) => {
  process.stdout.write(chunk);
  output = (output + chunk.toString('utf8')).slice(-20_000);
});
child.on('close', (code) => {
  const ran = Number(/^ℹ tests (\d+)$/m.exec(output)?.[1] ?? 0);
  const least = files.length;
  if (ran < least) {
    process.stderr.write(`only ${ran} tests ran in ${files.length} files: something was not executed\n`);
    process.exitCode = 1;
    return;
  }
  process.exitCode = code ?? 1;
});
