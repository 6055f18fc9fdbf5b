// Two writers whose work does not go together, in worktrees of a real repository: from the conflict to the one branch.
// Over 400 lines: its cases share one repository with a conflict.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { composeOperations } from '../../../src/compose/team.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { GIT_CODES } from '../../../src/git/rules/git-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { isRefusal, MEMBER_LEASE_MS } from '../../../src/team/rules/log/state.ts';
import { messageLine } from '../../../src/team/rules/mail.ts';
import { isOf, isRefusal as refusedWith, textLike, wordsLike } from '../../support/codes.ts';
import { gitIn } from '../../support/git.ts';
import { writeTree } from '../../support/installed.ts';
import { projectOf, textOf } from '../../support/team-worktrees.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const SHARED = 'src/lib/words.js';
const FILES = {
  [SHARED]: 'export const greeting = "Hello";\n',
  'src/api/a.js': '1\n',
  'src/pages/p.js': '1\n',
  'package.json': 'needs\n',
  'package-lock.json': 'locks\n',
};
const BRANCH = `tool/${TEAM}`;

/**
 * Both have changed the shared file, one after the other, and the first one's work is merged.
 * @param first what the first has changed in its place
 */
async function collided(t: Cleanup, first = SHARED, looksForSecrets = false) {
  const { git, teamWorktrees, world, path } = await paired(t);
  if (looksForSecrets) Object.assign(world.context, { newSecrets: composeOperations(path, process.env).newSecrets });
  const places = {
    'backend-dev': { path },
    'frontend-dev': await teamWorktrees.open(TEAM, 'frontend-dev'),
  };
  for (const [owner, subject] of [
    ['backend-dev', 'Say good morning'],
    ['frontend-dev', 'Say it in French'],
  ] as const) {
    await world.call('team-lead', 'TaskCreate', { subject, description: subject, owner });
  }
  const work = async (name: keyof typeof places, taskId: string, text: string, own: string, path = SHARED) => {
    await world.call(name, 'TaskUpdate', { taskId, status: 'in_progress' });
    await world.call(name, 'FileLease', { path: SHARED });
    writeTree(places[name].path, { [path]: text, [own]: `${name}\n` });
  };
  await work('backend-dev', '1', 'export const greeting = "Good morning";\n', 'src/api/a.js', first);
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  await world.call('backend-dev', 'FileLease', { path: SHARED, release: true });
  await work('frontend-dev', '2', 'export const greeting = "Bonjour";\n', 'src/pages/p.js');
  const complete = (taskId: string) => world.call('frontend-dev', 'TaskUpdate', { taskId, status: 'completed' });
  const refused = (taskId: string) => world.refusal('frontend-dev', 'TaskUpdate', { taskId, status: 'completed' });
  return { world, git, place: places['frontend-dev'], complete, refused };
}

