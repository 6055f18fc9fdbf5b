// The packed write guard on Debian's kernels in virtual machines, for each value of kernel.yama.ptrace_scope.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { buildGuard } from '../../scripts/build-guard.ts';
import { TRIAL_SCRIPT } from '../../src/guard/guard-program.ts';
import { leaseName } from '../../src/guard/lease-files.ts';
import { unpackProgram } from '../../src/guard/packed-program.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import { PROTECTED_PATHS, policyText } from '../../src/guard/rules/policy.ts';
import { GUARD_ARCHITECTURES, packedGuard } from '../../src/guard/rules/program-name.ts';
import { ownLine } from '../support/codes.ts';
import { tempDir } from '../support/temp.ts';
import { noMachine, runMachine } from '../support/virtual-machine.ts';

const PROGRAMS = join('test', 'support', 'programs');

/** The files that each case begins with. */
const WORK: Readonly<Record<string, string>> = {
  policy: policyText({
    root: '/tmp/work/project',
    member: 'me',
    ownership: [
      { owner: 'me', patterns: ['mine/**', 'own'] },
      { owner: 'other', patterns: ['theirs/**', 'foreign'] },
    ],
    leases: '/tmp/work/leases',
    claims: true,
    allow: [],
    keep: PROTECTED_PATHS,
    elsewhere: [],
    gitDirectories: [],
    gitTrees: [],
    gitPrograms: [],
    endings: [],
    git: [{ call: '^stash', refusal: 'commit your own' }],
  }),
  [`leases/${leaseName('held')}`]: 'other\nheld\n0\n',
  'project/mine/file': 'mine\n',
  'project/theirs/file': 'theirs\n',
};

/** Answers as git does: it ignores one directory. */
const GIT = `#!/bin/sh
[ "$3" = check-ignore ] || { echo "git $1"; exit; }
while IFS= read -r -d '' one; do
  if [ "$one" = build/ ]; then printf '.gitignore\\0001\\000build/\\000%s\\000' "$one"; else printf '\\000\\000\\000%s\\000' "$one"; fi
done
`;

/** On the console: `output`, the guard's lines about refusals, the exit code, and the guard's log. */
type Case = {
  readonly script: string;
  readonly output?: readonly string[];
  readonly code?: number;
  readonly log: readonly string[];
};
type Cases = Readonly<Record<string, Case>>;

const DENIED = 'Permission denied';
const THEIRS = 'refused\ttheirs/file\tother\ttheirs/**';

/** A script whose last call is refused; by default for `theirs/file`. */
const way = (script: string, ...log: readonly string[]): Case => ({
  script,
  output: [DENIED],
  code: 1,
  log: log.length > 0 ? log : [THEIRS],
});

const SEEING: Cases = {
  'the trial': { script: TRIAL_SCRIPT, log: ['wrote\town', 'refused\tforeign\tother\tforeign'] },
  'own files': {
    script:
      'echo x >mine/file && mkdir mine/new && mv mine/file mine/new/file && ln -s file mine/new/link && rm mine/new/file && touch -d 2001-01-01 mine/new && exit 7',
    code: 7,
    log: ['wrote\tmine/file', 'wrote\tmine/new/file', 'wrote\tmine/new/link'],
  },
  'another place': { script: 'echo x >../elsewhere && echo x >/dev/null', log: [] },
  'an ignored directory': { script: 'mkdir build && echo x >build/file', log: [] },
  'a lease': {
    script: `echo x >free && cat ../leases/${leaseName('free')}`,
    output: ['me', 'free', '0'],
    log: ['lease\tfree', 'wrote\tfree'],
  },
  'a lease of another': way('echo x >held', 'refused\theld\tother\tlease'),
  'a call of git': {
    script: 'git status; git stash',
    output: ['git status', DENIED],
    code: 126,
    log: ['git\tstash\tcommit your own'],
  },
  'a write': way('echo x >theirs/file'),
  'a new file': way('echo x >theirs/new', 'refused\ttheirs/new\tother\ttheirs/**'),
  'a child of a child': way('sh -c \'sh -c "echo x >theirs/file"; exit $?\''),
  'an orphan': {
    script:
      'mkfifo ../go; { sh -c "(read word <../go; echo x >mine/file; echo x >theirs/file; cat mine/file) &"; echo go >../go; } 2>&1 | cat',
    output: [DENIED, 'x'],
    log: ['wrote\tmine/file', THEIRS],
  },
  "the process's own directory": way('echo x >/proc/self/cwd/theirs/file'),
  'an open descriptor': way('exec 3<theirs/file; echo x >/proc/self/fd/3'),
  'a symbolic link': way('ln -s ../theirs mine/there; echo x >mine/there/file', 'wrote\tmine/there', THEIRS),
  'a new symbolic link': way('ln -s file theirs/link', 'refused\ttheirs/link\tother\ttheirs/**'),
  'a hard link': way('ln theirs/file mine/hard', 'wrote\tmine/hard', THEIRS),
  'a rename of it': way('mv theirs/file mine/theirs'),
  'a rename onto it': way('mv mine/file theirs/file', 'wrote\tmine/file', THEIRS),
  'a rename of its directory': way('mv theirs mine/theirs'),
  'a removal': way('rm theirs/file'),
  'a mode': way('chmod 600 theirs/file'),
  'a time': way('touch -d 2001-01-01 theirs/file'),
  'a size': way('truncate -s 0 theirs/file'),
  'a pipe': way('mkfifo theirs/pipe', 'refused\ttheirs/pipe\tother\ttheirs/**'),
  'a directory of the rules': way('mkdir .tool', 'refused\t.tool\ttoolcrew\t.tool'),
  // The shell goes on after the launcher has ended, so its errors go to the log.
  'a supervisor that is gone': {
    script: 'exec 2>>../log; kill -9 $PPID; echo x >mine/new; [ -e mine/new ] || echo nothing >&2',
    output: [ownLine(GUARD_LINE_CODES.guard_supervisor_ended, { command: 'sh' })],
    code: 125,
    log: ['Function not implemented', 'nothing'],
  },
};

