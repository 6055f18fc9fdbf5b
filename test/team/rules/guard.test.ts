// Over 400 lines: one table of writes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { textOf } from '../../../src/base/rules/codes.ts';
import { type Checkout, refusalOf } from '../../../src/guard/rules/git-calls.ts';
import { GUARD_CODES } from '../../../src/guard/rules/guard-codes.ts';
import type { Writes } from '../../../src/guard/rules/writes.ts';
import type { Caller } from '../../../src/team/rules/caller.ts';
import { changeRequest } from '../../../src/team/rules/calls.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { gitRowsFor, judgeWrites, ownedByOther, type WriteContext } from '../../../src/team/rules/guard.ts';
import { checkMessage } from '../../../src/team/rules/message.ts';
import type { TeamSettings } from '../../../src/team/rules/settings.ts';
import { type Story, TEAM, teamOf, type Why, why } from '../../support/team.ts';

const SETTINGS: TeamSettings = { ...DEFAULT_TEAM_SETTINGS, enabled: true };
const FREE_LEAD: TeamSettings = { ...SETTINGS, delegateMode: false };

const LEADER: Caller = { kind: 'lead', team: TEAM, name: 'team-lead', epoch: 0 };
const STRANGER: Caller = { kind: 'outsider', who: 'general-purpose (agent-9)' };
const NOBODY: Caller = { kind: 'unknown', takesKey: false, why: 'the host does not say' };

type Case = {
  readonly name: string;
  /** A member's name, or the caller. */
  readonly by?: string | Caller;
  readonly writes: string | Writes;
  readonly settings?: TeamSettings;
  readonly tell?: (story: Story) => unknown;
  readonly place?: Partial<WriteContext>;
  /** What is allowed, or why it is not. */
  readonly ruling: RegExp | Why;
  /** A person is asked. */
  readonly asks?: true;
};

const NOTHING: Writes = { targets: [], unresolved: [], git: null };

function unresolved(...why: readonly string[]): Writes {
  return { ...NOTHING, unresolved: why };
}

function tree(path: string): Writes {
  return { ...NOTHING, targets: [{ path, tree: true }] };
}

function directory(path: string, kind: 'there' | 'made'): Writes {
  return { ...NOTHING, targets: [{ path, tree: false, directory: kind }] };
}

const BELOW: Readonly<Record<string, readonly string[]>> = {
  src: ['src/api/a.ts', 'src/pages/b.tsx'],
  'src/api': ['src/api/a.ts', 'src/api/c.ts'],
  '.': ['.git/config', 'src/api/a.ts'],
};

const RULES = why(WRITES_CODES.path_protected, { team: TEAM });
const ASK_FOR_ALL = `For a change in all of the project, ask the lead: ${changeRequest('team-lead', '.')}`;

const READER = (story: Story) =>
  story
    .tell('member_registered', { name: 'quality', agent: 'team-quality', read_only: true })
    .tell('member_spawned', { name: 'quality' });

