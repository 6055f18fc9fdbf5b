// A coordinator's machine is gone for good: another machine takes the repository over from the journal in the store, with nothing lost.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { MODEL_KEY, type StoreAddress, startCoordinator, startWorker } from '../support/fleet.ts';
import { assertDoneOnce, knowsAgent } from '../support/fleet-ends.ts';
import { COMMIT, keptOf, startWork, vanish } from '../support/fleet-work.ts';
import { BASE, gitAs } from '../support/forge.ts';
import { testOverStores } from '../support/stores.ts';
import type { Cleanup } from '../support/temp.ts';

/** The work, and what starts one coordinator after the other. */
async function setUp(t: Cleanup, store: StoreAddress) {
  const work = await startWork(t);
  const start = (tool: string) =>
    startCoordinator(t, work.forge, store, {
      yaml: `agent: { max_concurrent_agents: 2, max_attempts: 2, max_retry_backoff_ms: 100 }\n${tool}`,
      apiUrl: work.proxy.url,
    });
  /** The next one waits for the lease when the first is gone. */
  const takeOver = async (first: Awaited<ReturnType<typeof start>>, tool: string) => {
    const second = await start(tool);
    await second.logged(/repository_held/);
    await vanish(first);
    return second;
  };
  return { ...work, start, takeOver };
}

/** A host whose turns cost a dollar each. It waits in the second and in the third, which commits. */
function hostRunning(place: string, waits: (word: string) => string): string {
  const script = [
    'case "$*" in *--version*) echo "2.1.331 (Claude Code)"; exit;; esac',
    `echo '{"type":"system","subtype":"init","session_id":"s"}'`,
    `echo "$TOOL_ATTEMPT" >> ${place}/begun-$TOOL_ISSUE`,
    'turn=0; while read -r line; do',
    `turn=$((turn + 1)); touch ${place}/turn-$turn`,
    `[ $turn = 1 ] || ${waits('go-$turn')}`,
    `[ $turn != 3 ] || { echo one > one.txt; git add -A; git commit -qm Begin; ${COMMIT}; }`,
    `echo '{"type":"result","subtype":"success","is_error":false,"result":"so","total_cost_usd":'$turn',"usage":{"input_tokens":100,"output_tokens":10}}'`,
    'done',
  ].join('\n');
  return `tool: { runtime: claude, command: ${JSON.stringify(['/bin/sh', '-c', script, 'host'])}, env: [MODEL_KEY] }`;
}

