// Unreported results of ended teams: the latest of each name, and none while a newer team of that name is active.

import assert from 'node:assert/strict';
import { existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { FileTeams } from '../../../src/team/log/teams.ts';
import { findUndelivered, recordResult, undeliveredTeams } from '../../../src/team/log/undelivered-results.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { isOf } from '../../support/codes.ts';
import { rec } from '../../support/team.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const TEAM = 'tool-debug-it-fails';
const OTHER = 'tool-debug-it-hangs';

function foundBy(cause: string) {
  return { phase: 'debug', cause, evidence: '$ node --version', by: 'hypothesis-1', tried: [] };
}

/** Teams that are started, or ended and archived with a note of their results. */
function archiveIn(t: Cleanup) {
  const root = tempDir(t);
  let now = Date.parse('2026-01-05');
  const teams = new FileTeams({ root, now: () => (now += 1_000) });
  const begin = async (team: string) => {
    const log = teams.begin(team);
    assert.equal((await log.append(rec('created', { team, phase: 'debug' }))).refusal, null);
    return log;
  };
  const ended = async (team: string, cause: string) => {
    const log = await begin(team);
    recordResult(root, team, foundBy(cause));
    assert.equal((await log.append(rec('deleted'))).refusal, null);
    await log.close();
    return teams.archive(team);
  };
  return { root, teams, begin, ended };
}

const isNoted = (archived: string) => existsSync(join(archived, 'end'));

test('the last end of a name is told, and those before it are forgotten', async (t) => {
  const { root, teams, ended } = archiveIn(t);
  const first = await ended(TEAM, 'the first');
  const second = await ended(TEAM, 'the second');
  assert.deepEqual(undeliveredTeams(teams, root), [TEAM]);
  const untold = await findUndelivered(teams, root, TEAM);
  assert.deepEqual([untold?.archived, untold?.found], [second, foundBy('the second')]);
  assert.deepEqual([isNoted(first), isNoted(second)], [false, true]);
});

test('no old end is told in place of a newer team of that name', async (t) => {
  const { root, teams, begin, ended } = archiveIn(t);
  const old = [await ended(TEAM, 'the first'), await ended(TEAM, 'the second')];
  const other = await ended(OTHER, 'another');
  const log = await begin(TEAM);
  assert.equal(await findUndelivered(teams, root, TEAM), null);
  assert.deepEqual(old.map(isNoted), [false, false]);
  log.refresh();
  assert.equal(log.state.session, 'created');
  await log.close();
  assert.deepEqual(undeliveredTeams(teams, root), [OTHER], 'what others came to stays');
  assert.equal((await findUndelivered(teams, root, OTHER))?.archived, other);
});

test('a team that was only proposed is none: the old end is told', async (t) => {
  const { root, teams, ended } = archiveIn(t);
  const archived = await ended(TEAM, 'the first');
  const log = teams.begin(TEAM);
  assert.equal((await log.append(rec('proposed', { phase: 'debug' }))).refusal, null);
  await log.close();
  assert.equal((await findUndelivered(teams, root, TEAM))?.archived, archived);
});

test('a team whose log was damaged before it was put away hides the end of no other', async (t) => {
  const { root, teams, begin, ended } = archiveIn(t);
  await ended(TEAM, 'it');
  await (await begin(OTHER)).close();
  recordResult(root, OTHER, foundBy('another'));
  truncateSync(join(root, '.tool', 'teams', OTHER, 'log.jsonl'));
  assert.deepEqual(undeliveredTeams(teams, root), [TEAM]);
  await assert.rejects(findUndelivered(teams, root, OTHER), isOf(LOG_CODES.team_log_headless));
});
