// Operations of agents under a model lead: the steps that code takes after each, and the messages to the lead.
// Over 400 lines: one set of messages, which most of its cases compare.

import assert from 'node:assert/strict';
import test from 'node:test';
import { failure } from '../../../src/base/rules/errors.ts';
import { onPreToolUse, type ToolUseContext } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onUserPrompt } from '../../../src/claude-code/answers/on-user-prompt.ts';
import { operateInHost } from '../../../src/claude-code/answers/operate-in-host.ts';
import { HOOK_CODES } from '../../../src/claude-code/rules/hook-codes.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { type Commanded, DEFAULT_QUALITY } from '../../../src/gate/rules/quality.ts';
import type { PhaseLock } from '../../../src/team/ports.ts';
import type { Evidence } from '../../../src/team/rules/caller.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { SPEC_CODES } from '../../../src/team/rules/codes/spec-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { isRefusal } from '../../../src/team/rules/log/state.ts';
import { JUDGE_ROUNDS } from '../../../src/team/rules/quality-verdict.ts';
import { putSpec } from '../../../src/team/spec-documents/specs.ts';
import { failsWith, joined, START, wordsLike, wordsOf } from '../../support/codes.ts';
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
    // No check is required: the gate of these tests measures tests alone.
    this.require();
    this.pretend({
      writeSpec: (spec, replaces) => putSpec(this.root, spec, replaces, '2026-01-05'),
      writeReport: (_directory, text) => {
        this.written.push(text);
        return 'report.md';
      },
    });
  }

  require(...required: readonly Commanded[]): void {
    this.settings = { ...this.settings, quality: { ...DEFAULT_QUALITY, required } };
  }

  act(who: string, name: string, input: Answer = {}): Promise<Answer> {
    return operateInHost(this.context, name, input, this.evidence(who));
  }

  /** Starts a team with these members; each claims a task of its own. */
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

  /** Logs an accepted write of these paths, and marks them as changed. */
  async wrote(member: string, ...paths: readonly string[]): Promise<void> {
    const fields = { about: 'Write', reason: 'its own', fingerprint: '', paths };
    await this.append({ type: 'decision', hook: 'ownership', decision: 'accept', member, ...fields });
    for (const path of paths) if (!this.changed.includes(path)) this.changed.push(path);
  }

  /** The last message to the lead. */
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
    new RegExp(`^${SPEC} has been written from the planners' results\\. .*exactly "approve ${SPEC}"`),
  );
  assert.equal(world.state(PLAN).session, 'awaiting_approval');
  // After a second look of the lead, code has no step left.
  assert.equal((await world.act('team-lead', 'TaskList')).note, undefined);
});

test('two results that come in at once make one SPEC', async (t) => {
  const world = new World(t);
  await world.begun(PLAN, PLANNERS);
  await world.done('researcher', '1', RESEARCHER);
  await Promise.all([world.done('analyst', '2', ANALYST), world.done('architect', '3', ARCHITECT)]);
  const told = world.state(PLAN).messages.filter(({ content }) => String(content).includes('has been written'));
  assert.equal(told.length, 1);
  assert.equal(world.state(PLAN).tasks.size, 3);
});

test('results that make no SPEC are given back three times, then the user is told', async (t) => {
  const world = new World(t);
  await world.begun(PLAN, PLANNERS);
  const insist = async (id: string) => {
    for (const _ of [1, 2, 3])
      await failsWith(world.done('analyst', id, 'It shall be good.'), WORK_CODES.result_breaks_spec_format, {
        task: id,
      });
    await world.done('analyst', id, 'It shall be good.');
  };
  await world.done('researcher', '1', RESEARCHER);
  await insist('2');
  await world.append({ type: 'member_idle', name: 'analyst', epoch: 1, stopped: true }, PLAN);
  await world.done('architect', '3', ARCHITECT);
  assert.match(
    world.told(PLAN),
    /no SPEC can be built from the results yet. Returned: analyst: line \d+ .*Start again analyst with Task /s,
  );
  await world.start('analyst', PLAN);
  for (const id of ['4', '5', '6']) {
    await world.act('analyst', 'TaskUpdate', { taskId: id, status: 'in_progress' });
    await insist(id);
  }
  assert.match(world.told(PLAN), /^no SPEC can be built from the results: analyst: .*Tell the user/s);
  assert.equal(world.state(PLAN).tasks.size, 6);
  // A correct result that comes later continues from there.
  await world.act('team-lead', 'TaskCreate', { subject: 'Once more', description: 'd', owner: 'analyst' });
  await world.act('analyst', 'TaskUpdate', { taskId: '7', status: 'in_progress' });
  await world.done('analyst', '7', ANALYST);
  assert.match(world.told(PLAN), new RegExp(`^${SPEC} has been written`));
});

