// Over 400 lines: two tables of decisions about one state.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { claimable, fitsMember, type IdleVerdict, judgeIdle, judgeLeadStop } from '../../../src/team/rules/idle.ts';
import { JUDGE_ROUNDS, JUDGE_TASK } from '../../../src/team/rules/quality-verdict.ts';
import type { TeamSettings } from '../../../src/team/rules/settings.ts';
import { LEAD, type Story, teamOf } from '../../support/team.ts';

const SETTINGS: TeamSettings = { ...DEFAULT_TEAM_SETTINGS, enabled: true };
const TRUSTING: TeamSettings = {
  ...SETTINGS,
  hooks: { ...SETTINGS.hooks, teammateIdle: { enabled: true, validateWork: false } },
};

/** `accept: why`, or `assign: what it says`, `-` where nothing is given with it. */
function shown(verdict: IdleVerdict): string {
  return verdict.accept ? `accept: ${verdict.reason}` : `${verdict.assign?.id ?? '-'}: ${verdict.reason}`;
}

type Case = {
  readonly name: string;
  readonly tell: (story: Story) => unknown;
  readonly member?: string;
  readonly settings?: TeamSettings;
  readonly verdict: RegExp;
};

const API = { owner: 'backend-dev', files: [] };
const BUG = { test: 'sign in', expected: '200', actual: '500' };
const MAIL = { to: 'backend-dev', by: LEAD, epoch: 0, kind: 'progress', content: 'look at 7' } as const;

/** All was done, and found good. */
function passed(story: Story): Story {
  return story
    .tell('task_created')
    .claim('1', 'backend-dev')
    .complete('1', 'backend-dev')
    .tell('moved', { event: 'gate_started' })
    .tell('moved', { event: 'gate_passed' });
}

