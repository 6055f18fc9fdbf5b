// A coordinator, workers and Redis as processes: each fault ends with one pull request, and counts for nobody.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { QUEUE_CODES } from '../../src/daemon/rules/codes/queue-codes.ts';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { wordsLike } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { dropAnswers, FLEET_KEY, MODEL_KEY, RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { assertDoneOnce, knowsAgent, ONE_TRY } from '../support/fleet-ends.ts';
import { DAEMON_TOKEN, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';

const HOST = join(process.cwd(), 'test', 'support', 'programs', 'turning-claude.mjs');
const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';
const PROMPT_CANARY = 'canary-of-the-prompt';
const CODE_CANARY = 'canary-of-the-code';

/** Its base names the command that measures it. */
const MEASURED = { 'a.txt': 'a', '.tool/config/workflow.yaml': 'quality:\n  commands:\n    tests: node -e 0\n' };

/** Waits until a file is there; `begun` says that the agent is at work. */
function waitsFor(directory: string, name: string): string {
  return `echo "$TOOL_ATTEMPT" >> ${directory}/begun; while [ ! -e ${directory}/${name} ]; do sleep 0.1; done`;
}

function attemptsIn(directory: string): string {
  const path = join(directory, 'begun');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').join() : '';
}

/** The files of the branch that was published. */
function filesOf(forge: TestForge, issue: number): Promise<string> {
  return gitAs(forge.bare, 'ls-tree', '-r', '--name-only', `tool/issue-${issue}`);
}

test('an issue is done by a worker, which asks the coordinator; the store holds no secret and no prompt', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it', { body: PROMPT_CANARY });
  const script = [
    `cat > prompt.txt; grep -q ${PROMPT_CANARY} prompt.txt; grep -q "in $PWD" prompt.txt; rm prompt.txt`,
    '[ "$MODEL_KEY" != "" ]; [ "$TOOL_FLEET_KEY$FLEET_KEY$GITHUB_TOKEN$TOOL_QUEUE_URL" = "" ]',
    // What the worker begins other attempts with is not for this one.
    '[ -d ../../../../state/code ]; [ "$(ls -A ../../../../state/code)" = "" ]',
    'tool issue comment --body "I begin"',
    waitsFor(place, 'go'),
    `echo ${CODE_CANARY} > code.txt`,
    COMMIT,
    'tool pr create --title "From afar" --body "Words"',
  ].join('\n');
  const daemon = await startCoordinator(t, forge, redis, {
    yaml: [
      agentRunning(script, 'env: [MODEL_KEY]'),
      `hooks: { after_create: "git clone -q $TOOL_CLONE_URL . && echo created >> ${place}/hooks", before_run: "echo before >> ${place}/hooks", after_run: "echo after >> ${place}/hooks", before_remove: "echo removed >> ${place}/hooks" }`,
    ].join('\n'),
    prompt: 'Work on #{{ issue.number }} in {{ workspace.path }}\n\n{{ issue.body }}\n',
  });
  await daemon.until('the job waits', async () => (await daemon.state()).queue?.waiting === 1);
  const dumps = [await redis.dump()];
  const worker = startWorker(t, 'one', redis, ['--slots', '2']);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  await daemon.until('the worker is shown', async () => {
    const { workers = [], queue } = await daemon.state();
    return workers[0]?.name === 'one' && workers[0].used === 1 && workers[0].slots === 2 && queue?.active === 1;
  });
  dumps.push(await redis.dump());
  const metrics = await (await fetch(`http://127.0.0.1:${daemon.port}/metrics`)).text();
  assert.match(metrics, /^toolcrew_workers 1$/m);
  assert.match(metrics, /^toolcrew_worker_slots 2$/m);
  const page = await (await fetch(`http://127.0.0.1:${daemon.port}/`, { headers: { accept: 'text/html' } })).text();
  assert.match(page, /Workers/);
  writeFileSync(join(place, 'go'), '');
  await assertDoneOnce(forge, daemon, issue);
  await worker.printed(/attempt 1 is handed in/);
  dumps.push(await redis.dump());
  assert.deepEqual((await forge.comments(issue)).filter((one) => one.startsWith('I begin')).length, 1);
  assert.equal((await forge.pulls())[0]?.title, 'From afar');
  assert.equal(readFileSync(join(place, 'hooks'), 'utf8'), 'created\nbefore\nafter\nremoved\n');
  assert.ok(dumps[0]?.includes('maintainer/project'));
  // The journal, with the words of the agent.
  for (const record of ['"type\\":\\"attempt_started', 'From afar']) assert.ok(dumps[2]?.includes(record), dumps[2]);
  for (const secret of [DAEMON_TOKEN, FLEET_KEY, MODEL_KEY, PROMPT_CANARY, CODE_CANARY])
    assert.ok(!dumps.join('\n').includes(secret), secret);
  assert.ok(!daemon.log.includes(FLEET_KEY));
});

