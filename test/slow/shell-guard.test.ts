// Shell calls with our shell: the ticket that a hook writes, the guard that it starts, and the notes that come of it.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { leaseName, placeLeases } from '../../src/guard/lease-files.ts';
import { gitRows } from '../../src/guard/rules/git-calls.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import type { CallerRules } from '../../src/guard/rules/policy.ts';
import { PROTECTED_PATHS } from '../../src/guard/rules/policy.ts';
import { SHELL_VARIABLE } from '../../src/guard/rules/ticket.ts';
import { createShellGuard } from '../../src/guard/shell-guard.ts';
import { DEFAULT_OWNERSHIP } from '../../src/team/rules/default-ownership.ts';
import { lineLike } from '../support/codes.ts';
import { gitIn } from '../support/git.ts';
import { writeGuard } from '../support/guard-program.ts';
import { shellIn } from '../support/guarded-project.ts';
import { writeTree } from '../support/installed.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const guard = writeGuard();
const WRITER: CallerRules = {
  member: 'frontend-dev',
  ownership: DEFAULT_OWNERSHIP,
  claims: true,
  allow: [],
  keep: PROTECTED_PATHS,
  git: gitRows('shared', 'src/components'),
  writesHistory: true,
};
const READER: CallerRules = { ...WRITER, member: null, claims: false, writesHistory: false };
const PLACE = { team: 'tool-run-x', caller: 'frontend-dev' };

function setUp(t: Cleanup) {
  const place = tempDir(t);
  const root = join(place, "it's a project");
  mkdirSync(root);
  writeTree(root, { 'src/components/a.js': 'a\n', 'src/api/b.js': 'b\n', '.gitignore': 'dist/\n' });
  for (const args of ['init -q', 'add -A', 'commit -qm x']) gitIn(root)(...args.split(' '));
  const shell = shellIn(join(place, 'guard'), guard);
  const env = { ...process.env, HOME: place, [SHELL_VARIABLE]: shell };
  const created = createShellGuard({ root, main: root, env });
  assert.ok(created !== null);
  const options = { cwd: root, env, extendEnv: false, reject: false, stripFinalNewline: false } as const;
  const run = (command: string) => execaSync(shell, ['-c', command], options);
  const call = async (command: string, rules = WRITER, id = 'toolu_1') =>
    run(await created.mark(PLACE, command, id, rules));
  return { root, shell, env, guard: created, run, call, place };
}

test('a marked call runs under the guard, in a project whose path has spaces and quotes', async (t) => {
  const { root, guard: made, run, call } = setUp(t);
  const { stderr, exitCode } = await call('echo x > src/components/a.js; echo x > src/api/b.js');
  assert.equal(exitCode, 1);
  assert.match(stderr, lineLike(GUARD_LINE_CODES.guard_write_owned, { path: 'src/api/b.js', owner: 'backend-dev' }));
  assert.equal(readFileSync(join(root, 'src/api/b.js'), 'utf8'), 'b\n');
  assert.deepEqual(made.notes(PLACE), [
    { kind: 'wrote', path: 'src/components/a.js', owner: '', pattern: '' },
    { kind: 'refused', path: 'src/api/b.js', owner: 'backend-dev', pattern: 'src/api/**' },
  ]);
  assert.deepEqual(made.notes(PLACE), []);
  assert.equal(run('echo plain > src/api/b.js; echo "$0" "$SHELL"').stdout, '/bin/bash /bin/bash\n');
});

test('what a process writes after its call is noted with the next one', async (t) => {
  const { root, guard: made, call } = setUp(t);
  const late = 'sh -c "until [ -e ready ]; do sleep 0.05; done; echo x > src/components/late.js" >/dev/null 2>&1 &';
  await call(late, WRITER, 'toolu_1');
  assert.deepEqual(made.notes(PLACE), []);
  writeFileSync(join(root, 'ready'), '');
  while (!existsSync(join(root, 'src/components/late.js'))) await new Promise((resolve) => setTimeout(resolve, 20));
  await call('true', WRITER, 'toolu_2');
  assert.deepEqual(
    made.notes(PLACE).map(({ kind, path }) => [kind, path]),
    [['wrote', 'src/components/late.js']],
  );
});

