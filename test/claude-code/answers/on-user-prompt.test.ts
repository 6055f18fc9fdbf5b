// Prompts of the user in the host: approval of a SPEC, requested changes, and commands for work in progress.
// Over 400 lines: its cases share one story of an approval.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { messageOf } from '../../../src/base/rules/errors.ts';
import { onUserPrompt } from '../../../src/claude-code/answers/on-user-prompt.ts';
import { operateInHost } from '../../../src/claude-code/answers/operate-in-host.ts';
import { HOOK_CODES } from '../../../src/claude-code/rules/hook-codes.ts';
import { TeamHistory } from '../../../src/team/log/team-history.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { changeInTheWay } from '../../../src/team/rules/planning.ts';
import { statusOfSpec } from '../../../src/team/rules/spec-documents/spec.ts';
import { approvalOf, approveSpec } from '../../../src/team/spec-documents/spec-approvals.ts';
import { createSpec, listSpecs, putSpec, readPlanned, readSpec } from '../../../src/team/spec-documents/specs.ts';
import { codeIn, isOf, joined, lineLike, wordsLike, wordsOf } from '../../support/codes.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../../support/plan-results.ts';
import { NEW_SPEC } from '../../support/spec.ts';
import { type Answer, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const PLAN = 'tool-plan-log-out';
const SPEC = 'SPEC-LOG-OUT-001';
const DAY = '2026-01-05';
const RESULTS = { researcher: RESEARCHER, analyst: ANALYST, architect: ARCHITECT };

/** A project whose SPEC documents and approvals are files. */
class World extends TeamWorld {
  constructor(t: Cleanup) {
    super(t);
    const env = { XDG_STATE_HOME: join(this.root, 'state') };
    this.pretend({
      specs: () => listSpecs(this.root),
      spec: (id) => readSpec(this.root, id),
      planned: (id) => readPlanned(this.root, id),
      approval: (id) => approvalOf(this.root, id, env),
      approve: (id) => approveSpec(this.root, id, env, Date.parse(DAY)),
      writeSpec: (spec, replaces) => putSpec(this.root, spec, replaces, DAY),
    });
  }

  act(who: string, name: string, input: Answer = {}): Promise<Answer> {
    return operateInHost(this.context, name, input, this.evidence(who));
  }

  async typed(prompt: string): Promise<string> {
    const answer = await onUserPrompt(this.context, this.event('team-lead', 'UserPromptSubmit', { prompt }));
    return answer.kind === 'context' ? answer.text : '';
  }

  /** The error message of a prompt that fails. */
  async failed(prompt: string): Promise<string> {
    return this.typed(prompt).then(() => assert.fail(`${prompt} was answered`), messageOf);
  }

  /** A team that has written `SPEC`, and waits for the user's approval. */
  async waiting(): Promise<void> {
    await this.act('team-lead', 'TeamCreate', { team_name: PLAN, subject: 'log out' });
    for (const name of Object.keys(RESULTS)) {
      await this.start(name, PLAN);
      await this.act('team-lead', 'TaskCreate', { subject: `Part of ${name}`, description: 'd', owner: name });
    }
    for (const [at, [name, result]] of Object.entries(RESULTS).entries()) await this.done(name, String(at + 1), result);
    assert.equal(this.session(), 'awaiting_approval');
  }

  /** The same in sub-agent mode, without a team. */
  async waitingAlone(): Promise<void> {
    await this.typed('/tool:1-plan "log out" --solo');
    for (const [at, result] of Object.values(RESULTS).entries()) await this.done('team-lead', String(at + 1), result);
    assert.deepEqual([this.session(), this.status()], ['fallback', 'awaiting_approval']);
  }

  async done(who: string, taskId: string, result: string): Promise<void> {
    if (who !== 'team-lead') await this.act(who, 'TaskUpdate', { taskId, status: 'in_progress' });
    await this.act(who, 'TaskUpdate', { taskId, status: 'completed', result });
  }

  session(): string {
    return this.state(PLAN).session;
  }

  status(id = SPEC): string | null {
    return statusOfSpec(readSpec(this.root, id) ?? '');
  }

  /** A SPEC that no team has written. */
  other(): string {
    const created = createSpec(this.root, { ...NEW_SPEC, feature: 'Orders have a total' }, DAY);
    assert.ok(created.ok);
    return created.id;
  }
}

const REFUSED = new RegExp(
  `\n- ${SPEC}: .*\`/tool:team-restart ${PLAN}\`.*\`tool team delete ${PLAN}\`.* \\(spec_change_in_progress\\)$`,
  'm',
);

for (const [how, begin, session] of [
  ['a team', (world: World) => world.waiting(), 'working'],
  ['whoever plans alone', (world: World) => world.waitingAlone(), 'fallback'],
] as const)
  test(`what ${how} is changing is not approved as it was, and what comes of it is`, async (t) => {
    const world = new World(t);
    await begin(world);
    assert.match(await world.typed('changes: make it red'), /are now tasks of the planners/);
    assert.match(await world.typed(`approve ${SPEC}`), REFUSED);
    assert.deepEqual([world.session(), world.status()], [session, 'awaiting_approval']);
    for (const [taskId, name, result] of [
      ['4', 'analyst', ANALYST.replace('a button', 'a red button')],
      ['5', 'architect', ARCHITECT],
    ] as const)
      await world.done(session === 'fallback' ? 'team-lead' : name, taskId, result);
    assert.match(readSpec(world.root, SPEC) ?? '', /a red button/);
    assert.match(
      await world.typed(`approve ${SPEC}`),
      new RegExp(`^toolcrew: the user has approved ${SPEC}\\.\nNext: .*TeamDelete \\{"team_name":"${PLAN}"\\}`),
    );
    assert.deepEqual([world.session(), world.status()], [session === 'fallback' ? session : 'approved', 'approved']);
  });

test('what a host was sent by another one is not the word of the user', async (t) => {
  const world = new World(t);
  await world.waiting();
  world.nested = true;
  for (const words of [`approve ${SPEC}`, 'approve', 'changes: make it red'])
    assert.equal(codeIn(await world.typed(words)), 'prompt_not_from_user', words);
  assert.deepEqual([world.session(), world.status()], ['awaiting_approval', 'awaiting_approval']);
  world.nested = false;
  assert.match(await world.typed('approve'), /the user has approved/);
});

test('whoever seems to approve is told the words that do, once', async (t) => {
  const world = new World(t);
  assert.equal(await world.typed('ok, approved'), '', 'nothing waits');
  await world.waiting();
  const told = await world.typed(`Approve ${SPEC} please`);
  assert.match(told, lineLike(HOOK_CODES.words_do_not_approve, { spec: SPEC }));
  assert.equal(codeIn(told), 'words_do_not_approve');
  assert.equal(world.status(), 'awaiting_approval');
  assert.equal(await world.typed('approve it'), '');
});

test('words that seem to approve a SPEC by its id are answered to the user in any session', async (t) => {
  const world = new World(t);
  await world.waiting();
  const typed = (prompt: string) =>
    onUserPrompt(world.context, world.event('team-lead', 'UserPromptSubmit', { prompt, session: 'another' }));
  const answer = await typed(`ok, approve ${SPEC} please`);
  assert.ok(answer.kind === 'context');
  assert.equal(
    answer.user,
    `toolcrew: ${wordsOf(HOOK_CODES.words_do_not_approve, { spec: SPEC })} (words_do_not_approve)`,
  );
  assert.equal((await typed('ok, approve it')).kind, 'silent');
});

test('from the moment in which changes are asked for the SPEC is not approved as it was', async (t) => {
  for (const begin of ['waiting', 'waitingAlone'] as const) {
    const world = new World(t);
    await world[begin]();
    const records = () => {
      const between: (Refusal | null)[] = [];
      const history = new TeamHistory({
        directory: join(world.root, '.tool/teams', PLAN),
        from: 'beginning',
        onRecord: (_, __, state) => between.push(changeInTheWay([state], SPEC)),
      });
      void history.close();
      return between;
    };
    const before = records();
    assert.ok(before.every((why) => why === null));
    await world.typed('changes: make it red');
    const since = records().slice(before.length);
    assert.ok(since.length > 0 && since.every((why) => why !== null), `${begin}: ${JSON.stringify(since)}`);
    const [analyst, architect] = [...world.state(PLAN).tasks.values()].slice(-2);
    assert.deepEqual([analyst?.owner, architect?.owner, architect?.blockedBy], ['analyst', 'architect', [analyst?.id]]);
  }
});

test('changes in sub-agent mode are tasks, and nobody is registered for them', async (t) => {
  const world = new World(t);
  await world.waitingAlone();
  const text = await world.typed('changes: make it red');
  assert.match(text, /Do the open tasks one at a time/);
  assert.doesNotMatch(text, /Register/);
});

const LOST = 'tool-plan-lost';
const lostWords = lineLike(OPERATIONS_CODES.team_unreadable, {
  team: LOST,
  said: joined(/.*/, `/${LOST}/log.jsonl does not begin as`),
});

/** A team whose log was emptied. */
function lose(world: World, team = LOST): void {
  const directory = join(world.root, '.tool', 'teams', team);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'log.jsonl'), '');
}

