// `tool demo --team`: a team on the embedded forge, led inside the daemon; what is left of it, however it ends.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { TeamSummary } from '../../src/agents/rules/team-summary.ts';
import { teamDemoJson } from '../../src/cli/rules/team-demo-json.ts';
import type { StateView } from '../../src/daemon/view.ts';
import { type RunningTool, startTool } from '../support/daemon.ts';
import { demoPlace } from '../support/demo-place.ts';
import { fields } from '../support/forge.ts';

/** Long enough for a machine that has other work. */
const LONG_MS = 10 * 60_000;

/** Waits until the demo has made something. */
async function begun(directory: string, demo: RunningTool): Promise<void> {
  let isOver = false;
  void demo.ended.then(() => {
    isOver = true;
  });
  while (readdirSync(directory).length === 0) {
    assert.ok(!isOver, `the demo ended before it had made anything: ${demo.stderr}`);
    await setTimeout(5);
  }
}

function addressOf(demo: RunningTool, name: string): string {
  return new RegExp(`^ {2}${name} +(http://[^\\s,]+)`, 'm').exec(demo.stderr)?.[1] ?? '';
}

/** The most teammates that had a task in hand at one moment, by what the log says of when each was taken up and done. */
function mostAtOnce(tasks: TeamSummary['tasks']): number {
  const spans = tasks.map(({ owner, started_at: begun, seconds }) => {
    assert.ok(begun !== null && seconds !== null);
    return { owner, from: Date.parse(begun), to: Date.parse(begun) + seconds * 1000 };
  });
  return Math.max(
    ...spans.map(
      ({ from }) => new Set(spans.filter((one) => one.from <= from && from < one.to).map((one) => one.owner)).size,
    ),
  );
}

