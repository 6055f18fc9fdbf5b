// At a terminal: what went on one at a time is a team again when that is asked for, or when what was missing is there.

import assert from 'node:assert/strict';
import test from 'node:test';
import { resumeTeam, startTeam } from '../../../src/team/lead/start-team.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import type { FallbackTrigger } from '../../../src/team/rules/fallback.ts';
import { FALLBACK_TRIGGERS } from '../../../src/team/rules/fallback.ts';
import { wordsLike } from '../../support/codes.ts';
import { LeadPlay, PHASES, ROLES, workOf } from '../../support/lead-play.ts';
import type { Cleanup } from '../../support/temp.ts';

const { team } = PHASES.run;
const UNSET = { value: '0', source: 'shell' } as const;
const SET = { value: '1', source: 'shell' } as const;
const MISSING = 'TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS is not 1';

/** A run that a lead left after its first task, one at a time for that reason. */
async function left(t: Cleanup, trigger: FallbackTrigger | 'solo'): Promise<LeadPlay> {
  const play = new LeadPlay(t, Object.fromEntries(ROLES.map((role) => [role, workOf(role)])));
  if (trigger === 'variable_unset') play.world.pretend({ variable: UNSET });
  const decided = await play.decide('run', trigger === 'solo' ? 'solo' : 'team');
  assert.ok(decided.kind === 'decided');
  await startTeam(play.world.context, decided);
  if (decided.decision.mode === 'team')
    await play.world.append({ type: 'fell_back', trigger, reason: 'no such program' });
  const [first] = play.world.state().tasks.values();
  assert.ok(first?.owner !== undefined && first.owner !== null);
  const as = { by: first.owner, epoch: 1, task: first.id };
  const member = {
    name: first.owner,
    agent: `team-${first.owner}`,
    read_only: false,
    model: 'inherit',
    prompt: 'p',
    max: 9,
  };
  await play.world.append({ type: 'member_registered', ...member });
  await play.world.append({ type: 'task_updated', ...as, status: 'completed', result: 'done' });
  assert.equal(play.world.state().session, 'fallback');
  return play;
}

/** The same command again. */
async function again(play: LeadPlay, wish: 'team' | 'solo' | null, force = false): Promise<readonly string[]> {
  const said: string[] = [];
  const decided = await play.decide('run', wish, force);
  assert.ok(decided.kind === 'decided', JSON.stringify(decided));
  assert.equal(await resumeTeam(play.world.context, team, (words) => said.push(words), decided), true);
  return said;
}

/** It is led to its end; gives how, and who was started. */
async function ended(play: LeadPlay): Promise<{ how: 'team' | 'alone'; roles: readonly string[] }> {
  const outcome = await play.goOn(team);
  assert.ok(outcome.kind === 'done', 'why' in outcome ? outcome.why : outcome.kind);
  return {
    how: outcome.state.fallback === null ? 'team' : 'alone',
    roles: [...new Set(play.runs.map(({ name }) => name))],
  };
}

const AS_TEAM = (why: string) =>
  `team ${team} stood in sub-agent mode (${why}): its work goes on as a team, with the tasks that it has`;
const AS_ALONE = `team ${team} stands in sub-agent mode: its work goes on so, one task at a time`;

test('whoever takes a team up puts on record what holds shell commands now', async (t) => {
  const play = await left(t, 'variable_unset');
  assert.equal(play.world.state().writesHeldBy, 'kernel');
  const said = await resumeTeam({ ...play.world.context, writesHeldBy: async () => 'reader' }, team, () => undefined);
  assert.deepEqual([said, play.world.state().writesHeldBy], [true, 'reader']);
});

test('--team after what was missing is there: a team, and what was done is not done again', async (t) => {
  const play = await left(t, 'variable_unset');
  const [first] = play.world.state().tasks.values();
  play.world.pretend({ variable: SET });
  const said = await again(play, 'team');
  assert.deepEqual([said[0], said.at(-1)], ['--team', AS_TEAM(MISSING)]);
  assert.equal(play.world.state().session, 'assigned');
  const { how, roles } = await ended(play);
  assert.equal(how, 'team');
  assert.ok(roles.length > 0 && !roles.includes(first?.owner ?? ''));
});

test('--force goes without what is missing, to the end, and through a restart', async (t) => {
  const play = await left(t, 'variable_unset');
  const said = await again(play, 'team', true);
  assert.ok(said.some((line) => /^variable: .*; --force goes without$/.test(line)));
  assert.equal(said.at(-1), AS_TEAM(MISSING));
  assert.equal(await resumeTeam(play.world.context, team, () => undefined), true);
  assert.equal((await ended(play)).how, 'team');
});

test('--force counts for a team that stands, too', async (t) => {
  const play = new LeadPlay(t, Object.fromEntries(ROLES.map((role) => [role, workOf(role)])));
  const decided = await play.decide('run', 'team');
  assert.ok(decided.kind === 'decided');
  await startTeam(play.world.context, decided);
  play.world.pretend({ variable: UNSET });
  assert.deepEqual(await again(play, 'team', true), [`team ${team} stands: its work goes on`]);
  assert.equal((await ended(play)).how, 'team');
});

test('as long as it is missing --team goes on one at a time, and says so with the mend', async (t) => {
  const play = await left(t, 'variable_unset');
  const said = await again(play, 'team');
  assert.match(said.join('\n'), /^--team\nvariable: expected .*; mend: export .*\n/);
  assert.match(said[2] ?? '', wordsLike(LEAD_CODES.subagents_instead));
  assert.equal(said.at(-1), AS_ALONE);
  assert.equal((await ended(play)).how, 'alone');
});

test('what failed is tried as a team again only where that is asked for', async (t) => {
  const play = await left(t, 'spawn_failed');
  play.world.settings = { ...play.world.settings, executionMode: 'team' };
  const why = `${FALLBACK_TRIGGERS.spawn_failed}: no such program`;
  const hint = `${why}; its command with --team makes a team of it`;
  assert.deepEqual(await again(play, null), [hint, AS_ALONE]);
  const said: string[] = [];
  assert.equal(await resumeTeam(play.world.context, team, (words) => said.push(words)), true);
  assert.deepEqual(said, [hint, AS_ALONE]);
  assert.equal((await again(play, 'team')).at(-1), AS_TEAM(why));
  assert.equal((await ended(play)).how, 'team');
});

test('a restart makes a team of it once what was missing is there', async (t) => {
  const play = await left(t, 'variable_unset');
  const said: string[] = [];
  const restart = () => resumeTeam(play.world.context, team, (words) => said.push(words));
  assert.equal(await restart(), true);
  assert.match(said.join('\n'), /^variable: expected .*; mend: export [^\n]*\n/);
  assert.deepEqual([said.at(-1), play.world.state().session], [AS_ALONE, 'fallback']);
  play.world.pretend({ variable: SET });
  said.length = 0;
  assert.equal(await restart(), true);
  assert.deepEqual([said, play.world.state().session], [[AS_TEAM(MISSING)], 'assigned']);
});