const CASES: readonly Case[] = [
  { name: 'nothing to do', tell: () => undefined, verdict: /^accept: nothing is left for it$/ },
  {
    name: 'a task that it has begun',
    tell: (story) => story.tell('task_created', API).claim('1', 'backend-dev'),
    verdict:
      /^-: You have not finished task 1 "Sign in": finish it and call TaskUpdate \{"taskId":"1","status":"completed"\}/,
  },
  {
    name: 'what holds up a task that it has begun comes first',
    tell: (story) =>
      story
        .tell('task_created', API)
        .claim('1', 'backend-dev')
        .tell('task_created', { ...API, subject: 'Settle it', holds_up: '1' }),
    verdict: /^-: task 2 "Settle it" is yours now: (?!.*task 1)/,
  },
  {
    name: 'a task that it has begun, which nobody looks at',
    tell: (story) => story.tell('task_created', API).claim('1', 'backend-dev'),
    settings: TRUSTING,
    verdict: /^accept: unfinished work is not looked at \(validate_work: false\)$/,
  },
  {
    name: 'a task of its own, which it need not be given',
    tell: (story) => story.tell('task_created', API),
    verdict:
      /^-: task 1 "Sign in" is yours now: call TaskUpdate \{"taskId":"1","status":"in_progress"\}, then do it\. It says: Takes a password$/,
  },
  {
    name: 'claimable work where unfinished work is not looked at',
    tell: (story) => story.tell('task_created', API),
    settings: TRUSTING,
    verdict: /^-: task 1 "Sign in" is yours now/,
  },
  {
    name: "nobody's task whose files are its own",
    tell: (story) => story.tell('task_created'),
    verdict: /^1: task 1 "Sign in" is yours now/,
  },
  {
    name: "nobody's task with shared and unowned files",
    tell: (story) => story.tell('task_created', { files: ['src/lib/a.ts', 'README.md'] }),
    verdict: /^1: task 1/,
  },
  {
    name: "nobody's task with a file of somebody else",
    tell: (story) => story.tell('task_created', { files: ['src/api/login.ts', 'src/pages/login.tsx'] }),
    verdict: /^accept: nothing is left/,
  },
  {
    name: 'a task of somebody else',
    tell: (story) => story.tell('task_created', { owner: 'tester', files: [] }),
    verdict: /^accept: nothing is left/,
  },
  {
    name: 'its own before an older one of nobody',
    tell: (story) => story.tell('task_created').tell('task_created', { ...API, subject: 'Sign out' }),
    verdict: /^-: task 2 "Sign out" is yours now/,
  },
  {
    name: 'of two of nobody the older one',
    tell: (story) => story.tell('task_created').tell('task_created', { subject: 'Sign out' }),
    verdict: /^1: task 1 /,
  },
  {
    name: 'tasks that wait for others only',
    tell: (story) =>
      story.tell('task_created', { owner: 'tester', files: [] }).tell('task_created', { ...API, blocked_by: ['1'] }),
    verdict: /^accept: nothing is left/,
  },
  {
    name: 'a task whose predecessor is done',
    tell: (story) =>
      story
        .tell('task_created', { owner: 'tester', files: [] })
        .tell('task_created', { ...API, blocked_by: ['1'] })
        .claim('1', 'tester')
        .complete('1', 'tester'),
    verdict: /^-: task 2 /,
  },
  {
    name: 'nothing new while it has something unfinished',
    tell: (story) => story.tell('task_created', API).tell('task_created').claim('1', 'backend-dev'),
    verdict: /^-: You have not finished task 1 [^\n]*$/,
  },
  {
    name: 'a task that its predecessor of the same name had begun',
    tell: (story) =>
      story
        .tell('task_created', { owner: null, files: ['src/pages/a.tsx'] })
        .tell('task_assigned', { task: '1', owner: 'backend-dev' })
        .claim('1', 'backend-dev')
        .tell('member_ended')
        .join('backend-dev'),
    // It has come back to the list, and is given anew.
    verdict: /^-: task 1 .* is yours now/,
  },
  {
    name: 'mail that it has not read, shown with the verdict',
    tell: (story) => story.tell('message_sent', MAIL),
    verdict: /^-: You have 1 unread message:\n#1 from team-lead, progress: look at 7\nAct on it before you stop\.$/,
  },
  {
    name: 'mail and work',
    tell: (story) => story.tell('message_sent', MAIL).tell('message_sent', MAIL).tell('task_created', API),
    verdict:
      /^-: You have 2 unread messages:\n#1 .*\n#2 .*\nAct on them before you stop\.\ntask 1 "Sign in" is yours now/,
  },
  {
    name: 'mail that it has read',
    tell: (story) => story.tell('message_sent', MAIL).tell('mail_seen', { member: 'backend-dev', seqs: [1] }),
    verdict: /^accept: nothing is left/,
  },
  {
    name: 'a shutdown that it has not read',
    tell: (story) => story.tell('task_created', API).askToEnd('backend-dev'),
    verdict: /^-: You have 1 unread message:\n#1 from team-lead, shutdown_request: done\nAct on it before you stop\.$/,
  },
  {
    name: 'a shutdown that it has read, with work left',
    tell: (story) =>
      story
        .tell('task_created', API)
        .askToEnd('backend-dev')
        .tell('mail_seen', { member: 'backend-dev', seqs: [1] }),
    verdict: /^accept: it was asked to end$/,
  },
  {
    name: 'mail behind a shutdown that it has read',
    tell: (story) =>
      story
        .askToEnd('backend-dev')
        .tell('mail_seen', { member: 'backend-dev', seqs: [1] })
        .tell('message_sent', MAIL),
    verdict: /^accept: it was asked to end$/,
  },
  {
    name: 'a task for it when what the team is for has come about',
    tell: (story) => passed(story).tell('task_created', API),
    verdict: /^accept: nothing is left for it$/,
  },
  {
    name: 'a task that it has begun when what the team is for has come about',
    tell: (story) => passed(story).tell('task_created', API).claim('2', 'backend-dev'),
    verdict: /^accept: nothing is left for it$/,
  },
  {
    name: 'mail when what the team is for has come about',
    tell: (story) => passed(story).tell('task_created', API).tell('message_sent', MAIL),
    verdict: /^-: You have 1 unread message:\n#1 .*\nAct on it before you stop\.$/,
  },
  {
    name: 'a role that only reads is given what is its own',
    tell: (story) =>
      story
        .tell('member_registered', { name: 'quality', agent: 'team-quality', read_only: true })
        .tell('member_spawned', { name: 'quality' })
        .tell('task_created', { owner: 'quality', files: [] }),
    member: 'quality',
    verdict: /^-: task 1 /,
  },
  {
    name: 'a role that only reads is not given what is nobody’s',
    tell: (story) =>
      story
        .tell('member_registered', { name: 'quality', agent: 'team-quality', read_only: true })
        .tell('member_spawned', { name: 'quality' })
        .tell('task_created', { files: [] }),
    member: 'quality',
    verdict: /^accept: nothing is left/,
  },
];