test('a planning team that cannot be read keeps the user’s word from no other, and is named', async (t) => {
  const world = new World(t);
  await world.waiting();
  lose(world);
  const changed = await world.typed('changes: make it red');
  assert.match(changed, /are now tasks of the planners/);
  assert.match(changed, lostWords);
  await world.done('analyst', '4', ANALYST);
  await world.done('architect', '5', ARCHITECT);
  const approved = await world.typed('approve');
  assert.match(approved, new RegExp(`^toolcrew: the user has approved ${SPEC}`));
  assert.match(approved, lostWords);
  assert.deepEqual([world.session(), world.status()], ['approved', 'approved']);
  const other = world.other();
  assert.match(await world.typed(`approve ${other}`), new RegExp(`^toolcrew: the user has approved ${other}`));
});

test('words that may be for a team that cannot be read are not lost without a word; others are left alone', async (t) => {
  const world = new World(t);
  lose(world, 'tool-run-lost');
  for (const words of ['approve', 'changes: make it red']) assert.equal(await world.typed(words), '');
  lose(world);
  for (const words of ['approve', 'changes: make it red']) {
    const text = await world.typed(words);
    assert.match(text, /^toolcrew: if the user means a SPEC, no team received it:\n/);
    assert.match(text, lostWords);
    assert.doesNotMatch(text, /tool-run-lost/);
  }
});

