// The user's word about a SPEC, typed in the host: it counts for the team that wrote it, and for words that nobody is changing.

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { approvalOf, approveSpec } from '../../../src/adapters/spec-approvals.ts';
import { createSpec, listSpecs, putSpec, readPlanned, readSpec } from '../../../src/adapters/specs.ts';
import { statusOfSpec } from '../../../src/domain/spec/spec.ts';
import { act } from '../../../src/engine/team/acting.ts';
import { onPrompt } from '../../../src/engine/team/prompting.ts';
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
    return act(this.context, name, input, this.evidence(who));
  }

  async typed(prompt: string): Promise<string> {
    const answer = await onPrompt(this.context, this.event('team-lead', 'UserPromptSubmit', { prompt }));
    return answer.kind === 'context' ? answer.text : '';
  }

  /** A team that has written `SPEC`, and waits for the user's word. */
  async waiting(): Promise<void> {
    await this.act('team-lead', 'TeamCreate', { team_name: PLAN, subject: 'log out' });
    for (const name of Object.keys(RESULTS)) {
      await this.start(name, PLAN);
      await this.act('team-lead', 'TaskCreate', { subject: `Part of ${name}`, description: 'd', owner: name });
    }
    for (const [at, [name, result]] of Object.entries(RESULTS).entries()) await this.done(name, String(at + 1), result);
    assert.equal(this.session(), 'awaiting_approval');
  }

  /** The same, one at a time, without a team. */
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

  /** One that no team has written. */
  other(): string {
    const created = createSpec(this.root, { ...NEW_SPEC, feature: 'Orders have a total' }, DAY);
    assert.ok(created.ok);
    return created.id;
  }
}

const REFUSED = new RegExp(
  `the command cannot be carried out\\..*\n- ${SPEC}: changes were asked for, and team ${PLAN} is at work on them: approve what comes of it\\. .*\`/tool:team-restart ${PLAN}\` in the host goes on with them, \`tool team delete ${PLAN}\` ends them`,
);

for (const [how, begin, session] of [
  ['a team', (world: World) => world.waiting(), 'working'],
  ['whoever plans alone', (world: World) => world.waitingAlone(), 'fallback'],
] as const)
  test(`what ${how} is changing is not approved as it was, and what comes of it is`, async (t) => {
    const world = new World(t);
    await begin(world);
    assert.match(await world.typed('changes: make it red'), /was given to those whose results it is made of/);
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
      new RegExp(
        `^toolcrew: ${SPEC} is approved, by the user's own word\\.\nNext: .*TeamDelete \\{"team_name":"${PLAN}"\\}`,
      ),
    );
    assert.deepEqual([world.session(), world.status()], [session === 'fallback' ? session : 'approved', 'approved']);
  });

test('another SPEC that is approved ends no team that waits for its own', async (t) => {
  const world = new World(t);
  await world.waiting();
  const other = world.other();
  const text = await world.typed(`approve ${other}`);
  assert.match(
    text,
    new RegExp(`^toolcrew: ${other} is approved, by the user's own word\\.\nThen tell the user: /clear`),
  );
  assert.doesNotMatch(text, /TeamDelete/);
  assert.deepEqual(
    [world.session(), world.status(), world.status(other)],
    ['awaiting_approval', 'awaiting_approval', 'approved'],
  );
  assert.match(await world.typed('approve'), new RegExp(`${SPEC} is approved, .*TeamDelete`, 's'));
  assert.deepEqual([world.session(), world.status()], ['approved', 'approved']);
});

test('a word that names no SPEC is not about one that no waiting team has written', async (t) => {
  const world = new World(t);
  await world.waitingAlone();
  assert.match(await world.typed('approve'), new RegExp(`${SPEC} is approved, by the user's own word`));
  const other = world.other();
  assert.match(await world.typed('approve'), new RegExp(`which SPEC is approved\\? There is ${other}: answer`));
  assert.equal(world.status(other), 'awaiting_approval');
});

test('who approves a second time is told that it was approved', async (t) => {
  const world = new World(t);
  await world.waiting();
  assert.match(await world.typed(`approve ${SPEC}`), new RegExp(`^toolcrew: ${SPEC} is approved, by`));
  assert.match(
    await world.typed(`approve ${SPEC}`),
    new RegExp(`^toolcrew: ${SPEC} is approved already \\(approved on ${DAY}\\)\\.\nThen tell the user: /clear`),
  );
  assert.equal(world.session(), 'approved');
});

test('what cannot be read of a plan is not built as something else, and a SPEC without one says so', async (t) => {
  const world = new World(t);
  const spec = world.other();
  const plan = join(world.root, '.tool/specs', spec, 'plan.md');
  const run = async () => {
    assert.match(await world.typed(`approve ${spec}`), /is approved/);
    return world.typed(`/tool:2-run ${spec} --team --pattern=implementation`);
  };
  const whole = readFileSync(plan, 'utf8');
  writeFileSync(plan, whole.replace('## T2: ', '## T2 '));
  assert.match(
    await run(),
    new RegExp(`the documents of ${spec} have problems: .*plan\\.md:\\d+: expected a task like`),
  );
  assert.deepEqual(world.teams.list(), []);
  rmSync(plan);
  const text = await run();
  assert.match(text, /^toolcrew: \/tool:2-run in team mode/);
  assert.match(
    text,
    new RegExp(`^- \\.tool/specs/${spec} has no plan\\.md: the tasks are made from the requirements$`, 'm'),
  );
});
