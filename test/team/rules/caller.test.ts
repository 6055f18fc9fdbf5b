import assert from 'node:assert/strict';
import test from 'node:test';
import { type Caller, type Evidence, type HookCaller, identify, memberName } from '../../../src/team/rules/caller.ts';
import { Story, TEAM, teamOf } from '../../support/team.ts';

const OTHER = 'tool-run-spec-mail-002';

function fromHook(given: Partial<HookCaller> = {}): Evidence {
  return { kind: 'stamp', caller: { session: 'session-1', agentId: null, agentType: null, toolUseId: null, ...given } };
}

/** `lead of x` · `backend-dev#1 of x` · `outsider: who` · `unknown: why`. */
function shownOne(caller: Caller): string {
  switch (caller.kind) {
    case 'lead':
      return `lead of ${caller.team}`;
    case 'member':
      return `${caller.name}#${caller.epoch} of ${caller.team}`;
    case 'outsider':
      return `outsider: ${caller.who}`;
    case 'unknown':
      return `unknown: ${caller.why}`;
  }
}

function shown(callers: readonly Caller[]): string {
  return callers.map(shownOne).join(' + ');
}

type Case = {
  readonly name: string;
  readonly evidence: Evidence;
  /** One team of backend-dev and tester, unless told otherwise. */
  readonly stories?: () => readonly Story[];
  readonly is: string;
};

const one = () => teamOf(['backend-dev', 'tester']);
const terminal = () => new Story().tell('created', { session: null }).join('backend-dev');
const second = (session: string | null) =>
  new Story().tell('created', { team: OTHER, session }).join('backend-dev', 'designer');