const CASES: readonly Case[] = [
  { name: 'its own file', writes: 'src/api/users.ts', ruling: /^allow src\/api\/users\.ts$/ },
  {
    name: 'a file of somebody else',
    writes: 'tests/users.ts',
    ruling: why(WRITES_CODES.path_owned_by_other, {
      path: 'tests/users.ts',
      owner: 'tester',
      pattern: 'tests/**',
      whom: 'its owner',
      call: changeRequest('tester', 'tests/users.ts'),
    }),
  },
  {
    name: 'a file whose owner is not in the team',
    writes: 'design/logo.svg',
    ruling: why(WRITES_CODES.path_owned_by_other, {
      ...{ path: 'design/logo.svg', owner: 'designer', whom: 'the lead (the owner is not in this team)' },
      call: changeRequest('team-lead', 'design/logo.svg'),
    }),
  },
  {
    name: 'a pattern of names before a place of its own',
    writes: 'src/api/users.test.ts',
    ruling: why(WRITES_CODES.path_owned_by_other, { path: 'src/api/users.test.ts', owner: 'tester' }),
  },
  {
    name: 'a shared file without a lease',
    writes: 'src/lib/a.ts',
    ruling: why(WRITES_CODES.path_needs_lease, {
      ...{ path: 'src/lib/a.ts', owner: 'shared', pattern: 'src/lib/**' },
      call: 'FileLease {"path":"src/lib/a.ts"}',
    }),
  },
  { name: 'an unowned file, which the first writer holds', writes: 'package.json', ruling: /^allow package\.json$/ },
  {
    name: 'a shared file with a lease',
    writes: 'src/lib/a.ts',
    tell: (story) => story.tell('lease_taken', { path: 'src/lib/a.ts', by: 'backend-dev' }),
    ruling: /^allow src\/lib\/a\.ts$/,
  },
  {
    name: 'a file on which another has a lease',
    writes: 'package.json',
    tell: (story) => story.tell('lease_taken'),
    ruling: why(WRITES_CODES.lease_held, {
      ...{ path: 'package.json', holder: 'tester', until: 2_000_000, reason: 'a dependency' },
      call: changeRequest('tester', 'package.json'),
    }),
  },
  {
    name: 'a file on which another has a lease, who gave no reason',
    writes: 'package.json',
    tell: (story) => story.tell('lease_taken', { reason: '' }),
    ruling: why(WRITES_CODES.lease_held, {
      ...{ path: 'package.json', holder: 'tester', until: 2_000_000, reason: undefined },
    }),
  },
  {
    name: 'a lease of its own that is over',
    writes: 'src/lib/a.ts',
    tell: (story) => story.tell('lease_taken', { path: 'src/lib/a.ts', by: 'backend-dev' }),
    place: { now: 2_000_000 },
    ruling: why(WRITES_CODES.path_needs_lease, { path: 'src/lib/a.ts', owner: 'shared' }),
  },
  {
    name: 'a lease of another that is over, on its own file',
    writes: 'src/api/a.ts',
    tell: (story) => story.tell('lease_taken', { path: 'src/api/a.ts' }),
    place: { now: 2_000_000 },
    ruling: /^allow/,
  },
  { name: 'outside of the project, where the user decides', writes: '/etc/hosts', ruling: /^allow \/etc\/hosts$/ },
  { name: 'above the project', writes: '../other/a.ts', ruling: /^allow \.\.\/other\/a\.ts$/ },
  {
    name: 'the project itself',
    writes: '.',
    ruling: why(WRITES_CODES.write_too_broad, { directory: 'the project', why: undefined }),
  },
  { name: 'a temporary file', writes: '/tmp/scratch.txt', ruling: /^allow \/tmp\/scratch\.txt$/ },
  {
    name: 'what the host goes by, though it lies among temporary files',
    writes: '/tmp/home/.claude/settings.json',
    ruling: why(WRITES_CODES.host_file_protected, { path: '/tmp/home/.claude' }),
  },
  ...['.claude/settings.json', '.tool/teams/x/log.jsonl', '.git/hooks/pre-commit', '.git', '.mcp.json'].flatMap(
    (writes): readonly Case[] => [
      { name: `the rules (${writes})`, writes, ruling: RULES },
      { name: `the rules (${writes}), by the lead`, by: LEADER, writes, settings: FREE_LEAD, ruling: RULES },
    ],
  ),
  { name: 'a file that begins like a rule', writes: '.github/workflows/ci.yml', ruling: /^allow/ },
  {
    name: 'a SPEC, by a member',
    writes: '.tool/specs/SPEC-A-001/spec.md',
    ruling: why(WRITES_CODES.path_protected, { path: '.tool/specs/SPEC-A-001/spec.md', what: '.tool', team: TEAM }),
  },
  { name: 'a SPEC, by the lead', by: LEADER, writes: '.tool/specs/SPEC-A-001/spec.md', ruling: /^allow/ },
  { name: 'beside the SPECs, by the lead', by: LEADER, writes: '.tool/specs/../config/workflow.yaml', ruling: RULES },
  {
    name: 'code, by a lead that delegates',
    by: LEADER,
    writes: 'src/api/a.ts',
    ruling: why(WRITES_CODES.lead_delegates, {
      ...{ path: 'src/api/a.ts', whom: 'backend-dev', owner: 'backend-dev', start: undefined },
      call: 'TaskCreate {"subject":"Change src/api/a.ts","description":"…","owner":"backend-dev","files":["src/api/a.ts"]}',
    }),
  },
  {
    name: "code of nobody's, by a lead that delegates",
    by: LEADER,
    writes: 'package.json',
    ruling: why(WRITES_CODES.lead_delegates, {
      ...{ path: 'package.json', whom: 'a teammate', owner: undefined },
      call: 'TaskCreate {"subject":"Change package.json","description":"…","files":["package.json"]}',
    }),
  },
  { name: 'code, by a lead that does not', by: LEADER, writes: 'src/api/a.ts', settings: FREE_LEAD, ruling: /^allow/ },
  {
    name: 'a role that only reads',
    by: 'quality',
    writes: 'src/api/a.ts',
    tell: READER,
    ruling: why(WRITES_CODES.member_read_only, { member: 'quality', advice: undefined, why: undefined }),
  },
  {
    name: 'a role that only reads, temporary',
    by: 'quality',
    writes: '/tmp/a',
    tell: READER,
    ruling: why(WRITES_CODES.member_read_only, {
      ...{ member: 'quality', why: undefined },
      advice: 'Do not keep the output of a command in a file: pipe it to tail or grep instead.',
    }),
  },
  {
    name: 'a refused call of git, by a role that only reads',
    by: 'quality',
    writes: { ...NOTHING, git: 'git commit: it writes the history' },
    tell: READER,
    ruling: why(WRITES_CODES.member_read_only, { member: 'quality', why: 'git commit: it writes the history' }),
  },
  {
    name: 'a refused call of git, by a stranger',
    by: STRANGER,
    writes: { ...NOTHING, git: 'git stash: it changes all' },
    ruling: why(WRITES_CODES.writer_not_member, { why: 'git stash: it changes all' }),
  },
  ...['backend-dev', LEADER].map((by) => ({
    name: `a refused call of git, by ${typeof by === 'string' ? by : by.kind}`,
    by,
    writes: { ...NOTHING, git: 'git stash: it changes all' },
    settings: FREE_LEAD,
    place: { attended: true },
    ruling: why(WRITES_CODES.git_refused, { said: 'git stash: it changes all' }),
  })),
  {
    name: 'a role that only reads, with a lease that it should not have',
    by: 'quality',
    writes: 'package.json',
    tell: (story) => READER(story).tell('lease_taken', { by: 'quality' }),
    ruling: why(WRITES_CODES.member_read_only, { member: 'quality' }),
  },
  {
    name: 'a stranger',
    by: STRANGER,
    writes: 'src/api/a.ts',
    ruling: why(WRITES_CODES.writer_not_member, { team: TEAM, who: 'general-purpose (agent-9)', why: undefined }),
  },
  {
    name: 'a stranger whose name holds control characters',
    by: { kind: 'outsider', who: 'a\u001b[2Jb' },
    writes: 'src/api/a.ts',
    ruling: why(WRITES_CODES.writer_not_member, { who: 'a\\x1b[2Jb' }),
  },
  {
    name: 'a stranger, temporary',
    by: STRANGER,
    writes: '/tmp/a',
    ruling: why(WRITES_CODES.writer_not_member, { team: TEAM }),
  },
  {
    name: 'somebody the host does not name',
    by: NOBODY,
    writes: 'src/api/a.ts',
    ruling: why(WRITES_CODES.writer_not_member, { who: 'an unknown caller (the host does not say)' }),
  },
  {
    name: 'what cannot be told, without a person',
    writes: unresolved('$(date) is not known'),
    ruling: why(GUARD_CODES.write_targets_unknown, { why: ['$(date) is not known'] }),
  },
  {
    name: 'what cannot be told, in front of a person',
    writes: unresolved('$X', '$Y'),
    place: { attended: true },
    asks: true,
    ruling: why(GUARD_CODES.write_targets_unknown, { why: ['$X', '$Y'] }),
  },
  {
    name: 'what cannot be told, by a stranger in front of a person',
    by: STRANGER,
    writes: unresolved('$X'),
    place: { attended: true },
    ruling: why(WRITES_CODES.writer_not_member, { why: 'It is not known which files this writes: $X' }),
  },
  {
    name: 'what cannot be told, by a reader in front of a person',
    by: 'quality',
    tell: READER,
    writes: unresolved('$X'),
    place: { attended: true },
    ruling: why(WRITES_CODES.member_read_only, { member: 'quality' }),
  },
  {
    name: 'what cannot be told beside what may not be',
    writes: { targets: [{ path: 'tests/a.ts', tree: false }], unresolved: ['$X'], git: null },
    place: { attended: true },
    ruling: why(WRITES_CODES.path_owned_by_other, { path: 'tests/a.ts', owner: 'tester' }),
  },
  {
    name: 'several, one of which may not be',
    writes: { ...NOTHING, targets: ['src/api/a.ts', 'tests/a.ts'].map((path) => ({ path, tree: false })) },
    ruling: why(WRITES_CODES.path_owned_by_other, { path: 'tests/a.ts', owner: 'tester' }),
  },
  { name: 'a tree of its own', writes: tree('src/api'), ruling: /^allow src\/api\/a\.ts src\/api\/c\.ts$/ },
  {
    name: 'a tree with a file of somebody else',
    writes: tree('src'),
    ruling: why(WRITES_CODES.write_too_broad, {
      ...{ directory: 'src', path: 'src/pages/b.tsx', ask: undefined },
      why: textOf(ownedByOther('src/pages/b.tsx', 'frontend-dev', 'src/pages/**', true)),
    }),
  },
  {
    name: 'a tree with a shared file, for which a lease would lead nowhere',
    writes: tree('.'),
    place: { below: () => ['src/api/a.ts', 'src/lib/x.ts', 'tests/a.ts'] },
    ruling: why(WRITES_CODES.write_too_broad, {
      ...{ directory: 'the project', path: 'src/lib/x.ts', why: 'src/lib/x.ts, for example, is not yours.' },
      ask: ASK_FOR_ALL,
    }),
  },
  {
    name: 'a tree with a file that another has leased',
    writes: tree('.'),
    tell: (story) => story.tell('lease_taken'),
    place: { below: () => ['package.json'] },
    ruling: why(WRITES_CODES.write_too_broad, { directory: 'the project', path: 'package.json', ask: undefined }),
  },
  { name: 'a tree without a file', writes: tree('src/api/new'), ruling: /^allow src\/api\/new$/ },
  {
    name: 'the checkout that its worktree belongs to, though that lies among temporary files',
    writes: '/tmp/project/src/api/a.ts',
    place: { checkout: '/tmp/project' },
    ruling: why(WRITES_CODES.path_in_main_checkout, { path: '/tmp/project/src/api/a.ts' }),
  },
  {
    name: 'temporary files beside that checkout',
    writes: '/tmp/project-notes',
    place: { checkout: '/tmp/project' },
    ruling: /^allow \/tmp\/project-notes$/,
  },
  {
    name: 'the whole project',
    writes: tree('.'),
    ruling: why(WRITES_CODES.write_too_broad, { directory: 'the project', path: '.git/config', ask: ASK_FOR_ALL }),
  },
  {
    name: 'a directory of nobody, for which there is no lease',
    writes: directory('scripts', 'there'),
    ruling: why(WRITES_CODES.directory_not_leasable, {
      ...{ path: 'scripts', kind: 'an unowned', call: changeRequest('team-lead', 'scripts') },
    }),
  },
  {
    name: 'a new directory of nobody',
    writes: directory('docs', 'made'),
    ruling: /^allow docs$/,
  },
  { name: 'a new directory on the way to its own', writes: directory('src', 'made'), ruling: /^allow src$/ },
  {
    name: 'a new directory on the way to a file that it has leased',
    writes: directory('docs', 'made'),
    tell: (story) => story.tell('lease_taken', { path: 'docs/api.md', by: 'backend-dev' }),
    ruling: /^allow docs$/,
  },
  {
    name: 'what is built, in a directory that Git ignores',
    writes: tree('dist'),
    place: { outputs: new Set(['dist']), below: () => ['dist/a.test.js'] },
    ruling: /^allow dist$/,
  },
  ...(
    [
      ['tester', 1_000, why(WRITES_CODES.lease_held, { path: 'dist/a.js', holder: 'tester' })],
      ['tester', 2_000_000, /^allow dist$/],
      ['backend-dev', 1_000, /^allow dist$/],
    ] as const
  ).map(
    ([by, now, ruling]): Case => ({
      name: `what is built, with a file in it that ${by} has leased, at ${now}`,
      writes: tree('dist'),
      tell: (story) => story.tell('lease_taken', { path: 'dist/a.js', by }),
      place: { outputs: new Set(['dist']), now },
      ruling,
    }),
  ),
  {
    name: 'what Git ignores in a place of somebody else',
    writes: tree('tests/output'),
    place: { outputs: new Set(['tests/output']) },
    ruling: why(WRITES_CODES.path_owned_by_other, { path: 'tests/output', owner: 'tester' }),
  },
  {
    name: 'what holds the rules, which Git ignores',
    writes: '.tool/state/x',
    place: { outputs: new Set(['.tool/state/x']) },
    ruling: why(WRITES_CODES.path_protected, { path: '.tool/state/x' }),
  },
  {
    name: 'a tree in which what holds the rules comes first',
    writes: tree('.'),
    ruling: why(WRITES_CODES.write_too_broad, {
      ...{ directory: 'the project', path: 'src/pages/b.tsx', ask: undefined },
      why: textOf(ownedByOther('src/pages/b.tsx', 'frontend-dev', 'src/pages/**', true)),
    }),
    place: { below: () => ['.mcp.json', 'src/pages/b.tsx', 'package.json'] },
  },
  {
    name: 'what holds the rules itself, as a tree',
    writes: tree('.claude'),
    ruling: why(WRITES_CODES.write_too_broad, { directory: '.claude', path: '.claude/settings.json', ask: undefined }),
    place: { below: () => ['.claude/settings.json'] },
  },
  {
    name: 'a tree in which nothing but what holds the rules is not its own',
    writes: tree('.'),
    ruling: why(WRITES_CODES.write_too_broad, { directory: 'the project', path: '.mcp.json', ask: ASK_FOR_ALL }),
    place: { below: () => ['.mcp.json', 'src/api/a.ts'] },
  },
];