test('turns, words of an operator, session and cost go between the host on a worker and the coordinator', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const host = JSON.stringify([process.execPath, HOST, place]);
  const daemon = await startCoordinator(t, forge, redis, {
    yaml: `tool: { runtime: claude, command: ${host}, env: [MODEL_KEY] }`,
  });
  startWorker(t, 'one', redis, [], { ANTHROPIC_API_KEY: MODEL_KEY });
  const turn = (number: number) => join(place, `turn-${number}`);
  await daemon.until('the first turn', () => existsSync(turn(1)));
  await daemon.until(
    'the session is known',
    async () => (await daemon.state()).running[0]?.session_id === 'the-session',
  );
  const told = await runTool(['tell', String(issue), 'Use red', daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.equal(told.code, 0, told.stderr);
  writeFileSync(join(place, 'go'), '');
  await assertDoneOnce(forge, daemon, issue);
  assert.match(readFileSync(turn(2), 'utf8'), /Use red/);
  // The label changes before the end is written down.
  await daemon.until('it is completed', async () => (await daemon.state()).completed.length === 1);
  const { totals, completed } = await daemon.state();
  assert.deepEqual([totals.cost_usd, completed[0]?.tokens.input_tokens], [1, 200]);
  assert.ok(!daemon.log.includes(MODEL_KEY));
});

test('a worker that is killed: the attempt counts for nothing, and another worker makes the next', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = `if [ "$TOOL_ATTEMPT" = 1 ]; then ${waitsFor(place, 'never')}; fi; ${COMMIT}`;
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(script)}` });
  const first = startWorker(t, 'first', redis);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  first.signal('SIGKILL');
  startWorker(t, 'second', redis);
  await assertDoneOnce(forge, daemon, issue);
  assert.match(daemon.log, /The worker first fell silent/);
  assert.match(daemon.log, / attempt 2 .* worker second$/m);
});

test('a worker that is killed and started again hands in or keeps what it had, and clears its places', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = `if [ "$TOOL_ATTEMPT" = 1 ]; then echo 1 > early.txt; git add -A; git commit -qm Early; ${waitsFor(place, 'never')}; fi; ${COMMIT}`;
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(script)}` });
  const first = startWorker(t, 'one', redis);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  first.signal('SIGKILL');
  await first.ended;
  const [old] = readdirSync(join(first.directory, 'state', 'attempts'));
  const places = ['--state-dir', join(first.directory, 'state'), '--root', join(first.directory, 'root')];
  const again = startWorker(t, 'one', redis, places);
  // The start may come after the lease.
  await again.printed(/what the attempt .* left is handed in|work_kept_on_worker/);
  await assertDoneOnce(forge, daemon, issue);
  for (const at of ['state', 'root'])
    assert.ok(!readdirSync(join(first.directory, at, 'attempts')).includes(old ?? assert.fail()));
  const files = await filesOf(forge, issue);
  assert.equal(files.includes('early.txt'), !again.stderr.includes('work_kept_on_worker'), again.stderr);
});

test('a worker that stood still beyond its lock: two bodies, one pull request', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = `if [ "$TOOL_ATTEMPT" = 1 ]; then ${waitsFor(place, 'go')}; touch first.txt; fi; ${COMMIT}`;
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(script)}` });
  const first = startWorker(t, 'first', redis);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  first.signal('SIGSTOP');
  startWorker(t, 'second', redis);
  await daemon.logged(/ attempt 2 .* worker second$/m);
  await assertDoneOnce(forge, daemon, issue);
  writeFileSync(join(place, 'go'), '');
  first.signal('SIGCONT');
  await first.printed(wordsLike(FLEET_CODES.attempt_superseded));
  assert.equal((await forge.pulls()).length, 1);
  assert.ok(!(await filesOf(forge, issue)).includes('first.txt'));
});

test('a coordinator that is killed while a worker works: its agent goes on under the next one', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = `if [ "$TOOL_ATTEMPT" = 1 ]; then ${waitsFor(place, 'go')}; fi; ${COMMIT}`;
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(script)}` });
  const worker = startWorker(t, 'one', redis);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  await knowsAgent(daemon, redis, issue);
  assert.equal(await daemon.stop('SIGKILL'), 'SIGKILL');
  await worker.printed(/coordinator_silent/);
  daemon.start();
  await daemon.logged(/its agent of attempt 1 goes on/);
  writeFileSync(join(place, 'go'), '');
  await assertDoneOnce(forge, daemon, issue);
  assert.equal(attemptsIn(place), '1');
});

