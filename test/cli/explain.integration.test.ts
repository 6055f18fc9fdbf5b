// `tool explain` on a daemon that runs, and on what it left behind.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { WORK_CODES as ATTEMPT_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { wordsOf } from '../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';

test('an issue that is done tells its story, one that waits tells why, and nothing is told of another', async (t) => {
  const forge = await startForge(t);
  const done = await forge.open('Do it');
  const waits = await forge.open('Not trusted', { author: 'stranger' });
  const daemon = await Daemon.create(t, forge);
  daemon.write(
    [agentRunning('echo x > x.txt; git add -A; git commit -qm "Do it"'), 'gate: { mode: report }'].join('\n'),
  );
  const explain = (issue: number, ...more: string[]) =>
    runTool(['explain', String(issue), daemon.workflow, ...more], { env: cleanEnv(daemon.directory) });
  daemon.start();
  await daemon.until('one is done', async () => (await daemon.state()).counts.completed === 1);
  const waiting = await explain(waits);
  assert.equal(waiting.stderr, '');
  assert.equal(
    waiting.stdout,
    `now: it waits: ${wordsOf(ATTEMPT_CODES.issue_untrusted, { person: 'stranger', role: 'wrote it' })}\n`,
  );
  assert.equal(await daemon.stop(), 143);

  const story = await explain(done);
  assert.equal(story.code, 0, story.stderr);
  const told = story.stdout.split('\n').map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}/, ''));
  const order = [
    'taken up: Do it',
    'attempt 1 begins with command',
    'the workspace is there',
    'the attempt succeeded; it is published',
    'checks: no command of the project measures the work',
    'pull request #3 is open',
    'the label tool-done is put on',
    'the label tool-todo is taken off',
    'over: done',
    'now: no daemon runs here',
  ];
  assert.deepEqual(
    told.filter((line) => order.includes(line)),
    order,
  );
  const json: unknown = JSON.parse((await explain(done, '--json')).stdout);
  assert.deepEqual(Object.keys(Object(json)), ['issue', 'story', 'now']);

  const unknown = await explain(99);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /\(issue_unexplained_now\)/);
});

test('a daemon without a status server tells as well why an issue waits, and which it does not know', async (t) => {
  const forge = await startForge(t);
  const waits = await forge.open('Not trusted', { author: 'stranger' });
  const daemon = await Daemon.create(t, forge);
  daemon.write(agentRunning('exit 0'));
  const text = readFileSync(daemon.workflow, 'utf8');
  writeFileSync(daemon.workflow, text.replace(/^server: .*$/m, 'server: { port: 0 }'));
  const explain = (issue: number) =>
    runTool(['explain', String(issue), daemon.workflow], { env: cleanEnv(daemon.directory) });
  daemon.start();
  await daemon.logged(/may not write/);
  const { stdout, stderr } = await explain(waits);
  assert.equal(
    stdout,
    `now: it waits: ${wordsOf(ATTEMPT_CODES.issue_untrusted, { person: 'stranger', role: 'wrote it' })}\n`,
    stderr,
  );
  assert.match((await explain(99)).stderr, /\(issue_unexplained\)/);
});
