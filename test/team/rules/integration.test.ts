import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { foreignFiles, type IntegrationRules, judgeCommits } from '../../../src/team/rules/integration.ts';
import { checkMessage } from '../../../src/team/rules/message.ts';

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

type Case = {
  readonly name: string;
  /** The files of each commit. */
  readonly commits: readonly (readonly string[])[];
  readonly rules?: Partial<IntegrationRules>;
  readonly accepted: number;
  readonly owner?: string | null;
  readonly words?: RegExp;
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
    words:
      /^commit 0000000000b1 "Commit 1" of backend-dev is not merged: src\/pages\/p\.tsx is frontend-dev's \(src\/pages\/\*\*\)\. Ask its owner: SendMessage \{"recipient":"frontend-dev","type":"change_request"/,
  },
  {
    name: 'a test beside its own file',
    commits: [['src/api/a.test.ts']],
    accepted: 0,
    owner: 'tester',
    words: /src\/api\/a\.test\.ts is tester's/,
  },
  {
    name: 'a file whose owner is not in the team',
    commits: [['design/logo.svg']],
    accepted: 0,
    owner: 'designer',
    words: /Ask the lead \(the owner is not in this team\): SendMessage \{"recipient":"team-lead"/,
  },
  { name: 'what it had a lease for', commits: [['package.json', 'src/pages/leased.tsx']], accepted: 1 },
  {
    name: 'what another had a lease for',
    commits: [['src/lib/a.ts']],
    accepted: 0,
    owner: 'shared',
    words:
      /src\/lib\/a\.ts is shared \(src\/lib\/\*\*\). Take a lease for it first: FileLease \{"path":"src\/lib\/a\.ts"/,
  },
  { name: "nobody's file without a lease", commits: [['README.md']], accepted: 1 },
  {
    name: "nobody's file, which another has a lease for",
    commits: [['CHANGELOG.md']],
    accepted: 0,
    owner: 'tester',
    words: /CHANGELOG\.md is leased to tester/,
  },
  {
    name: 'each reason is named, five at most',
    commits: [
      ['src/lib/x.ts', 'src/api/a.ts', 'src/pages/b.tsx', ...['c', 'd', 'e', 'f'].map((one) => `src/pages/${one}.tsx`)],
    ],
    accepted: 0,
    owner: 'shared',
    words:
      /src\/lib\/x\.ts is shared.*\n.*src\/pages\/b\.tsx is frontend-dev's.*\n.*src\/pages\/e\.tsx is frontend-dev's.*\nand 1 more of its files$/s,
  },
  {
    name: 'the rules of the team, a lease for them or not',
    commits: [['.claude/settings.json']],
    rules: { leases: new Map([['backend-dev', new Set(['.claude/settings.json'])]]) },
    accepted: 0,
    owner: null,
    words: /\.claude\/settings\.json holds rules of the team \(\.claude\)/,
  },
  {
    name: 'outside of the project',
    commits: [['../b/x.ts']],
    accepted: 0,
    owner: null,
    words: /\.\.\/b\/x\.ts lies outside/,
  },
  {
    name: 'a member that only reads',
    commits: [['src/api/a.ts']],
    rules: { readOnly: true },
    accepted: 0,
    owner: 'backend-dev',
    words: /backend-dev is read-only, and this changes src\/api\/a\.ts/,
  },
  {
    name: 'characters that would hide something',
    commits: [['src/pages/\u001b[2Kx.tsx']],
    accepted: 0,
    owner: 'frontend-dev',
    words: /src\/pages\/\\x1b\[2Kx\.tsx is frontend-dev's/,
  },
];

for (const { name, commits, rules, accepted, owner = null, words } of CASES) {
  test(`commits of a member: ${name}`, () => {
    const all = commits.map((files, index) => ({
      sha: `0000000000b${index}ff`,
      subject: `Commit ${index}`,
      files,
      task: '1',
    }));
    const judged = judgeCommits(all, 'backend-dev', { ...RULES, ...rules });
    assert.deepEqual(judged.accepted, all.slice(0, accepted));
    assert.equal(judged.refused === null, words === undefined);
    if (judged.refused === null || words === undefined) return;
    assert.equal(judged.refused.commit, all[accepted]);
    assert.equal(judged.refused.owner, owner);
    assert.match(judged.refused.words, words);
    assert.ok(foreignFiles(judged.refused.commit, 'backend-dev', { ...RULES, ...rules }).includes(judged.refused.path));
  });
}

test('the change request of a refusal can be sent as it is', () => {
  const commit = { sha: 'a'.repeat(40), subject: 'x', files: ['src/api/a.ts', 'src/pages/"p".tsx', 'tests/a.ts'] };
  const { refused } = judgeCommits([commit], 'backend-dev', RULES);
  const { type, content } = JSON.parse(/SendMessage (\{.*\})/.exec(refused?.words ?? '')?.[1] ?? '');
  assert.deepEqual(content.file, 'src/pages/"p".tsx');
  assert.ok(checkMessage(type, content).ok);
  assert.deepEqual(foreignFiles(commit, 'backend-dev', RULES), ['src/pages/"p".tsx', 'tests/a.ts']);
});