/** A commit that changes a file of backend-dev's was taken back. */
function isTakenBack(refused: Refusal): void {
  refusedWith(refused, WORK_CODES.commit_not_merged, { member: 'frontend-dev' });
  const { faults, kept } = refused.values;
  assert.ok(Array.isArray(faults) && faults.length === 1);
  refusedWith(faults[0], WRITES_CODES.path_owned_by_other, { path: 'src/api/a.js', owner: 'backend-dev' });
  assert.match(String(kept), /^refs\/toolcrew\//);
}

test('a conflict is a task that its work waits for; settled, both changes are in the one branch', async (t) => {
  const { world, git, place, complete, refused } = await collided(t);
  refusedWith(await refused('2'), WORK_CODES.work_conflicts_with_task, {
    ...{ files: SHARED, others: 'backend-dev for task 1 "Say good morning"', settling: '3' },
  });
  const { tasks, messages } = world.state();
  const task = tasks.get('3');
  assert.deepEqual(
    [task?.subject, task?.owner, task?.files, task?.holdsUp, task?.status, tasks.get('2')?.blockedBy],
    [`Settle a conflict: ${SHARED}`, 'frontend-dev', [SHARED], '2', 'pending', ['3']],
  );
  assert.match(
    task?.description ?? '',
    /frontend-dev changed it for task 2 "Say it in French", backend-dev for task 1 .*git merge tool\/tool-run-spec-auth-001.*ask backend-dev/,
  );
  assert.match(
    messages.map(messageLine).join('\n'),
    /from frontend-dev, progress.* Task 3: src\/lib\/words\.js .*by you for task 1 and by frontend-dev for task 2/,
  );
  assert.deepEqual(world.state().unread.get('backend-dev')?.length, 1);

  const measured = world.measured;
  refusedWith(await refused('2'), TASK_CODES.task_waits, {
    ...{ task: '2', before: [`task 3 "Settle a conflict: ${SHARED}"`] },
  });
  assert.equal(world.measured, measured, 'nothing is measured for it');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  for (let time = 1; time <= 5; time++) refusedWith(await refused('3'), WORK_CODES.work_conflicts, { files: SHARED });
  assert.equal(world.state().tasks.size, 3, 'there is one task for it, however often it is tried');
  assert.equal(git('show', `${BRANCH}:${SHARED}`), 'export const greeting = "Good morning";\n');

  const own = gitIn(place.path);
  assert.throws(() => own('merge', BRANCH), 'Git leaves both sides in the file');
  writeTree(place.path, { [SHARED]: 'export const greeting = "Good morning, bonjour";\n' });
  own('add', SHARED);
  execaSync({ cwd: place.path, env: place.env })`git commit -q --no-edit`;
  await complete('3');
  const answer = await complete('2');
  assert.equal(answer.status, 'completed');
  assert.equal(git('show', `${BRANCH}:${SHARED}`), 'export const greeting = "Good morning, bonjour";\n');
  assert.equal(git('show', `${BRANCH}:src/api/a.js`), 'backend-dev\n');
  assert.equal(git('show', `${BRANCH}:src/pages/p.js`), 'frontend-dev\n');
});

test('two add a dependency: the lock file is made anew by its manager, and the lead hears which side was kept', async (t) => {
  const { git, teamWorktrees, world, path } = await paired(t);
  const { path: second } = await teamWorktrees.open(TEAM, 'frontend-dev');
  const own = gitIn(second);
  const locked = ['package.json', 'package-lock.json'];
  const add = async (name: string, taskId: string, at: string, what: string) => {
    await world.call('team-lead', 'TaskCreate', { subject: `Add ${what}`, description: 'd', owner: name });
    await world.call(name, 'TaskUpdate', { taskId, status: 'in_progress' });
    for (const file of locked) await world.call(name, 'FileLease', { path: file });
    writeTree(at, { 'package.json': `needs ${what}\n`, 'package-lock.json': `locks ${what}\n` });
  };
  await add('backend-dev', '1', path, 'alpha');
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  for (const file of locked) await world.call('backend-dev', 'FileLease', { path: file, release: true });
  await add('frontend-dev', '2', second, 'beta');
  const done = { taskId: '2', status: 'completed' };
  assert.match(
    await world.refused('frontend-dev', 'TaskUpdate', done),
    /Do not merge package-lock\.json by hand: settle the other files, then run `git checkout --theirs package-lock\.json` and `npm install`/,
  );
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  assert.throws(() => own('merge', BRANCH));
  own('checkout', '--theirs', 'package-lock.json');
  writeTree(second, { 'package.json': 'needs alpha, beta\n' });
  own('add', '-A');
  own('commit', '-q', '--no-edit');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'completed' });
  assert.equal(git('show', `${BRANCH}:package-lock.json`), 'locks alpha\n');
  const told = world.state().messages.filter(({ to }) => to === 'team-lead');
  assert.match(
    told.map(({ content }) => content).join('\n'),
    /^Task 3 settled a conflict\. package-lock\.json: the team's version was kept, frontend-dev's was dropped\. package\.json: combined from both sides\. To bring package-lock\.json up to date, run `npm install`\.$/m,
  );
});