/** The guard cannot read paths there: it refuses every write. `trialFailureReason` names the setting for this end of the trial. */
const UNKNOWN = 'refused\ta path that the guard cannot read\tnobody\t';
const BLIND: Cases = {
  'the trial': { script: TRIAL_SCRIPT, output: [DENIED], code: 3, log: [UNKNOWN] },
  'own files': way('echo x >mine/file', UNKNOWN),
  'another place': way('echo x >../elsewhere', UNKNOWN),
  'a removal': way('rm theirs/file', UNKNOWN),
  'reads and programs': { script: 'sh -c "cat theirs/file; exit 7"', output: ['theirs'], code: 7, log: [] },
};

const CASES = { seeing: SEEING, blind: BLIND };
const USERS = { somebody: 1000, root: 0 };
type Round = {
  readonly scope: number;
  readonly user: keyof typeof USERS;
  readonly cases: keyof typeof CASES;
};

/** With CAP_SYS_PTRACE the guard reads the paths under 2 as well. The kernel keeps 3 until the machine ends. */
const ROUNDS: readonly Round[] = [
  { scope: 0, user: 'somebody', cases: 'seeing' },
  { scope: 1, user: 'somebody', cases: 'seeing' },
  { scope: 2, user: 'somebody', cases: 'blind' },
  { scope: 2, user: 'root', cases: 'seeing' },
  { scope: 3, user: 'root', cases: 'blind' },
];

/** The line that the guard prints about a refusal in its log. */
function told(line: string): readonly string[] {
  const [word, path = '', owner = '', pattern = ''] = line.split('\t');
  if (word === 'git') return [ownLine(GUARD_LINE_CODES.guard_git_refused, { call: path, advice: owner })];
  const of = { path, owner, ...(pattern === '' ? {} : { pattern }) };
  return word === 'refused' ? [ownLine(GUARD_LINE_CODES.guard_write_owned, of)] : [];
}

/** The console's text about each case; a shell lists their files in this order. */
const EXPECTED = ROUNDS.flatMap(({ scope, user, cases }) =>
  Object.entries<Case>(CASES[cases])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { output = [], code = 0, log }]) =>
      [`${scope} ${USERS[user]} ${name}`, ...output, ...log.flatMap(told), `exit ${code}`, ...log].join('\n'),
    ),
);

function filesBelow(directory: string, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [join(directory, path), text]));
}

function scriptsOf(cases: Cases): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(cases).map(([name, { script }]) => [name, script]));
}

const built = tempDir({ after });
const unbuilt = buildGuard(process.cwd(), built, true);

for (const arch of GUARD_ARCHITECTURES) {
  const missing = noMachine(arch) || (unbuilt.find((line) => line.includes(`linux-${arch}:`)) ?? '');
  const skip = missing !== '' && process.env.CI !== 'true' && missing;
  test(`the guard decides alike on Debian's kernel for ${arch}`, { skip }, (t) => {
    assert.equal(missing, '');
    const files = {
      init: readFileSync(join(PROGRAMS, 'kernel-init.sh')),
      'run-cases': readFileSync(join(PROGRAMS, 'kernel-cases.sh')),
      rounds: ROUNDS.map(({ scope, user, cases }) => `${scope} ${user} ${cases}\n`).join(''),
      'bin/guard': unpackProgram(readFileSync(join(built, packedGuard('linux', arch)))),
      'bin/git': GIT,
      'etc/passwd': Object.entries(USERS)
        .map(([name, id]) => `${name}::${id}:${id}::/:/bin/sh\n`)
        .join(''),
      ...filesBelow('work', WORK),
      ...filesBelow('cases/seeing', scriptsOf(SEEING)),
      ...filesBelow('cases/blind', scriptsOf(BLIND)),
    };
    const lines = runMachine(arch, files, tempDir(t));
    const [begin = -1, end = -1] = ['all rounds begin', 'all rounds are over'].map((line) => lines.indexOf(line));
    assert.ok(begin >= 0 && end > begin, lines.slice(-40).join('\n'));
    const [, ...blocks] = lines.slice(begin, end).join('\n').split(/\n= /);
    for (const [at, block] of EXPECTED.entries()) assert.equal(blocks[at], block);
    assert.equal(blocks.length, EXPECTED.length);
  });
}