test('a team without those whose results a SPEC is made of is told so', async (t) => {
  const world = new World(t);
  world.settings = { ...world.settings, patterns: { ...world.settings.patterns, plan_research: ['researcher'] } };
  await world.begun(PLAN, ['researcher']);
  await world.done('researcher', '1', RESEARCHER);
  assert.match(world.told(PLAN), wordsLike(SPEC_CODES.planner_result_missing, { missing: ['analyst', 'architect'] }));
  assert.match(world.told(PLAN), /Tell the user\./);
  const answer = await onUserPrompt(
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
  await world.begun(TEAM, ['backend-dev'], 'SPEC-AUTH-001');
  await world.wrote('backend-dev', 'src/api/logout.js');
  await world.done('backend-dev', '1', 'done');
  assert.match(world.told(TEAM), /^the final gate passed\. Next: SendMessage/);
  const { session, gate } = world.state();
  assert.deepEqual([session, gate?.task], ['complete', null]);
  const scores = gate?.trust5?.dimensions.map(({ dimension, state, score }) => [dimension, state, score]);
  assert.deepEqual(scores, [
    ['tested', 'passed', 5],
    ['readable', 'passed', 5],
    ['unified', 'passed', 5],
    ['secured', 'passed', 5],
    ['trackable', 'passed', 5],
  ]);
  await world.act('team-lead', 'SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'x' });
  await world.append({ type: 'member_idle', name: 'backend-dev', epoch: 1, stopped: true });
  const answer = await world.act('team-lead', 'TeamDelete', { team_name: TEAM });
  assert.equal(answer.report, 'report.md');
  assert.match(
    world.written.join(),
    /^# SPEC-AUTH-001\n\n1 of 1 tasks by 1 teammates \(tool-run-spec-auth-001\); 1 files in the checkout\.$/m,
  );
  assert.match(
    world.written.join(),
    /^trackable 5\.0 passed {7}files: 1 of 1 written under a task of SPEC-AUTH-001 \[log of tool-run-spec-auth-001\]$/m,
  );
});

test('what the gate finds in the work of all is given to who can mend it, three times', async (t) => {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev']);
  await world.wrote('backend-dev', 'src/api/logout.js');
  const [good] = world.gate;
  assert.ok(good !== undefined);
  for (let round = 1; round <= 4; round += 1) {
    const bad = failing('f'.repeat(40), 'tests', `test ${round} says 404`);
    // The gate passes the task, and fails the final measurement.
    world.gate = [good, bad];
    await world.done('backend-dev', String(round), 'done');
    assert.equal(world.state().gate?.rejected, round);
    if (round === 4) break;
    assert.match(
      world.told(TEAM),
      /^the final gate failed\.\n- tested {4}0\.0 failed .*\nThe teammates concerned have tasks for it\.$/s,
    );
    assert.equal(world.state().tasks.get(String(round + 1))?.owner, 'backend-dev');
    await world.act('backend-dev', 'TaskUpdate', { taskId: String(round + 1), status: 'in_progress' });
  }
  assert.match(world.told(TEAM), wordsLike(LEAD_CODES.gate_rejected_too_often, { count: 4 }));
  assert.match(world.told(TEAM), /[^.]\. Tell the user/);
  assert.equal(world.state().tasks.size, 4);
});

test('what nobody wants measured is said to be unchecked, and not to have passed', async (t) => {
  const world = new World(t);
  const taskCompleted = { enabled: true, requireQualityCheck: false };
  world.settings = { ...world.settings, hooks: { ...world.settings.hooks, taskCompleted } };
  await world.begun(TEAM, ['backend-dev']);
  await world.done('backend-dev', '1', 'done');
  assert.match(world.told(TEAM), /^the final gate did not run \(unchecked: require_quality_check is false\)\. /);
});

test('after a restart the rounds begin anew, and who is to mend it is started again', async (t) => {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev']);
  await world.wrote('backend-dev', 'src/api/logout.js');
  const [good] = world.gate;
  assert.ok(good !== undefined);
  for (let round = 1; round <= 4; round += 1) {
    const bad = failing('f'.repeat(40), 'tests', `test ${round} says 404`);
    world.gate = [good, bad];
    await world.done('backend-dev', String(round), 'done');
    if (round < 4) await world.act('backend-dev', 'TaskUpdate', { taskId: String(round + 1), status: 'in_progress' });
  }
  await world.append({ type: 'restarted', session: 'session-1', key_hash: null, keep: true });
  assert.match(
    String((await world.act('team-lead', 'TaskList')).note),
    /^the final gate failed\..*\nStart again backend-dev with Task /s,
  );
  const { gate, tasks } = world.state();
  assert.deepEqual([gate?.rejected, tasks.size, tasks.get('5')?.owner], [1, 5, 'backend-dev']);
  assert.match(tasks.get('5')?.description ?? '', /says 404/, 'nobody is there for a message');
});

test('one at a time what the gate finds is work for the lead as well', async (t) => {
  const world = new World(t);
  await world.act('team-lead', 'TeamCreate', { team_name: TEAM });
  await world.act('team-lead', 'TaskCreate', { subject: 'Build', description: 'd', owner: 'backend-dev' });
  await world.append({ type: 'fell_back', trigger: 'solo', reason: '--solo' });
  world.changed.push('src/api/logout.js');
  const { note } = await world.act('team-lead', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'done' });
  assert.match(
    String(note),
    /^the final gate failed.*\nNo team was wanted \(--solo\)\. Do the open tasks one at a time/s,
  );
  const task = world.state().tasks.get('2');
  assert.deepEqual([task?.owner, task?.files], ['backend-dev', ['src/api/logout.js']]);
});

test('a file that was changed under no task is answered for by its owner', async (t) => {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev'], 'SPEC-AUTH-001');
  await world.wrote('backend-dev', 'src/api/logout.js');
  // Changed by a program or by the person: no hook has seen it.
  world.changed.push('src/api/routes.js');
  await world.done('backend-dev', '1', 'done');
  assert.match(world.told(TEAM), /\n- trackable 2\.5 failed {7}files: 1 of 2 written under a task of SPEC-AUTH-001/);
  const task = world.state().tasks.get('2');
  assert.deepEqual([task?.owner, task?.files], ['backend-dev', ['src/api/routes.js']]);
  assert.match(task?.description ?? '', /src\/api\/routes\.js: changed under no task that the log knows/);
  await world.act('backend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  await world.done('backend-dev', '2', 'It belongs to it.');
  assert.match(world.told(TEAM), /^the final gate passed/);
});

test('what nobody of the team can mend is told, and counts once however often it is asked', async (t) => {
  const world = new World(t);
  world.require('coverage');
  await world.begun(TEAM, ['backend-dev'], 'SPEC-AUTH-001');
  await world.done('backend-dev', '1', 'done');
  const words = joined(
    'tested is required and not measured (',
    wordsLike(GATE_CODES.part_not_measured, { part: 'coverage' }),
    /\)\. Set that up, or remove it from .*Tell the user/,
  );
  assert.match(world.told(TEAM), words);
  const { measured } = world;
  for (let asked = 0; asked < 5; asked += 1)
    assert.match(String((await world.act('team-lead', 'TaskList')).note), words);
  assert.deepEqual([world.state().gate?.rejected, world.measured], [1, measured], 'a look measures nothing');
  assert.deepEqual(
    world
      .state()
      .decisions.filter(isRefusal)
      .map(({ about }) => about),
    ['the work of all'],
  );
  const { workTree } = world.context;
  workTree.tree = () => Promise.resolve('another tree');
  assert.match(String((await world.act('team-lead', 'TaskList')).note), words);
  assert.equal(world.measured, measured + 1, 'what has changed is measured');
  await world.append({ type: 'restarted', session: 'session-1', key_hash: null, keep: true });
  assert.match(String((await world.act('team-lead', 'TaskList')).note), words);
  assert.equal(world.measured, measured + 2, 'and what may have been settled elsewhere');
  world.require();
  assert.match(String((await world.act('team-lead', 'TaskList')).note), /^the final gate passed/);
});

test('without Git nobody can tell that nothing has changed: what is stuck is measured anew', async (t) => {
  const world = new World(t);
  world.require('coverage');
  world.context.workTree.tree = () => Promise.resolve(null);
  await world.begun(TEAM, ['backend-dev'], 'SPEC-AUTH-001');
  await world.done('backend-dev', '1', 'done');
  const { measured } = world;
  for (const more of [1, 2]) {
    const { note } = await world.act('team-lead', 'TaskList');
    assert.match(String(note), /tested is required and not measured/);
    assert.doesNotMatch(String(note), /has not changed since the last measurement/);
    assert.deepEqual([world.measured, world.state().gate?.rejected], [measured + more, 1]);
  }
});

test('where Git cannot tell what was changed, nothing of it is measured', async (t) => {
  const world = new World(t);
  const nothing = () => Promise.resolve(null);
  const workTree = { head: nothing, tree: () => Promise.resolve('tree'), changed: nothing };
  const context = { ...world.context, workTree };
  await world.begun(TEAM, ['backend-dev']);
  await world.wrote('backend-dev', 'src/api/logout.js');
  const given = { taskId: '1', status: 'completed', result: 'done' };
  await operateInHost(context, 'TaskUpdate', given, world.evidence('backend-dev'));
  const trackable = world.state().gate?.trust5?.dimensions.find(({ dimension }) => dimension === 'trackable');
  assert.equal(trackable?.state, 'not_measured');
  assert.match(
    trackable?.figures.join() ?? '',
    wordsLike(GATE_CODES.part_not_measured, { part: 'files', why: /the record of the work tree .* \.tool\/cache/ }),
  );
});

test('whoever was ended between a rejection and what is asked for it is made up for; the rejection counts once', async (t) => {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev']);
  await world.wrote('backend-dev', 'src/api/logout.js');
  const [good] = world.gate;
  assert.ok(good !== undefined);
  world.gate = [good, failing('f'.repeat(40))];
  world.pretend({ files: () => Promise.reject(new Error('killed')) });
  await assert.rejects(world.done('backend-dev', '1', 'done'), /killed/);
  assert.deepEqual([world.state().gate?.rejected, world.state().tasks.size], [1, 1]);
  world.pretend({ files: () => Promise.resolve([]) });
  assert.match(String((await world.act('team-lead', 'TaskList')).note), /^the final gate failed/);
  assert.deepEqual([world.state().gate?.rejected, world.state().tasks.size], [1, 2]);
  // A task that ended in between makes it a new round, whatever the result.
  await world.act('backend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  world.gate = [good, failing('f'.repeat(40))];
  await world.done('backend-dev', '2', 'done');
  assert.equal(world.state().gate?.rejected, 2);
});

const CONTENT = { trust5Score: 5, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };
const JUDGEMENT = { recipient: 'team-lead', type: 'quality_gate_passed', content: CONTENT };

/** A team whose work is built and not yet measured; quality has its task. */
async function built(t: Cleanup): Promise<World> {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev', 'quality']);
  await world.wrote('backend-dev', 'src/api/logout.js');
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'done' });
  world.clock.set(1);
  return world;
}

