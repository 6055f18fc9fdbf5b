// `tool pause`, `resume`, `cancel` and `retry` against a daemon that runs, and without one.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { WORK_CODES as ATTEMPT_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { readControlPlace } from '../../src/daemon/runners/control-socket.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { lineLike, wordsLike, wordsOf } from '../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';

const PAUSED = wordsOf(ATTEMPT_CODES.issue_paused, {});

test('an issue is paused over a restart, resumed, cancelled and retried to its end', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('Do it');
  const daemon = await Daemon.create(t, forge);
  const mayEnd = join(daemon.directory, 'may-end');
  daemon.write(
    agentRunning(
      `while [ ! -e ${mayEnd}-$TOOL_ATTEMPT ]; do sleep 0.05; done; echo x > x.txt; git add -A; git commit -qm "Do it"`,
    ),
  );
  const steer = (command: string, number: number, ...more: string[]) =>
    runTool([command, String(number), daemon.workflow, ...more], { env: cleanEnv(daemon.home) });
  const attempt = async () => (await daemon.state()).running.find((row) => row.phase === 'agent')?.attempt;
  const queued = async () => (await daemon.state()).queued.map(({ reason }) => reason);

  const none = await steer('pause', issue);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /\(daemon_not_running\)/);
  // One that was killed has left its file.
  mkdirSync(daemon.stateDir, { recursive: true });
  writeFileSync(
    join(daemon.stateDir, 'control.json'),
    JSON.stringify({ socket: join(daemon.directory, 's'), key: 'k' }),
  );
  assert.match((await steer('pause', issue)).stderr, /\(daemon_not_running\)/);

  daemon.start();
  await daemon.until('the first attempt', async () => (await attempt()) === 1);
  const paused = await steer('pause', issue, '--json');
  assert.deepEqual([paused.code, JSON.parse(paused.stdout)], [0, { issue, command: 'pause', standing: 'paused' }]);
  await daemon.until('it waits', async () => (await queued()).includes(PAUSED));
  assert.equal(await daemon.stop(), 143);
  assert.equal(existsSync(join(daemon.stateDir, 'control.json')), false);
  daemon.log = '';
  daemon.start();
  await daemon.until('it waits again', async () => (await queued()).includes(PAUSED));
  const explained = await runTool(['explain', String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.match(explained.stdout, /an operator says: tool pause\n(?:.*\n)*now: it waits: /);
  assert.ok(explained.stdout.endsWith(`now: it waits: ${PAUSED}\n`), explained.stdout);

  const twice = await steer('pause', issue, '--json');
  assert.equal(twice.code, 1);
  assert.equal(JSON.parse(twice.stdout).error.values.code, 'issue_not_steerable');
  assert.match(
    (await steer('retry', 99)).stderr,
    lineLike(CLI_CODES.daemon_refused, { said: wordsLike(ATTEMPT_CODES.issue_not_known, { issue: 99 }) }),
  );

  assert.match((await steer('resume', issue)).stdout, /goes on when a slot is free\n$/);
  await daemon.until('the second attempt', async () => (await attempt()) === 2);
  assert.equal((await steer('cancel', issue)).code, 0);
  await daemon.until('the label is off', async () => (await forge.labelsOf(issue)).length === 0);
  await daemon.until('it is parked', async () => (await daemon.state()).completed[0]?.outcome === 'label_removed');
  assert.equal(existsSync(join(daemon.root, `issue-${issue}`)), true);

  assert.equal((await steer('retry', issue)).code, 0);
  await daemon.until('the third attempt', async () => (await attempt()) === 3);
  const journal = readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8');
  assert.deepEqual(journal.match(/(?<="steer":")\w+/g), ['pause', 'resume', 'cancel', 'retry']);
  await daemon.stop();
});

test('a daemon that ends keeps its key hidden until its last program has ended', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('Do it');
  const daemon = await Daemon.create(t, forge);
  const [begun, mayEnd] = [join(daemon.directory, 'begun'), join(daemon.directory, 'may-end')];
  const hook = `touch ${begun}; while [ ! -e ${mayEnd} ]; do sleep 0.05; done`;
  daemon.write(`${agentRunning(COMMITS)}\nhooks: { before_remove: "${hook}" }`);
  daemon.start();
  await daemon.until('the workspace is to be removed', () => existsSync(begun));
  const { socket } = readControlPlace(daemon.stateDir) ?? assert.fail(daemon.log);
  const stopped = daemon.stop();
  await daemon.until('it takes no more commands', () => !existsSync(socket));
  assert.ok(readControlPlace(daemon.stateDir), 'git in the workspace could not begin while it goes');
  writeFileSync(mayEnd, '');
  assert.equal(await stopped, 143, daemon.log);
  assert.equal(readControlPlace(daemon.stateDir), undefined);
  assert.equal(existsSync(join(daemon.root, `issue-${issue}`)), false);
  assert.deepEqual(await forge.comments(issue), []);
});
