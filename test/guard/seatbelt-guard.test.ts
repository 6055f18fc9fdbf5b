// The write guard of macOS from its placing to a call, with a script that plays sandbox-exec.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { checkGuard } from '../../src/cli/doctor/doctor-guard.ts';
import { mechanismOf, seatbelt } from '../../src/guard/guard-mechanism.ts';
import { GUARD_PROGRAM } from '../../src/guard/guard-program.ts';
import { prepareShell, previewShell } from '../../src/guard/guard-shell.ts';
import { placeLeases } from '../../src/guard/lease-files.ts';
import { gitRows } from '../../src/guard/rules/git-calls.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import type { CallerRules } from '../../src/guard/rules/policy.ts';
import { PROTECTED_PATHS } from '../../src/guard/rules/policy.ts';
import { SHELL_VARIABLE } from '../../src/guard/rules/ticket.ts';
import { createShellGuard } from '../../src/guard/shell-guard.ts';
import { DEFAULT_OWNERSHIP } from '../../src/team/rules/default-ownership.ts';
import { END, joined, lineLike, START } from '../support/codes.ts';
import { gitIn } from '../support/git.ts';
import { treeOf, writeTree } from '../support/installed.ts';
import { playSeatbelt } from '../support/seatbelt.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

/** Checks its words, writes down the profile, and keeps the trial's foreign file from being made. */
const PLAYED = `#!/bin/sh
[ "$1" = -f ] && [ "$(head -n 1 "$2")" = '(version 1)' ] || exit 64
echo "$2" >> "\${0%/*}/profiles"
shift 2
[ -e foreign ] || { mkdir foreign; made=1; }
"$@"
code=$?
[ -z "$made" ] || rmdir foreign
exit "$code"
`;
const notRun = (call: string, advice = /.*/) =>
  joined('toolcrew: ', lineLike(GUARD_LINE_CODES.guard_git_refused, { call, advice }));

const WRITER: CallerRules = {
  member: 'frontend-dev',
  ownership: DEFAULT_OWNERSHIP,
  claims: true,
  allow: [],
  keep: PROTECTED_PATHS,
  git: gitRows('shared', 'src/components'),
  writesHistory: true,
};
const PLACE = { team: 'tool-run-x', caller: 'frontend-dev' };

function machine(t: Cleanup, script = PLAYED) {
  const home = tempDir(t);
  const sandbox = join(home, 'sandbox-exec');
  writeFileSync(sandbox, script, { mode: 0o755 });
  const mechanism = seatbelt(sandbox);
  const guard = join(home, '.local', 'state', 'toolcrew', 'guard');
  const options = { env: { HOME: home }, before: null, from: home, mechanism };
  const profiles = () =>
    existsSync(join(home, 'profiles')) ? readFileSync(join(home, 'profiles'), 'utf8').trim().split('\n') : [];
  return { home, guard, mechanism, options, profiles };
}

/** A project behind a link, as /tmp is on macOS, and a call as Claude Code makes it: its snapshot sets PATH. */
async function project(t: Cleanup) {
  const { home, guard, mechanism, options, profiles } = machine(t);
  const prepared = await prepareShell(options);
  assert.ok(prepared.ok);
  const real = join(home, "it's real");
  mkdirSync(real);
  symlinkSync(real, join(home, 'project'));
  const root = join(home, 'project');
  writeTree(root, {
    'src/components/a.js': 'a\n',
    'src/api/b.js': 'b\n',
    '.gitignore': '# x\ndist/\n/out\n*.log\nb*d\n',
  });
  writeTree(root, { 'sub/cache/x': '', 'sub/.gitignore': 'cache\n' });
  for (const args of ['init -q', 'add -A', 'commit -qm x']) gitIn(root)(...args.split(' '));
  writeFileSync(join(home, 'snapshot'), `export PATH='${process.env.PATH}'\n`);
  const env = { ...process.env, HOME: home, [SHELL_VARIABLE]: prepared.shell };
  const made = createShellGuard({ root, main: root, env, mechanism });
  assert.ok(made !== null);
  const hosts = (command: string) =>
    `source '${join(home, 'snapshot')}' 2>/dev/null || true && eval '${command.replaceAll("'", `'"'"'`)}' < /dev/null && pwd -P >| '${join(home, 'cwd')}'`;
  const inRoot = { cwd: root, env, extendEnv: false, reject: false, stripFinalNewline: false } as const;
  const run = (text: string) => execaSync(prepared.shell, ['-c', '-l', text], inRoot);
  return { home, guard, root, real, env, made, mechanism, profiles, hosts, inRoot, run };
}

test('shell, program and git are placed once, after a trial', async (t) => {
  const { guard, options, profiles } = machine(t);
  assert.deepEqual(previewShell(options), { ok: true, shell: join(guard, 'bash') });
  assert.ok(!existsSync(guard));
  assert.deepEqual(await prepareShell(options), { ok: true, shell: join(guard, 'bash') });
  assert.equal(profiles().length, 1);
  assert.equal(statSync(join(guard, 'toolcrew-git', 'git')).mode & 0o777, 0o700);
  const before = treeOf(guard);
  await prepareShell(options);
  assert.deepEqual([treeOf(guard), profiles().length], [before, 1]);
});