test('where the checks of others take too long the work of all is measured by the next look', async (t) => {
  const world = await built(t);
  world.whyNot = failure(GATE_CODES.checks_busy, {});
  assert.equal(
    (await world.act('team-lead', 'TaskList')).note,
    `the final gate did not finish: ${wordsOf(GATE_CODES.checks_busy, {})} Call TaskList {} to run it again.`,
  );
  assert.equal(world.state().gate?.task, '1', 'nothing was measured since');
  world.whyNot = null;
  await world.act('team-lead', 'TaskList');
  assert.deepEqual([world.state().gate?.task, world.state().gate?.ok], [null, true]);
});

test('who judges waits until the work of all is measured', async (t) => {
  const world = await built(t);
  await world.act('quality', 'SendMessage', JUDGEMENT);
  await world.done('quality', '2', 'It is good.');
  assert.match(world.told(TEAM), /^the final gate passed/);
  assert.equal(world.state().session, 'complete');
});

test('a judgement of what another process still measures is refused, not lost', async (t) => {
  const world = await built(t);
  const busy = {
    ...world.context,
    phaseLock: { take: () => Promise.resolve({ ok: false, holder: 'process 7' } as const) },
  };
  const said = operateInHost(busy, 'SendMessage', JUDGEMENT, world.evidence('quality'));
  await failsWith(said, HOOK_CODES.gate_still_running, { holder: 'process 7' });
  assert.deepEqual(world.state().messages, []);
  // The other measurement has ended.
  await world.act('team-lead', 'TaskList');
  await world.act('quality', 'SendMessage', JUDGEMENT);
  await world.done('quality', '2', 'It is good.');
  assert.match(world.told(TEAM), /^the final gate passed\. Next: /);
  assert.equal(world.state().session, 'complete');
});

