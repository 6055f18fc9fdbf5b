// The packed package, installed with its dependencies into an empty prefix on each supported major of Node.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { after } from 'node:test';
import { execaSync } from 'execa';
import { cleanEnv } from '../support/daemon.ts';
import { nodeProgram, npmProgram } from '../support/node.ts';
import { tempDir } from '../support/temp.ts';

const MAJORS = [20, 22, 24];
/** Most that the packed file may have, in bytes. */
const PACKED_BYTES = 1_500_000;
const npm = npmProgram();
const npmSetting = (name: string) => execaSync(process.execPath, [npm, 'config', 'get', name]).stdout;
/** Dependencies come from where those of this project came from, most of them from npm's cache. */
const REGISTRY = {
  npm_config_userconfig: npmSetting('userconfig'),
  npm_config_cache: npmSetting('cache'),
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};
const { version, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** One file serves all majors of Node. */
const place = tempDir({ after });
const own = { ...cleanEnv(place), PATH: '/usr/local/bin:/usr/bin:/bin' };
const packed = ['pack', '--json', '--ignore-scripts', '--pack-destination', place];
const { stdout: report } = execaSync(process.execPath, [npm, ...packed], { env: own, extendEnv: false });
const [{ filename, files, size }] = JSON.parse(report);

test('the packed file is small; it holds the built program, its texts and its guards, and no source', () => {
  assert.ok(size <= PACKED_BYTES, `${size} bytes packed`);
  const paths: string[] = files.map((file: { path: string }) => file.path);
  for (const path of [
    'dist/cli.js',
    'dist/sbom.cdx.json',
    'agents/jarvis.md',
    'schemas/workflow.schema.json',
    'LICENSE',
    'README.md',
  ])
    assert.ok(paths.includes(path), `${path} is packed`);
  const guards = paths.filter((path) => path.startsWith('dist/native/'));
  assert.ok(guards.length > 0 && guards.every((path) => path.endsWith('.br')), `${guards} are packed`);
  assert.deepEqual(
    paths.filter((path) => /^(test|src|bench|scripts)\//.test(path)),
    [],
  );
});

test('the bill of materials names each package that the source imports', () => {
  const imported = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join('src', file), 'utf8').matchAll(/^import (?!type)[^;]*?'([^'.;][^';]*)';/gm),
    ])
    .map(([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
    .filter((name) => !name.startsWith('node:'));
  const { components } = JSON.parse(readFileSync(join('dist', 'sbom.cdx.json'), 'utf8'));
  const named = new Set(components.map(({ name }: { name: string }) => name));
  const missing = [...new Set(imported)].filter((name) => !named.has(name));
  assert.ok(imported.length > 20, `${imported.length} imports`);
  assert.deepEqual(missing, []);
});

const DEMO_PACKAGES = ['emulate', 'commander', 'picocolors', 'yaml'];
const DEMO_OUTCOMES = ['done', 'done', 'done', 'failed', 'waits'];

test('npx runs the demo from the packed file and the package emulate, with nothing installed', (t) => {
  const directory = tempDir(t);
  for (const name of ['home', 'elsewhere']) mkdirSync(join(directory, name));
  const npx = join(dirname(npm), 'npx-cli.js');
  const packages = ['-p', join(place, filename), '-p', `emulate@${peerDependencies.emulate}`];
  const env = { ...cleanEnv(join(directory, 'home')), ...REGISTRY, NO_COLOR: '1' };
  const run = execaSync({ cwd: join(directory, 'elsewhere'), env, extendEnv: false });
  const { stdout } = run`${process.execPath} ${npx} --yes ${packages} tool demo --json`;
  const outcomes = JSON.parse(stdout).issues.map((issue: { outcome: string }) => issue.outcome);
  assert.deepEqual(outcomes, DEMO_OUTCOMES);
});

for (const major of MAJORS) {
  test(`installed from the packed file on Node ${major}: no warning, and the command works`, (t) => {
    const node = nodeProgram(major);
    const directory = tempDir(t);
    for (const name of ['home', 'bin', 'prefix', 'elsewhere']) mkdirSync(join(directory, name));
    symlinkSync(node, join(directory, 'bin', 'node'));
    const home = join(directory, 'home');
    const env = {
      ...cleanEnv(home),
      ...REGISTRY,
      PATH: `${join(directory, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
      NO_COLOR: '1',
      TOOL_FLEET_KEY: 'a-key-of-sixteen-or-more',
    };
    const run = (file: string, args: readonly string[], cwd = join(directory, 'elsewhere')) => {
      const { exitCode, stdout, stderr } = execaSync(file, args, { cwd, env, extendEnv: false, reject: false });
      return { exitCode, stdout, stderr };
    };

    const prefix = join(directory, 'prefix');
    const installed = run(node, [npm, 'install', '--global', '--prefix', prefix, join(place, filename)]);
    assert.deepEqual([installed.exitCode, installed.stderr], [0, '']);
    assert.match(installed.stdout, /added \d+ packages/);
    for (const name of Object.keys(dependencies))
      assert.ok(existsSync(join(prefix, 'lib', 'node_modules', 'toolcrew', 'node_modules', name)), name);

    const tool = join(prefix, 'bin', 'tool');
    assert.deepEqual(run(tool, ['--version']), { exitCode: 0, stdout: version, stderr: '' });
    assert.match(run(tool, ['--help']).stdout, /serve[\s\S]*demo[\s\S]*doctor/);
    assert.match(run(tool, ['serve', '--help']).stdout, /^ {2}init /m);
    const alone = run(tool, ['demo', '--json']);
    assert.deepEqual([alone.exitCode, JSON.parse(alone.stdout).error.code], [2, 'demo_package_missing'], alone.stderr);
    const queue = ['worker', '--queue', 'redis://127.0.0.1:9'];
    const bare = run(tool, queue);
    assert.equal(bare.exitCode, 2, bare.stderr);
    assert.match(
      bare.stderr,
      /npm install --global --prefix \S+ bullmq@6\.7 ioredis@5 .*\(queue_package_missing\)|bullmq@6\.7 ioredis@5 \(queue_package_missing\)/,
    );
    assert.match(run(tool, ['worker', '--queue', 'postgres://127.0.0.1:9/db']).stderr, / bullmq@6\.7 pg@8[ .]/);
    const untraced = run(tool, [...queue, '--traces']);
    assert.equal(untraced.exitCode, 2, untraced.stderr);
    assert.match(
      untraced.stderr,
      /npm install --global --prefix \S+ @opentelemetry\/api@1\.9 [^\n]*\n?.*\(trace_package_missing\)/,
    );
    // The demo on this one, from dist/, is in test/cli/demo/demo.integration.test.ts.
    if (!process.versions.node.startsWith(`${major}.`)) {
      const packages = join(prefix, 'lib', 'node_modules');
      for (const name of DEMO_PACKAGES) cpSync(join('node_modules', name), join(packages, name), { recursive: true });
      const demo = run(tool, ['demo', '--json']);
      assert.equal(demo.exitCode, 0, demo.stderr);
      const outcomes = JSON.parse(demo.stdout).issues.map((issue: { outcome: string }) => issue.outcome);
      assert.deepEqual(outcomes, DEMO_OUTCOMES);
    }
    assert.ok(!existsSync(join(directory, 'elsewhere', 'node_modules')));
  });
}
