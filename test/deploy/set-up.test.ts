// Unit, image and compose file of deploy/, read against the command, the status server and the settings that they rely on.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { parse } from 'yaml';
import { parseWorkflow } from '../../src/daemon/config/read-workflow.ts';
import { StatusServer } from '../../src/web/server.ts';
import { CLI } from '../support/daemon.ts';
import { fencesOf } from '../support/pages.ts';
import { tempDir } from '../support/temp.ts';
import { NO_HISTORY, viewWith } from '../support/view.ts';

const UNIT = readFileSync('deploy/toolcrew.service', 'utf8');
const DOCKERFILE = readFileSync('deploy/Dockerfile', 'utf8');
const COMPOSE = parse(readFileSync('deploy/compose.yaml', 'utf8'));
const SERVICE = COMPOSE.services.toolcrew;
const WORKFLOW = '/etc/toolcrew/WORKFLOW.md';

/** The values of an instruction or a setting, in their order. */
function all(text: string, name: RegExp): readonly string[] {
  return [...text.matchAll(new RegExp(`^${name.source}(.*)$`, 'gm'))].map(([, value = '']) => value.trim());
}

test('service and container start the command that there is, with its flags', () => {
  const { stdout } = execaSync(process.execPath, [CLI, 'serve', '--help']);
  assert.match(stdout, /--log-format <format>[^\n]*\n?[^\n]*json/);
  const words = ['serve', '--log-format', 'json', WORKFLOW];
  assert.deepEqual(all(UNIT, /ExecStart=/), [`/usr/local/bin/tool ${words.join(' ')}`]);
  assert.deepEqual(
    all(DOCKERFILE, /CMD /).map((text) => JSON.parse(text)),
    [words],
  );
});

test('the image is no root, and copies what is there', () => {
  assert.deepEqual(all(DOCKERFILE, /USER /), ['node']);
  assert.equal(all(DOCKERFILE, /FROM /).length, 2);
  const [, last = ''] = DOCKERFILE.split(/^FROM (?!.* AS )/m);
  assert.match(last, /^USER node$/m);
  const copied = all(DOCKERFILE, /COPY /)
    .filter((words) => !words.startsWith('--from='))
    .flatMap((words) => words.split(' ').slice(0, -1))
    .filter((word) => !word.startsWith('--'));
  assert.ok(copied.includes('deploy/start.sh') && copied.includes('.npmrc'));
  for (const path of copied) assert.ok(existsSync(path), path);
  const ignored = readFileSync('deploy/Dockerfile.dockerignore', 'utf8').split('\n');
  for (const path of ['node_modules', 'deploy/secrets', '.git']) assert.ok(ignored.includes(path), path);
});

test('compose: the build is this one, each secret is a file, and nothing but loopback is published', () => {
  assert.ok(existsSync(join('deploy', SERVICE.build.context, SERVICE.build.dockerfile)));
  assert.deepEqual(Object.keys(COMPOSE.secrets), SERVICE.secrets);
  for (const [name, { file }] of Object.entries<{ file: string }>(COMPOSE.secrets))
    assert.equal(file, `./secrets/${name}`);
  const [state, config] = SERVICE.volumes.map((volume: string) => volume.split(':'));
  assert.ok(state[0] in COMPOSE.volumes);
  assert.equal(state[1], all(DOCKERFILE, /ENV HOME=/)[0]);
  assert.deepEqual(config, ['./config', '/etc/toolcrew', 'ro']);
  for (const port of SERVICE.ports) assert.match(port, /^127\.0\.0\.1:/);
  assert.equal(SERVICE.privileged, undefined);
  assert.deepEqual(SERVICE.cap_drop, ['ALL']);
});

test('the health check of the container knows a daemon that answers from one that does not', async () => {
  const server = new StatusServer({
    source: {
      state: () => viewWith(),
      issue: () => undefined,
      history: () => NO_HISTORY,
      output: () => undefined,
      refresh: () => ({ coalesced: false }),
      steer: () => Promise.reject(new Error('not asked')),
      tell: () => Promise.reject(new Error('not asked')),
      onChange: () => () => true,
      now: () => 0,
    },
    log: { log: () => undefined },
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['127.0.0.1'],
    token: 'the token',
    webhook: null,
  });
  await server.listen();
  const { port } = new URL(server.url);
  const [kind, program, flag, script] = SERVICE.healthcheck.test;
  assert.deepEqual([kind, program, flag], ['CMD', 'node', '-e']);
  assert.ok(script.includes(':8888/'));
  const check = async () => {
    const words = ['-e', script.replace(':8888/', `:${port}/`)];
    return (await execa(process.execPath, words, { reject: false })).exitCode;
  };
  assert.equal(await check(), 0);
  await server.close();
  assert.equal(await check(), 1);
});

