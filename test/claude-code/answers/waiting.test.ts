// A teammate that waits for the result of another: no rejection, no successor, and it goes on with the result.

import assert from 'node:assert/strict';
import test from 'node:test';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onTeammateIdle } from '../../../src/claude-code/answers/on-teammate-idle.ts';
import { NO_FLAGS } from '../../../src/claude-code/rules/arguments.ts';
import type { HookContext } from '../../../src/compose/hook-context.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { decideWork, recordProposal } from '../../../src/team/select/work-decision.ts';
import { isRefusal } from '../../support/codes.ts';
import { TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const PLANNERS = ['researcher', 'analyst', 'architect'];
const DONE = {
  status: 'completed',
  result:
    '## Requirements\n\n- R1: The page shall show a button.\n\n## Acceptance\n\n- A1 (R1): Given a page, when it opens, then there is a button.',
};
const DESIGN = `> A button.

## T1: Show the button

- files: \`src/pages/account.js\`
- domain: frontend
- depends on: none
- requirements: `;

class Planning {
  readonly world: TeamWorld;
  team = '';
  context: HookContext;

  constructor(t: Cleanup) {
    this.world = new TeamWorld(t);
    this.context = { ...this.world.context, mayWait: true };
  }

  async begin(started = PLANNERS): Promise<this> {
    const flags = { ...NO_FLAGS, wish: 'team' as const };
    const command = { command: 'plan', words: 'Let users log out', flags } as const;
    const decided = await decideWork(this.context, command, this.world.settings);
    assert.ok(decided.kind === 'decided');
    this.team = decided.work.team;
    assert.equal(await recordProposal(this.context, decided), null);
    await this.world.call('team-lead', 'TeamCreate', { team_name: this.team });
    for (const name of started) await this.world.start(name, this.team);
    return this;
  }

  update(who: string, more: Readonly<Record<string, unknown>>) {
    const taskId = String(PLANNERS.indexOf(who) + 1);
    return this.world.call(who, 'TaskUpdate', { taskId, ...more });
  }

  stops(who = 'architect') {
    return onTeammateIdle(this.context, this.world.event(who, 'SubagentStop'), true);
  }

  get decisions() {
    const { decisions } = this.world.state(this.team);
    return decisions.filter(({ hook, member }) => hook === 'teammate_idle' && member === 'architect');
  }
}

test('the architect begins beside the analyst, waits for it without a rejection, and goes on with its result', async (t) => {
  const planning = await new Planning(t).begin();
  await planning.update('analyst', { status: 'in_progress' });
  await planning.update('architect', { status: 'in_progress' });
  const early = { taskId: '3', ...DONE };
  const waits = await planning.world.refusal('architect', 'TaskUpdate', early);
  isRefusal(waits, TASK_CODES.task_waits, { task: '3' });
  assert.match(String(waits.values.before), /^task 2 "Write the requirements/);
  for (const _ of [1, 2, 3]) assert.deepEqual(await planning.stops(), { kind: 'wait' });
  assert.deepEqual(planning.decisions, [], 'nothing is decided about who waits');
  assert.equal(planning.world.state(planning.team).members.get('architect')?.phase, 'working');
  await planning.update('analyst', DONE);
  const reason = await planning.world.reasonOf(planning.stops());
  assert.match(
    reason,
    /You have not finished task 3 .*\nTask 2 is completed\. The result of analyst:\n## Requirements\n\n- R1: /s,
  );
  const misses = { taskId: '3', status: 'completed', result: `${DESIGN}R2\n` };
  const wrong = await planning.world.refusal('architect', 'TaskUpdate', misses);
  isRefusal(wrong, WORK_CODES.result_breaks_spec_format, { task: '3' });
  assert.match(String(wrong.values.lines), /R2/);
  assert.match(String(wrong.values.form), /## T1: /);
  const known = async () => (await planning.world.call('architect', 'TaskGet', { taskId: '3' })).rejected_result;
  assert.equal(await known(), misses.result, 'a successor goes on with it');
  await planning.update('architect', { status: 'completed', result: `${DESIGN}R1\n` });
  assert.equal(await known(), undefined);
  assert.equal((await planning.stops()).kind, 'silent');
});

test('an architect that explored first and has not begun its task waits too, and is given it with the result', async (t) => {
  const planning = await new Planning(t).begin();
  await planning.update('analyst', { status: 'in_progress' });
  assert.deepEqual(await planning.stops(), { kind: 'wait' });
  await planning.update('analyst', DONE);
  assert.match(await planning.world.reasonOf(planning.stops()), /^toolcrew: task 3 .*\(work_unfinished\)$/m);
  await planning.update('architect', { status: 'in_progress' });
  assert.match(await planning.world.reasonOf(planning.stops()), /Task 2 is completed\. The result of analyst:/);
});

test('an architect that hands its result back while it waits goes on with what it waited for', async (t) => {
  const planning = await new Planning(t).begin();
  for (const who of ['analyst', 'architect']) await planning.update(who, { status: 'in_progress' });
  const input = { message: 'I wait.' };
  const handsBack = () =>
    onPreToolUse(
      planning.context,
      planning.world.event('architect', 'PreToolUse', { tool: 'SubagentHandback', input }),
    );
  for (const _ of [1, 2]) assert.deepEqual(await handsBack(), { kind: 'wait' });
  assert.deepEqual(planning.decisions, []);
  await planning.update('analyst', DONE);
  assert.match(await planning.world.reasonOf(handsBack()), /Task 2 is completed\. The result of analyst:/);
});

test('mail reaches who waits', async (t) => {
  const planning = await new Planning(t).begin();
  for (const who of ['analyst', 'architect']) await planning.update(who, { status: 'in_progress' });
  assert.deepEqual(await planning.stops(), { kind: 'wait' });
  await planning.world.call('team-lead', 'SendMessage', {
    recipient: 'architect',
    type: 'progress',
    content: 'Use rows.',
  });
  assert.match(await planning.world.reasonOf(planning.stops()), /\(work_unfinished\)\n.*Use rows\./);
});

test('nobody waits for who is not at work, nor when the time is over: the task is open again, and begun anew after the other', async (t) => {
  const planning = await new Planning(t).begin(['architect']);
  await planning.update('architect', { status: 'in_progress' });
  assert.equal((await planning.stops()).kind, 'silent', 'no analyst was started');
  const task = () => planning.world.state(planning.team).tasks.get('3');
  assert.equal(task()?.status, 'pending');
  await planning.world.start('architect', planning.team);
  isRefusal(
    await planning.world.refusal('architect', 'TaskUpdate', { taskId: '3', status: 'in_progress' }),
    TASK_CODES.task_blocked,
    { task: '3', before: ['task 2'] },
  );

  const late = await new Planning(t).begin();
  for (const who of ['analyst', 'architect']) await late.update(who, { status: 'in_progress' });
  late.context = late.world.context;
  assert.equal((await late.stops()).kind, 'silent', 'the last time that it is asked');
});

test('who is asked to end does not wait', async (t) => {
  const planning = await new Planning(t).begin();
  for (const who of ['analyst', 'architect']) await planning.update(who, { status: 'in_progress' });
  await planning.world.call('team-lead', 'SendMessage', {
    recipient: 'architect',
    type: 'shutdown_request',
    content: 'x',
  });
  await planning.world.call('architect', 'Inbox');
  assert.equal((await planning.stops()).kind, 'silent');
});