const CASES: readonly Case[] = [
  { name: 'the main agent of the session that leads', evidence: fromHook(), is: `lead of ${TEAM}` },
  {
    name: 'the main agent of another session',
    evidence: fromHook({ session: 'session-2' }),
    is: 'outsider: the main agent of session session-2',
  },
  {
    name: 'any main agent, of a team that a terminal made',
    evidence: fromHook({ session: 'session-2' }),
    stories: () => [terminal()],
    is: `lead of ${TEAM}`,
  },
  {
    name: 'an agent by its type',
    evidence: fromHook({ agentId: 'a1', agentType: 'team-backend-dev' }),
    is: `backend-dev#1 of ${TEAM}`,
  },
  {
    name: 'an agent by its type in the plugin',
    evidence: fromHook({ agentId: 'a1', agentType: 'tool:team-backend-dev' }),
    is: `backend-dev#1 of ${TEAM}`,
  },
  {
    name: 'a teammate by its name alone',
    evidence: fromHook({ agentType: 'backend-dev' }),
    is: `backend-dev#1 of ${TEAM}`,
  },
  {
    name: 'an agent of that type in another session',
    evidence: fromHook({ session: 'session-2', agentId: 'a1', agentType: 'team-backend-dev' }),
    is: 'outsider: team-backend-dev (a1)',
  },
  {
    name: 'an agent of no role',
    evidence: fromHook({ agentId: 'a1', agentType: 'general-purpose' }),
    is: 'outsider: general-purpose (a1)',
  },
  {
    name: 'an agent without a type that nobody has bound',
    evidence: fromHook({ agentId: 'a1' }),
    is: 'outsider: an agent (a1)',
  },
  {
    name: 'an agent that only the transcripts name, which nobody has bound',
    evidence: fromHook({ agentId: 'a1', agentType: '' }),
    is: 'outsider: an agent (a1)',
  },
  {
    name: 'an agent that was bound, whatever its type is',
    evidence: fromHook({ agentId: 'agent-1', agentType: '' }),
    stories: () => [one().tell('member_bound')],
    is: `backend-dev#1 of ${TEAM}`,
  },
  {
    name: 'an agent that was bound to somebody else than its type says',
    evidence: fromHook({ agentId: 'agent-1', agentType: 'team-tester' }),
    stories: () => [one().tell('member_bound')],
    is: `backend-dev#1 of ${TEAM}`,
  },
  {
    name: 'a run whose place another has taken',
    evidence: fromHook({ agentId: 'agent-1', agentType: 'team-backend-dev' }),
    stories: () => [one().tell('member_bound').tell('member_ended').join('backend-dev')],
    is: 'outsider: backend-dev, which was replaced',
  },
  {
    name: 'the successor',
    evidence: fromHook({ agentId: 'agent-2', agentType: 'team-backend-dev' }),
    stories: () => [one().tell('member_bound').tell('member_ended').join('backend-dev')],
    is: `backend-dev#2 of ${TEAM}`,
  },
  {
    name: 'a member that is over',
    evidence: fromHook({ agentId: 'a1', agentType: 'team-backend-dev' }),
    stories: () => [one().tell('member_ended')],
    is: 'outsider: backend-dev, who has ended (its process ended)',
  },
  {
    name: 'a member that is over, by its binding',
    evidence: fromHook({ agentId: 'agent-1', agentType: 'team-backend-dev' }),
    stories: () => [one().tell('member_bound').tell('member_ended')],
    is: 'outsider: backend-dev, who has ended (its process ended)',
  },
  { name: 'a key of the lead', evidence: { kind: 'key', hash: 'hash-of-lead' }, is: `lead of ${TEAM}` },
  {
    name: 'a key of a member',
    evidence: { kind: 'key', hash: 'hash-2' },
    stories: () => [
      new Story().tell('created').tell('member_registered').tell('member_spawned', { key_hash: 'hash-2' }),
    ],
    is: `backend-dev#1 of ${TEAM}`,
  },
  {
    name: 'a key that nobody knows',
    evidence: { kind: 'key', hash: 'x' },
    is: 'outsider: a caller with a key that no team knows',
  },
  {
    name: 'the key of a predecessor',
    evidence: { kind: 'key', hash: 'hash-2' },
    stories: () => [
      new Story()
        .tell('created')
        .tell('member_registered')
        .tell('member_spawned', { key_hash: 'hash-2' })
        .tell('member_ended')
        .tell('member_registered')
        .tell('member_spawned', { epoch: 2, key_hash: 'hash-3' }),
    ],
    is: 'outsider: a caller with a key that no team knows',
  },
  {
    name: 'an environment that names nobody',
    evidence: { kind: 'environment', team: null, teammate: null },
    is: `lead of ${TEAM}`,
  },
  {
    name: 'an environment that names the lead',
    evidence: { kind: 'environment', team: TEAM, teammate: 'team-lead' },
    is: `lead of ${TEAM}`,
  },
  {
    name: 'an environment that names a member',
    evidence: { kind: 'environment', team: TEAM, teammate: 'tester' },
    is: `tester#1 of ${TEAM}`,
  },
  {
    name: 'an environment that names a stranger',
    evidence: { kind: 'environment', team: TEAM, teammate: 'mallory' },
    is: `outsider: mallory of ${TEAM}`,
  },
  {
    name: 'an environment of another team',
    evidence: { kind: 'environment', team: 'tool-run-x', teammate: null },
    is: 'outsider: a terminal',
  },
  {
    name: 'a server that names a member of a team which a session of the host leads',
    evidence: { kind: 'environment', team: TEAM, teammate: 'tester', isServer: true },
    is: `outsider: tester of ${TEAM}`,
  },
  {
    name: 'a server that names nobody, of a team that no session leads',
    evidence: { kind: 'environment', team: TEAM, teammate: null, isServer: true },
    stories: () => [new Story().tell('created', { session: null })],
    is: `lead of ${TEAM}`,
  },
  { name: 'nothing', evidence: { kind: 'nothing', why: 'it is so' }, is: 'unknown: it is so' },
  {
    name: 'the lead of two teams',
    evidence: fromHook(),
    stories: () => [one(), second('session-1')],
    is: `lead of ${TEAM} + lead of ${OTHER}`,
  },
  {
    name: 'the lead of one of two teams',
    evidence: fromHook({ session: 'session-2' }),
    stories: () => [one(), second('session-2')],
    is: `lead of ${OTHER}`,
  },
  {
    name: 'a member of the second team, of the session that leads it',
    evidence: fromHook({ session: 'session-2', agentId: 'a1', agentType: 'team-backend-dev' }),
    stories: () => [one(), second('session-2')],
    is: `backend-dev#1 of ${OTHER}`,
  },
  {
    name: 'a role that only the second of two teams has',
    evidence: fromHook({ agentId: 'a1', agentType: 'team-designer' }),
    stories: () => [one(), second('session-1')],
    is: `designer#1 of ${OTHER}`,
  },
  {
    name: 'a binding of the second team before a type of the first',
    evidence: fromHook({ agentId: 'agent-1', agentType: 'team-backend-dev' }),
    stories: () => [one(), second('session-1').tell('member_bound')],
    is: `backend-dev#1 of ${OTHER}`,
  },
  {
    name: 'somebody where no team stands any more',
    evidence: fromHook(),
    stories: () => [new Story().tell('created').askToEnd().tell('deleted')],
    is: 'outsider: the main agent of session session-1',
  },
  {
    name: 'somebody where no team is',
    evidence: fromHook(),
    stories: () => [],
    is: 'outsider: the main agent of session session-1',
  },
];

for (const { name, evidence, stories = () => [one()], is } of CASES) {
  test(`who calls: ${name}`, () => {
    assert.equal(
      shown(
        identify(
          evidence,
          stories().map(({ state }) => state),
        ),
      ),
      is,
    );
  });
}

test('the spellings of a name', () => {
  assert.deepEqual(
    ['tool:team-tester', 'team-tester', 'tester', 'tool:tester', 'team-team-tester', 'other:team-tester', ''].map(
      memberName,
    ),
    ['tester', 'tester', 'tester', 'tester', 'team-tester', 'other:team-tester', ''],
  );
});
