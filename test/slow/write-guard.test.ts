// A command under the write guard: what it may change, and that it runs as it does without it.
// Over 400 lines: its cases share one compiled guard and one policy.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { execa, execaSync } from 'execa';
import type { Code } from '../../src/base/rules/codes.ts';
import { clearLock } from '../../src/git/stale-lock.ts';
import { gitRows } from '../../src/guard/rules/git-calls.ts';
import { GUARD_CODES } from '../../src/guard/rules/guard-codes.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import { endingsOf, type Policy, PROTECTED_PATHS, policyText } from '../../src/guard/rules/policy.ts';
import { DEFAULT_OWNERSHIP } from '../../src/team/rules/default-ownership.ts';
import { joined, lineLike, ownLine, textLike } from '../support/codes.ts';
import { gitIn } from '../support/git.ts';
import { checkedGuard, writeGuard } from '../support/guard-program.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

const GUARD = writeGuard();

const FILES: Readonly<Record<string, string>> = {
  'src/api/users.ts': 'export const users = 1;\n',
  'src/components/list.ts': 'export const list = 1;\n',
  'src/components/list.test.ts': 'list();\n',
  'src/types/user.ts': 'export type User = 1;\n',
  'package.json': '{}\n',
  '.gitignore': 'node_modules/\ndist/\n',
  Makefile: 'save:\n\tgit stash\n',
};

/** A repository with these, which each test copies. */
const PROJECT = projectOf(FILES);
const GIT_PROGRAMS = execaSync`git --exec-path`.stdout;

function projectOf(files: Readonly<Record<string, string>>): string {
  const root = tempDir({ after });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const git = gitIn(root);
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'x');
  git('config', 'user.email', 'x@example.com');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return root;
}

const owned = (path: string, owner: string, pattern?: string) =>
  joined(
    /^toolcrew: /,
    lineLike(GUARD_LINE_CODES.guard_write_owned, { path, owner, ...(pattern === undefined ? {} : { pattern }) }),
  );

/** Advice names a file of the caller's own. */
const notRun = (call: string, why: Code) =>
  joined(/^toolcrew: /, lineLike(GUARD_LINE_CODES.guard_git_refused, { call, advice: textLike(why) }));

type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

class Guarded {
  readonly root: string;
  readonly leases: string;
  readonly log: string;
  readonly policy: string;

  constructor(t: Cleanup, more: Partial<Policy> = {}) {
    const place = tempDir(t);
    this.root = join(place, 'project');
    this.leases = join(place, 'leases');
    this.log = join(place, 'log');
    this.policy = join(place, 'policy');
    mkdirSync(this.leases);
    cpSync(PROJECT, this.root, { recursive: true });
    const policy: Policy = {
      root: this.root,
      member: 'frontend-dev',
      ownership: DEFAULT_OWNERSHIP,
      leases: this.leases,
      claims: true,
      allow: [],
      keep: PROTECTED_PATHS,
      elsewhere: [],
      gitDirectories: [join(this.root, '.git')],
      gitTrees: [],
      gitPrograms: [GIT_PROGRAMS],
      endings: endingsOf(Object.keys(FILES)),
      git: gitRows('shared', 'src/components'),
      ...more,
    };
    writeFileSync(this.policy, policyText(policy));
  }

  args(command: readonly string[], guard = GUARD): readonly [string, readonly string[]] {
    return [guard, [this.policy, this.log, '--', ...command]];
  }

