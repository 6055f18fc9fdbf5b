// A team's writers each in a worktree, their work in one branch.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { WORK_CODES } from '../../src/team/rules/codes/work-codes.ts';
import { createTeamWorktrees } from '../../src/team/worktrees/team-worktrees.ts';
import { isOf } from '../support/codes.ts';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { commitAll, projectOf, TEAM, textOf } from '../support/team-worktrees.ts';

test('two writers work apart, and what they made comes together', async (t) => {
  const { root, git, base, teamWorktrees } = projectOf(t);
  writeTree(root, { 'src/api/a.js': 'the person is at work\n', 'new.txt': 'x', '.git/hooks/pre-commit': 'exit 1\n' });
  git('add', 'new.txt');
  git('config', 'commit.gpgSign', 'true');
  const person = () => [git('status', '--porcelain'), git('config', '--list', '--local'), git('symbolic-ref', 'HEAD')];
  const before = person();
  assert.deepEqual(await teamWorktrees.begin(TEAM), { branch: `tool/${TEAM}`, base, head: base });
  const one = await teamWorktrees.open(TEAM, 'backend-dev');
  const two = await teamWorktrees.open(TEAM, 'frontend-dev');
  assert.equal(one.path, join(root, '.tool', 'worktrees', TEAM, 'backend-dev'));
  assert.equal(two.branch, `tool/${TEAM}--frontend-dev`);
  assert.equal(textOf(one.path, 'src/api/a.js'), '1\n');

  const odd = 'src/api/with\nbreak "ü".js';
  writeTree(one.path, { 'src/api/a.js': '2\n', [odd]: 'new\n', 'dist/ignored': 'x' });
  writeTree(one.path, { '.tool/teams/x/log.jsonl': '{}', '.tool/state/s': '{}' });
  const saved = await teamWorktrees.save(TEAM, 'backend-dev', 'Users can sign in\n\nWith words.\n\nTask: 3\n');
  assert.equal(await teamWorktrees.save(TEAM, 'backend-dev', 'again'), null);
  const author = git('log', '-1', '--format=%an %ae %cn', saved ?? '');
  assert.equal(author, `backend-dev backend-dev@${TEAM}.toolcrew.invalid backend-dev\n`);
  assert.deepEqual((await teamWorktrees.commits(TEAM, 'backend-dev')).commits, [
    { sha: saved, subject: 'Users can sign in', task: '3', files: ['src/api/a.js', odd] },
  ]);
  // What was a file is a directory, what was a directory is a link.
  unlinkSync(join(two.path, 'package.json'));
  rmSync(join(two.path, 'src', 'api'), { recursive: true });
  symlinkSync('pages', join(two.path, 'src', 'api'));
  writeTree(two.path, { 'package.json/x': 'x\n' });
  const changed = await teamWorktrees.save(TEAM, 'frontend-dev', 'Pages');
  assert.deepEqual(
    (await teamWorktrees.commits(TEAM, 'frontend-dev')).commits.map(({ sha, task, files }) => ({ sha, task, files })),
    [{ sha: changed, task: null, files: ['package.json', 'package.json/x', 'src/api', 'src/api/a.js'] }],
  );

  const merged = await teamWorktrees.merge(TEAM, 'backend-dev', 'Task 3\n');
  assert.deepEqual(merged, { kind: 'merged', head: git('rev-parse', `tool/${TEAM}`).trim() });
  assert.equal(
    git('log', '-1', '--format=%an %p', `tool/${TEAM}`).split(' ').length,
    3,
    'a merge, though it could do without',
  );
  assert.deepEqual(await teamWorktrees.merge(TEAM, 'backend-dev', 'again'), { kind: 'nothing' });
  const tip = git('rev-parse', two.branch, `tool/${TEAM}`);
  const conflict = await teamWorktrees.update(TEAM, 'frontend-dev');
  assert.equal(conflict.kind, 'conflict');
  assert.deepEqual(await teamWorktrees.merge(TEAM, 'frontend-dev', 'Pages'), conflict);
  assert.equal(git('rev-parse', two.branch, `tool/${TEAM}`), tip);
  assert.equal(gitIn(two.path)('status', '--porcelain'), '');
  assert.deepEqual(await teamWorktrees.changed(TEAM), [
    { path: 'src/api/a.js', added: 1, removed: 1 },
    { path: odd, added: 1, removed: 0 },
  ]);

  writeTree(one.path, { 'src/api/a.js': '3\n' });
  const lacking = await teamWorktrees.close(TEAM, 'frontend-dev');
  assert.equal(lacking, `refs/toolcrew/saved/${TEAM}/frontend-dev/${changed}`);
  await teamWorktrees.end(TEAM, []);
  const [kept = ''] = git('for-each-ref', '--format=%(refname)', `refs/toolcrew/saved/${TEAM}/backend-dev`).split('\n');
  assert.equal(git('show', `${kept}:src/api/a.js`), '3\n', 'what was not committed is kept');
  assert.equal(git('show', `tool/${TEAM}:src/api/a.js`), '2\n');
  assert.deepEqual(readdirSync(join(root, '.tool', 'worktrees')), ['.gitignore']);
  assert.equal(git('for-each-ref', '--format=%(refname)', 'refs/heads'), `refs/heads/main\nrefs/heads/tool/${TEAM}\n`);
  assert.equal(git('worktree', 'list').trim().split('\n').length, 1);
  assert.deepEqual(person(), before);
  assert.equal(textOf(root, 'src/api/a.js'), 'the person is at work\n');
  await teamWorktrees.end(TEAM, []);
});

