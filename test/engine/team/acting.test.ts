// What follows from an agent's call where the lead is a model: the steps that code takes, and what the lead is told of them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { putSpec } from '../../../src/adapters/specs.ts';
import type { Evidence } from '../../../src/domain/team/caller.ts';
import { act } from '../../../src/engine/team/acting.ts';
import { onPrompt } from '../../../src/engine/team/prompting.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../../support/plan-results.ts';
import { type Answer, failing, TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const PLAN = 'tool-plan-log-out';
const DEBUG = 'tool-debug-it-fails';
const SPEC = 'SPEC-LOG-OUT-001';

class World extends TeamWorld {
  written: string[] = [];

  constructor(t: Cleanup) {
    super(t);
    this.pretend({
      writeSpec: (spec, replaces) => putSpec(this.root, spec, replaces, '2026-01-05'),
      writeReport: (_directory, text) => {
        this.written.push(text);
        return 'report.md';
      },
    });
  }

  act(who: string, name: string, input: Answer = {}): Promise<Answer> {
    return act(this.context, name, input, this.evidence(who));
  }

  /** A team with a task for each of these members, claimed by it. */
  async begun(team: string, members: readonly string[], subject = 'log out'): Promise<void> {
    await this.act('team-lead', 'TeamCreate', { team_name: team, subject });
    for (const name of members) {
      await this.start(name, team);
      await this.act('team-lead', 'TaskCreate', { subject: `Part of ${name}`, description: 'd', owner: name });
    }
    for (const [at, name] of members.entries())
      await this.act(name, 'TaskUpdate', { taskId: String(at + 1), status: 'in_progress' });
  }

  done(who: string, taskId: string, result: string): Promise<Answer> {
    return this.act(who, 'TaskUpdate', { taskId, status: 'completed', result });
  }

  /** The last that the lead was told by mail. */
  told(team: string): string {
    return String(this.state(team).messages.findLast(({ to }) => to === 'team-lead')?.content ?? '');
  }
}

const PLANNERS = ['researcher', 'analyst', 'architect'];

test('the last result makes the SPEC, and the lead is told what to ask', async (t) => {
  const world = new World(t);
  await world.begun(PLAN, PLANNERS);
  await world.done('researcher', '1', RESEARCHER);
  await world.done('analyst', '2', ANALYST);
  assert.equal(world.told(PLAN), '');
  await world.done('architect', '3', ARCHITECT);
  assert.match(
    world.told(PLAN),
    new RegExp(`^${SPEC} was written from the results\\. .*"approve ${SPEC}" approves it`),
  );
  assert.equal(world.state(PLAN).session, 'awaiting_approval');
  // The lead looks once more: nothing is left for code to do.
  assert.equal((await world.act('team-lead', 'TaskList')).note, undefined);
});

test('two results that come in at once make one SPEC', async (t) => {
  const world = new World(t);
  await world.begun(PLAN, PLANNERS);
  await world.done('researcher', '1', RESEARCHER);
  await Promise.all([world.done('analyst', '2', ANALYST), world.done('architect', '3', ARCHITECT)]);
  const told = world.state(PLAN).messages.filter(({ content }) => String(content).includes('was written'));
  assert.equal(told.length, 1);
  assert.equal(world.state(PLAN).tasks.size, 3);
});

test('results that make no SPEC are given back three times, then the user is told', async (t) => {
  const world = new World(t);
  await world.begun(PLAN, PLANNERS);
  await world.done('researcher', '1', RESEARCHER);
  await world.done('analyst', '2', 'It shall be good.');
  await world.append({ type: 'member_idle', name: 'analyst', epoch: 1, stopped: true }, PLAN);
  await world.done('architect', '3', ARCHITECT);
  assert.match(
    world.told(PLAN),
    /make no SPEC yet, and were given back: analyst: line \d+ .*Start analyst again: Task for each/s,
  );
  await world.start('analyst', PLAN);
  for (const id of ['4', '5', '6']) {
    await world.act('analyst', 'TaskUpdate', { taskId: id, status: 'in_progress' });
    await world.done('analyst', id, 'It shall be good.');
  }
  assert.match(world.told(PLAN), /^the results make no SPEC: analyst: .*Tell the user/s);
  assert.equal(world.state(PLAN).tasks.size, 6);
  // What comes back right all the same goes on from there.
  await world.act('team-lead', 'TaskCreate', { subject: 'Once more', description: 'd', owner: 'analyst' });
  await world.act('analyst', 'TaskUpdate', { taskId: '7', status: 'in_progress' });
  await world.done('analyst', '7', ANALYST);
  assert.match(world.told(PLAN), new RegExp(`^${SPEC} was written`));
});

test('a team without those whose results a SPEC is made of is told so', async (t) => {
  const world = new World(t);
  world.settings = { ...world.settings, patterns: { ...world.settings.patterns, plan_research: ['researcher'] } };
  await world.begun(PLAN, ['researcher']);
  await world.done('researcher', '1', RESEARCHER);
  assert.match(
    world.told(PLAN),
    /^a SPEC is made of what analyst and architect give: there is no analyst, no architect/,
  );
  const answer = await onPrompt(
    world.context,
    world.event('team-lead', 'UserPromptSubmit', { prompt: '/tool:1-plan "log in" --team' }),
  );
  assert.match(
    answer.kind === 'context' ? answer.text : '',
    /patterns\.plan_research: expected analyst and architect among the roles, .*got researcher/,
  );
});

test('where no approval is required the team ends with the SPEC', async (t) => {
  const world = new World(t);
  world.settings = { ...world.settings, requirePlanApproval: false };
  await world.begun(PLAN, PLANNERS);
  await world.done('researcher', '1', RESEARCHER);
  await world.done('analyst', '2', ANALYST);
  await world.done('architect', '3', ARCHITECT);
  assert.match(world.told(PLAN), /It needs no approval .*Next: SendMessage .*TeamDelete/);
  assert.equal(world.state(PLAN).session, 'approved');
});

test('what was built is measured as one, closed, and reported', async (t) => {
  const world = new World(t);
  world.changed = ['src/api/logout.js'];
  await world.begun(TEAM, ['backend-dev'], 'SPEC-AUTH-001');
  await world.done('backend-dev', '1', 'done');
  assert.match(world.told(TEAM), /^the gate has passed the work of all\. Next: SendMessage/);
  const { session, gate } = world.state();
  assert.deepEqual([session, gate?.task], ['complete', null]);
  await world.act('team-lead', 'SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'x' });
  await world.append({ type: 'member_idle', name: 'backend-dev', epoch: 1, stopped: true });
  const answer = await world.act('team-lead', 'TeamDelete', { team_name: TEAM });
  assert.equal(answer.report, 'report.md');
  assert.match(
    world.written.join(),
    /^# SPEC-AUTH-001\n\n1 of 1 tasks by 1 teammates \(tool-run-spec-auth-001\); 1 files in the checkout\.$/m,
  );
});

test('what the gate finds in the work of all is given to who can mend it, three times', async (t) => {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev']);
  const bad = failing('f'.repeat(40));
  const [good] = world.gate;
  assert.ok(good !== undefined);
  for (let round = 1; round <= 4; round += 1) {
    // Its own task passes, the whole does not.
    world.gate = [good, bad];
    await world.done('backend-dev', String(round), 'done');
    assert.equal(world.state().gate?.rejected, round);
    if (round === 4) break;
    assert.match(
      world.told(TEAM),
      /^the gate does not pass the work of all\. Whoever it concerns has a task for it\.$/,
    );
    assert.equal(world.state().tasks.get(String(round + 1))?.owner, 'backend-dev');
    await world.act('backend-dev', 'TaskUpdate', { taskId: String(round + 1), status: 'in_progress' });
  }
  assert.match(world.told(TEAM), /^the gate has rejected the work 4 times: .*Tell the user/s);
  assert.equal(world.state().tasks.size, 4);
});

test('the first cause that is proven ends the search; who did not say it in the form is asked once', async (t) => {
  const world = new World(t);
  await world.begun(DEBUG, ['hypothesis-1', 'hypothesis-2'], 'it fails');
  await world.done('hypothesis-1', '1', 'I looked around.');
  assert.equal(world.state(DEBUG).session, 'working');
  await world.done('hypothesis-2', '2', 'refuted: it never was\n$ x\ny');
  assert.match(world.told(DEBUG), /^what came of a hypothesis was not said in the form\. /);
  await world.act('hypothesis-1', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  await world.done('hypothesis-1', '3', 'proven: Node is too old\n$ node --version\nv20');
  assert.match(
    world.told(DEBUG),
    /^hypothesis-1 has proven the cause: Node is too old\. It is shown by: \$ node --version/,
  );
  assert.equal(world.state(DEBUG).session, 'complete');
});

test('when all are refuted the lead is told what was tried', async (t) => {
  const world = new World(t);
  await world.begun(DEBUG, ['hypothesis-1'], 'it fails');
  await world.done('hypothesis-1', '1', 'refuted: it never was\n$ x\ny');
  assert.match(world.told(DEBUG), /^no hypothesis was proven: Part of hypothesis-1: refuted: it never was\nNext: /);
});

test('a lead that works alone is told by the answer', async (t) => {
  const world = new World(t);
  const prompt = '/tool:1-plan "log out" --solo';
  await onPrompt(world.context, world.event('team-lead', 'UserPromptSubmit', { prompt }));
  await world.done('team-lead', '1', RESEARCHER);
  await world.done('team-lead', '2', ANALYST);
  const { note } = await world.done('team-lead', '3', ARCHITECT);
  assert.match(String(note), new RegExp(`^${SPEC} was written .*Then TeamDelete \\{"team_name":"${PLAN}"\\}\\.$`));
  assert.equal(world.state(PLAN).messages.length, 0);
});

test('a restart makes up for what a killed server has left undone', async (t) => {
  const world = new World(t);
  await world.begun(PLAN, PLANNERS);
  for (const [at, result] of [RESEARCHER, ANALYST, ARCHITECT].entries())
    await world.call(PLANNERS[at] ?? '', 'TaskUpdate', { taskId: String(at + 1), status: 'completed', result });
  assert.equal(world.state(PLAN).session, 'working');
  const event = world.event('team-lead', 'UserPromptSubmit', { prompt: '/tool:team-restart', session: 'another' });
  const answer = await onPrompt(world.context, event);
  assert.match(answer.kind === 'context' ? answer.text : '', new RegExp(`${SPEC} was written from the results`));
  assert.equal(world.state(PLAN).session, 'awaiting_approval');
});

test('a lead that is known by a key is told as well; one that is code takes these steps itself', async (t) => {
  const world = new World(t);
  const nothing: Evidence = { kind: 'nothing', why: 'the host names nobody' };
  const lead = async (name: string, input: Answer) => act(world.context, name, input, nothing);
  const { key } = await lead('TeamCreate', { team_name: DEBUG, subject: 'it fails' });
  await lead('TaskCreate', { key, subject: 'Look', description: 'd', owner: 'hypothesis-1' });
  const { note } = await lead('TaskUpdate', {
    key,
    taskId: '1',
    status: 'completed',
    result: 'proven: Node is too old\n$ node --version\nv20',
  });
  assert.match(String(note), /has proven the cause: Node is too old/);
  await lead('TeamDelete', { key, team_name: DEBUG });

  const terminal: Evidence = { kind: 'environment', team: null, teammate: null };
  await act(world.context, 'TeamCreate', { team_name: PLAN, subject: 'log out' }, terminal);
  await act(world.context, 'TaskCreate', { subject: 'Look', description: 'd', owner: 'analyst' }, terminal);
  await act(world.context, 'TaskUpdate', { taskId: '1', status: 'completed', result: ANALYST }, terminal);
  assert.equal(world.state(PLAN).tasks.size, 1);
});
