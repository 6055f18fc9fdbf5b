// `tool demo --workers`: a coordinator and workers over Redis, one killed at work; and what it says where Redis is missing.

import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { runTool } from '../support/daemon.ts';
import { demoPlace } from '../support/demo-place.ts';
import { tempDir } from '../support/temp.ts';

type Shown = {
  readonly issues: readonly {
    readonly outcome: string;
    readonly workers: readonly string[];
    readonly pull_request: string | null;
    readonly seconds: number;
  }[];
  readonly workers: readonly string[];
  readonly killed: string;
};

test('one of three workers is killed at work: each issue gets its pull request, and nothing is left', async (t) => {
  const { env, nothingLeft } = demoPlace(t);
  const { code, stdout, stderr } = await runTool(['demo', '--workers', '3', '--issues', '4', '--json'], { env });
  assert.equal(code, 0, stderr);
  const shown: Shown = JSON.parse(stdout);
  assert.deepEqual(shown.workers, ['worker-1', 'worker-2', 'worker-3']);
  assert.deepEqual(
    shown.issues.map(({ outcome }) => outcome),
    ['done', 'done', 'done', 'done'],
  );
  assert.equal(new Set(shown.issues.map(({ pull_request: pull }) => pull)).size, 4);
  assert.ok(shown.issues.every(({ pull_request: pull, seconds }) => pull !== null && seconds > 0));
  const cutOff = shown.issues.filter(({ workers }) => workers.length > 1);
  assert.equal(cutOff.length, 1, stdout);
  assert.equal(cutOff[0]?.workers[0], shown.killed);
  assert.notEqual(cutOff[0]?.workers[1], shown.killed);
  nothingLeft();
});

test('without redis-server, and with too few workers, it is refused by name', async (t) => {
  const { env, nothingLeft } = demoPlace(t);
  const bin = join(tempDir(t), 'bin');
  mkdirSync(bin);
  chmodSync(bin, 0o755);
  for (const name of ['git', 'sh']) symlinkSync(join('/usr/bin', name), join(bin, name));
  const alone = await runTool(['demo', '--workers', '3'], { env: { ...env, PATH: bin } });
  assert.equal(alone.code, 2, alone.stderr);
  assert.match(alone.stderr, /redis-server.*apt-get install redis-server/s);
  const few = await runTool(['demo', '--workers', '1'], { env });
  assert.equal(few.code, 2);
  assert.match(few.stderr, /at least 2/);
  nothingLeft();
});

test('without the packages of the queue, the command that installs them is named', (t) => {
  const { env, nothingLeft } = demoPlace(t);
  const prefix = tempDir(t);
  const modules = join(prefix, 'lib', 'node_modules');
  mkdirSync(join(modules, 'toolcrew'), { recursive: true });
  for (const name of ['dist', 'schemas', 'package.json'])
    cpSync(name, join(modules, 'toolcrew', name), { recursive: true });
  for (const name of readdirSync('node_modules'))
    if (!['bullmq', 'ioredis', '.bin'].includes(name))
      symlinkSync(join(process.cwd(), 'node_modules', name), join(modules, name));
  const cli = join(modules, 'toolcrew', 'dist', 'cli.js');
  for (const words of [['demo', '--workers', '3'], ['worker']]) {
    const more = { TOOL_QUEUE_URL: 'redis://127.0.0.1:1', TOOL_FLEET_KEY: 'a-key-of-sixteen-or-more', HOME: prefix };
    const options = { env: { ...env, ...more }, extendEnv: false, reject: false } as const;
    const { exitCode, stderr } = execaSync(process.execPath, [cli, ...words], options);
    assert.equal(exitCode, 2, stderr);
    assert.match(stderr, new RegExp(`npm install --global --prefix '?${prefix}'? bullmq@6\\.7 ioredis@5`));
    assert.match(stderr, /\(queue_package_missing\)/);
  }
  nothingLeft();
});
