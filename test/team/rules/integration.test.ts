import assert from 'node:assert/strict';
import test from 'node:test';
import { type Refusal, refusal, textOf } from '../../../src/base/rules/codes.ts';
import { changeRequest, leaseCall } from '../../../src/team/rules/calls.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { ownedByOther } from '../../../src/team/rules/guard.ts';
import { foreignFiles, type IntegrationRules, judgeCommits } from '../../../src/team/rules/integration.ts';
import { checkMessage } from '../../../src/team/rules/message.ts';
import { why } from '../../support/team.ts';

const RULES: IntegrationRules = {
  ownership: DEFAULT_TEAM_SETTINGS.ownership,
  leases: new Map([
    ['backend-dev', new Set(['package.json', 'src/pages/leased.tsx'])],
    ['tester', new Set(['src/lib/a.ts'])],
  ]),
  taken: new Map([['CHANGELOG.md', 'tester']]),
  members: new Set(['backend-dev', 'frontend-dev', 'tester']),
  readOnly: false,
};

const shared = (path: string) =>
  refusal(WRITES_CODES.path_needs_lease, { path, owner: 'shared', pattern: 'src/lib/**', call: leaseCall(path) });

type Case = {
  readonly name: string;
  /** The files of each commit. */
  readonly commits: readonly (readonly string[])[];
  readonly rules?: Partial<IntegrationRules>;
  readonly accepted: number;
  readonly owner?: string | null;
  readonly faults?: readonly Refusal[];
  /** So many faults are not named. */
  readonly more?: number;
};

const CASES: readonly Case[] = [
  { name: 'no commit', commits: [], accepted: 0 },
  { name: 'its own files', commits: [['src/api/a.ts'], ['src/services/b.ts', 'src/api/c.ts']], accepted: 2 },
  { name: 'a commit without files', commits: [[]], accepted: 1 },
  {
    name: "another's file, among its own",
    commits: [['src/api/a.ts'], ['src/api/b.ts', 'src/pages/p.tsx'], ['src/api/c.ts']],
    accepted: 1,
    owner: 'frontend-dev',
    faults: [ownedByOther('src/pages/p.tsx', 'frontend-dev', 'src/pages/**', true)],
  },
  {
    name: 'a test beside its own file',
    commits: [['src/api/a.test.ts']],
    accepted: 0,
    owner: 'tester',
    faults: [ownedByOther('src/api/a.test.ts', 'tester', '**/*.test.*', true)],
  },
  {
    name: 'a file whose owner is not in the team',
    commits: [['design/logo.svg']],
    accepted: 0,
    owner: 'designer',
    faults: [ownedByOther('design/logo.svg', 'designer', 'design/**', false)],
  },
  { name: 'what it had a lease for', commits: [['package.json', 'src/pages/leased.tsx']], accepted: 1 },
  {
    name: 'what another had a lease for',
    commits: [['src/lib/a.ts']],
    accepted: 0,
    owner: 'shared',
    faults: [shared('src/lib/a.ts')],
  },
  { name: "nobody's file without a lease", commits: [['README.md']], accepted: 1 },
  {
    name: "nobody's file, which another has a lease for",
    commits: [['CHANGELOG.md']],
    accepted: 0,
    owner: 'tester',
    faults: [
      refusal(WRITES_CODES.lease_held, {
        ...{ path: 'CHANGELOG.md', holder: 'tester', call: changeRequest('tester', 'CHANGELOG.md') },
      }),
    ],
  },
  {
    name: 'each reason is named, five at most',
    commits: [
      ['src/lib/x.ts', 'src/api/a.ts', 'src/pages/b.tsx', ...['c', 'd', 'e', 'f'].map((one) => `src/pages/${one}.tsx`)],
    ],
    accepted: 0,
    owner: 'shared',
    faults: [
      shared('src/lib/x.ts'),
      ...['b', 'c', 'd', 'e'].map((one) => ownedByOther(`src/pages/${one}.tsx`, 'frontend-dev', 'src/pages/**', true)),
    ],
    more: 1,
  },
  {
    name: 'the rules of the team, a lease for them or not',
    commits: [['.claude/settings.json']],
    rules: { leases: new Map([['backend-dev', new Set(['.claude/settings.json'])]]) },
    accepted: 0,
    owner: null,
    faults: [refusal(WRITES_CODES.path_protected, { path: '.claude/settings.json', what: '.claude' })],
  },
  {
    name: 'outside of the project',
    commits: [['../b/x.ts']],
    accepted: 0,
    owner: null,
    faults: [refusal(WORK_CODES.path_outside_project, { path: '../b/x.ts' })],
  },
  {
    name: 'a member that only reads',
    commits: [['src/api/a.ts']],
    rules: { readOnly: true },
    accepted: 0,
    owner: 'backend-dev',
    faults: [refusal(WRITES_CODES.member_read_only, { member: 'backend-dev', path: 'src/api/a.ts' })],
  },
  {
    name: 'characters that would hide something',
    commits: [['src/pages/\u001b[2Kx.tsx']],
    accepted: 0,
    owner: 'frontend-dev',
    faults: [ownedByOther('src/pages/\u001b[2Kx.tsx', 'frontend-dev', 'src/pages/**', true)],
  },
];

for (const { name, commits, rules, accepted, owner = null, faults, more } of CASES) {
  test(`commits of a member: ${name}`, () => {
    const all = commits.map((files, index) => ({
      sha: `0000000000b${index}ff`,
      subject: `Commit ${index}`,
      files,
      task: '1',
    }));
    const judged = judgeCommits(all, 'backend-dev', { ...RULES, ...rules });
    assert.deepEqual(judged.accepted, all.slice(0, accepted));
    assert.equal(judged.refused === null, faults === undefined);
    if (judged.refused === null || faults === undefined) return;
    assert.equal(judged.refused.commit, all[accepted]);
    assert.equal(judged.refused.owner, owner);
    const { commit, refusal: refused } = judged.refused;
    why(WORK_CODES.commit_not_merged, {
      ...{ commit: commit.sha.slice(0, 12), subject: commit.subject, member: 'backend-dev' },
      ...{ faults, more },
    }).holds(refused);
    assert.ok(foreignFiles(judged.refused.commit, 'backend-dev', { ...RULES, ...rules }).includes(judged.refused.path));
  });
}

test('the change request of a refusal can be sent as it is', () => {
  const commit = { sha: 'a'.repeat(40), subject: 'x', files: ['src/api/a.ts', 'src/pages/"p".tsx', 'tests/a.ts'] };
  const { refused } = judgeCommits([commit], 'backend-dev', RULES);
  const { type, content } = JSON.parse(
    /SendMessage (\{.*\})/.exec(refused === null ? '' : textOf(refused.refusal))?.[1] ?? '',
  );
  assert.deepEqual(content.file, 'src/pages/"p".tsx');
  assert.ok(checkMessage(type, content).ok);
  assert.deepEqual(foreignFiles(commit, 'backend-dev', RULES), ['src/pages/"p".tsx', 'tests/a.ts']);
});