for (const { name, tell, member = 'backend-dev', settings = SETTINGS, verdict } of CASES) {
  test(`a teammate that stops: ${name}`, () => {
    const story = teamOf(['backend-dev', 'tester']);
    tell(story);
    assert.match(shown(judgeIdle(story.state, story.member(member), settings)), verdict);
  });
}

test('the fingerprint is the same as long as nothing changes, and another when something does', () => {
  const story = teamOf(['backend-dev', 'tester']);
  const print = () => {
    const verdict = judgeIdle(story.state, story.member('backend-dev'), SETTINGS);
    return verdict.accept ? '' : verdict.fingerprint;
  };
  story.tell('task_created', API).tell('task_created', API).claim('1', 'backend-dev');
  const first = print();
  story.later(60_000).tell('member_seen');
  assert.equal(print(), first);
  story.tell('message_sent', MAIL);
  const withMail = print();
  assert.notEqual(withMail, first);
  story.tell('mail_seen', { member: 'backend-dev', seqs: [1] });
  assert.equal(print(), first);
  story.complete('1', 'backend-dev').claim('2', 'backend-dev');
  assert.notEqual(print(), first);
});

test('what is claimable has its predecessors done, and fits whose files it touches', () => {
  const story = teamOf(['backend-dev'])
    .tell('task_created')
    .tell('task_created', { blocked_by: ['1'] })
    .tell('task_created', { owner: 'tester' });
  assert.deepEqual(
    claimable(story.state).map(({ id }) => id),
    ['1', '3'],
  );
  assert.equal(fitsMember(story.task('1'), 'backend-dev', SETTINGS.ownership), true);
  assert.equal(fitsMember(story.task('1'), 'tester', SETTINGS.ownership), false);
  assert.equal(fitsMember(story.task('3'), 'tester', SETTINGS.ownership), true);
  assert.equal(fitsMember(story.task('3'), 'backend-dev', SETTINGS.ownership), false);
});

/** All is done but for the word of who judges. */
function judged(story: Story): Story {
  return story
    .join('quality')
    .tell('task_created', { subject: 'Verify', owner: 'quality', files: [] })
    .claim('1', 'quality')
    .complete('1', 'quality');
}