test('each change is a line, and both wall clocks; the forge has one pull request with the report, and the done label', async (t) => {
  const { env, nothingLeft } = demoPlace(t);
  const demo = startTool(t, ['demo', '--team', '--keep'], { env, detached: true });
  await demo.printed(/files {6}\/\S+\n/, LONG_MS);
  const { stdout } = demo;
  assert.match(stdout, /^ {2}forge {6}http:\S+\/maintainer\/guestbook\n {2}watch it {3}http:\/\/localhost:\d+\n\n/);
  assert.match(stdout, /^ {2}▸ backend-dev: 1 Build the server side/m);
  assert.match(stdout, /^ {2}backend-dev → frontend-dev, api ready: POST \/entries$/m);
  assert.match(stdout, /^ {2}✖ not accepted: 1 so far$/m);
  assert.match(stdout, /^ {2}✔ quality: 7 Verify the quality.* \(\d+\.\d s\)$/m);
  assert.match(stdout, /^ {2}✔ #1 Let visitors sign the guest book: pull request #2$/m);
  assert.match(stdout, /one after the other[\s\S]*^ {2}· \d "Tell the health"$/m);
  assert.match(stdout, /^ +8 +completed +backend-dev +\d+\.\d +Change asked for/m);
  assert.match(stdout, /1 rejection, 7 files on tool\/issue-1; gate: passed · tests passed/);
  assert.match(stdout, /^ {2}pull request #2 with the team's report, http\S+\/pull\/2; issue #1 has tool-done$/m);
  assert.match(stdout, /^ {2}\d+\.\d s as a team; \d+\.\d s one after the other\.$/m);

  const [api, token] = [addressOf(demo, 'API'), /token (\S+)"/.exec(demo.stderr)?.[1] ?? ''];
  const ask = async (path: string): Promise<readonly unknown[]> => {
    const response = await fetch(`${api}/repos/maintainer/guestbook${path}`, {
      headers: { authorization: `token ${token}` },
    });
    const data: unknown = await response.json();
    assert.ok(Array.isArray(data), path);
    return data;
  };
  const pulls = await ask('/pulls?state=all');
  assert.equal(pulls.length, 1);
  const body = String(fields(pulls[0]).body);
  for (const words of ['api ready', 'component ready', 'change request', 'change completed', 'quality gate passed'])
    assert.ok(body.includes(`, ${words}: `), `${words} is in the report:\n${body}`);
  assert.match(
    body,
    /^8 of 8 tasks by 4 teammates[\s\S]*## Gate\n\nPassed\.[\s\S]*## Rejected on the way\n\n- backend-dev/m,
  );
  assert.match(body, /Closes #1/);
  assert.deepEqual(
    (await ask('/issues/1/labels')).map((label) => fields(label).name),
    ['tool-done'],
  );

  const dashboard = addressOf(demo, 'dashboard');
  const page = await (await fetch(dashboard, { headers: { accept: 'text/html' } })).text();
  assert.match(page, /aria-label="Team of issue 1"[\s\S]*Tell the health/, 'the finished team is to be seen');
  const state: StateView = JSON.parse(await (await fetch(`${dashboard}/api/v1/state`)).text());
  const [row] = state.completed;
  assert.equal(row?.outcome, 'done');
  const team = row.team;
  assert.ok(team !== null);
  assert.equal(team.task_counts.completed, 8);
  assert.ok(mostAtOnce(team.tasks) >= 2, `they work side by side: ${JSON.stringify(team.tasks)}`);
  const shown = teamDemoJson({ row, team, files: 7, seconds: state.totals.seconds_running }, 1);
  const { tasks, messages, rejections, gate, branch } = shown;
  assert.equal(tasks.length, 8, 'those of the plan, the one that was asked for, and the verification');
  assert.deepEqual([...new Set(tasks.map(({ outcome }) => outcome))], ['completed']);
  assert.deepEqual([...new Set(tasks.map(({ owner }) => owner))].sort(), [
    'backend-dev',
    'frontend-dev',
    'quality',
    'tester',
  ]);
  assert.ok(messages >= 5);
  assert.equal(rejections, 1);
  assert.equal(gate?.ok, true);
  assert.equal(branch, 'tool/issue-1');

  process.kill(-demo.pid, 'SIGINT');
  assert.equal((await demo.ended).code, 0);
  nothingLeft();
});

test('with --json the figures are one object on standard output, and nothing else is', async (t) => {
  const { env, nothingLeft } = demoPlace(t);
  const { code, stdout, stderr } = await startTool(t, ['demo', '--team', '--json'], { env }).ended;
  assert.equal(code, 0, stderr);
  const {
    tasks,
    messages,
    rejections,
    gate,
    branch,
    files,
    seconds,
    solo_seconds: alone,
    ...more
  } = JSON.parse(stdout);
  assert.deepEqual(more, {});
  assert.deepEqual([tasks.length, rejections, gate.ok, branch, files], [8, 1, true, 'tool/issue-1', 7]);
  assert.deepEqual(Object.keys(tasks[0]), ['id', 'subject', 'owner', 'outcome', 'note', 'seconds']);
  assert.ok(messages >= 5 && seconds > 0 && alone > 0, stdout);
  nothingLeft();
});

for (const [words, moment] of [
  ['while the place is prepared', null],
  ['while the team works', /▸ tester: /],
] as const)
  test(`a second signal ${words} ends all of it at once`, async (t) => {
    const { env, nothingLeft } = demoPlace(t);
    const demo = startTool(t, ['demo', '--team', ...(moment === null ? ['--json'] : [])], { env, detached: true });
    if (moment === null) await begun(env.TMPDIR, demo);
    else await demo.printed(moment, LONG_MS);
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.kill(-demo.pid, name);
    const { code, stdout, stderr } = await demo.ended;
    if (moment === null) assert.equal(stdout, '');
    assert.ok(code === 130 || code === 143, `whichever was heard last: ${code}`);
    assert.equal(stderr, '');
    nothingLeft();
  });
