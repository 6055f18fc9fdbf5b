import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { GIT_CODES } from '../../../src/git/rules/git-codes.ts';
import { OpenTeams } from '../../../src/team/log/open-teams.ts';
import { FileTeamLog } from '../../../src/team/log/team-log.ts';
import { teamsDirectory } from '../../../src/team/log/team-names.ts';
import { FileTeams } from '../../../src/team/log/teams.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { isOf, isRefusal } from '../../support/codes.ts';
import { rec, TEAM } from '../../support/team.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

const OTHER = 'tool-plan-a-form';

function teamsIn(root: string, maxBytes?: number): FileTeams {
  return new FileTeams({ root, now: () => 1_000_000, ...(maxBytes === undefined ? {} : { maxBytes }) });
}

async function create(teams: FileTeams, team = TEAM): Promise<FileTeamLog> {
  const log = teams.begin(team);
  assert.equal((await log.append(rec('created', { team }))).refusal, null);
  return log;
}

async function remove(teams: FileTeams, team = TEAM): Promise<string> {
  const log = teams.open(team);
  assert.ok(log !== undefined);
  assert.equal((await log.append(rec('deleted'))).refusal, null);
  await log.close();
  return teams.archive(team);
}

test('teams that have a log are listed and opened; nothing else is, and nothing comes about by asking', async (t) => {
  const root = tempDir(t);
  const teams = teamsIn(root);
  assert.deepEqual(teams.list(), []);
  assert.equal(teams.open(TEAM), undefined);
  assert.deepEqual(readdirSync(root), []);
  for (const team of [TEAM, OTHER]) await (await create(teams, team)).close();
  for (const name of ['archive', 'tool-run-', 'other', 'tool-debug-empty'])
    mkdirSync(join(teamsDirectory(root), name), { recursive: true });
  writeFileSync(join(teamsDirectory(root), 'tool-run-file'), '');
  writeFileSync(join(teamsDirectory(root), 'archive', 'log.jsonl'), '');
  assert.deepEqual(teams.list(), [OTHER, TEAM]);
  for (const name of ['archive', 'tool-debug-empty', 'tool-run-file', '../teams', '', 'tool-run-none'])
    assert.equal(teams.open(name), undefined, name);
  const log = teams.open(TEAM);
  assert.equal(log?.state.team, TEAM);
  assert.equal(log.directory, join(teamsDirectory(root), TEAM));
  await log.close();
});

test('a log that was lent can be used after its team is no longer there', async (t) => {
  const root = tempDir(t);
  const teams = teamsIn(root);
  const kept = new OpenTeams(teams);
  finallyDo(t, () => kept.close());
  await (await create(teams)).close();
  const lent = kept.open(TEAM);
  assert.ok(lent !== undefined);
  // As `git clean -fdx` does.
  rmSync(teamsDirectory(root), { recursive: true });
  assert.deepEqual(kept.list(), []);
  lent.refresh();
  assert.equal((await lent.append(rec('task_created', { subject: 'a' }))).refusal, null);
  assert.deepEqual(kept.list(), [TEAM]);
  assert.equal(kept.open(TEAM)?.state.tasks.size, 1);
  await remove(teams);
  assert.deepEqual(kept.list(), []);
  lent.refresh();
  assert.equal(lent.state.session, 'deleted');
  assert.deepEqual(kept.list(), []);
});

test('a name that is none of a team leads nowhere', (t) => {
  const root = tempDir(t);
  for (const name of ['../../outside', 'archive', '', 'tool-run-x/../y', `tool-run-${'x'.repeat(200)}`])
    for (const act of ['begin', 'archive'] as const)
      assert.throws(() => teamsIn(root)[act](name), isOf(GIT_CODES.name_invalid, { field: 'team_name', got: name }));
  assert.deepEqual(readdirSync(root), []);
});

test('what stands in the way of the teams is said with its path', (t) => {
  const root = tempDir(t);
  mkdirSync(join(root, '.tool'));
  writeFileSync(teamsDirectory(root), '');
  const says = (error: unknown) =>
    error instanceof ToolError &&
    error.kind === 'state_unusable' &&
    error.message.includes(teamsDirectory(root)) &&
    /expected a directory, got a file|ENOTDIR/.test(error.message);
  assert.throws(() => teamsIn(root).list(), says);
  assert.throws(() => teamsIn(root).begin(TEAM), says);
});