const LEAD_CASES: readonly Omit<Case, 'member' | 'settings'>[] = [
  { name: 'nothing waits', tell: () => undefined, verdict: /^accept: nothing waits for the lead$/ },
  {
    name: 'mail',
    tell: (story) => story.tell('message_sent', { to: LEAD }),
    verdict: /^-: You have 1 unread message:\n#1 from backend-dev, progress: half done/,
  },
  {
    name: 'work for somebody at work',
    tell: (story) => story.tell('task_created', API),
    verdict: /^accept/,
  },
  {
    name: 'work for somebody who waits for it',
    tell: (story) => story.tell('member_idle').tell('task_created', API),
    verdict: /^accept/,
  },
  {
    name: 'work for somebody whose run is over',
    tell: (story) => story.tell('member_idle', { stopped: true }).tell('task_created', API),
    verdict:
      /^-: task 1 "Sign in" can begin, and nobody works on it. Start backend-dev with Task \{"subagent_type":"team-backend-dev","team_name":"tool-run-spec-auth-001","name":"backend-dev"/,
  },
  {
    name: 'a request to somebody whose run is over',
    tell: (story) =>
      story
        .tell('member_idle', { stopped: true })
        .tell('message_sent', { to: 'backend-dev', by: 'tester', kind: 'bug_report', content: BUG }),
    verdict:
      /^-: backend-dev has stopped and has not read bug_report #1 of tester. Start backend-dev with Task \{"subagent_type":"team-backend-dev"/,
  },
  {
    name: 'other mail to somebody whose run is over',
    tell: (story) => story.tell('member_idle', { stopped: true }).tell('message_sent', MAIL),
    verdict: /^accept/,
  },
  {
    name: 'a request to somebody who is there',
    tell: (story) => story.tell('message_sent', { to: 'backend-dev', by: 'tester', kind: 'bug_report', content: BUG }),
    verdict: /^accept/,
  },
  {
    name: 'work for somebody nobody has started',
    tell: (story) => story.tell('task_created', { owner: 'designer', files: [] }),
    verdict: /^-: task 1 .* Start designer with Task/,
  },
  {
    name: 'work that still waits',
    tell: (story) =>
      story.tell('task_created', API).tell('task_created', { owner: 'designer', files: [], blocked_by: ['1'] }),
    verdict: /^accept/,
  },
  {
    name: 'work that is nobody’s, and that somebody at work may claim',
    tell: (story) => story.tell('task_created', { files: ['src/api/a.ts'] }),
    verdict: /^accept/,
  },
  {
    name: 'work that is nobody’s, and that nobody at work may claim',
    tell: (story) => story.tell('task_created', { files: ['src/pages/a.tsx'] }),
    verdict:
      /^-: task 1 "Sign in" has no owner, and no teammate at work may claim it\. Give it to one: TaskUpdate \{"taskId":"1","status":"pending","owner":"backend-dev"\} \(or tester\)/,
  },
  {
    name: 'work that waits for what has failed, when nothing else goes on',
    tell: (story) =>
      story
        .tell('task_created', API)
        .tell('task_created', { owner: 'tester', files: [], blocked_by: ['1'] })
        .claim('1', 'backend-dev')
        .tell('task_updated', { task: '1', status: 'failed', result: 'No account.', by: 'backend-dev' }),
    verdict:
      /^-: Before you stop, tell the user that the work cannot continue without task 1 "Sign in" \(No account\.\)\. To try again, call TaskUpdate \{"taskId":"1","status":"pending"\}/,
  },
  {
    name: 'what has failed while others go on',
    tell: (story) =>
      story
        .tell('task_created', API)
        .tell('task_created', { owner: 'tester', files: [], blocked_by: ['1'] })
        .tell('task_created', { owner: 'tester', files: [] })
        .claim('1', 'backend-dev')
        .claim('3', 'tester')
        .tell('task_updated', { task: '1', status: 'failed', result: 'No account.', by: 'backend-dev' }),
    verdict: /^accept/,
  },
  {
    name: 'a team of which all have ended',
    tell: (story) =>
      story
        .tell('message_sent', { by: 'team-lead', epoch: 1, to: 'all', kind: 'shutdown_request', content: 'done' })
        .tell('member_ended', { name: 'backend-dev' })
        .tell('member_ended', { name: 'tester' }),
    verdict: /^-: All teammates have ended\. Call TeamDelete \{"team_name":"tool-run-spec-auth-001"\}\./,
  },
  {
    name: 'a team whose work has come about',
    tell: passed,
    verdict: /^-: The team's work is done. Call SendMessage .*TeamDelete \{"team_name":"tool-run-spec-auth-001"\}\.$/,
  },
  {
    name: 'work that is left when what the team is for has come about',
    tell: (story) => passed(story).tell('task_created', { owner: 'designer', files: [] }),
    verdict: /^-: The team's work is done. [^\n]*$/,
  },
  {
    name: 'work that is left when the team is to end',
    tell: (story) =>
      story
        .tell('task_created', { owner: 'designer', files: [] })
        .tell('message_sent', { by: 'team-lead', epoch: 1, to: 'all', kind: 'shutdown_request', content: 'done' }),
    verdict: /^accept/,
  },
  {
    name: 'a word that who judges has ended its work without',
    tell: (story) => judged(story).tell('member_idle', { name: 'quality' }),
    verdict: /^-: quality has ended its work without quality_gate_passed. Call TaskList \{\}/,
  },
  {
    name: 'a word that may still come',
    tell: judged,
    verdict: /^accept/,
  },
  {
    name: 'a word that nobody waits for any more',
    tell: (story) =>
      judged(story)
        .tell('member_idle', { name: 'quality' })
        .tell('message_sent', { by: 'team-lead', epoch: 1, to: 'all', kind: 'shutdown_request', content: 'done' }),
    verdict: /^accept/,
  },
  {
    name: 'a word that was asked for often enough',
    tell: (story) =>
      Array.from({ length: JUDGE_ROUNDS }, (_, index) => String(index + 2))
        .reduce(
          (told, id) =>
            told
              .tell('task_created', { subject: JUDGE_TASK.subject, owner: 'quality', files: [] })
              .claim(id, 'quality')
              .complete(id, 'quality'),
          judged(story),
        )
        .tell('member_idle', { name: 'quality' }),
    verdict: /^accept/,
  },
  {
    name: 'work after the team fell back to one at a time',
    tell: (story) => story.tell('task_created', { owner: 'designer', files: [] }).tell('fell_back'),
    verdict: /^accept/,
  },
];

for (const { name, tell, verdict } of LEAD_CASES) {
  test(`the lead that stops: ${name}`, () => {
    const story = teamOf(['backend-dev', 'tester']);
    tell(story);
    assert.match(shown(judgeLeadStop(story.state, SETTINGS)), verdict);
  });
}