for (const { name, by = 'backend-dev', writes, settings = SETTINGS, tell, place, ruling, asks } of CASES) {
  test(`a write: ${name}`, () => {
    const story = teamOf(['backend-dev', 'frontend-dev', 'tester']);
    tell?.(story);
    const member = typeof by === 'string' ? story.member(by) : undefined;
    const caller: Caller =
      typeof by !== 'string'
        ? by
        : { kind: 'member', team: TEAM, name: by, epoch: member?.epoch ?? 0, member: story.member(by) };
    const given: Writes =
      typeof writes === 'string' ? { ...NOTHING, targets: [{ path: writes, tree: false }] } : writes;
    const { decision, refusal, paths } = judgeWrites(given, caller, story.state, settings, {
      attended: false,
      now: story.at,
      temporary: ['/tmp'],
      hosts: ['/tmp/home/.claude'],
      checkout: null,
      below: (path) => BELOW[path] ?? [],
      outputs: new Set(),
      ...place,
    });
    if (ruling instanceof RegExp) {
      assert.equal(refusal, null);
      assert.match([decision, ...paths].join(' '), ruling);
      return;
    }
    ruling.holds(refusal);
    assert.equal(decision, asks === true ? 'ask' : 'deny');
    if (decision === 'deny') assert.deepEqual(paths, []);
  });
}