test('where the word of who judges is all that is missing the lead is told so, and it is asked for it, so many times', async (t) => {
  const world = await built(t);
  const missing = /^the final gate passed\. Still needed: quality must send quality_gate_passed /;
  const mails = () => world.state().messages.filter(({ content }) => missing.test(String(content))).length;
  const look = async () => String((await world.act('team-lead', 'TaskList')).note);
  await world.done('quality', '2', 'I have looked.');
  assert.match(world.told(TEAM), missing);
  for (let round = 1; round <= JUDGE_ROUNDS; round += 1) {
    // quality is still in its turn, and may send it.
    assert.match(await look(), missing);
    assert.match(await look(), missing);
    await world.append({ type: 'member_idle', name: 'quality', epoch: round, stopped: true });
    assert.match(
      await look(),
      /quality ended without quality_gate_passed, and now has a task to send it\. Start again quality /,
    );
    assert.equal(world.state().tasks.size, 2 + round);
    await world.start('quality');
    const taskId = String(2 + round);
    await world.act('quality', 'TaskUpdate', { taskId, status: 'in_progress' });
    await world.done('quality', taskId, 'I have looked again.');
  }
  await world.append({ type: 'member_idle', name: 'quality', epoch: JUDGE_ROUNDS + 1, stopped: true });
  const why = 'I have looked again';
  const verdict = wordsLike(LEAD_CODES.verdict_missing, { judge: 'quality', asked: 2, why });
  const stuck = joined(START, verdict, '. Tell the user');
  assert.match(await look(), stuck);
  assert.match(await look(), stuck);
  assert.deepEqual([mails(), world.state().tasks.size, world.measured], [1, 2 + JUDGE_ROUNDS, 2]);
  await world.start('quality');
  await world.act('quality', 'SendMessage', JUDGEMENT);
  assert.equal(world.state().session, 'complete');
  assert.equal((await world.act('team-lead', 'TaskList')).note, undefined);
});

