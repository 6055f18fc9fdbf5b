// The homes of a team's members go with the team, and not before; nothing outside of them does.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { teamsOf } from '../../../src/compose/team.ts';
import { projectState } from '../../../src/git/project-state.ts';
import { homesOf, removeHomes } from '../../../src/team/members/team-homes.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { isOf } from '../../support/codes.ts';
import { rec } from '../../support/team.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const TEAM = 'tool-run-spec-auth-001';
const OTHER = 'tool-run-spec-other-001';

function homes(t: Cleanup) {
  const place = tempDir(t);
  const main = join(place, 'project');
  mkdirSync(main);
  const env = { HOME: join(place, 'home') };
  const state = projectState(main, env);
  for (const team of [TEAM, OTHER]) {
    mkdirSync(join(homesOf(state, team), 'tester', 'x'), { recursive: true });
    writeFileSync(join(homesOf(state, team), 'tester', 'x', 'file'), '');
  }
  const outside = join(place, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept'), 'kept');
  return { main, env, state, outside };
}

function told(type: 'created' | 'deleted') {
  return type === 'created'
    ? rec('created', { team: TEAM, session: null, key_hash: null })
    : rec('deleted', { forced: false, by: 'team-lead' });
}

test('homes stay as long as the team stands, and go when it is put away', async (t) => {
  const { main, env, state } = homes(t);
  const teams = teamsOf({ root: main, main }, env);
  const log = teams.begin(TEAM);
  await log.append(told('created'));
  assert.throws(() => teams.archive(TEAM), isOf(LOG_CODES.team_not_deleted, { team: TEAM }));
  assert.equal(existsSync(homesOf(state, TEAM)), true);
  await log.append(rec('fell_back'));
  assert.equal((await log.append(told('deleted'))).refusal, null);
  assert.equal(existsSync(homesOf(state, TEAM)), true);
  await log.close();
  teams.archive(TEAM);
  assert.equal(existsSync(homesOf(state, TEAM)), false);
  assert.equal(existsSync(homesOf(state, OTHER)), true);
});

test('links in a home are removed and not followed, and what cannot be written to goes too', (t) => {
  const { state, outside } = homes(t);
  symlinkSync(outside, join(homesOf(state, TEAM), 'tester', 'link'));
  const closed = join(homesOf(state, TEAM), 'tester', 'x');
  chmodSync(closed, 0o500);
  assert.equal(removeHomes(state, TEAM), true);
  assert.equal(existsSync(homesOf(state, TEAM)), false);
  assert.equal(readFileSync(join(outside, 'kept'), 'utf8'), 'kept');
});

for (const what of ['the team’s place', 'the place of all teams'])
  test(`${what} is a link by now: all stays`, (t) => {
    const { state, outside } = homes(t);
    mkdirSync(join(outside, TEAM));
    writeFileSync(join(outside, TEAM, 'kept'), 'kept');
    const path = what === 'the team’s place' ? homesOf(state, TEAM) : join(state, 'teams');
    renameSync(path, `${path}.gone`);
    symlinkSync(what === 'the team’s place' ? join(outside, TEAM) : outside, path);
    assert.equal(removeHomes(state, TEAM), false);
    assert.equal(readFileSync(join(outside, TEAM, 'kept'), 'utf8'), 'kept');
  });

test('a name that is none of a team’s removes nothing', (t) => {
  const { state, outside } = homes(t);
  for (const name of ['..', '../../..', '', 'x']) assert.equal(removeHomes(state, name), false);
  assert.equal(existsSync(homesOf(state, TEAM)), true);
  assert.equal(existsSync(outside), true);
});