for (const path of ['tests/users.ts', 'tests/a "quoted" name.ts', 'tests/back\\slash.ts']) {
  test(`a refusal holds a change_request that can be sent as it stands: ${path}`, () => {
    const story = teamOf(['backend-dev', 'tester']);
    const caller: Caller = {
      kind: 'member',
      team: TEAM,
      name: 'backend-dev',
      epoch: 1,
      member: story.member('backend-dev'),
    };
    const { reason } = judgeWrites({ ...NOTHING, targets: [{ path, tree: false }] }, caller, story.state, SETTINGS, {
      attended: false,
      now: story.at,
      temporary: [],
      hosts: [],
      checkout: null,
      below: () => [],
      outputs: new Set(),
    });
    const request: unknown = JSON.parse(reason.slice(reason.indexOf('SendMessage ') + 'SendMessage '.length));
    assert.ok(typeof request === 'object' && request !== null && 'content' in request && 'recipient' in request);
    assert.equal(request.recipient, 'tester');
    assert.deepEqual(checkMessage('change_request', request.content).ok, true);
    assert.equal(JSON.stringify(request.content).includes(JSON.stringify(path)), true);
  });
}

test('advice about git names a path of the caller', () => {
  const story = READER(teamOf(['backend-dev', 'tester']));
  const advice = (by: string | Caller, call: string, checkout: Checkout = 'shared') => {
    const caller: Caller =
      typeof by === 'string' ? { kind: 'member', team: TEAM, name: by, epoch: 1, member: story.member(by) } : by;
    return refusalOf(call.split(' '), gitRowsFor(caller, SETTINGS, checkout));
  };
  assert.match(advice('backend-dev', 'add -A') ?? '', /git add src\/api$/);
  assert.match(advice('tester', 'add -A') ?? '', /git add tests$/);
  assert.match(advice(LEADER, 'add -A') ?? '', /git add FILE$/);
  assert.match(advice(STRANGER, 'stash') ?? '', /everybody/);
  assert.equal(advice('backend-dev', 'add -A', 'own'), null);
  assert.equal(advice('backend-dev', 'commit -m x'), null);
  for (const call of ['commit -m x', 'add a.ts', 'push', 'stash', 'checkout -- a.ts', 'clean -fd src'])
    assert.match(advice('quality', call) ?? '', /^it writes/, call);
  for (const call of [
    'status',
    'log -p',
    'diff',
    'stash list',
    'clean --dry-run',
    'apply --check a.diff',
    'fetch',
    'branch -a',
  ])
    assert.equal(advice('quality', call), null, call);
});