test('a reader uses git as far as it only reads, and no refusal comes of that', async (t) => {
  const { root, guard: made, call } = setUp(t);
  utimesSync(join(root, 'src/api/b.js'), 1, 1);
  const read = await call('git status --short && git log --oneline', READER);
  assert.deepEqual([read.exitCode, read.stderr], [0, '']);
  const written = await call('git commit -qm x --allow-empty', READER, 'toolu_2');
  assert.notEqual(written.exitCode, 0);
  assert.match(written.stderr, /no project file is yours/);
  assert.ok(made.notes(PLACE).every(({ kind }) => kind === 'refused'));
});

test('other worktrees, the settings of the user and the tickets are nobody’s', async (t) => {
  const { root, place, shell, call } = setUp(t);
  const other = join(place, 'other');
  gitIn(root)('worktree', 'add', '-q', other);
  mkdirSync(join(place, '.claude'));
  const paths = [join(other, 'x.js'), join(place, '.claude/settings.json'), join(dirname(shell), 'bash')];
  for (const path of paths) {
    const { stderr } = await call(`echo x > '${path}'`);
    assert.match(stderr, /Permission denied/, path);
  }
  assert.equal((await call(`echo x > '${join(place, 'notes')}'`)).stderr, '');
});

test('a ticket that is gone, and a shell that is gone, let Bash run', async (t) => {
  const { root, guard: made, run, shell } = setUp(t);
  const marked = await made.mark(PLACE, 'echo still', 'toolu_9', WRITER);
  rmSync(marked.slice(marked.lastIndexOf('# tool:') + 7));
  assert.equal(run(marked).stdout, 'still\n');
  writeFileSync(shell, readFileSync(shell, 'utf8').replace('SHELL=/bin/bash', 'SHELL=/no/bash'));
  assert.equal(run('echo here').stdout, 'here\n');
  assert.ok(existsSync(root));
});

test('a new kind of file in the repository is one from the next call on', async (t) => {
  const { root, call } = setUp(t);
  assert.equal((await call('echo x > src/api/new.tmp; ls src/api')).stdout, 'b.js\nnew.tmp\n');
  assert.ok(!existsSync(join(root, 'src/api/new.tmp')));
  writeTree(root, { 'src/api/kept.tmp': 'x' });
  gitIn(root)('add', '-A');
  assert.match((await call('echo x > src/api/new.tmp', WRITER, 'toolu_2')).stderr, /belongs to backend-dev/);
});

test('a leased path is its holder’s alone; a lease of the first writer has the name that the guard gives it', async (t) => {
  const { root, env, guard: made, run, call, shell } = setUp(t);
  const { stderr: first } = await call('echo x > package.json');
  assert.equal(first, '');
  const notes = made.notes(PLACE);
  assert.deepEqual(
    notes.map(({ kind, path }) => [kind, path]),
    [
      ['lease', 'package.json'],
      ['wrote', 'package.json'],
    ],
  );
  const other = { ...PLACE, caller: 'tester' };
  const second = createShellGuard({ root, main: root, env });
  assert.ok(second !== null);
  const text = await second.mark(other, 'echo y > package.json', 'toolu_5', { ...WRITER, member: 'tester' });
  const [project = ''] = readdirSync(join(dirname(shell), 'projects'));
  const leases = join(dirname(shell), 'projects', project, PLACE.team, 'leases');
  assert.deepEqual(readdirSync(leases), [leaseName('package.json')]);
  const { stderr } = run(text);
  assert.match(stderr, /package\.json belongs to frontend-dev \(lease\)/);
});

test('leases that are over go; one that the guard made stays until the team has a record of it', (t) => {
  const directory = join(tempDir(t), 'leases');
  const lease = { member: 'tester', epoch: 1, takenAt: 0, reason: '' };
  const all = new Map(['a.js', 'b/ü.js'].map((path) => [path, { ...lease, path, until: 60_000 }]));
  placeLeases(directory, all, 0);
  assert.deepEqual(readdirSync(directory).sort(), ['a.js', 'b/ü.js'].map(leaseName).sort());
  assert.equal(readFileSync(join(directory, leaseName('a.js')), 'utf8'), 'tester\na.js\n60\n');
  writeFileSync(join(directory, leaseName('c.js')), 'tester\nc.js\n0\n');
  placeLeases(directory, new Map(), 0);
  assert.deepEqual(readdirSync(directory), [leaseName('c.js')]);
});