test('a conflict that is committed as git left it is not settled', async (t) => {
  const { git, place, complete, refused, world } = await collided(t);
  await refused('2');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  const own = gitIn(place.path);
  assert.throws(() => own('merge', BRANCH), 'Git leaves both sides in the file');
  own('add', '-A');
  refusedWith(await refused('3'), WORK_CODES.conflict_markers_left, { files: [SHARED] });
  // As a commit as well.
  refusedWith(await refused('3'), WORK_CODES.conflict_markers_left, { files: [SHARED] });
  const left = own('show', `HEAD:./${SHARED}`).replace(/^>{7} .*\n/m, '');
  writeTree(place.path, { [SHARED]: left });
  // Its end taken out alone, however often.
  for (let often = 0; often < 4; often++)
    refusedWith(await refused('3'), WORK_CODES.conflict_markers_left, { files: [SHARED] });
  writeTree(place.path, { [SHARED]: 'export const greeting = "Both";\n' });
  await complete('3');
  await complete('2');
  assert.equal(git('show', `${BRANCH}:${SHARED}`), 'export const greeting = "Both";\n');
});

test('a secret that a commit holds comes into no history, also where a later one takes it out; the files stay', async (t) => {
  const { git, world, path } = await paired(t);
  const { newSecrets } = composeOperations(path, process.env);
  Object.assign(world.context, { newSecrets });
  await world.call('team-lead', 'TaskCreate', { subject: 'Pay', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const own = gitIn(path);
  const key = `AKIA${'Q3F7'.repeat(4)}`;
  writeTree(path, { 'src/api/first.js': 'first\n' });
  own('add', '-A');
  own('commit', '-qm', 'First');
  writeTree(path, { 'src/api/a.js': `export const key = '${key}';\n`, 'src/api/b.js': 'new\n' });
  const refusal = () => world.refusal('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  const complete = () => world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  const measured = world.measured;
  for (const often of ['once', 'again', 'a third time', 'however often']) {
    const held = await refusal();
    refusedWith(held, WORK_CODES.commits_hold_secrets, { places: ['src/api/a.js:1 (AWS Access Key ID)'] });
    assert.match(String(held.values.kept), /^refs\/toolcrew\//, often);
    assert.match(textOf(path, 'src/api/a.js'), /AKIA/, 'the file is as it was');
  }
  assert.equal(world.measured, measured, 'nothing is measured for it');
  own('add', '-A');
  own('commit', '-qm', 'With it');
  writeTree(path, { 'src/api/a.js': 'export const key = process.env.KEY;\n' });
  assert.match(await complete(), /src\/api\/a\.js:1 \(AWS Access Key ID\)/, 'the commit before still holds it');
  assert.equal(textOf(path, 'src/api/a.js'), 'export const key = process.env.KEY;\n');
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.equal(git('log', '-S', key, '--oneline', BRANCH), '');
  assert.match(git('show', `${BRANCH}:src/api/a.js`), /process\.env\.KEY/);
  assert.equal(git('show', `${BRANCH}:src/api/b.js`), 'new\n');
  assert.equal(git('show', `${BRANCH}:src/api/first.js`), 'first\n');
});

const TOKEN = `gh${'p_'}${'a1B2c3D4e5f6'.repeat(3)}`;

test('a secret that comes in with the merge that settles a conflict is found as well', async (t) => {
  const { world, git, place, complete, refused } = await collided(t, SHARED, true);
  await refused('2');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  const own = gitIn(place.path);
  assert.throws(() => own('merge', BRANCH), 'Git leaves both sides in the file');
  writeTree(place.path, { [SHARED]: 'export const greeting = "Both";\n', 'src/pages/p.js': `const t = '${TOKEN}';\n` });
  refusedWith(await refused('3'), WORK_CODES.commits_hold_secrets, { places: ['src/pages/p.js:1 (GitHub Token)'] });
  writeTree(place.path, {
    [SHARED]: 'export const greeting = "Both";\n',
    'src/pages/p.js': 'const t = process.env.T;\n',
  });
  await complete('3');
  await complete('2');
  assert.equal(git('log', '-p', '-m', BRANCH).includes(TOKEN), false);
  assert.equal(git('show', `${BRANCH}:${SHARED}`), 'export const greeting = "Both";\n');
});

test('where what stood before the secret does not merge, the files stay all the same', async (t) => {
  const { world, git, place, complete, refused } = await collided(t, SHARED, true);
  const own = gitIn(place.path);
  const commit = (words: string) => {
    own('add', '-A');
    execaSync({ cwd: place.path, env: place.env })`git commit -q -m ${words}`;
  };
  commit('In French');
  writeTree(place.path, { 'src/pages/q.js': `const t = '${TOKEN}';\n`, 'src/pages/work.js': 'work\n' });
  commit('More');
  await refused('2');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  assert.throws(() => own('merge', BRANCH), 'Git leaves both sides in the file');
  writeTree(place.path, { [SHARED]: 'export const greeting = "Both";\n' });
  commit('Settled');
  refusedWith(await refused('3'), WORK_CODES.commits_hold_secrets, { places: ['src/pages/q.js:1 (GitHub Token)'] });
  assert.equal(textOf(place.path, 'src/pages/work.js'), 'work\n');
  assert.equal(textOf(place.path, SHARED), 'export const greeting = "Both";\n');
  writeTree(place.path, { 'src/pages/q.js': 'const t = process.env.T;\n' });
  await complete('3');
  await complete('2');
  assert.equal(git('log', '-p', '-m', BRANCH).includes(TOKEN), false);
  for (const [path, text] of [
    [SHARED, 'export const greeting = "Both";\n'],
    ['src/pages/work.js', 'work\n'],
    ['src/pages/q.js', 'const t = process.env.T;\n'],
  ] as const)
    assert.equal(git('show', `${BRANCH}:${path}`), text);
});

/** A team of two, of whom the first has a place. */
async function paired(t: Cleanup) {
  const { git, teamWorktrees } = projectOf(t, { files: FILES });
  const world = new TeamWorld(t);
  Object.assign(world.context, { teamWorktrees: () => Promise.resolve(teamWorktrees) });
  await teamWorktrees.begin(TEAM);
  await world.team(['backend-dev', 'frontend-dev']);
  await world.append({ type: 'base_measured', checks: [], coverage: null });
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  return { git, teamWorktrees, world, path };
}

test('while a person has the branch checked out nothing is merged, the reason says where, and afterwards it is', async (t) => {
  const { git, teamWorktrees, world, path } = await paired(t);
  await world.call('team-lead', 'TaskCreate', { subject: 'Say it', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  writeTree(path, { 'src/api/a.js': '2\n' });
  assert.equal(await teamWorktrees.checkedOut(TEAM), null);
  git('checkout', '-q', BRANCH);
  assert.match(
    (await teamWorktrees.checkedOut(TEAM)) ?? '',
    wordsLike(WORK_CODES.team_branch_checked_out, { branch: BRANCH, path: /\S*project/ }),
  );
  for (let time = 1; time <= 4; time++) {
    const taken = await world.refusal('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
    refusedWith(taken, WORK_CODES.team_branch_taken);
    assert.match(
      String(taken.values.said),
      wordsLike(WORK_CODES.team_branch_checked_out, { branch: BRANCH, path: /\S*project/ }),
    );
  }
  assert.equal(textOf(path, 'src/api/a.js'), '2\n');
  assert.deepEqual(git('status', '--porcelain'), '', 'and what they look at stays as it is');
  git('checkout', '-q', '-');
  // A worktree of the person's that is gone has nothing checked out.
  const gone = join(tempDir(t), 'look');
  git('worktree', 'add', '-q', gone, BRANCH);
  rmSync(gone, { recursive: true });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.equal(git('show', `${BRANCH}:src/api/a.js`), '2\n');
});

test('what was changed under a lease that was given back since is taken', async (t) => {
  const { git, world, path } = await paired(t);
  await world.call('team-lead', 'TaskCreate', { subject: 'Say it', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await world.call('backend-dev', 'FileLease', { path: SHARED });
  writeTree(path, { [SHARED]: 'export const greeting = "Moin";\n' });
  await world.call('backend-dev', 'FileLease', { path: SHARED, release: true });
  await world.call('frontend-dev', 'FileLease', { path: SHARED });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.equal(git('show', `${BRANCH}:${SHARED}`), 'export const greeting = "Moin";\n');
});

test('a lease that was given back with an earlier task allows nothing in a later one', async (t) => {
  const { git, world, path } = await paired(t);
  for (const taskId of ['1', '2']) {
    await world.call('team-lead', 'TaskCreate', { subject: `Do ${taskId}`, description: 'd', owner: 'backend-dev' });
    await world.call('backend-dev', 'TaskUpdate', { taskId, status: 'in_progress' });
    if (taskId === '1') {
      await world.call('backend-dev', 'FileLease', { path: SHARED });
      await world.call('backend-dev', 'FileLease', { path: SHARED, release: true });
      world.clock.set(1_000);
      await world.call('backend-dev', 'TaskUpdate', { taskId, status: 'completed' });
    }
  }
  await world.call('frontend-dev', 'FileLease', { path: SHARED });
  writeTree(path, { [SHARED]: 'export const greeting = "Moin";\n' });
  const refusal = await world.refused('backend-dev', 'TaskUpdate', { taskId: '2', status: 'completed' });
  assert.match(refusal, /src\/lib\/words\.js/);
  assert.equal(git('show', `${BRANCH}:${SHARED}`), FILES[SHARED]);
});

test('of what git could not bring together somebody says what stays', async (t) => {
  const { git, place, complete, refused, world } = await collided(t);
  const common = git('rev-parse', '--path-format=absolute', '--git-common-dir').trim();
  writeTree(common, { 'info/attributes': `${SHARED} -merge\n` });
  await refused('2');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  const own = gitIn(place.path);
  assert.throws(() => own('merge', BRANCH), 'Git keeps ours, and both in the index');
  await assert.rejects(complete('3'), isOf(GIT_CODES.conflict_undecided, { files: ['src/lib/words.js'] }));
  own('add', SHARED);
  await complete('3');
  await complete('2');
  assert.equal(git('show', `${BRANCH}:${SHARED}`), 'export const greeting = "Bonjour";\n');
});

test('it outlives whoever was to settle it: the successor gets that task first, then the one that waits', async (t) => {
  const { world, place, refused } = await collided(t);
  await refused('2');
  await world.clock.pass(MEMBER_LEASE_MS + 1);
  await world.start('frontend-dev');
  assert.deepEqual(
    [...world.state().tasks.values()].map(({ id, status, claim }) => [id, status, claim?.member ?? null]),
    [
      ['1', 'completed', 'backend-dev'],
      ['2', 'pending', null],
      ['3', 'pending', null],
    ],
  );
  refusedWith(
    await world.refusal('frontend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' }),
    TASK_CODES.task_blocked,
    { task: '2', before: ['task 3'] },
  );
  const answer = await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  assert.equal(answer.holds_up, '2');
  assert.match(textOf(place.path, SHARED), /Bonjour/, 'its predecessor’s work is where it was');
});

test('a change of somebody else’s file is taken back before it can collide with the owner’s', async (t) => {
  const { world, git, place, refused } = await collided(t);
  writeTree(place.path, { 'src/api/a.js': 'frontend-dev, too\n' });
  isTakenBack(await refused('2'));
  assert.equal(git('show', `${BRANCH}:src/api/a.js`), 'backend-dev\n');
  refusedWith(await refused('2'), WORK_CODES.work_conflicts_with_task, { files: SHARED });
  assert.deepEqual(world.state().tasks.get('3')?.files, [SHARED]);
});

test('what is let through after three rejections is in the branch all the same', async (t) => {
  const { world, git, refused, complete } = await collided(t, 'src/api/b.js');
  world.fails('tests');
  for (let time = 1; time <= 3; time++)
    refusedWith(await refused('2'), WORK_CODES.work_not_accepted, { checks: ['tests'] });
  const { checks } = await complete('2');
  assert.match(String(checks), wordsLike(WORK_CODES.accepted_after_rejections, { count: 3 }));
  assert.equal(git('show', `${BRANCH}:src/pages/p.js`), 'frontend-dev\n');
});

test('a commit that was taken back never counts as done, however often it comes', async (t) => {
  const { world, git, place, refused } = await collided(t, 'src/api/b.js');
  for (let time = 1; time <= 5; time++) {
    writeTree(place.path, { 'src/api/a.js': `frontend-dev, for the ${time}. time\n` });
    isTakenBack(await refused('2'));
    assert.equal(world.state().tasks.get('2')?.status, 'in_progress');
    assert.equal(git('show', `${BRANCH}:src/api/a.js`), 'backend-dev\n');
  }
});

/** A writer with one task, which names a file that git ignores; `library`: a repository that is a submodule. */
async function alone(t: Cleanup, library?: string) {
  const { git, teamWorktrees } = projectOf(t, { files: { '.gitignore': 'made.js\n', 'src/api/a.js': '1\n' } });
  if (library !== undefined) {
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'vendor/lib');
    git('commit', '-qm', 'A library');
  }
  const world = new TeamWorld(t);
  Object.assign(world.context, { teamWorktrees: () => Promise.resolve(teamWorktrees) });
  await teamWorktrees.begin(TEAM);
  await world.team(['backend-dev']);
  await world.append({ type: 'base_measured', checks: [], coverage: null });
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  const task = { subject: 'Make it', description: 'Make it', owner: 'backend-dev', files: ['src/api/made.js'] };
  await world.call('team-lead', 'TaskCreate', task);
  const update = { taskId: '1', status: 'completed' };
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const complete = () => world.call('backend-dev', 'TaskUpdate', update);
  const refused = () => world.refused('backend-dev', 'TaskUpdate', update);
  return { world, git, path, complete, refused };
}

test('work in a repository of its own is refused until it is plain files, however often', async (t) => {
  const { git, path, complete, refused } = await alone(t);
  writeTree(path, { 'src/api/new/index.js': 'new\n' });
  gitIn(path)('init', '-q', 'src/api/new');
  for (let count = 0; count < 5; count++)
    assert.match(await refused(), /src\/api\/new is a separate Git repository.*rm -rf src\/api\/new\/\.git/);
  rmSync(`${path}/src/api/new/.git`, { recursive: true });
  await complete();
  assert.equal(git('show', `${BRANCH}:src/api/new/index.js`), 'new\n');
});

test('work beside its branch is refused until it is on it, however often; what is elsewhere is told', async (t) => {
  const { world, git, path, complete, refused } = await alone(t);
  const own = gitIn(path);
  own('checkout', '-q', '--detach');
  writeTree(path, { 'src/api/new.js': 'new\n' });
  own('add', '-A');
  own('commit', '-q', '-m', 'Beside');
  const beside = own('rev-parse', '--short=12', 'HEAD').trim();
  git(
    'update-ref',
    `refs/heads/${BRANCH}--backend-dev`,
    git('commit-tree', '-p', 'main', '-m', 'x', 'main^{tree}').trim(),
  );
  for (let count = 0; count < 5; count++)
    assert.match(await refused(), new RegExp(`worktree is at ${beside}, not on .*git checkout .*git merge -`));
  assert.equal(world.measured, 0, 'nothing is measured for it');
  own('checkout', '-q', `${BRANCH}--backend-dev`);
  own('merge', '-q', '-m', 'Back', '-');
  await complete();
  assert.equal(git('show', `${BRANCH}:src/api/new.js`), 'new\n');
});

/** The commit in which what task 1 is done without is kept, as messages say. */
function keptOf(told: string, files: string): string {
  return wordsLike(WORK_CODES.task_without_files, { task: '1', files, kept: /(\S+)/ }).exec(told)?.[1] ?? '';
}

test('a file of the task that git ignores is told once; completed again, it is kept and the lead is told', async (t) => {
  const { world, git, path, complete, refused } = await alone(t);
  writeTree(path, { 'src/api/made.js': 'made\n', 'src/api/a.js': '2\n' });
  assert.match(await refused(), /Git ignores src\/api\/made\.js .*git add --force src\/api\/made\.js/);
  await complete();
  assert.equal(git('show', `${BRANCH}:src/api/a.js`), '2\n');
  const told = world.state().messages.map(messageLine).join('\n');
  const kept = keptOf(told, 'src/api/made.js, which Git ignores');
  assert.equal(git('show', `${kept}:src/api/made.js`), 'made\n');
});

test('a change in a submodule is told once; completed again, it is kept, the lead is told, and something was changed', async (t) => {
  const library = projectOf(t, { name: 'library', files: { 'lib.js': 'old\n' } });
  const { world, git, path, complete, refused } = await alone(t, library.root);
  writeTree(path, { 'vendor/lib/lib.js': 'new\n' });
  assert.match(await refused(), /^vendor\/lib\/lib\.js is in a submodule, .*: the team cannot commit it\./);
  await complete();
  const told = () => world.state().messages.map(messageLine).join('\n');
  const kept = keptOf(told(), 'the change of vendor/lib/lib.js in a submodule');
  assert.equal(git('show', `${kept}:vendor/lib/lib.js`), 'new\n');
  assert.equal(world.state().tasks.get('1')?.changedNothing, undefined);
  // The next task of the same writer has nothing to do with it.
  const next = { subject: 's', description: 'd', owner: 'backend-dev' };
  await world.call('team-lead', 'TaskCreate', next);
  await world.clock.pass(1);
  await world.call('backend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '2', status: 'completed' });
  assert.equal(world.state().tasks.get('2')?.changedNothing, true);
});

test('what Git ignores of work that the checks refuse is kept, and the lead told, once it is accepted', async (t) => {
  const { world, git, path, complete, refused } = await alone(t);
  writeTree(path, { 'src/api/made.js': 'made\n', 'src/api/a.js': '2\n' });
  await refused();
  world.fails('tests');
  for (let time = 1; time <= 3; time++)
    assert.match(await refused(), wordsLike(GATE_CODES.gate_rejected, { checks: ['tests'], report: /[\s\S]*/ }));
  const told = () =>
    world
      .state()
      .messages.map(messageLine)
      .filter((line) => line.includes('which Git ignores'));
  const kept = () => git('for-each-ref', 'refs/toolcrew/saved').split('\n').filter(Boolean);
  assert.deepEqual([told(), kept()], [[], []]);
  await complete();
  assert.deepEqual([told().length, kept().length], [1, 1]);
});

test('a name over two lines is its owner’s like any other; one that is no text is refused', async (t) => {
  const { git, path, complete, refused } = await alone(t);
  writeTree(path, { 'src/api/one\nother.js': 'x\n' });
  const odd = Buffer.concat([Buffer.from(`${path}/src/api/`), Buffer.from([0xff])]);
  let isThere = true;
  try {
    writeFileSync(odd, 'x\n');
  } catch {
    isThere = false;
  }
  if (isThere) {
    assert.match(await refused(), textLike(WORK_CODES.path_not_utf8, { path: 'src/api/\uFFFD' }));
    rmSync(odd);
  }
  await complete();
  assert.match(git('ls-tree', '-r', '--name-only', BRANCH), /"src\/api\/one\\nother\.js"/);
});

test('a team’s branch that somebody moved is put back before more is merged, and the log says so', async (t) => {
  const { world, git, path, complete } = await alone(t);
  writeTree(path, { 'src/pages/p.js': 'foreign\n' });
  gitIn(path)('add', '-A');
  gitIn(path)('commit', '-q', '-m', 'Foreign');
  git('update-ref', `refs/heads/${BRANCH}`, `${BRANCH}--backend-dev`);
  gitIn(path)('reset', '-q', '--hard', 'HEAD~1');
  writeTree(path, { 'src/api/a.js': '2\n' });
  await complete();
  assert.deepEqual(git('ls-tree', '-r', '--name-only', BRANCH, 'src').trim().split('\n'), ['src/api/a.js']);
  const told = world.state().decisions.filter(isRefusal);
  assert.deepEqual(
    told.map(({ about, decision }) => [about, decision]),
    [[`branch ${BRANCH}`, 'reject']],
  );
  const [, kept = ''] = /put back: .* kept as (\S+)/.exec(told[0]?.reason ?? '') ?? [];
  assert.equal(git('show', `${kept}:src/pages/p.js`), 'foreign\n');
});
