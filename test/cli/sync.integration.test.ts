// `tool sync` on a real repository: what is met is named with its place, what is not with what is missing.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { SPEC_CODES } from '../../src/team/rules/codes/spec-codes.ts';
import { createSpec } from '../../src/team/spec-documents/specs.ts';
import { codeIn, lineLike } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { gitIn } from '../support/git.ts';
import { NEW_SPEC } from '../support/spec.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Login.\n\n## [1.0.0]\n\n- All.\n';
const TESTS = `import test from 'node:test';

describe('SPEC-LOG-OUT-ACCOUNT-001', () => {
  test('R1, A1: the session is gone', () => {});
  test('R2, A2: a button is there', () => {});
});
`;

function projectOf(t: Cleanup) {
  const place = tempDir(t);
  const root = join(place, 'project');
  mkdirSync(root);
  const git = gitIn(root);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const commit = (files: Readonly<Record<string, string>>, message: string) => {
    for (const [path, text] of Object.entries(files)) write(path, text);
    git('add', '-A');
    git('commit', '-qm', message);
  };
  git('init', '-q', '-b', 'main');
  commit({ 'CHANGELOG.md': CHANGELOG, 'src/pages/home.js': '', '.gitignore': '.tool/\n' }, 'Begin');
  write('.tool/config/workflow.yaml', 'workflow:\n  team:\n    enabled: true\n');
  const created = createSpec(root, NEW_SPEC, '2026-01-31');
  assert.ok(created.ok);
  const { id } = created;
  const tool = (...args: readonly string[]) => runTool(args, { cwd: root, env: cleanEnv(place) });
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  return { root, id, git, write, commit, tool, read, spec: () => read(`.tool/specs/${id}/spec.md`) };
}

test('a requirement that was left out is named until it is there, then the SPEC is completed', async (t) => {
  const { id, git, write, commit, tool, read, spec } = projectOf(t);
  const early = await tool('sync', id);
  assert.deepEqual([early.code, early.stdout], [1, '']);
  assert.match(early.stderr, /`tool spec approve .* \(spec_not_approved\)$/m);
  assert.equal((await tool('spec', 'approve', id)).code, 0);

  git('checkout', '-qb', 'log-out');
  commit({ 'src/api/logout.js': '// ends it\n' }, 'The API ends sessions');
  commit({ 'tests/logout.test.js': TESTS }, 'Tests of the session');
  const base = git('rev-parse', 'main').slice(0, 10);
  const first = await tool('sync', id);
  assert.equal(first.code, 1, first.stderr);
  assert.equal(
    first.stdout,
    [
      'R1  met      tests/logout.test.js:4',
      'R2  not met  no file of T2 changed: src/pages/**',
      `R3  not met  no test names it, like "${id} R3"`,
      'A1  met      tests/logout.test.js:4',
      'A2  not met  no file of T2 changed: src/pages/**',
      `A3  not met  no test names it, like "${id} A3"`,
      `${id}: 2 of 6 met since ${base}, where main was left; status: approved`,
      `wrote .tool/specs/${id}/spec.md`,
      '',
    ].join('\n'),
  );
  assert.match(
    spec(),
    /\n## Result of the sync\n\n2 of 6 met, [^\n]*\n\n- R1: met, by tests\/logout\.test\.js:4\n- R2: not met: no file/,
  );
  assert.match(spec(), /^status: approved$/m);
  assert.equal(read('CHANGELOG.md'), CHANGELOG);

  const before = spec();
  const again = await tool('sync', id);
  assert.deepEqual([again.code, again.stdout], [1, first.stdout.replace(/wrote .*\n/, '')]);
  assert.equal(spec(), before);
  assert.equal((await tool('spec', 'check', id)).stdout, `${id} has no problems (approved)\n`);

  commit({ 'tests/empty.test.js': `describe.skip('later', () => {\n  test('${id} R3, A3', f);\n});\n` }, 'Later');
  assert.match((await tool('sync', id)).stdout, /^R3 {2}not met {2}no test names it/m);

  commit(
    {
      'src/pages/home.js': '// a button\n',
      // No SPEC is named here: the commit does.
      'tests/empty.test.js': "test('R3 and A3: nothing to end', () => {});\n",
    },
    `The button, and no session (${id})`,
  );
  const last = await tool('sync', id);
  assert.equal(last.code, 0, last.stdout + last.stderr);
  assert.match(last.stdout, /^R3 {2}met {6}tests\/empty\.test\.js:1$/m);
  assert.match(last.stdout, /6 of 6 met since .*; status: completed$/m);
  assert.match(spec(), /^status: completed$/m);
  assert.equal(spec().match(/## Result of the sync/g)?.length, 1);
  assert.equal(read('CHANGELOG.md'), CHANGELOG.replace('- Login.\n', `- Login.\n- Users log out (${id})\n`));

  const files = [spec(), read('CHANGELOG.md')];
  const idle = await tool('sync', id, '--json');
  assert.equal(idle.code, 0);
  const said = JSON.parse(idle.stdout);
  assert.deepEqual([said.status, said.met, said.written, said.uncommitted], ['completed', true, [], ['CHANGELOG.md']]);
  assert.deepEqual([spec(), read('CHANGELOG.md')], files);
  assert.match((await tool('spec', 'list')).stdout, / {2}completed \(approved on /);

  const done = await tool('spec', 'approve', id);
  assert.equal(done.code, 1);
  assert.match(done.stderr, lineLike(SPEC_CODES.spec_completed, { spec: id }));
  // What is changed afterwards is approved as it stands, and held against what was built.
  write(
    `.tool/specs/${id}/acceptance.md`,
    read(`.tool/specs/${id}/acceptance.md`).replace('a button is there', 'a red one is'),
  );
  assert.match((await tool('sync', id)).stderr, /acceptance\.md changed after it was approved .*`tool spec approve/);
  assert.match((await tool('spec', 'approve', id)).stdout, new RegExp(`^${id} is approved$`, 'm'));
  assert.match(spec(), /^status: approved$/m);
  assert.match((await tool('sync', id)).stdout, /status: completed$/m);
});