test('stopping: both wait longer than the daemon takes to end its agents', () => {
  const [, patience = ''] = /PATIENCE_MS = ([\d_]+)/.exec(readFileSync('src/cli/serve.ts', 'utf8')) ?? [];
  const seconds = Number(patience.replaceAll('_', '')) / 1000;
  assert.ok(seconds > 0);
  assert.ok(Number(all(UNIT, /TimeoutStopSec=/)[0]) > seconds);
  assert.ok(Number.parseInt(SERVICE.stop_grace_period, 10) > seconds);
});

test('the unit has nothing that forbids the namespaces of agents', () => {
  const settings = UNIT.split('\n').filter((line) => /^[A-Z]\w+=/.test(line));
  const names = settings.map((line) => line.split('=')[0] ?? '');
  const forbidding = ['RestrictNamespaces', 'PrivateUsers', 'ProtectProc', 'ProcSubset', 'MemoryDenyWriteExecute'];
  for (const name of [...forbidding, 'ProtectKernelTunables', 'ProtectKernelLogs', 'ProtectHostname'])
    assert.equal(names.includes(name), false, name);
  for (const filter of all(UNIT, /SystemCallFilter=/)) assert.match(filter, /^~(?!.*@(?:mount|privileged|sandbox))/);
  assert.ok(settings.includes('NoNewPrivileges=yes') && settings.includes('SuccessExitStatus=143'));
});

test('the settings that the page shows are valid, and lie where the set-ups have them', () => {
  const [front, server] = fencesOf('docs/operations.md').filter(({ language }) => language === 'yaml');
  const workflow = parseWorkflow(`---\n${front?.text}\n${server?.text}\n---\nDo it.`, WORKFLOW, {
    env: { HOME: '/var/lib/toolcrew', TOOL_SERVER_TOKEN: 'the token' },
    remote: null,
  });
  assert.equal(workflow.server.token, 'the token');
  assert.ok(workflow.server.allowedHosts.includes('toolcrew'));
  assert.equal(workflow.tool.isolation, 'required');
  for (const path of [workflow.stateDir, workflow.workspace.root]) assert.match(path, /^\/var\/lib\/toolcrew\//);
  assert.match(all(UNIT, /StateDirectory=/)[0] ?? '', /^toolcrew /);
});

/** Runs start.sh with these secrets, and a `tool` that prints its arguments and what it got. */
function start(t: Parameters<typeof tempDir>[0], secrets: Readonly<Record<string, string>>) {
  const place = tempDir(t);
  for (const name of ['bin', 'secrets']) mkdirSync(join(place, name));
  writeFileSync(join(place, 'bin/tool'), '#!/bin/sh\nprintf "%s\\n" "$*" "$GITHUB_TOKEN" "$OTHER"\n');
  chmodSync(join(place, 'bin/tool'), 0o755);
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(place, 'secrets', name), value);
  const env = { PATH: `${join(place, 'bin')}:/usr/bin:/bin`, CREDENTIALS_DIRECTORY: join(place, 'secrets') };
  return execaSync('/bin/sh', ['deploy/start.sh', 'serve', 'a b'], { env, extendEnv: false, reject: false });
}

test('start.sh gives each secret as a variable, as it stands, and passes the arguments on', (t) => {
  const value = 'a "$HOME" `id` \'b\' \\n=*';
  const { exitCode, stdout } = start(t, { GITHUB_TOKEN: `${value}\n`, OTHER: 'second' });
  assert.equal(exitCode, 0);
  assert.equal(stdout, `serve a b\n${value}\nsecond`);
  assert.equal(start(t, {}).stdout, 'serve a b\n\n');
});

test('start.sh refuses a secret whose name can be no variable, and shows no value', (t) => {
  const { exitCode, stderr, stdout } = start(t, { 'github-token': 'the value' });
  assert.equal(exitCode, 2);
  assert.match(stderr, /expected .*GITHUB_TOKEN.* got .*"github-token"/);
  assert.doesNotMatch(stderr + stdout, /the value/);
});