test('a team is not put away in the middle of a step, but by force', async (t) => {
  const world = new World(t);
  await world.act('team-lead', 'TeamCreate', { team_name: TEAM });
  const context = {
    ...world.context,
    phaseLock: { take: () => Promise.resolve({ ok: false, holder: 'process 7' } as const) },
  };
  const remove = (more: Answer) =>
    operateInHost(context, 'TeamDelete', { team_name: TEAM, ...more }, world.evidence('team-lead'));
  await failsWith(remove({}), HOOK_CODES.team_not_deleted_yet, { team: TEAM, holder: 'process 7' });
  assert.equal((await remove({ force: true })).state, 'deleted');
});

test('whoever waited too long for the turn says who has it, and does nothing', async (t) => {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev']);
  await world.wrote('backend-dev', 'src/api/logout.js');
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'done' });
  const { measured } = world;
  const busy = {
    ...world.context,
    phaseLock: { take: () => Promise.resolve({ ok: false, holder: 'process 7' } as const) },
  };
  const { note } = await operateInHost(busy, 'TaskList', {}, world.evidence('team-lead'));
  assert.match(String(note), /^process 7 is still doing the next step of team /);
  assert.equal(world.measured, measured);
  // If the other process has taken the step meanwhile, there is no note.
  const slow: PhaseLock = {
    take: async () => {
      await world.act('team-lead', 'TaskList');
      return { ok: false, holder: 'process 7' };
    },
  };
  assert.equal(
    (await operateInHost({ ...busy, phaseLock: slow }, 'TaskList', {}, world.evidence('team-lead'))).note,
    undefined,
  );
  assert.equal(world.state().session, 'complete');
});