test('a branch that nobody has begun on goes along with the project; one that somebody has does not', async (t) => {
  const { root, base, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  writeTree(root, { 'later.txt': 'x' });
  const later = commitAll(root, 'Later');
  const branch = `tool/${TEAM}`;
  assert.notEqual(later, base);
  assert.deepEqual(await teamWorktrees.begin(TEAM), { branch, base: later, head: later });
  await teamWorktrees.open(TEAM, 'backend-dev');
  writeTree(root, { 'later.txt': 'y' });
  commitAll(root, 'Later still');
  assert.deepEqual(await teamWorktrees.begin(TEAM), { branch, base: later, head: later });
});

test('everything is taken up where it stands, by another process too', async (t) => {
  const { root, git, base, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': 'begun\n', 'src/api/new.js': 'x\n' });
  await teamWorktrees.save(TEAM, 'a', 'One');
  writeTree(path, { 'src/api/a.js': 'more\n' });
  await teamWorktrees.merge(TEAM, 'a', 'One');
  git('commit', '-q', '--allow-empty', '-m', 'the person goes on');
  const other = createTeamWorktrees({ root, env: process.env });
  const head = git('rev-parse', `tool/${TEAM}`).trim();
  assert.deepEqual(await other.begin(TEAM), { branch: `tool/${TEAM}`, base, head });
  assert.equal((await other.open(TEAM, 'a')).path, path);
  assert.equal(textOf(path, 'src/api/a.js'), 'more\n');
});

test('who only reads sees the team’s branch, whatever was done there', async (t) => {
  const { git, base, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path, head } = await teamWorktrees.openReadOnly(TEAM, 'quality');
  assert.equal(head, base);
  const writer = await teamWorktrees.open(TEAM, 'quality');
  writeTree(writer.path, { 'src/api/a.js': '2\n' });
  await teamWorktrees.save(TEAM, 'quality', 'Two');
  await teamWorktrees.merge(TEAM, 'quality', 'Two');
  writeTree(path, { 'src/api/a.js': 'x', 'stray.txt': 'x' });
  gitIn(path)('checkout', '-q', '-b', 'astray');
  const again = await teamWorktrees.openReadOnly(TEAM, 'quality');
  assert.deepEqual(again, { path, head: git('rev-parse', `tool/${TEAM}`).trim() });
  assert.equal(textOf(path, 'src/api/a.js'), '2\n');
  assert.ok(!existsSync(join(path, 'stray.txt')));
  assert.equal(git('rev-parse', 'astray').trim(), base);
  const first = await teamWorktrees.openReadOnly(TEAM, 'base', base);
  assert.equal(first.head, base);
  assert.equal(textOf(first.path, 'src/api/a.js'), git('show', `${base}:src/api/a.js`));
  rmSync(join(path, '.git'));
  assert.deepEqual(await teamWorktrees.openReadOnly(TEAM, 'quality'), again);
});

test('the team’s work comes to a writer, whose own stays', async (t) => {
  const { git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const one = await teamWorktrees.open(TEAM, 'one');
  const two = await teamWorktrees.open(TEAM, 'two');
  assert.deepEqual(await teamWorktrees.update(TEAM, 'two'), { kind: 'nothing' });
  rmSync(join(one.path, 'src/pages/p.js'));
  writeTree(one.path, { 'src/api/a.js': '2\n', 'src/api/b.js': 'b\n', 'src/pages/p.js/deep.js': 'd\n' });
  await teamWorktrees.save(TEAM, 'one', 'One');
  await teamWorktrees.merge(TEAM, 'one', 'One');
  for (const [path, text] of [
    ['src/api/b.js', 'mine\n'],
    ['src/api/a.js', 'mine\n'],
    ['src/pages/p.js', 'mine\n'],
  ] as const) {
    writeTree(two.path, { [path]: text });
    assert.deepEqual(await teamWorktrees.update(TEAM, 'two'), { kind: 'conflict', files: [path], tasks: [] });
    assert.equal(textOf(two.path, path), text);
    gitIn(two.path)('checkout', '-q', '--', '.');
    gitIn(two.path)('clean', '-qfd');
  }
  writeTree(two.path, { 'package.json': '{"mine":1}\n', 'src/pages/new.js': 'n\n' });
  const head = git('rev-parse', `tool/${TEAM}`).trim();
  assert.deepEqual(await teamWorktrees.update(TEAM, 'two'), { kind: 'merged', head });
  assert.equal(textOf(two.path, 'src/pages/p.js/deep.js'), 'd\n');
  assert.equal(gitIn(two.path)('status', '--porcelain'), ' M package.json\n?? src/pages/new.js\n');
  await teamWorktrees.save(TEAM, 'two', 'Two');
  writeTree(one.path, { 'src/api/a.js': '3\n' });
  rmSync(join(one.path, 'src/pages/p.js'), { recursive: true });
  await teamWorktrees.save(TEAM, 'one', 'Three');
  await teamWorktrees.merge(TEAM, 'one', 'Three');
  assert.equal((await teamWorktrees.update(TEAM, 'two')).kind, 'merged');
  assert.equal(textOf(two.path, 'src/api/a.js'), '3\n');
  assert.ok(!existsSync(join(two.path, 'src/pages/p.js')));
  assert.equal(gitIn(two.path)('status', '--porcelain'), '');
  assert.deepEqual(
    (await teamWorktrees.commits(TEAM, 'two')).commits.map(({ subject, files }) => [subject, ...files]),
    [['Two', 'package.json', 'src/pages/new.js']],
  );
});

test('what a writer adds in a merge is told; what git merges by itself is not', async (t) => {
  const { teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const one = await teamWorktrees.open(TEAM, 'one');
  const two = await teamWorktrees.open(TEAM, 'two');
  writeTree(one.path, { 'src/api/a.js': '2\n' });
  await teamWorktrees.save(TEAM, 'one', 'One');
  await teamWorktrees.merge(TEAM, 'one', 'One');
  writeTree(two.path, { 'src/pages/p.js': '2\n' });
  commitAll(two.path, 'Two');
  gitIn(two.path)('merge', '-q', '--no-commit', `tool/${TEAM}`);
  writeTree(two.path, { 'src/api/hidden.js': 'x\n' });
  await teamWorktrees.save(TEAM, 'two', 'Merge');
  const told = (await teamWorktrees.commits(TEAM, 'two')).commits.map(({ subject, files }) => [subject, ...files]);
  assert.deepEqual(told, [
    ['Two', 'src/pages/p.js'],
    ['Merge', 'src/api/hidden.js'],
  ]);
});

test('a part of a writer’s commits is merged up to a commit of its own', async (t) => {
  const { git, base, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': '2\n' });
  const first = (await teamWorktrees.save(TEAM, 'a', 'First')) ?? '';
  writeTree(path, { 'src/pages/p.js': '2\n' });
  await teamWorktrees.save(TEAM, 'a', 'Second');
  const foreign = git('commit-tree', '-m', 'x', `${base}^{tree}`).trim();
  await assert.rejects(teamWorktrees.merge(TEAM, 'a', 'x', foreign), isOf(WORK_CODES.commit_not_on_branch));
  assert.equal((await teamWorktrees.merge(TEAM, 'a', 'First', first)).kind, 'merged');
  assert.equal(git('show', `tool/${TEAM}:src/pages/p.js`), '1\n');
  assert.deepEqual(
    (await teamWorktrees.commits(TEAM, 'a')).commits.map(({ subject }) => subject),
    ['Second'],
  );
});

test('a file that was moved to where it may not be is back where it was', async (t) => {
  const { git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const text = 'export const view = () => 5;\nexport const two = 2;\n';
  writeTree(path, { 'src/api/view.js': text, 'src/api/other.js': 'o\n' });
  await teamWorktrees.save(TEAM, 'a', 'Good');
  writeTree(path, { 'src/pages/view.js': `${text}export const three = 3;\n`, 'src/api/new.js': 'n\n' });
  gitIn(path)('rm', '-q', 'src/api/view.js', 'src/api/other.js');
  const bad = (await teamWorktrees.save(TEAM, 'a', 'Bad')) ?? '';
  const ref = await teamWorktrees.refuse(TEAM, 'a', bad, ['src/pages/view.js']);
  assert.match(git('show', `${ref}:src/pages/view.js`), /three/);
  assert.equal(textOf(path, 'src/api/view.js'), text);
  assert.equal(
    gitIn(path)('status', '--porcelain'),
    ' D src/api/other.js\n?? src/api/new.js\n',
    'the rest stays as it is',
  );
});

test('refused commits are kept elsewhere; of what they changed, the files that were refused go back', async (t) => {
  const { git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path, branch } = await teamWorktrees.open(TEAM, 'a');
  const other = await teamWorktrees.open(TEAM, 'b');
  writeTree(path, { 'src/api/a.js': '2\n' });
  const good = await teamWorktrees.save(TEAM, 'a', 'Good');
  writeTree(path, { 'src/api/a.js': '3\n', 'src/pages/p.js': 'foreign\n', 'src/pages/new.js': 'foreign\n' });
  const bad = (await teamWorktrees.save(TEAM, 'a', 'Bad')) ?? '';
  writeTree(other.path, { 'src/other.js': 'o\n' });
  await teamWorktrees.save(TEAM, 'b', 'Other');
  await teamWorktrees.merge(TEAM, 'b', 'Other');
  assert.equal((await teamWorktrees.update(TEAM, 'a')).kind, 'merged');
  writeTree(path, { 'src/api/later.js': 'l\n', 'src/pages/p.js': 'foreign again\n' });
  const ref = await teamWorktrees.refuse(TEAM, 'a', bad, ['src/pages/p.js', 'src/pages/new.js']);
  assert.equal(ref, `refs/toolcrew/refused/${TEAM}/a/${bad}`);
  assert.equal(git('show', `${ref}:src/pages/p.js`), 'foreign again\n');
  assert.equal(git('show', `${ref}:src/pages/new.js`), 'foreign\n');
  assert.equal(textOf(path, 'src/pages/p.js'), '1\n');
  assert.equal(
    gitIn(path)('status', '--porcelain'),
    ' M src/api/a.js\n?? src/api/later.js\n',
    'what the team has is none of it',
  );
  assert.equal(textOf(path, 'src/api/a.js'), '3\n');
  assert.deepEqual(
    (await teamWorktrees.commits(TEAM, 'a')).commits.map(({ sha }) => sha),
    [good],
  );
  assert.equal(await teamWorktrees.refuse(TEAM, 'a', bad, ['src/pages/p.js']), ref, 'refused once');
  await assert.rejects(
    teamWorktrees.refuse(TEAM, 'a', git('rev-parse', 'main').trim(), []),
    isOf(WORK_CODES.commit_not_on_branch),
  );
  await teamWorktrees.save(TEAM, 'a', 'Again');
  assert.equal((await teamWorktrees.merge(TEAM, 'a', 'Again')).kind, 'merged');
  assert.equal(git('show', `${branch}:src/pages/p.js`), '1\n');
});

test('two merges at once come one after the other', async (t) => {
  const { root, git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const names = ['a', 'b', 'c', 'd'];
  const shops = names.map((_, index) =>
    index % 2 === 0 ? teamWorktrees : createTeamWorktrees({ root, env: process.env }),
  );
  await Promise.all(
    names.map(async (name, index) => {
      const shop = shops[index] ?? teamWorktrees;
      const { path } = await shop.open(TEAM, name);
      writeTree(path, { [`src/${name}.js`]: name });
      await shop.save(TEAM, name, name);
      assert.equal((await shop.merge(TEAM, name, name)).kind, 'merged');
    }),
  );
  assert.equal(
    git('ls-tree', '--name-only', `tool/${TEAM}`, 'src/'),
    'src/a.js\nsrc/api\nsrc/b.js\nsrc/c.js\nsrc/d.js\nsrc/pages\n',
  );
});