// Most of their time is spent waiting; more at once would lose their leases on a busy machine.
describe('a machine that is gone', { concurrency: 2 }, () => {
  testOverStores('effects that were half done are finished, and numbers of attempts go on', async (t, store) => {
    const { forge, proxy, begins, waits, attemptsOf, say, start, takeOver } = await setUp(t, store);
    // The branch is there, and nobody knows whether its pull request is.
    proxy.choose = (method, path) => (method === 'POST' && /\/pulls$/.test(path) ? 'hang' : undefined);
    const [pushed, worked] = [await forge.open('First'), await forge.open('Second')];
    const tool = agentRunning(
      [
        begins,
        `if [ "$TOOL_ISSUE-$TOOL_ATTEMPT" = ${worked}-1 ]; then exit 3; fi`,
        `if [ "$TOOL_ISSUE-$TOOL_ATTEMPT" = ${worked}-2 ]; then ${waits()}; fi`,
        COMMIT,
      ].join('\n'),
    );
    const first = await start(tool);
    await first.logged('watching');
    const worker = startWorker(t, 'one', store, ['--slots', '2']);
    await first.until('both are under way', () => proxy.times('hang') > 0 && attemptsOf(worked) === '1,2');
    await knowsAgent(first, store, worked, 2);
    const second = await takeOver(first, tool);
    proxy.choose = () => undefined;
    await second.logged(/its agent of attempt 2 goes on/);
    say();
    for (const issue of [pushed, worked]) await assertDoneOnce(forge, second, issue);
    // Its agent was not ended.
    assert.deepEqual([attemptsOf(pushed), attemptsOf(worked)], ['1', '1,2']);
    await second.until('nothing of what is published is kept', () => keptOf(worker).length === 0);
  });

  testOverStores(
    'commits that were handed in and not published come from the worker that kept them',
    async (t, store) => {
      const { forge, proxy, begins, attemptsOf, start, takeOver } = await setUp(t, store);
      proxy.choose = (_, path) => (path.includes('git-receive-pack') ? 'status502' : undefined);
      const issue = await forge.open('Do it');
      const tool = agentRunning(`${begins}; ${COMMIT}`);
      const first = await start(tool);
      await first.logged('watching');
      const worker = startWorker(t, 'one', store);
      await first.until('it cannot be pushed', () => proxy.times('status502') > 0);
      await first.until('the work is kept', () => keptOf(worker).some((name) => name.endsWith('.bundle')));
      const second = await takeOver(first, tool);
      proxy.choose = () => undefined;
      await assertDoneOnce(forge, second, issue);
      assert.equal(attemptsOf(issue), '1');
      assert.match(second.log, /work_awaited/);
      assert.match(worker.stderr, /what was kept of the attempt .* is with the coordinator/);
      await second.until('it is kept no longer', () => keptOf(worker).length === 0);
    },
  );

  testOverStores(
    'commits beside a question, which were never pushed, are what the attempt after the answer begins with',
    async (t, store) => {
      const { forge, begins, attemptsOf, start, takeOver } = await setUp(t, store);
      const issue = await forge.open('Do it');
      const tool = agentRunning(
        [
          begins,
          `if [ "$TOOL_ATTEMPT" = 1 ]; then ${COMMIT}; tool issue ask "Which one?"; exit 0; fi`,
          // Fails without what the first attempt has committed.
          'cp work.txt more.txt; git add -A; git commit -qm "Go on"',
        ].join('\n'),
      );
      const first = await start(tool);
      await first.logged('watching');
      const worker = startWorker(t, 'one', store);
      await first.until('it waits for an answer', async () => (await forge.labelsOf(issue)).includes('tool-question'));
      await first.until('the work is kept', () => keptOf(worker).some((name) => name.endsWith('.bundle')));
      const second = await takeOver(first, tool);
      await forge.forge.call('maintainer', 'POST', `${BASE}/issues/${issue}/comments`, { body: 'The red one.' });
      await assertDoneOnce(forge, second, issue);
      assert.equal(attemptsOf(issue), '1,2', second.log);
      assert.match(second.log, /work_awaited/);
    },
  );

  testOverStores(
    'an agent at work goes on under a coordinator at the same place, then on another machine: its commits are published, its cost counts once',
    async (t, store) => {
      const { forge, place, waits, attemptsOf, say, start } = await setUp(t, store);
      const issue = await forge.open('Do it');
      const tool = hostRunning(place, waits);
      const first = await start(tool);
      await first.logged('watching');
      const worker = startWorker(t, 'one', store, [], { ANTHROPIC_API_KEY: MODEL_KEY });
      await first.until('its second turn', () => existsSync(join(place, 'turn-2')));
      await knowsAgent(first, store, issue);
      assert.equal(await first.stop('SIGKILL'), 'SIGKILL');
      first.start();
      await first.logged(/its agent of attempt 1 goes on/);
      say('go-2');
      await first.until('its third turn', () => existsSync(join(place, 'turn-3')));
      await knowsAgent(first, store, issue, 2);
      await vanish(first);
      const second = await start(tool);
      await second.logged(/its agent of attempt 2 goes on/);
      say('go-3');
      await assertDoneOnce(forge, second, issue);
      assert.equal(attemptsOf(issue), '1', second.log);
      const files = await gitAs(forge.bare, 'ls-tree', '-r', '--name-only', `tool/issue-${issue}`);
      assert.match(files, /^one\.txt$[\s\S]*^work\.txt$/m);
      assert.match(worker.stderr, /goes on as attempt 2[\s\S]*goes on as attempt 3/);
      await second.until('it is completed', async () => (await second.state()).completed.length === 1);
      const { totals, completed } = await second.state();
      assert.deepEqual([totals.cost_usd, totals.input_tokens, completed[0]?.cost_usd], [3, 300, 3]);
      const metrics = await (await fetch(`http://127.0.0.1:${second.port}/metrics`)).text();
      assert.match(metrics, /^toolcrew_cost_usd_total 3$/m);
      assert.match(metrics, /^toolcrew_tokens_total\{direction="input"\} 300$/m);
      const journal = readFileSync(join(second.stateDir, 'journal.jsonl'), 'utf8');
      const costs = [...journal.matchAll(/"type":"attempt_ended".*?"cost_usd":([\d.]+)/g)].map(([, cost]) =>
        Number(cost),
      );
      // What the machine that is gone had told only itself belongs to the attempt after.
      assert.deepEqual([costs.length, costs[0], costs.reduce((sum, cost) => sum + cost, 0)], [3, 1, 3]);
      await second.until('nothing is kept any more', () => keptOf(worker).length === 0);
    },
  );
});
