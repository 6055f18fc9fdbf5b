// The daemon is killed at each record while `tool cancel` or `tool retry` is carried out; the next one on the same state carries it out once.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { programFile } from '../support/compiled.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { startForge, type TestForge } from '../support/forge.ts';
import { processesAt } from '../support/processes-at.ts';
import type { Cleanup } from '../support/temp.ts';

const KILLED = programFile('killed-daemon');

const CANCEL = [
  'record steered recorded',
  'record attempt_ended recorded',
  'label_remove label_remove:tool-todo announced',
  'label_remove label_remove:tool-todo performed',
  // A reading of the issue follows, which is no effect.
  'label_remove label_remove:tool-todo recorded',
  'record finished recorded',
];

const RETRY = [
  'record steered recorded',
  'label_add label_add:tool-todo announced',
  'label_add label_add:tool-todo performed',
  'label_add label_add:tool-todo recorded',
  'record claimed recorded',
  'label_remove label_remove:tool-failed announced',
  'label_remove label_remove:tool-failed performed',
];

type Killed = { readonly forge: TestForge; readonly daemon: Daemon; readonly issue: number; readonly attempts: string };

/** Gives the command once `isReady`; the daemon dies of it, and the next one starts. */
async function killedBy(
  t: Cleanup,
  command: string,
  at: string,
  script: string,
  isReady: (daemon: Daemon) => Promise<boolean>,
): Promise<Killed> {
  const forge = await startForge(t);
  const issue = await forge.open('Do it');
  const daemon = await Daemon.create(t, forge);
  const attempts = join(daemon.directory, 'attempts');
  daemon.write(
    [
      agentRunning(`echo "$TOOL_ATTEMPT" >> ${attempts}\n${script}`),
      'agent: { max_attempts: 1 }',
      'gate: { mode: "off" }',
    ].join('\n'),
  );
  daemon.start([], { KILL_AT: at }, [KILLED]);
  await daemon.until('it is ready', () => isReady(daemon));
  // It may end without an answer.
  await runTool([command, String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.equal(await daemon.exit(), 'SIGKILL', daemon.log);
  daemon.log = '';
  daemon.start();
  return { forge, daemon, issue, attempts };
}

function timesOf(daemon: Daemon, record: string): number {
  const journal = readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8');
  return journal.split('\n').filter((line) => line.includes(record)).length;
}

for (const at of CANCEL)
  test(`killed under tool cancel, ${at}: the label is off, the work is kept, and no agent starts again`, async (t) => {
    const { forge, daemon, issue, attempts } = await killedBy(
      t,
      'cancel',
      at,
      'echo at work; setsid sleep 600 & sleep 600',
      async (one) => (await one.state()).running[0]?.last_message === 'at work',
    );
    await daemon.until('it is cancelled', async () => {
      const { running, completed, poll } = await daemon.state();
      return running.length === 0 && completed[0]?.outcome === 'label_removed' && poll.last_at !== null;
    });
    assert.equal(await daemon.stop(), 143, daemon.log);
    assert.deepEqual(await forge.labelsOf(issue), []);
    assert.deepEqual(await forge.comments(issue), []);
    assert.equal(timesOf(daemon, '"finished"'), 1);
    assert.equal(readFileSync(attempts, 'utf8'), '1\n');
    assert.ok(existsSync(join(daemon.root, `issue-${issue}`, '.git')));
    assert.deepEqual(processesAt(daemon.directory), []);
  });

for (const at of RETRY)
  test(`killed under tool retry, ${at}: the issue goes on in the same life, and ends once`, async (t) => {
    const { forge, daemon, issue, attempts } = await killedBy(
      t,
      'retry',
      at,
      'if [ "$TOOL_ATTEMPT" = 1 ]; then exit 1; fi; echo done >> work.txt; git add work.txt; git commit -qm "Do it"',
      async (one) => (await one.state()).counts.failed === 1,
    );
    await daemon.until('it is done', async () => (await daemon.state()).counts.completed === 1);
    assert.equal(await daemon.stop(), 143, daemon.log);
    assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
    assert.deepEqual(
      (await forge.pulls()).map(({ head }) => head),
      [`tool/issue-${issue}`],
    );
    assert.equal((await forge.comments(issue)).length, 1, 'that it failed is told once');
    assert.equal(readFileSync(attempts, 'utf8'), '1\n2\n');
    assert.deepEqual(processesAt(daemon.directory), []);
  });