test('a restart leaves measuring to whoever has the time for it', async (t) => {
  const world = new World(t);
  await world.begun(TEAM, ['backend-dev']);
  await world.wrote('backend-dev', 'src/api/logout.js');
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'done' });
  const { measured } = world;
  const event = world.event('team-lead', 'UserPromptSubmit', { prompt: '/tool:team-restart' });
  const answer = await onUserPrompt(world.context, event);
  assert.match(answer.kind === 'context' ? answer.text : '', /the final gate has not run. Call TaskList/);
  assert.equal(world.measured, measured);
  assert.match(String((await world.act('team-lead', 'TaskList')).note), /^the final gate passed/);
});

test('the first cause that is proven ends the search; who did not say it in the form is asked once', async (t) => {
  const world = new World(t);
  await world.begun(DEBUG, ['hypothesis-1', 'hypothesis-2'], 'it fails');
  await world.done('hypothesis-1', '1', 'I looked around.');
  assert.equal(world.state(DEBUG).session, 'working');
  await world.done('hypothesis-2', '2', 'refuted: it never was\n$ x\ny');
  assert.match(world.told(DEBUG), /^the result of a hypothesis does not have the required form\. /);
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
  await onUserPrompt(world.context, world.event('team-lead', 'UserPromptSubmit', { prompt }));
  await world.done('team-lead', '1', RESEARCHER);
  await world.done('team-lead', '2', ANALYST);
  const { note } = await world.done('team-lead', '3', ARCHITECT);
  assert.match(
    String(note),
    new RegExp(`^${SPEC} has been written .*Then call TeamDelete \\{"team_name":"${PLAN}"\\}\\.$`),
  );
  assert.equal(world.state(PLAN).messages.length, 0);
});

test('a lead that works alone goes on alone after a restart: nobody is registered, and nothing has failed', async (t) => {
  const world = new World(t);
  const typed = async (prompt: string) => {
    const answer = await onUserPrompt(world.context, world.event('team-lead', 'UserPromptSubmit', { prompt }));
    return answer.kind === 'context' ? answer.text : '';
  };
  await typed('/tool:1-plan "log out" --solo');
  const text = await typed(`/tool:team-restart ${PLAN}`);
  assert.match(text, /No team was wanted \(--solo\)\. Do the open tasks one at a time/);
  assert.doesNotMatch(text, /Register|failed/);
});