test('a restart without a name is of the one that can be read', async (t) => {
  const world = new World(t);
  lose(world);
  await assert.rejects(world.typed('/tool:team-restart'), isOf(LOG_CODES.team_log_headless));
  await world.waiting();
  const text = await world.typed('/tool:team-restart');
  assert.match(text, new RegExp(`^toolcrew: team ${PLAN} was restarted, and you lead it now`));
  assert.match(text, lostWords);
  await assert.rejects(world.typed(`/tool:team-restart ${LOST}`), isOf(LOG_CODES.team_log_headless));
});

test('another SPEC that is approved ends no team that waits for its own', async (t) => {
  const world = new World(t);
  await world.waiting();
  const other = world.other();
  const text = await world.typed(`approve ${other}`);
  assert.match(text, new RegExp(`^toolcrew: the user has approved ${other}\\.\nThen tell the user to type /clear`));
  assert.doesNotMatch(text, /TeamDelete/);
  assert.deepEqual(
    [world.session(), world.status(), world.status(other)],
    ['awaiting_approval', 'awaiting_approval', 'approved'],
  );
  assert.match(await world.typed('approve'), new RegExp(`the user has approved ${SPEC}.*TeamDelete`, 's'));
  assert.deepEqual([world.session(), world.status()], ['approved', 'approved']);
});

