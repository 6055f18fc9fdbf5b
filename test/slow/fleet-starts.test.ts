// Coordinators, workers and `tool doctor --queue` at their start: what does not fit is refused by its name.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Redis } from 'ioredis';
import { AttemptQueue } from '../../src/fleet/coordinator/attempt-queue.ts';
import { RedisStore } from '../../src/fleet/store/redis-store.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { FLEET_KEY, RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { jobAt, openCoordinator } from '../support/fleet-coordinator.ts';
import { BASE, startForge } from '../support/forge.ts';
import { closedAtEnd, documentedUser } from '../support/stores.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

test('workers of another key or version are told so; a job waits for a worker with its labels', async (t) => {
  const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
  const issue = await forge.open('Do it');
  const { status } = await forge.forge.call('maintainer', 'POST', `${BASE}/labels`, {
    name: 'worker:gpu',
    color: 'cccccc',
  });
  assert.equal(status, 201);
  await forge.label(issue, 'worker:gpu');
  const daemon = await startCoordinator(t, forge, redis, {
    yaml: `agent: { worker_labels: [big] }\n${agentRunning(COMMITS)}`,
  });
  await daemon.until('the job waits', async () => (await daemon.state()).queue?.waiting === 1);
  const other = startWorker(t, 'other', redis, ['--labels', 'gpu,big'], { TOOL_FLEET_KEY: 'another-key-0123456789' });
  const { code, stderr } = await other.ended;
  assert.equal(code, 2, stderr);
  assert.match(stderr, /fleet_key_wrong/);
  const row = async (key: string) => {
    const env = cleanEnv(tempDir(t), { TOOL_QUEUE_URL: redis.url, TOOL_FLEET_KEY: key });
    const { checks } = JSON.parse((await runTool(['doctor', '--queue', '--json'], { cwd: tempDir(t), env })).stdout);
    return checks.find((one: { name: string }) => one.name === 'fleet key');
  };
  assert.equal((await row('another-key-0123456789')).code, 'fleet_key_unmatched');
  const env = cleanEnv(daemon.home, { FLEET_KEY: 'another-key-0123456789' });
  const { stdout, code: isWrong } = await runTool(['doctor', '--queue', '--json', daemon.workflow], { env });
  assert.match(stdout, /"code": ?"fleet_key_differs"/);
  assert.equal(isWrong, 1);
  assert.match((await row(FLEET_KEY)).says, /the coordinator of \S+maintainer\/project has the same/);
  // Told once nobody came for a while.
  await daemon.logged(/expected a worker with big, gpu, got no worker at all.*\(worker_missing\)/i);
  const plain = startWorker(t, 'plain', redis, ['--labels', 'gpu']);
  await daemon.until(
    'it is shown',
    async () => (await daemon.state()).workers?.some(({ name }) => name === 'plain') === true,
  );
  assert.equal((await daemon.state()).queue?.waiting, 1);
  await plain.kill();
  // With no more rights than the page gives a worker.
  const client = new Redis(redis.url);
  finallyDo(t, () => client.disconnect());
  await client.call('ACL', documentedUser('user', 'pass'));
  const url = redis.url.replace('//', '//user:pass@');
  const able = startWorker(t, 'able', { url }, ['--labels', 'big,gpu,fast', '--once']);
  await daemon.until('it is done', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  assert.equal((await able.ended).code, 0);

  const silent = { log: () => undefined };
  const queue = await closedAtEnd(
    t,
    RedisStore.open(redis.url, '').then((store) => new AttemptQueue(store, FLEET_KEY, silent)),
  );
  const newer = await openCoordinator(t, { version: '999.0.0', key: FLEET_KEY });
  const job = jobAt(newer.address, { version: '999.0.0' });
  await queue.add(job, 1);
  const old = await startWorker(t, 'old', redis).ended;
  assert.equal(old.code, 1);
  assert.match(old.stderr, /needs a worker of version 999\.0\.0, got .* \(worker_version_wrong\)/);
  assert.equal(await queue.has(job), true);
});

test('workers reach the status server: the command refuses port 0 beside a queue', async (t) => {
  const forge = await startForge(t);
  const yaml = `queue: { url: "redis://127.0.0.1:1", key: $FLEET_KEY }\n${agentRunning(COMMITS)}`;
  const daemon = await Daemon.create(t, forge, { yaml, args: ['--port', '0'], env: { FLEET_KEY } });
  daemon.start();
  assert.equal(await daemon.exit(), 2);
  assert.match(daemon.log, /--port: expected the port of a status server, which queue\.url needs, got 0/);
});

test('tool doctor --queue: address, versions, TLS, permissions and workers; each mistake by its name', async (t) => {
  const [open, locked] = await Promise.all([RedisServer.start(t), RedisServer.start(t, ['--requirepass', 'right'])]);
  const worker = startWorker(t, 'one', open, ['--slots', '3']);
  await worker.printed(/takes attempts/);
  const doctor = async (url: string, key = FLEET_KEY) => {
    const env = cleanEnv(tempDir(t), { TOOL_QUEUE_URL: url, TOOL_FLEET_KEY: key });
    const { stdout, code } = await runTool(['doctor', '--queue', '--json'], { cwd: tempDir(t), env });
    const { checks }: { checks: { name: string; status: string; says: string; code?: string }[] } = JSON.parse(stdout);
    return { code, checks, of: (name: string) => checks.find((one) => one.name === name) };
  };
  const good = await doctor(open.url);
  assert.equal(good.code, 0, JSON.stringify(good.checks));
  assert.deepEqual(
    good.checks.map(({ name, status }) => [name, status]),
    ['queue', 'queue versions', 'queue memory', 'queue TLS', 'fleet key', 'queue permissions', 'workers'].map(
      (name) => [name, 'ok'],
    ),
  );
  assert.match(good.of('workers')?.says ?? '', /1 with 3 slots/);
  assert.doesNotMatch(await open.dump(), /probe-/);
  assert.equal((await doctor(open.url, 'short')).of('fleet key')?.code, 'fleet_key_missing');

  assert.equal((await doctor(locked.url)).of('queue')?.code, 'queue_permission_missing');
  const wrong = locked.url.replace('//', '//:wrong@');
  assert.equal((await doctor(wrong)).of('queue')?.code, 'queue_permission_missing');
  const right = locked.url.replace('//', '//:right@');
  assert.equal((await doctor(right)).code, 0);
  // A user who may reach no key of a queue.
  const client = new Redis(right);
  finallyDo(t, () => client.disconnect());
  await client.acl('SETUSER', 'weak', 'on', '>weak', '~toolcrew:probe', '+@all');
  // The documented one of a worker.
  await client.call('ACL', documentedUser('able', 'able'));
  const able = locked.url.replace('//', '//able:able@');
  assert.equal((await doctor(able)).code, 0);
  const weak = await doctor(locked.url.replace('//', '//weak:weak@'));
  assert.equal(weak.of('queue permissions')?.code, 'queue_permission_missing', JSON.stringify(weak.checks));

  assert.equal((await doctor(`${open.url}/99`)).of('queue')?.code, 'queue_unreachable', 'Redis has 16');
  await open.stop();
  const away = await doctor(open.url);
  assert.deepEqual([away.code, away.of('queue')?.code], [1, 'queue_unreachable']);
  assert.equal((await doctor('postgres://host/db?user=u')).of('queue')?.code, 'queue_store_unknown');
  assert.equal((await doctor('redis:/host')).of('queue')?.code, 'queue_store_unknown');
});

test('a coordinator and a worker that cannot begin say why', async (t) => {
  const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
  const daemon = await startCoordinator(t, forge, redis, { yaml: agentRunning(COMMITS), queue: 'max_bundle_mb: 0' });
  assert.equal(await daemon.exit(), 2);
  assert.match(daemon.log, /queue\.max_bundle_mb: expected/);
  await redis.stop();
  const away = await startCoordinator(t, forge, redis, { yaml: agentRunning(COMMITS) });
  assert.equal(await away.exit(), 1);
  assert.match(away.log, /queue_unreachable/);
  const doctor = await runTool(['doctor', away.workflow, '--json'], { env: cleanEnv(away.home, { FLEET_KEY }) });
  const { checks }: { checks: { name: string; says: string; code?: string }[] } = JSON.parse(doctor.stdout);
  const row = (name: string) => checks.find((one) => one.name === name);
  assert.equal(row('runtime')?.says, 'agents run on the workers');
  assert.equal(row('queue')?.code, 'queue_unreachable');
  const run = async (args: readonly string[], env: Record<string, string>) => {
    const { code, stderr } = await runTool(['worker', ...args], { env: cleanEnv(tempDir(t), env) });
    return [code, /\((\w+)\)\n$/.exec(stderr)?.[1]];
  };
  const key = { TOOL_FLEET_KEY: FLEET_KEY };
  assert.deepEqual(await run(['--queue', redis.url], { TOOL_FLEET_KEY: 'short' }), [2, 'fleet_key_missing']);
  assert.deepEqual(await run([], key), [2, 'queue_store_unknown']);
  assert.deepEqual(await run(['--queue', 'postgres://h/d?user=u'], key), [2, 'queue_store_unknown']);
  assert.deepEqual(await run(['--queue', redis.url, '--labels', 'Two Words'], key), [2, 'worker_labels_wrong']);
  assert.deepEqual(await run(['--queue', redis.url, '--name', 'a b'], key), [2, 'command_line_invalid']);
  assert.deepEqual(await run(['--queue', redis.url], key), [1, 'queue_unreachable']);
});