test('what is merged is held against what was there before the first commit that names the SPEC', async (t) => {
  const { id, commit, tool } = projectOf(t);
  assert.equal((await tool('spec', 'approve', id)).code, 0);
  commit({ 'src/api/logout.js': '// not yet\n' }, 'Something else');
  const unknown = await tool('sync', id);
  assert.equal(codeIn(unknown.stderr), 'sync_base_unknown');
  assert.match(
    unknown.stderr,
    new RegExp(`\`git add -A && git commit -m "<what was built> \\(${id}\\)"\`.* tool sync ${id} --base <commit>`),
  );
  commit({ 'src/pages/home.js': '// a button\n' }, `The button\n\n${id}`);
  commit({ 'tests/logout.test.js': TESTS }, 'Tests');
  const merged = await tool('sync', id);
  assert.match(merged.stdout, /^R1 {2}not met {2}no file of T1 changed: src\/api\/logout\.js$/m);
  assert.match(merged.stdout, /^R2 {2}met {6}tests\/logout\.test\.js:5$/m);
  const named = await tool('sync', id, '--base', 'HEAD~3');
  assert.match(named.stdout, /^R1 {2}met {6}tests\/logout\.test\.js:4$/m);
  assert.match((await tool('sync', id, '--base', '--exec=x')).stderr, /--exec=x\. \(sync_base_invalid\)/);
});

test('what a team built is held against where it began, whatever its commits say', async (t) => {
  const { id, git, write, commit, tool } = projectOf(t);
  assert.equal((await tool('spec', 'approve', id)).code, 0);
  commit({ 'src/other.js': '// before\n' }, 'Something else');
  const began = git('rev-parse', 'HEAD').slice(0, 10);
  const team = `tool-run-${id.toLowerCase()}`;
  const made = async () => {
    const { code, stderr } = await tool('team', 'create', team);
    assert.equal(code, 0, stderr);
  };
  await made();
  assert.equal((await tool('team', 'delete', team)).code, 0);
  for (const [path, text] of [
    ['src/api/logout.js', '// ends it\n'],
    ['src/pages/home.js', '// a button\n'],
    ['tests/logout.test.js', TESTS],
  ] as const)
    write(path, text);
  const early = await tool('sync', id);
  assert.deepEqual([early.code, early.stdout], [1, '']);
  assert.match(early.stderr, new RegExp(` ${id}, at ${began}\\. .* \\(sync_nothing_committed\\)`));
  git('add', '-A');
  git('commit', '-qm', 'Users log out');
  const done = await tool('sync', id);
  assert.match(done.stdout, /^R1 {2}met/m, done.stderr);
  assert.match(done.stdout, new RegExp(`met since ${began}, where a team began to build it;`));
  // The first of several teams counts, and one that still stands.
  await made();
  assert.match((await tool('sync', id)).stdout, new RegExp(`met since ${began}, where`));
  assert.equal((await tool('team', 'delete', team)).code, 0);
  // A beginning that is no part of what is there any more, as after a rebase, tells nothing.
  git('checkout', '-q', '--orphan', 'other');
  git('commit', '-qm', 'Anew');
  git('branch', '-qD', 'main');
  git('branch', '-qm', 'main');
  assert.equal(codeIn((await tool('sync', id)).stderr), 'sync_base_unknown');
});

test('a team that is still at work, and words that were changed, are waited for', async (t) => {
  const { id, write, commit, tool, spec } = projectOf(t);
  assert.equal((await tool('spec', 'approve', id)).code, 0);
  commit({ 'src/api/logout.js': '// ends it\n' }, id);
  const team = `tool-run-${id.toLowerCase()}`;
  assert.equal((await tool('team', 'create', team)).code, 0);
  assert.equal((await tool('team', 'task', 'create', 'End the session')).code, 0);
  const busy = await tool('sync', id);
  assert.equal(busy.code, 1);
  assert.match(busy.stderr, new RegExp(`team ${team} .*: 1 End the session\\. .* \\(sync_tasks_open\\)`));
  const gone = await tool('team', 'delete', team, '--force');
  assert.equal(gone.code, 0, gone.stderr);
  const after = await tool('sync', id);
  assert.match(after.stdout, /of 6 met since/);

  write(`.tool/specs/${id}/spec.md`, spec().replace('answer 204', 'answer 500'));
  const changed = await tool('sync', id);
  assert.match(changed.stderr, /\(spec\.md changed .*\(spec_not_approved\)$/m);
  assert.match((await tool('sync', 'SPEC-OTHER-001')).stderr, new RegExp(`${id} \\(spec_file_not_found\\)`));
});

test('where no approval is asked for, none is waited for, and none is made', async (t) => {
  const { id, write, commit, tool, spec } = projectOf(t);
  write('.tool/config/workflow.yaml', 'workflow:\n  team:\n    enabled: true\n    require_plan_approval: false\n');
  commit({ 'src/api/logout.js': '// ends it\n', 'tests/logout.test.js': TESTS }, id);
  assert.match((await tool('sync', id)).stdout, /^R1 {2}met {6}tests\/logout\.test\.js:4$/m);
  assert.match(spec(), /^status: awaiting_approval$/m);
  write(`.tool/specs/${id}/spec.md`, spec().replace('awaiting_approval', 'approved'));
  assert.match((await tool('spec', 'list')).stdout, /^\S+ +approved, but .*: its front matter says approved/m);
});