test('a word that names no SPEC is not about one that no waiting team has written', async (t) => {
  const world = new World(t);
  await world.waitingAlone();
  assert.match(await world.typed('approve'), new RegExp(`the user has approved ${SPEC}`));
  const other = world.other();
  const asked = await world.typed('approve');
  assert.match(asked, new RegExp(`Reply with exactly .*: "approve ${other}"`));
  assert.equal(codeIn(asked), 'approval_not_understood');
  assert.equal(world.status(other), 'awaiting_approval');
});

test('who approves a second time is told that it was approved', async (t) => {
  const world = new World(t);
  await world.waiting();
  assert.match(await world.typed(`approve ${SPEC}`), new RegExp(`^toolcrew: the user has approved ${SPEC}`));
  assert.match(
    await world.typed(`approve ${SPEC}`),
    new RegExp(`^toolcrew: ${SPEC} is approved already \\(approved on ${DAY}\\)\\.\nThen tell the user to type /clear`),
  );
  assert.equal(world.session(), 'approved');
});

test('what cannot be read of a plan is not built as something else, and a SPEC without one says so', async (t) => {
  const world = new World(t);
  const spec = world.other();
  const plan = join(world.root, '.tool/specs', spec, 'plan.md');
  const run = async () => {
    assert.match(await world.typed(`approve ${spec}`), /has approved/);
    return world.typed(`/tool:2-run ${spec} --team --pattern=implementation`);
  };
  const whole = readFileSync(plan, 'utf8');
  writeFileSync(plan, whole.replace('## T2: ', '## T2 '));
  assert.match(await run(), wordsLike(LEAD_CODES.spec_has_problems, { spec, problems: /.*plan\.md:\d+: .*/ }));
  assert.deepEqual(world.teams.list(), []);
  rmSync(plan);
  const text = await run();
  assert.match(text, /^toolcrew: \/tool:2-run in team mode/);
  assert.match(text, new RegExp(`^- \\.tool/specs/${spec} has no plan\\.md: the tasks are made from its text$`, 'm'));
});

test('a command whose decision cannot be written down begins nothing, and says why', async (t) => {
  const world = new World(t);
  const { teams } = world.context;
  const full = () => Promise.reject(new Error("ENOSPC: no space left on device, write '/p/.tool/teams/x/log.jsonl'"));
  const begin = teams.begin.bind(teams);
  Object.assign(teams, { begin: (team: string) => Object.assign(begin(team), { append: full }) });
  world.pretend({ variable: { value: '1', source: 'shell' }, hostVersion: () => Promise.resolve('2.1.177') });
  const said = (flag: string) => world.typed(`/tool:1-plan "log out" ${flag}`);
  assert.match(await said('--team'), /cannot be carried out.*\n- .*: ENOSPC: no space.* \(team_log_unwritable\)$/);
  assert.match(await said('--solo'), /cannot be carried out.*\n- ENOSPC: no space left/);
});

const UNSET = { value: '0', source: 'shell' } as const;
const SET = { value: '1', source: 'shell' } as const;
const STOOD =
  'The work was in sub-agent mode \\(TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS is not 1\\) and continues as a team';

/** A planning team in fallback, because the variable is not 1; its first task is completed. */
async function fallen(t: Cleanup, command = '/tool:1-plan "log out" --team'): Promise<World> {
  const world = new World(t);
  world.pretend({ variable: UNSET });
  assert.match(
    await world.typed(command),
    /in sub-agent mode\.\n[\s\S]*mend: export TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS=1/,
  );
  await world.done('team-lead', '1', RESEARCHER);
  assert.equal(world.session(), 'fallback');
  return world;
}

function statuses(world: World): readonly string[] {
  return [...world.state(PLAN).tasks.values()].map(({ status }) => status);
}

