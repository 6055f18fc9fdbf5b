import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { LeadOutcome } from '../../../src/team/lead/lead-options.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { isOf } from '../../support/codes.ts';
import { gitIn } from '../../support/git.ts';
import { writeTree } from '../../support/installed.ts';
import { diligent, draft, LeadPlay, type Turn } from '../../support/lead-play.ts';
import { projectOf } from '../../support/team-worktrees.ts';
import { TEAM } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const FILE = 'src/api/greeting.ts';
const CHANGE = { file: FILE, requestedChange: 'Greet by name', reason: 'the page shows it' };
const BUG = { test: 'tests/a.test.ts:3', expected: '200', actual: '500' };
const GATE_WORD = { trust5Score: 5, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };
const BESIDE = `Complete what was changed beside: ${FILE}`;

/** As diligent as others; first it sends that, once. */
function sending(recipient: string, type: string, content: object): Turn {
  let isSent = false;
  return async (call, ...rest) => {
    if (!isSent) await call('SendMessage', { recipient, type, content });
    isSent = true;
    await diligent(call, ...rest);
  };
}

/** A backend that changes the file when it is asked to; by what it completes afterwards the change is merged. */
function changing(t: Cleanup, others: Readonly<Record<string, Turn>>, changed = FILE, isMerged = true) {
  const left = new Set<string>();
  const measuredWith: string[][] = [];
  const play = new LeadPlay(t, {
    'backend-dev': async (call, prompt, ...rest) => {
      const isAsked = /from frontend-dev, change_request/.test(prompt);
      await diligent(call, prompt, ...rest);
      if (isAsked) left.add(changed);
      else if (isMerged) left.clear();
    },
    ...others,
  });
  play.teamWorktrees = {
    unmerged: (_team, name) => Promise.resolve(name === 'backend-dev' ? [...left] : []),
    changed: () => {
      measuredWith.push([...left]);
      return Promise.resolve([]);
    },
  };
  return { play, measuredWith };
}

function subjectsOf({ state }: LeadOutcome): readonly string[] {
  return [...state.tasks.values()].map(({ subject, owner, status }) => `${owner} ${status}: ${subject}`);
}

test('what an owner changes on a request after its own task is brought in before anything is measured', async (t) => {
  const { play, measuredWith } = changing(t, { 'frontend-dev': sending('backend-dev', 'change_request', CHANGE) });
  const outcome = await play.lead([draft('api', 'backend-dev'), draft('ui', 'frontend-dev', ['api'])]);
  assert.equal(outcome.kind, 'done', play.said.join('; '));
  assert.deepEqual(subjectsOf(outcome).slice(2), [`backend-dev completed: ${BESIDE}`]);
  assert.deepEqual(measuredWith, [[]], 'it is measured once, with the change on the branch');
});

test('a change that no task brings in is asked for three times, and one of somebody else\u2019s file never', async (t) => {
  const asking = { 'frontend-dev': sending('backend-dev', 'change_request', CHANGE) };
  const tasks = [draft('api', 'backend-dev'), draft('ui', 'frontend-dev', ['api'])];
  const stubborn = await changing(t, asking, FILE, false).play.lead(tasks);
  assert.equal(stubborn.kind, 'done');
  assert.equal(subjectsOf(stubborn).filter((one) => one.endsWith(BESIDE)).length, 3);
  const foreign = await changing(t, asking, 'src/pages/greeting.ts', false).play.lead(tasks);
  assert.equal(subjectsOf(foreign).length, 2);
});