test('a team that was deleted is put away whole, and its name is free', async (t) => {
  const root = tempDir(t);
  const teams = teamsIn(root, 2000);
  const log = await create(teams);
  for (let n = 0; n < 30; n++) await log.append(rec('task_created'));
  await log.close();
  const place = await remove(teams);
  assert.equal(dirname(place), join(teamsDirectory(root), 'archive'));
  assert.ok(readdirSync(place).length > 1);
  assert.deepEqual(teams.list(), []);
  assert.equal(teams.open(TEAM), undefined);
  const archived = new FileTeamLog({ directory: place, now: () => 1, create: false });
  assert.deepEqual([archived.state.session, archived.state.tasks.size], ['deleted', 30]);
  await archived.close();
  const next = await create(teams);
  assert.equal(next.state.tasks.size, 0);
  await next.close();
  // Made and deleted in the same millisecond as the first.
  assert.notEqual(await remove(teams), place);
  assert.ok(existsSync(place));
});

test('a team that stands is not put away, nor is one that there is not', async (t) => {
  const root = tempDir(t);
  const teams = teamsIn(root);
  assert.throws(() => teams.archive(TEAM), isOf(LOG_CODES.team_log_missing, { team: TEAM }));
  const log = teams.begin(TEAM);
  await log.append(rec('proposed'));
  assert.throws(() => teams.archive(TEAM), isOf(LOG_CODES.team_not_deleted, { team: TEAM, state: 'none' }));
  await log.append(rec('created'));
  assert.throws(() => teams.archive(TEAM), isOf(LOG_CODES.team_not_deleted, { team: TEAM, state: 'created' }));
  await log.close();
  assert.deepEqual(teams.list(), [TEAM]);
});

test('whoever died between deleting and putting away is not in the way of the next', async (t) => {
  const root = tempDir(t);
  const teams = teamsIn(root);
  const log = await create(teams);
  await log.append(rec('deleted'));
  await log.close();
  const next = await create(teams);
  assert.equal(next.state.session, 'created');
  await next.close();
  assert.equal(readdirSync(join(teamsDirectory(root), 'archive')).length, 1);
});

test('a log that was put away takes nothing, and makes none in its old place', async (t) => {
  const root = tempDir(t);
  const teams = teamsIn(root);
  const late = await create(teams);
  finallyDo(t, () => late.close());
  const place = await remove(teams);
  isRefusal((await late.append(rec('task_created'))).refused, LOG_CODES.team_deleted, { team: TEAM });
  assert.deepEqual(teams.list(), []);
  assert.ok(readFileSync(join(place, 'log.jsonl'), 'utf8').includes('"type":"deleted"'));
  await (await create(teams)).close();
  isRefusal((await late.append(rec('task_created'))).refused, LOG_CODES.team_deleted, { team: TEAM });
});

test('whoever is files behind a log that was put away does not follow into the next team of that name', async (t) => {
  const root = tempDir(t);
  const directory = join(teamsDirectory(root), TEAM);
  for (const isNew of [false, true]) {
    const teams = teamsIn(root, 2000);
    const late = await create(teams);
    const reader = teams.open(TEAM);
    finallyDo(t, () => Promise.all([late.close(), reader?.close()]));
    const writer = teams.open(TEAM);
    for (let n = 0; n < 60; n++) await writer?.append(rec('task_created'));
    await writer?.close();
    await remove(teams);
    if (isNew) {
      const next = await create(teams);
      // As many files as the old one has read of, and more.
      for (let n = 0; n < 60; n++) await next.append(rec('task_created', { subject: 'new' }));
      await next.close();
    }
    const before = isNew ? readdirSync(directory) : [];
    const away = isOf(LOG_CODES.team_log_put_away, { directory });
    assert.throws(() => reader?.refresh(), away);
    await assert.rejects(late.append(rec('task_created', { subject: 'stray' })), away);
    assert.deepEqual(existsSync(directory) ? readdirSync(directory) : [], before);
    if (!isNew) continue;
    const log = teams.open(TEAM);
    assert.equal(
      [...(log?.state.tasks.values() ?? [])].every(({ subject }) => subject === 'new'),
      true,
    );
    await log?.close();
  }
});

test('nothing that a team writes is taken up by git add, though nothing is installed', (t) => {
  const root = tempDir(t);
  execaSync`git init -q ${root}`;
  void new FileTeams({ root, now: () => 1 }).begin('tool-run-spec-a-001').close();
  execaSync`git -C ${root} add -A`;
  assert.equal(execaSync`git -C ${root} diff --cached --name-only`.stdout, '');
});