for (const [prompt, variable] of [
  ['/tool:1-plan "log out" --team', SET],
  ['/tool:1-plan "log out" --team --force', UNSET],
  ['/tool:1-plan "log out" --force', UNSET],
] as const)
  test(`after a fallback ${prompt} makes a team of what is left, and it comes to its end`, async (t) => {
    const world = await fallen(t);
    world.pretend({ variable });
    const text = await world.typed(prompt);
    assert.match(
      text,
      new RegExp(`^toolcrew: /tool:1-plan in team mode\\. ${STOOD}.* what was completed stays completed\\.`),
    );
    assert.doesNotMatch(text, /- Task .*researcher/);
    for (const name of ['analyst', 'architect'])
      assert.match(text, new RegExp(`^- Task \\{"subagent_type":"team-${name}","team_name":"${PLAN}"`, 'm'));
    assert.deepEqual([world.session(), ...statuses(world)], ['assigned', 'completed', 'pending', 'pending']);
    for (const [taskId, name, result] of [
      ['2', 'analyst', ANALYST],
      ['3', 'architect', ARCHITECT],
    ] as const) {
      await world.start(name, PLAN);
      await world.done(name, taskId, result);
    }
    assert.deepEqual([world.session(), world.status()], ['awaiting_approval', 'awaiting_approval']);
  });

test('after a fallback of what no flag asked for, the same command is a team once nothing is missing', async (t) => {
  const world = new World(t);
  world.settings = { ...world.settings, executionMode: 'team', enabled: false };
  assert.match(await world.typed('/tool:1-plan "log out"'), /in sub-agent mode\./);
  assert.match(
    await world.typed('/tool:1-plan "log out"'),
    /in sub-agent mode\.\n[\s\S]*mend: set workflow\.team\.enabled/,
  );
  world.settings = { ...world.settings, enabled: true };
  assert.match(
    await world.typed('/tool:1-plan "log out"'),
    /in team mode\. The work was in sub-agent mode .*workflow\.team\.enabled is false/,
  );
  assert.equal(world.session(), 'assigned');
});

test('what was begun with --solo is a team where a flag asks for one, and goes on otherwise', async (t) => {
  const world = new World(t);
  world.settings = { ...world.settings, executionMode: 'team' };
  await world.typed('/tool:1-plan "log out" --solo');
  assert.match(
    await world.typed('/tool:1-plan "log out"'),
    /in sub-agent mode\.\n- no team was wanted: --solo; its command with --team makes a team of it\nNext: do these tasks one at a time/,
  );
  assert.match(
    await world.typed('/tool:team-restart'),
    /\nIt stays in sub-agent mode: no team was wanted: --solo; its command with --team/,
  );
  assert.equal(world.session(), 'fallback');
  assert.match(
    await world.typed('/tool:1-plan "log out" --team'),
    /in team mode\. The work was in sub-agent mode .*no team was wanted: --solo/,
  );
  assert.equal(world.session(), 'assigned');
});

test('a restart after a fallback is one of the team once what was missing is there, and says what is missing until then', async (t) => {
  const world = await fallen(t);
  const missing = await world.typed('/tool:team-restart');
  assert.match(missing, /It stays in sub-agent mode: variable: expected .*=1, got "0" from the shell; mend: export /);
  assert.doesNotMatch(missing, /- Task /);
  assert.equal(world.session(), 'fallback');
  world.pretend({ variable: SET });
  const text = await world.typed('/tool:team-restart');
  assert.match(
    text,
    new RegExp(`team ${PLAN} was restarted, and you lead it now; what was completed stays completed\\.\n${STOOD}`),
  );
  assert.match(text, /^- Task .*team-analyst/m);
  assert.deepEqual([world.session(), ...statuses(world)], ['assigned', 'completed', 'pending', 'pending']);
});

test('without preserve_progress what goes on as a team starts over, which is said', async (t) => {
  const world = await fallen(t);
  world.pretend({ variable: SET });
  world.settings = { ...world.settings, fallback: { ...world.settings.fallback, preserveProgress: false } };
  const text = await world.typed('/tool:1-plan "log out" --team');
  assert.match(text, /You lead it now; every task starts over \(preserve_progress: false\)\./);
  assert.deepEqual([world.session(), ...statuses(world)], ['assigned', 'pending', 'pending', 'pending']);
});
