// The guard's rules for each kind of caller.

import assert from 'node:assert/strict';
import test from 'node:test';
import { refusalOf } from '../../../src/guard/rules/git-calls.ts';
import { parseNotes } from '../../../src/guard/rules/notes.ts';
import { PROTECTED_PATHS } from '../../../src/guard/rules/policy.ts';
import type { Caller } from '../../../src/team/rules/caller.ts';
import { asRole } from '../../../src/team/rules/caller.ts';
import { rulesOf } from '../../../src/team/rules/caller-rules.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';

const PLACE = { checkout: 'shared', alone: false, approval: false, allowedGit: [] } as const;
const LEADER: Caller = { kind: 'lead', team: 'tool-plan-x', name: 'team-lead', epoch: 0 };
const STRANGER: Caller = { kind: 'outsider', who: 'another session' };

const reader = (name: string) => asRole(name, 'tool-plan-x', true);
const writer = (name: string) => asRole(name, 'tool-plan-x', false);

test('a teammate writes its own files and takes leases by writing', () => {
  const rules = rulesOf(writer('tester'), DEFAULT_TEAM_SETTINGS, PLACE);
  assert.equal(rules.member, 'tester');
  assert.ok(rules.claims && rules.writesHistory);
  assert.deepEqual([rules.allow, rules.keep], [[], PROTECTED_PATHS]);
  assert.match(refusalOf(['add', '-A'], rules.git) ?? '', /git add tests$/);
});

test('a read-only role, a stranger and an unknown caller write nothing; the stranger may use git', () => {
  for (const caller of [reader('analyst'), STRANGER, { kind: 'unknown', why: 'x', takesKey: false } as const]) {
    const rules = rulesOf(caller, DEFAULT_TEAM_SETTINGS, PLACE);
    assert.equal(rules.member, null);
    assert.ok(!rules.claims);
    assert.equal(rules.writesHistory, caller.kind !== 'member');
  }
});

test('the lead writes all but the rules, SPECs included until one waits for approval; with delegate_mode SPECs alone', () => {
  const free = rulesOf(LEADER, { ...DEFAULT_TEAM_SETTINGS, delegateMode: false }, PLACE);
  assert.deepEqual([free.member, free.ownership], ['team-lead', [{ owner: 'team-lead', patterns: ['**'] }]]);
  assert.deepEqual([free.allow, free.keep], [['.tool/specs'], PROTECTED_PATHS]);
  const delegating = rulesOf(LEADER, { ...DEFAULT_TEAM_SETTINGS, delegateMode: true }, { ...PLACE, approval: true });
  assert.deepEqual([delegating.member, delegating.allow], [null, []]);
});

test('work without a team is only written down', () => {
  const rules = rulesOf(STRANGER, DEFAULT_TEAM_SETTINGS, { ...PLACE, alone: true });
  assert.deepEqual([rules.member, rules.keep, rules.git], ['team-lead', [], []]);
});

test('a worktree of its own: other branches are refused, but for the calls that a teammate is told to make', () => {
  const { git } = rulesOf(writer('tester'), DEFAULT_TEAM_SETTINGS, {
    ...PLACE,
    checkout: 'own',
    allowedGit: ['merge tool/x'],
  });
  assert.equal(refusalOf(['merge', 'tool/x'], git), null);
  assert.notEqual(refusalOf(['merge', 'main'], git), null);
  assert.equal(refusalOf(['add', '-A'], git), null);
});

test('lines of the guard become notes; lines of a newer guard are left out', () => {
  const text =
    'wrote\ta\\x09b\nrefused\tsrc/x.ts\ttester\t**/*.test.*\nnewer\tx\ngit\tstash\tadvice\nrefused\tREADME.md\t\t\n';
  assert.deepEqual(parseNotes(text), [
    { kind: 'wrote', path: 'a\tb', owner: '', pattern: '' },
    { kind: 'refused', path: 'src/x.ts', owner: 'tester', pattern: '**/*.test.*' },
    { kind: 'git', path: 'stash', owner: 'advice', pattern: '' },
    { kind: 'refused', path: 'README.md', owner: '', pattern: '' },
  ]);
});