test('a lead that builds alone is measured the same, by what its hook has seen it write', async (t) => {
  const world = new World(t);
  const { id, files } = { id: 'SPEC-AUTH-001', files: ['src/api/logout.js'] };
  world.pretend({ specs: () => [id], spec: () => '# Sign in\n\n- The API shall sign in.\n' });
  world.settings = { ...world.settings, requirePlanApproval: false };
  await onUserPrompt(
    world.context,
    world.event('team-lead', 'UserPromptSubmit', { prompt: `/tool:2-run ${id} --solo` }),
  );
  const ids = [...world.state().tasks.keys()];
  for (const path of files) {
    const event = world.event('team-lead', 'PreToolUse', { tool: 'Write', input: { file_path: path } });
    assert.equal((await onPreToolUse(world.context, event)).kind, 'silent');
    world.changed.push(path);
  }
  let last: Answer = {};
  for (const taskId of ids)
    last = await world.act('team-lead', 'TaskUpdate', { taskId, status: 'completed', result: 'ok' });
  assert.deepEqual(world.state().gate?.trust5?.dimensions.at(-1)?.figures, [
    'files: 1 of 1 written under a task of SPEC-AUTH-001',
  ]);
  assert.match(String(last.note), /^the final gate passed\. Then call TeamDelete \{"team_name":/);
  assert.equal(world.state().gate?.ok, true);
});

test('of what is written while a lead builds alone, only what its session writes into the project is noted, in few words', async (t) => {
  const world = new World(t);
  world.pretend({ specs: () => ['SPEC-AUTH-001'], spec: () => '# Sign in\n\n- The API shall sign in.\n' });
  world.settings = { ...world.settings, requirePlanApproval: false };
  const prompt = '/tool:2-run SPEC-AUTH-001 --solo';
  await onUserPrompt(world.context, world.event('team-lead', 'UserPromptSubmit', { prompt }));
  const many = Array.from({ length: 300 }, (_, index) => `src/api/${index}.js`);
  const context: ToolUseContext = {
    ...world.context,
    writesOf: async () => ({ targets: [{ path: '.', tree: true }], unresolved: [], git: null }),
    below: () => ['.git/HEAD', '.tool/teams/x/log.jsonl', ...many],
  };
  const event = world.event('team-lead', 'PreToolUse', { tool: 'Bash', input: { command: 'format .' } });
  assert.equal((await onPreToolUse(context, { ...event, session: 'another' })).kind, 'silent');
  assert.equal(world.state().written.size, 0);
  assert.equal((await onPreToolUse(context, event)).kind, 'silent');
  const written = [...world.state().written.keys()];
  assert.deepEqual(
    written.filter((path) => path !== '.'),
    many,
  );
  assert.equal(world.state().decisions.at(-1)?.about, 'Bash .');
  const broken: ToolUseContext = { ...context, writesOf: () => Promise.reject(new Error('no space left')) };
  assert.equal((await onPreToolUse(broken, event)).kind, 'silent', 'nothing stands in the way of the work');
});

test('a restart makes up for what a killed server has left undone', async (t) => {
  const world = new World(t);
  await world.begun(PLAN, PLANNERS);
  for (const [at, result] of [RESEARCHER, ANALYST, ARCHITECT].entries())
    await world.call(PLANNERS[at] ?? '', 'TaskUpdate', { taskId: String(at + 1), status: 'completed', result });
  assert.equal(world.state(PLAN).session, 'working');
  const event = world.event('team-lead', 'UserPromptSubmit', { prompt: '/tool:team-restart', session: 'another' });
  const answer = await onUserPrompt(world.context, event);
  assert.match(
    answer.kind === 'context' ? answer.text : '',
    new RegExp(`${SPEC} has been written from the planners' results`),
  );
  assert.equal(world.state(PLAN).session, 'awaiting_approval');
});

test('a lead that is known by a key is told as well; one that is code takes these steps itself', async (t) => {
  const world = new World(t);
  const nothing: Evidence = { kind: 'nothing', why: 'the host names nobody' };
  const lead = async (name: string, input: Answer) => operateInHost(world.context, name, input, nothing);
  const { key } = await lead('TeamCreate', { team_name: DEBUG, subject: 'it fails' });
  await lead('TaskCreate', { key, subject: 'Look', description: 'd' });
  const { note } = await lead('TaskUpdate', {
    key,
    taskId: '1',
    status: 'completed',
    result: 'proven: Node is too old\n$ node --version\nv20',
  });
  assert.match(String(note), /has proven the cause: Node is too old/);
  await lead('TeamDelete', { key, team_name: DEBUG });

  const terminal: Evidence = { kind: 'environment', team: null, teammate: null };
  await operateInHost(world.context, 'TeamCreate', { team_name: PLAN, subject: 'log out' }, terminal);
  await operateInHost(world.context, 'TaskCreate', { subject: 'Look', description: 'd', owner: 'analyst' }, terminal);
  await operateInHost(world.context, 'TaskUpdate', { taskId: '1', status: 'completed', result: ANALYST }, terminal);
  assert.equal(world.state(PLAN).tasks.size, 1);
});