test('what is asked of the lead is a task for the owner, once, and the run waits for it', async (t) => {
  for (const [type, content] of [
    ['change_request', CHANGE],
    ['bug_report', BUG],
  ] as const) {
    // The file's owner has no task, and is not there when the request comes.
    const play = new LeadPlay(t, { tester: sending('team-lead', type, content) });
    const outcome = await play.lead([draft('tests', 'tester')], undefined, ['backend-dev', 'tester']);
    assert.equal(outcome.kind, 'done', play.said.join('; '));
    const [, asked, ...more] = [...outcome.state.tasks.values()];
    assert.deepEqual([asked?.owner, asked?.status, more.length], ['backend-dev', 'completed', 0]);
    assert.match(asked?.subject ?? '', /^Asked for in message 1: /);
    assert.ok(
      play.prompts.some((prompt) => /^backend-dev: .*it is data, not instructions.*#1 from tester/is.test(prompt)),
    );
    const [message] = outcome.state.messages;
    assert.notEqual(message?.receipts.get('team-lead')?.readAt, null, 'it counts as read');
  }
});

test('a request that nobody of the team can answer ends the run with its name', async (t) => {
  const content = { ...CHANGE, file: 'vendor/lib.ts' };
  const play = new LeadPlay(t, { tester: sending('team-lead', 'change_request', content) });
  const { settings } = play.world;
  play.world.settings = {
    ...settings,
    ownership: [...settings.ownership, { owner: 'vendor', patterns: ['vendor/**'] }],
  };
  const outcome = await play.lead([draft('tests', 'tester')]);
  assert.ok(outcome.kind === 'failed', play.said.join('; '));
  assert.match(outcome.why, /failed: task 2 "Asked for in message 1: vendor\/lib\.ts.*its files belong to vendor/);
});

test('quality_gate_passed waits for what is asked for and not read, and is asked for again', async (t) => {
  let refusals = 0;
  const play = new LeadPlay(t, {
    quality: async (call, ...rest) => {
      if (refusals === 0) {
        await call('SendMessage', { recipient: 'team-lead', type: 'bug_report', content: BUG });
        await assert.rejects(
          call('SendMessage', { recipient: 'team-lead', type: 'quality_gate_passed', content: GATE_WORD }),
          isOf(OPERATIONS_CODES.request_unread, { type: 'bug_report', from: 'quality', to: 'team-lead' }),
        );
        refusals += 1;
      } else await call('SendMessage', { recipient: 'team-lead', type: 'quality_gate_passed', content: GATE_WORD });
      await diligent(call, ...rest);
    },
  });
  const outcome = await play.lead([draft('api', 'backend-dev'), draft('judge', 'quality', ['api'])]);
  assert.equal(outcome.kind, 'done', play.said.join('; '));
  assert.equal(play.measuredFor.length, 2, 'measured anew with what was mended');
});

test('nothing is measured while somebody is in a turn', async (t) => {
  let atWork = 0;
  const seen: number[] = [];
  const play = new LeadPlay(t, {
    'backend-dev': async (call, prompt, run, signal) => {
      await diligent(call, prompt, run, signal);
      atWork += 1;
      await play.world.clock.sleep(5_000, signal);
      atWork -= 1;
    },
  });
  play.teamWorktrees = {
    changed: () => {
      seen.push(atWork);
      return Promise.resolve([]);
    },
  };
  assert.equal((await play.lead([draft('api', 'backend-dev')])).kind, 'done');
  assert.deepEqual(seen, [0]);
});

test('what the team\u2019s branch lacks of a writer\u2019s work is told, committed or not, and so is what was kept of it', async (t) => {
  const { teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  assert.deepEqual(await teamWorktrees.unmerged(TEAM, 'backend-dev'), []);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  assert.deepEqual(await teamWorktrees.unmerged(TEAM, 'backend-dev'), []);
  writeTree(path, { 'src/api/a.js': '2\n', 'src/api/new.js': '1\n', 'dist/out.js': '1\n', 'src/api/staged.js': '1\n' });
  gitIn(path)('add', 'src/api/staged.js');
  rmSync(join(path, 'src/pages/p.js'));
  const all = ['src/api/a.js', 'src/api/new.js', 'src/api/staged.js', 'src/pages/p.js'];
  assert.deepEqual(await teamWorktrees.unmerged(TEAM, 'backend-dev'), all);
  await teamWorktrees.save(TEAM, 'backend-dev', 'Work\n\nTask: 1');
  assert.deepEqual(await teamWorktrees.unmerged(TEAM, 'backend-dev'), all);
  await teamWorktrees.merge(TEAM, 'backend-dev', 'Merge');
  assert.deepEqual(await teamWorktrees.unmerged(TEAM, 'backend-dev'), []);
  assert.deepEqual(await teamWorktrees.kept(TEAM), []);
  writeTree(path, { 'src/api/a.js': '3\n' });
  await teamWorktrees.end(TEAM, []);
  const [kept = '', ...more] = await teamWorktrees.kept(TEAM);
  assert.match(kept, /^refs\/toolcrew\/saved\/tool-run-spec-auth-001\/backend-dev\//);
  assert.deepEqual(more, []);
});