test('a call runs under a profile of its caller, with the leases of now, and its git is ours', async (t) => {
  const { real, guard, made, profiles, hosts, run } = await project(t);
  const leases = new Map([
    ['README.md', { path: 'README.md', member: 'tester', epoch: 1, takenAt: 0, reason: '', until: 9e12 }],
  ]);
  const mayOf = async (command: string, rules = WRITER) => {
    const before = profiles().length;
    const ended = run(await made.mark(PLACE, hosts(command), 'toolu_1', rules));
    assert.equal(profiles().length, before + 1);
    const may = playSeatbelt(readFileSync(profiles().at(-1) ?? '', 'utf8'));
    return { ...ended, may: (path: string) => may('file-write-data', join(real, path)) };
  };
  const first = await mayOf('git status --short; git stash; git -C . add -A; echo "$0"');
  assert.equal(first.stdout, '/bin/bash\n');
  assert.match(
    first.stderr,
    joined(START, notRun('git stash'), '\n', notRun('git add', /.* git add src\/components/), '\n', END),
  );
  const paths = [
    'src/components/a.js',
    'src/api/b.js',
    'README.md',
    '.tool/x',
    'dist/x.test.js',
    'out/x.test.js',
    'sub/cache/y.test.js',
    'sub/y.test.js',
  ];
  assert.deepEqual(paths.map(first.may), [true, false, true, false, true, true, true, false]);
  assert.deepEqual(['.git/index', '.git/hooks/pre-commit', '../x'].map(first.may), [true, false, true]);
  const [name = ''] = readdirSync(join(guard, 'projects'));
  placeLeases(join(guard, 'projects', name, PLACE.team, 'leases'), leases, Date.now());
  const second = await mayOf('true');
  assert.deepEqual([second.exitCode, second.may('README.md')], [0, false]);
  const reader = await mayOf('git commit -m x', { ...WRITER, member: null, claims: false, writesHistory: false });
  assert.deepEqual([reader.may('src/components/a.js'), reader.may('.git/index')], [false, false]);
  assert.deepEqual(made.notes(PLACE), []);
});

test('a call without a form that is known gets our git as well; the guard’s own directory is nobody’s', async (t) => {
  const { home, guard, made, profiles, run } = await project(t);
  const { exitCode, stderr } = run(await made.mark(PLACE, 'true; git rebase main', 'toolu_2', WRITER));
  assert.equal(exitCode, 1);
  assert.match(stderr, joined(START, notRun('git rebase')));
  const may = playSeatbelt(readFileSync(profiles().at(-1) ?? '', 'utf8'));
  assert.ok(!may('file-write-data', join(guard, 'bash')) && may('file-write-data', join(home, 'notes')));
});

test('a process that runs under it whole starts no second one for its calls', async (t) => {
  const { made, profiles, env, hosts, inRoot } = await project(t);
  const { command } = await made.whole(PLACE, 'run-1', WRITER);
  const [program = '', ...words] = command;
  const before = profiles().length;
  const inner = await made.mark(PLACE, hosts('git stash'), 'toolu_3', WRITER);
  const { stderr } = execaSync(program, [...words, env[SHELL_VARIABLE] ?? '', '-c', '-l', inner], inRoot);
  assert.match(stderr, joined(START, notRun('git stash')));
  assert.equal(profiles().length, before + 1);
  // Words that are no shell's stay as they are.
  const plain = execaSync(program, [...words, 'printf', '%s|', 'a && eval b', ''], inRoot);
  assert.equal(plain.stdout, 'a && eval b||');
});

test('tool doctor names Seatbelt, and why it does not work', async (t) => {
  const { home, mechanism, options } = machine(t);
  const prepared = await prepareShell(options);
  assert.ok(prepared.ok);
  const env = { HOME: home, [SHELL_VARIABLE]: prepared.shell };
  const row = await checkGuard(tempDir(t), env, home, mechanism);
  assert.equal(row.status, 'ok');
  assert.match(row.says, /Seatbelt .* \(generated and tested for equal decisions, not yet run on a Mac\)$/);
  const nested = machine(t, '#!/bin/sh\necho "sandbox-exec: sandbox_apply: Operation not permitted" >&2\nexit 71\n');
  const refused = await prepareShell(nested.options);
  assert.match(
    refused.ok ? '' : `${refused.why}; ${refused.mend}`,
    /does not nest; run it again in a shell that no agent/,
  );
  assert.ok(readdirSync(nested.guard).every((name) => !name.startsWith('works-') && name !== GUARD_PROGRAM));
  assert.equal((await prepareShell({ ...options, mechanism: null })).ok, false);
  assert.match((await checkGuard(home, env, home, null)).says, /^no kernel guard on /);
  assert.deepEqual([mechanismOf('win32'), mechanismOf('linux')?.how === mechanismOf('darwin')?.how], [null, false]);
});