  run(script: string, guard = GUARD): Ran {
    const [program, args] = this.args(['bash', '-c', script], guard);
    const env = { ASAN_OPTIONS: 'detect_leaks=0' };
    const options = { cwd: this.root, env, reject: false, stripFinalNewline: false } as const;
    const { exitCode, stdout, stderr } = execaSync(program, args, options);
    return { code: exitCode ?? null, stdout, stderr };
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  /** What the guard has written down. */
  get noted(): readonly string[] {
    return existsSync(this.log) ? readFileSync(this.log, 'utf8').split('\n').slice(0, -1) : [];
  }
}

const FOREIGN = 'src/api/users.ts';

test('own files change, foreign ones do not, and one line names file, owner and pattern', (t) => {
  const made = new Guarded(t);
  const { code, stderr } = made.run(
    'echo own >> src/components/list.ts; echo x >> src/api/users.ts; echo x > src/api/new.ts; exit 3',
  );
  assert.equal(code, 3);
  assert.match(made.read('src/components/list.ts'), /own/);
  assert.equal(made.read(FOREIGN), FILES[FOREIGN]);
  assert.match(stderr, /users\.ts: Permission denied/);
  assert.match(stderr, owned('src/api/users.ts', 'backend-dev', 'src/api/**'));
  assert.match(stderr, owned('src/api/new.ts', 'backend-dev'));
  assert.ok(!existsSync(join(made.root, 'src/api/new.ts')));
  assert.ok(made.noted.includes('wrote\tsrc/components/list.ts'));
});

test("a file without an owner is its first writer's, also to remove, and nobody else's afterwards", (t) => {
  const made = new Guarded(t);
  assert.equal(made.run('rm Makefile && mv package.json src/components/package.json').code, 0);
  assert.deepEqual(
    made.noted.filter((line) => line.startsWith('lease')),
    ['lease\tMakefile', 'lease\tpackage.json'],
  );
  const other = new Guarded(t, { member: 'backend-dev', leases: made.leases });
  const { code, stderr } = other.run('rm Makefile');
  assert.notEqual(code, 0);
  assert.match(stderr, owned('Makefile', 'frontend-dev', 'lease'));
});

/** Ways to a foreign file, each in one line of a shell. */
const WAYS: Readonly<Record<string, string>> = {
  'a program that was just written':
    'echo \'require("fs").writeFileSync("src/api/users.ts","x")\' > src/components/w.js; node src/components/w.js',
  'a script in another language': 'python3 -c \'open("src/api/users.ts","w").write("x")\'',
  'another directory': 'cd src/api && echo x > users.ts',
  'dots in the path': 'echo x > src/components/../api/users.ts',
  "the process's own directory": 'echo x > /proc/self/cwd/src/api/users.ts',
  'an open descriptor': 'exec 3< src/api/users.ts; echo x > /dev/fd/3',
  'a link to the file': 'ln -s ../api/users.ts src/components/link.ts; echo x > src/components/link.ts',
  'a link to its directory': 'ln -s ../api src/components/there; echo x > src/components/there/users.ts',
  'a hard link': 'ln src/api/users.ts src/components/hard.ts && echo x > src/components/hard.ts',
  'a directory descriptor':
    'python3 -c \'import os; d=os.open("src/api",0); os.open("users.ts",os.O_WRONLY|os.O_TRUNC,dir_fd=d)\'',
  'a rename onto it': 'mv -f src/components/list.ts src/api/users.ts',
  'a rename of it': 'mv src/api/users.ts src/components/mine.ts',
  'a rename of its directory': 'mv src/api src/components/api',
  'a rename of a directory onto its place': 'mkdir -p src/components/api && mv src/components src/api/',
  removal: 'rm -rf src/api',
  'a mode': 'chmod 000 src/api/users.ts',
  'a time': 'touch -d 2001-01-01 src/api/users.ts',
  'a size': 'truncate -s 0 src/api/users.ts',
  'sed in place': 'sed -i s/users/x/ src/api/users.ts',
  'perl in place': 'perl -i -pe s/users/x/ src/api/users.ts',
  'a patch':
    'printf -- "--- a/src/api/users.ts\\n+++ b/src/api/users.ts\\n@@ -1 +1 @@\\n-export const users = 1;\\n+x\\n" | git apply',
  'git with paths': 'echo x >> .git/x; git rm -q src/api/users.ts',
  'a process in the background': '(sleep 0.2; echo x > src/api/users.ts) & sleep 0.5',
  'a process that outlives the command': 'setsid sh -c "sleep 0.2; echo x > src/api/users.ts" >/dev/null 2>&1 &',
  'a shell with its output there': 'exec 3>>src/api/users.ts; echo x >&3',
  dd: 'dd if=/dev/zero of=src/api/users.ts bs=1 count=1 status=none',
  rsync: 'cp -f src/components/list.ts src/api/users.ts',
  tar: 'mkdir -p /tmp/t$$/src/api; echo x > /tmp/t$$/src/api/users.ts; tar -C /tmp/t$$ -cf - src | tar xf -; rm -r /tmp/t$$',
};

test('no way leads to a file of others', async (t) => {
  for (const [way, script] of Object.entries(WAYS)) {
    const made = new Guarded(t);
    const before = execaSync({ cwd: made.root })`ls -l --time-style=full-iso ${FOREIGN}`.stdout;
    made.run(script);
    if (way.includes('outlives')) await pause(600);
    assert.equal(made.read(FOREIGN), FILES[FOREIGN], way);
    const links = /^(\S+) \d+ /;
    const after = execaSync({ cwd: made.root })`ls -l --time-style=full-iso ${FOREIGN}`.stdout;
    assert.equal(after.replace(links, '$1 '), before.replace(links, '$1 '), way);
    assert.deepEqual(readdirSync(join(made.root, 'src/api')), ['users.ts'], way);
  }
});

test('a path that nobody owns is leased by the first write; the second writer is told who holds it', (t) => {
  const made = new Guarded(t);
  assert.equal(made.run('echo 1 > package.json').code, 0);
  assert.ok(made.noted.includes('lease\tpackage.json'));
  const [file = ''] = readdirSync(made.leases);
  assert.equal(readFileSync(join(made.leases, file), 'utf8'), 'frontend-dev\npackage.json\n0\n');
  writeFileSync(join(made.leases, file), 'backend-dev\npackage.json\n0\n');
  const second = made.run('echo 2 > package.json');
  assert.equal(made.read('package.json'), '1\n');
  assert.match(second.stderr, owned('package.json', 'backend-dev', 'lease'));
  // A lease that has ended holds nobody back, and one that goes on is read at the next write.
  writeFileSync(join(made.leases, file), 'frontend-dev\npackage.json\n0\n');
  assert.equal(made.run('echo 3 > package.json').code, 0);
});

test('what is shared needs a lease of its own', (t) => {
  const made = new Guarded(t);
  const { stderr } = made.run('echo x > src/types/user.ts');
  assert.match(stderr, owned('src/types/user.ts', 'shared', 'src/types/**'));
  assert.equal(made.read('src/types/user.ts'), FILES['src/types/user.ts']);
});

test('what git ignores belongs to nobody through a pattern without a literal beginning', (t) => {
  const made = new Guarded(t);
  const { code, stderr } = made.run(
    'mkdir -p node_modules/x dist && echo x > node_modules/x/a.test.js && echo x > dist/out.js && rm -r node_modules && echo x > src/components/list.test.ts',
  );
  assert.match(stderr, owned('src/components/list.test.ts', 'tester'));
  assert.equal(code, 1);
  assert.ok(existsSync(join(made.root, 'dist/out.js')));
});

test('git is not started anew for each directory, and goes on after a path in a submodule', (t) => {
  const made = new Guarded(t, { ownership: [{ owner: 'frontend-dev', patterns: ['**'] }] });
  const [tools, git] = [tempDir(t), join(GIT_PROGRAMS, 'git')];
  writeFileSync(join(tools, 'git'), `#!/bin/sh\necho >> ${tools}/starts\nexec ${git} "$@"\n`, { mode: 0o755 });
  execaSync({ cwd: made.root })`git update-index --add --cacheinfo 160000,${'1'.repeat(40)},linked`;
  const env = { PATH: `${tools}:${process.env.PATH}`, GIT_FLUSH: '0' };
  const script = 'for at in linked $(seq 60); do mkdir -p $at/x && echo x > $at/x/a; done; echo x > dist/a';
  const [program, args] = made.args(['bash', '-c', `mkdir dist; ${script}`]);
  execaSync(program, args, { cwd: made.root, env });
  const starts = readFileSync(join(tools, 'starts'), 'utf8').length;
  assert.ok(starts < 30, `git was started ${starts} times for 61 directories`);
  assert.deepEqual([made.noted.includes('wrote\tlinked/x/a'), made.noted.includes('wrote\tdist/a')], [true, false]);
});

function gitsIn(directory: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/comm`, 'utf8') === 'git\n' && readlinkSync(`/proc/${name}/cwd`) === directory;
    } catch {
      return false;
    }
  });
}

test('a lock that a killed git left is removed, though the guard has a git that tells what is ignored', async (t) => {
  const made = new Guarded(t);
  const [program, args] = made.args(['bash', '-c', 'mkdir dist; echo x > dist/a; echo; cat']);
  const guarded = execa(program, args, { cwd: made.root, stdin: 'pipe', buffer: false, reject: false });
  finallyDo(t, () => guarded.stdin.end());
  await once(guarded.stdout, 'data');
  assert.equal(gitsIn(made.root).length, 1);
  const common = join(made.root, '.git');
  const lock = join(common, 'index.lock');
  writeFileSync(lock, '');
  await clearLock(lock, made.root, common);
  assert.equal(existsSync(lock), false);
});

test('temporary names may appear among files of others; what is left of them is removed and named', (t) => {
  const made = new Guarded(t);
  const { code, stderr } = made.run(
    'echo x > src/api/.users.ts.swp && rm src/api/.users.ts.swp && echo x > src/api/left.tmp',
  );
  assert.equal(code, 0);
  assert.match(stderr, lineLike(GUARD_LINE_CODES.guard_temporary_removed, { path: 'src/api/left.tmp' }));
  assert.deepEqual(readdirSync(join(made.root, 'src/api')), ['users.ts']);
});

test('git alone writes its directory, and never its hooks', (t) => {
  const made = new Guarded(t);
  const { stderr } = made.run(
    'echo x >> src/components/list.ts; git add src/components/list.ts && git commit -qm second; echo x > .git/hooks/pre-commit; echo x >> .git/config; git config user.name y; git config core.hooksPath /tmp',
  );
  const log = execaSync({ cwd: made.root })`git log ${'--format=%s %an'}`.stdout;
  assert.match(log, /^second x$/m);
  assert.ok(!existsSync(join(made.root, '.git/hooks/pre-commit')));
  const config = made.read('.git/config');
  assert.match(config, /name = y/);
  assert.doesNotMatch(config, /hooksPath|^x$/m);
  assert.match(stderr, notRun('config', GUARD_CODES.git_changes_settings));
});

test('git over the whole tree is refused wherever it is called from', (t) => {
  const made = new Guarded(t);
  const hidden = 'echo x >> src/components/list.ts; ';
  for (const script of [
    'git stash',
    'make -s save',
    'sh -c "git stash"',
    'npm exec -c "git stash"',
    'node -e \'require("child_process").execSync("git stash")\'',
    '/usr/bin/git stash',
  ]) {
    const { stderr } = made.run(`${hidden}${script}`);
    assert.match(stderr, notRun('stash', GUARD_CODES.git_changes_files_of_all), script);
    assert.match(made.read('src/components/list.ts'), /x/, script);
  }
  assert.equal(made.run('git stash list; git status --short').stderr, '');
});

test('a role that only reads changes nothing in the project', (t) => {
  const made = new Guarded(t, { member: null, claims: false });
  const { stderr } = made.run(
    'echo x > src/components/list.ts; echo x > package.json; mkdir -p dist; echo x > dist/x; echo x > /tmp/x-$$; rm /tmp/x-$$',
  );
  assert.match(stderr, lineLike(GUARD_LINE_CODES.guard_write_without_member, { path: 'package.json' }));
  assert.doesNotMatch(stderr, /FileLease|dist|tmp/);
  assert.equal(made.read('src/components/list.ts'), FILES['src/components/list.ts']);
});

test('the rules themselves and other worktrees are written by nobody', (t) => {
  const made = new Guarded(t, { elsewhere: [{ owner: 'another worktree', path: join(tempDir(t), 'other') }] });
  const { stderr } = made.run('mkdir -p .claude; echo x > .claude/settings.json; mkdir .tool; echo x > .mcp.json');
  assert.match(stderr, owned('.mcp.json', 'toolcrew'));
  for (const path of ['.claude', '.tool', '.mcp.json']) assert.ok(!existsSync(join(made.root, path)), path);
});

test('exit codes, signals, pipes, descriptors and a missing program are as without it', async (t) => {
  const made = new Guarded(t);
  for (const script of [
    'exit 0',
    'exit 7',
    'kill -TERM $$',
    'kill -9 $$',
    'no-such-program',
    'yes | head -1',
    'cat /etc/hostname >&2',
    'ulimit -n; echo $-',
  ]) {
    const plain = execaSync({ cwd: made.root, reject: false })`bash -c ${script}`;
    const [program, args] = made.args(['bash', '-c', script]);
    const guarded = execaSync(program, args, { cwd: made.root, reject: false });
    assert.deepEqual(
      [guarded.exitCode, guarded.signal, guarded.stdout, guarded.stderr],
      [plain.exitCode, plain.signal, plain.stdout, plain.stderr],
      script,
    );
  }
  const [program, args] = made.args(['no-such-program']);
  assert.equal(execaSync(program, args, { reject: false }).exitCode, 127);
  // A background process keeps no pipe of the command's open that it does not hold itself.
  const [launcher, words] = made.args(['bash', '-c', 'sleep 30 >/dev/null 2>&1 & echo $!']);
  const pid = Number((await execa(launcher, words, { cwd: made.root })).stdout);
  finallyDo(t, () => process.kill(pid));
  assert.doesNotThrow(() => process.kill(pid, 0));
});

const start = (made: Guarded, ...command: readonly string[]) =>
  execa(...made.args(command), { cwd: made.root, buffer: false, reject: false });

test('a signal to the launcher reaches the command; its end ends the command', async (t) => {
  const made = new Guarded(t);
  const script = 'trap "echo got; exit 5" TERM; echo ready; while :; do sleep 0.05; done';
  const started = start(made, 'bash', '-c', script);
  await once(started.stdout, 'data');
  started.kill('SIGTERM');
  const [code] = await once(started, 'exit');
  assert.equal(code, 5);
  const other = start(made, 'bash', '-c', 'echo $$; exec sleep 60');
  const [pid] = await once(other.stdout, 'data');
  other.kill('SIGKILL');
  await once(other, 'exit');
  while (existsSync(`/proc/${Number(pid)}`)) await pause(20);
});

test('writes fail when the supervisor is gone', async (t) => {
  const made = new Guarded(t);
  const script = 'echo $PPID; read go; echo x > src/components/list.ts; echo "wrote $?"';
  const started = start(made, 'bash', '-c', script);
  const [supervisor] = await once(started.stdout, 'data');
  process.kill(Number(supervisor), 'SIGKILL');
  started.stdin.end('go\n');
  let said = '';
  started.stdout.on('data', (text) => {
    said += text;
  });
  await once(started, 'close');
  assert.match(said, /wrote [^0]/);
  assert.equal(made.read('src/components/list.ts'), FILES['src/components/list.ts']);
});

test('a guard inside a guard runs under the outer policy', (t) => {
  const made = new Guarded(t);
  const [program, args] = made.args([
    'bash',
    '-c',
    'echo x > src/api/users.ts; echo x > src/components/list.ts; exit 4',
  ]);
  const { code } = made.run([program, ...args].map((word) => `'${word}'`).join(' '));
  assert.equal(code, 4);
  assert.equal(made.read(FOREIGN), FILES[FOREIGN]);
  assert.equal(made.read('src/components/list.ts'), 'x\n');
});

test('a policy that cannot be used is refused by its line, before anything runs', (t) => {
  const made = new Guarded(t);
  const wrong = (where: string, expected: string) =>
    ownLine(GUARD_LINE_CODES.guard_policy_invalid, { where, expected });
  const said = 'No such file or directory';
  for (const [text, line] of [
    ['', wrong(made.policy, 'a line with the root')],
    ['root\t/no/such/place\n', ownLine(GUARD_LINE_CODES.guard_file_unusable, { path: '/no/such/place', said })],
    [`root\t${made.root}\nwrong\tx\n`, wrong('wrong', 'a line of a policy')],
    [`root\t${made.root}\nown\tx\n`, wrong('own', 'a line of a policy')],
    [`root\t${made.root}\ngit\t(\tx\n`, wrong('(', 'a regular expression')],
  ] as const) {
    writeFileSync(made.policy, text);
    const { code, stderr } = made.run('echo x > src/components/list.ts');
    assert.deepEqual([code, stderr], [125, `${line}\n`]);
  }
  assert.equal(made.read('src/components/list.ts'), FILES['src/components/list.ts']);
});

test('the compiler finds no fault of memory or arithmetic while paths of all kinds are looked at', (t) => {
  const made = new Guarded(t);
  symlinkSync('loop', join(made.root, 'loop'));
  const odd = [
    '"loop/x"',
    '"$(printf %0300d 1)"',
    '"$(printf "d/%.0s" {1..1500})x"',
    '""',
    '"src//api/./users.ts"',
    '"/proc/self/fd/1"',
    '/dev/stdout',
    '/dev/null',
    '"src/api/"',
    '"src/api/users.ts/x"',
    "$'a\\tb\\nc'",
    '"é"',
  ];
  const script = odd.map((path) => `echo x > ${path}`).join('; ');
  const { stderr } = made.run(`${script}; ${Object.values(WAYS).slice(0, 6).join('; ')}`, checkedGuard());
  assert.doesNotMatch(stderr, /Sanitizer|runtime error/);
  assert.equal(made.read(FOREIGN), FILES[FOREIGN]);
});
