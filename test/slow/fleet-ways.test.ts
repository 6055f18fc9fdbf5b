// A fleet from end to end: two repositories over TLS with an authority of its own, a team on a worker, and the ends of draining.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SCRIPT_VARIABLE } from '../../src/cli/agents/agent-teammate.ts';
import { DEMO_FILES, DEMO_SCRIPT, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import { QUEUE_CODES } from '../../src/daemon/rules/codes/queue-codes.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { wordsLike } from '../support/codes.ts';
import { CLI, cleanEnv, runTool } from '../support/daemon.ts';
import { FLEET_KEY, RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { assertDoneOnce, ONE_TRY } from '../support/fleet-ends.ts';
import { startForge } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';
import { TlsFront } from '../support/tls-front.ts';
import { joinAuthorities } from '../support/tls-proxy.ts';
import { daemonFor, startForges } from '../support/two-forges.ts';

const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';

describe('from end to end', { concurrency: 3 }, () => {
  test('two repositories over one queue, with store and coordinator behind TLS of a company’s own authority', async (t) => {
    const [all, redis] = await Promise.all([startForges(t, ['shop', 'site']), RedisServer.start(t)]);
    const toStore = await TlsFront.start(t, redis.url);
    const url = toStore.url.replace('https:', 'rediss:');
    const env = { FLEET_KEY, NODE_EXTRA_CA_CERTS: '' };
    const yaml = `queue: { url: "${url}", key: $FLEET_KEY, address: "ADDRESS" }\n${ONE_TRY}\n${agentRunning(COMMITS)}`;
    const daemon = await daemonFor(t, all, 'repositories: [maintainer/shop, maintainer/site]', yaml, { env });
    const toCoordinator = await TlsFront.start(t, `http://127.0.0.1:${daemon.port}`);
    daemon.overwrite(daemon.read().replace('ADDRESS', toCoordinator.url));
    const authorities = { NODE_EXTRA_CA_CERTS: joinAuthorities(t, toStore.caFile, toCoordinator.caFile) };
    daemon.start([], authorities);
    const worker = startWorker(t, 'one', { url }, ['--slots', '2'], authorities);
    await worker.printed(/takes attempts from rediss:/);
    for (const forge of all.forges.values()) await assertDoneOnce(forge, daemon, await forge.open('Do it'));
    for (const name of ['shop', 'site']) assert.match(worker.stderr, new RegExp(`maintainer/${name}#1: .*handed in`));
    assert.ok(toCoordinator.connections > 0);

    // What lacks TLS, or knows no such authority, is refused by name.
    const refused = async (at: string, more: Record<string, string> = {}) => {
      const home = tempDir(t);
      const places = ['--state-dir', join(home, 'state'), '--root', join(home, 'root')];
      const given = cleanEnv(home, { TOOL_FLEET_KEY: FLEET_KEY, TOOL_QUEUE_URL: at, ...more });
      const { code, stderr } = await runTool(['worker', ...places], { env: given });
      assert.equal(code, 1, stderr);
      assert.match(stderr, /\(queue_unreachable\)\n$/);
      return stderr;
    };
    const [unknown] = await Promise.all([
      refused(url),
      refused(url.replace('rediss:', 'redis:')),
      refused(redis.url.replace('redis:', 'rediss:'), authorities),
    ]);
    assert.match(unknown, /certificate.*\(queue_unreachable\)/s);
  });

  test('a team works on a worker, and its report stands in the pull request', async (t) => {
    const [forge, redis] = await Promise.all([startForge(t, DEMO_FILES), RedisServer.start(t)]);
    const issue = await forge.open('A guest book', { body: `Please build ${DEMO_SPEC}, as it was approved.` });
    const path = join(tempDir(t), 'script.json');
    writeFileSync(
      path,
      JSON.stringify(DEMO_SCRIPT, (key, value) => (key === 'think_ms' ? 100 : value)),
    );
    const program = `[ -n "$TOOL_TEAMMATE" ] || exit 9; exec '${process.execPath}' '${CLI}' agent teammate`;
    const tool = `tool: { runtime: command, mode: team, command: ${JSON.stringify(program)}, env: [${SCRIPT_VARIABLE}] }`;
    const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${tool}`, leaseMs: 10_000 });
    startWorker(t, 'one', redis, [], { [SCRIPT_VARIABLE]: path });
    let isSeen = false;
    await daemon.until('the team is shown, and the issue ends', async () => {
      isSeen ||= (await daemon.state()).running.some(({ team }) => team !== null);
      return !(await forge.labelsOf(issue)).includes('tool-todo');
    });
    await assertDoneOnce(forge, daemon, issue);
    assert.ok(isSeen, daemon.log);
    assert.match((await forge.pulls())[0]?.body ?? '', /team/i);
  });

  test('the time of draining, and a second signal, end agents and hand their work back', async (t) => {
    const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
    const issues = [await forge.open('First'), await forge.open('Second')];
    const script = `if [ "$TOOL_ATTEMPT" = 1 ]; then echo "$TOOL_ISSUE" > loose.txt; touch ${place}/$TOOL_ISSUE; while [ ! -e ${place}/never ]; do sleep 0.1; done; fi; grep -q "$TOOL_ISSUE" loose.txt; ${COMMIT}`;
    const agent = 'agent: { max_attempts: 1, max_retry_backoff_ms: 100, max_concurrent_agents: 2 }';
    const daemon = await startCoordinator(t, forge, redis, { yaml: `${agent}\n${agentRunning(script)}` });
    const timed = startWorker(t, 'timed', redis, ['--drain-seconds', '1']);
    const asked = startWorker(t, 'asked', redis);
    await daemon.until('both work', () => issues.every((issue) => existsSync(join(place, String(issue)))));
    for (const worker of [timed, asked]) worker.signal('SIGTERM');
    assert.equal((await timed.ended).code, 143, timed.stderr);
    await daemon.until('the other one drains', async () => (await daemon.state()).workers?.[0]?.draining === true);
    asked.signal('SIGINT');
    assert.equal((await asked.ended).code, 143, asked.stderr);
    assert.match(asked.stderr, /at work: 1; a second signal[\s\S]*back the work of attempts: 1/);
    for (const { name } of [timed, asked])
      await daemon.logged(wordsLike(QUEUE_CODES.worker_returned_work, { worker: name }));
    startWorker(t, 'last', redis, ['--slots', '2']);
    for (const issue of issues) await assertDoneOnce(forge, daemon, issue);
  });
});