test('a coordinator that is stopped takes the work in, and its next start goes on with it', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = [
    `if [ "$TOOL_ATTEMPT" = 1 ]; then echo 2 > loose.txt; ${waitsFor(place, 'never')}; fi`,
    'grep -q 2 loose.txt',
    COMMIT,
  ].join('\n');
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(script)}` });
  const worker = startWorker(t, 'one', redis);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  assert.equal(await daemon.stop(), 143);
  await worker.printed(/attempt 1 is handed in/);
  daemon.start();
  await assertDoneOnce(forge, daemon, issue);
  assert.ok((await filesOf(forge, issue)).includes('loose.txt'));
});

test('a store that forgets everything: what works goes on, what waits is put in again', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issues = [await forge.open('First'), await forge.open('Second')];
  const script = `${waitsFor(place, 'go')}; ${COMMIT}`;
  const agent = 'agent: { max_attempts: 1, max_concurrent_agents: 2 }';
  const daemon = await startCoordinator(t, forge, redis, {
    yaml: `${agent}\n${agentRunning(script)}`,
    leaseMs: 60_000,
  });
  startWorker(t, 'one', redis);
  await daemon.until('one works and one waits', async () => {
    const { queue } = await daemon.state();
    return attemptsIn(place) === '1' && queue?.waiting === 1 && queue.active === 1;
  });
  await redis.stop();
  await daemon.logged(/queue_interrupted/);
  await redis.begin();
  await daemon.until('the job is there again', async () => (await redis.dump()).includes('attempts'));
  writeFileSync(join(place, 'go'), '');
  for (const issue of issues) await assertDoneOnce(forge, daemon, issue);
  assert.equal(attemptsIn(place), '1,1');
});

test('a completion whose answer is lost is reported again, and counts once', async (t) => {
  const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
  const issue = await forge.open('Do it');
  const proxy = await dropAnswers(t, [/\/take$/, /\/work$/, /\/started$/, /\/end$/]);
  const daemon = await startCoordinator(t, forge, redis, {
    yaml: `${ONE_TRY}\n${agentRunning(COMMITS)}`,
    queue: `address: "${proxy.url}"`,
  });
  proxy.leadTo(daemon.port);
  const worker = startWorker(t, 'one', redis, ['--once']);
  await assertDoneOnce(forge, daemon, issue);
  const { code } = await worker.ended;
  assert.equal(code, 0, worker.stderr);
  assert.equal(proxy.dropped.length, 4, proxy.dropped.join());
  assert.match(worker.stderr, /attempt 1 is handed in/);
});

test('a worker that finishes: SIGTERM lets its agent end, and it measures the work', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t, MEASURED), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const daemon = await startCoordinator(t, forge, redis, {
    yaml: `gate: { mode: report }\n${ONE_TRY}\n${agentRunning(`${waitsFor(place, 'go')}; ${COMMIT}`)}`,
  });
  const worker = startWorker(t, 'one', redis);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  worker.signal('SIGTERM');
  await daemon.until('it drains', async () => (await daemon.state()).workers?.[0]?.draining === true);
  writeFileSync(join(place, 'go'), '');
  assert.equal((await worker.ended).code, 143, worker.stderr);
  await assertDoneOnce(forge, daemon, issue);
  assert.match((await forge.pulls())[0]?.body ?? '', /node -e 0/);
  assert.doesNotMatch(daemon.log, /no worker measured/);
});

test('a worker that returns its work: commits and files go to the next attempt', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = [
    `if [ "$TOOL_ATTEMPT" = 1 ]; then echo 1 > committed.txt; git add -A; git commit -qm One; echo 2 > loose.txt; ${waitsFor(place, 'never')}; fi`,
    'grep -q 2 loose.txt; git status --porcelain | grep -q "?? loose.txt"; grep -q 1 committed.txt',
    COMMIT,
  ].join('\n');
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(script)}` });
  const first = startWorker(t, 'first', redis, ['--drain', 'return']);
  await daemon.until('the agent works', () => attemptsIn(place) === '1');
  first.signal('SIGTERM');
  assert.equal((await first.ended).code, 143, first.stderr);
  await daemon.logged(wordsLike(QUEUE_CODES.worker_returned_work, { worker: 'first' }));
  startWorker(t, 'second', redis);
  await assertDoneOnce(forge, daemon, issue);
  const files = await filesOf(forge, issue);
  for (const name of ['committed.txt', 'loose.txt', 'work.txt']) assert.ok(files.includes(name), files);
});
