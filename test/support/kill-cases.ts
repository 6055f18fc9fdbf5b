// Ways of issues on which each effect of the daemon happens, and one issue that goes its way while the daemon is killed.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Effect } from '../../src/daemon/rules/effect-names.ts';
import type { Daemon } from './daemon.ts';
import { BASE, commitFiles, fields, gitAs, type TestForge } from './forge.ts';
import type { KilledPlace } from './killed-places.ts';

export type Scenario = {
  /** Beginnings of the keys under which the effect happens on this way. */
  readonly keys: readonly string[];
  readonly ends: 'tool-done' | 'tool-failed';
  /** The agent leaves a repository of its own in the workspace: it is kept, and a comment names it. */
  readonly nests?: boolean;
  /** The pull request gets a review that asks for changes, and is closed after the round. */
  readonly isReviewed?: boolean;
  /** A second agent reviews the work, and has a finding. */
  readonly isRead?: boolean;
  /** The first agent asks a question, and the maintainer answers it. */
  readonly isAsked?: boolean;
  /** The agent comments on its issue. */
  readonly comments?: boolean;
  /** Another pull request of the daemon touches the same path; it is merged while the work waits for it. */
  readonly isSerialized?: boolean;
  /** The repository's own WORKFLOW.md has hooks, and the operator allows them. */
  readonly hasOwnHooks?: boolean;
  /** How the agent of the first attempt waits, where it is killed at work. */
  readonly waits?: string;
  /** Nothing follows it on this way, or what follows is done by somebody else. */
  readonly isLast?: boolean;
};

/** The way on which each effect happens. An effect without one does not compile. */
export const SCENARIOS = {
  workspace: { keys: ['workspace:'], ends: 'tool-done' },
  hook: { keys: ['after_create:', 'before_run:', 'after_run:', 'before_remove'], ends: 'tool-done' },
  // What it has come to is read by the one that comes after.
  agent: { keys: ['agent:'], ends: 'tool-done', isLast: true },
  gate: { keys: ['gate:'], ends: 'tool-done' },
  take_base: { keys: ['take_base:'], ends: 'tool-done', isSerialized: true },
  review: { keys: ['review:'], ends: 'tool-done', isRead: true, isLast: true },
  push: { keys: ['push:'], ends: 'tool-done' },
  pull_request: { keys: ['pull_request:'], ends: 'tool-done' },
  evidence: { keys: ['evidence:'], ends: 'tool-done' },
  review_request: { keys: ['review_request:'], ends: 'tool-done', isReviewed: true },
  reply: { keys: ['reply:'], ends: 'tool-done', isReviewed: true },
  comment: { keys: [''], ends: 'tool-failed', isLast: true },
  label_add: { keys: ['label_add:tool-done'], ends: 'tool-done' },
  label_remove: { keys: ['label_remove:tool-todo'], ends: 'tool-done', isLast: true },
  workspace_remove: { keys: ['workspace_remove'], ends: 'tool-done', isLast: true },
} as const satisfies Record<Effect, Scenario>;

export const MOMENTS = ['announced', 'performed', 'recorded'] as const;
export type Moment = (typeof MOMENTS)[number];

/** Effects that also happen on another way. */
export const MORE: readonly [Effect, Scenario][] = [
  ['comment', { keys: ['saved'], ends: 'tool-done', nests: true, isLast: true }],
  ['workspace_remove', { keys: ['workspace_remove'], ends: 'tool-done', nests: true }],
  [
    'hook',
    {
      keys: ['after_create', 'before_run', 'after_run', 'before_remove'].map((name) => `repository_${name}`),
      ends: 'tool-done',
      hasOwnHooks: true,
    },
  ],
  ['comment', { keys: ['comment:question'], ends: 'tool-done', isAsked: true }],
  ['label_add', { keys: ['label_add:tool-question'], ends: 'tool-done', isAsked: true }],
  ['label_remove', { keys: ['label_remove:tool-question'], ends: 'tool-done', isAsked: true }],
];

export const OWN_HOOKS = {
  'WORKFLOW.md':
    '---\nhooks: { after_create: "true", before_run: "true", after_run: "true", before_remove: "true" }\n---\n',
};

const NESTS = 'git init -q app; (cd app; echo kept > kept.txt; git add -A; git commit -qm "Nested")';

/** Those that the daemon opened for one issue. */
async function pullsOf(forge: TestForge, issue: number) {
  return (await forge.pulls()).filter(({ head }) => `${head}-`.startsWith(`tool/issue-${issue}-`));
}

/** Asks for changes as the maintainer once the pull request is there and its issue is done. */
async function askForChanges(forge: TestForge, issue: number): Promise<void> {
  for (;;) {
    const labels = await forge.labelsOf(issue);
    assert.ok(!labels.includes('tool-failed'));
    const [pull] = labels.includes('tool-done') ? await pullsOf(forge, issue) : [];
    if (pull !== undefined) {
      const review = {
        event: 'REQUEST_CHANGES',
        body: 'Words',
        comments: [{ path: 'work.txt', line: 1, body: 'Why?' }],
      };
      const answer = await forge.forge.call('maintainer', 'POST', `${BASE}/pulls/${pull.number}/reviews`, review);
      assert.equal(answer.status, 200);
      return;
    }
    await setTimeout(50);
  }
}

/** Answers as the maintainer once the question stands on the issue with its label. */
async function answer(forge: TestForge, issue: number): Promise<void> {
  while (!(await forge.labelsOf(issue)).includes('tool-question')) await setTimeout(50);
  const answered = await forge.forge.call('maintainer', 'POST', `${BASE}/issues/${issue}/comments`, { body: 'Red.' });
  assert.equal(answered.status, 201);
}

const EARLIER = 'tool/issue-900';

/** A pull request that a daemon opened which is gone. */
async function openEarlier(forge: TestForge): Promise<number> {
  await gitAs(forge.work, 'checkout', '--quiet', '-b', EARLIER);
  await commitFiles(forge.work, { 'serial/1.txt': 'one\n' }, 'The first');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, EARLIER);
  const pull = { head: EARLIER, base: 'main', title: 'The first', body: '' };
  const { status, data } = await forge.forge.call('toolcrew-bot', 'POST', `${BASE}/pulls`, pull);
  assert.equal(status, 201);
  return Number(fields(data).number);
}

/** Merges it once the work waits for it. */
async function mergeEarlier(forge: TestForge, daemon: Daemon, pull: number): Promise<void> {
  await daemon.until('the work waits', async () => {
    const [row] = (await daemon.state()).queued;
    return row?.reason.toLowerCase().includes(`pull request #${pull} `) === true;
  });
  const { status } = await forge.forge.call('maintainer', 'PUT', `${BASE}/pulls/${pull}/merge`, {});
  assert.equal(status, 200);
}

async function closePull(forge: TestForge, issue: number): Promise<void> {
  const [pull] = await pullsOf(forge, issue);
  const { status } = await forge.forge.call('maintainer', 'PATCH', `${BASE}/pulls/${pull?.number}`, {
    state: 'closed',
  });
  assert.equal(status, 200);
}

/** Answers in the thread that the prompt names. */
const ANSWERS = [
  "thread=$(sed -n 's/^### Review thread \\([0-9]*\\) .*/\\1/p')",
  'if [ -n "$thread" ]; then tool pr reply $thread --body "Because."; fi',
].join('\n');

/** The reviewer finds something; the author takes note that it was told of it. */
function readsInto(reviews: string): string {
  return [
    `if [ -n "$TOOL_REVIEW" ]; then echo reviewed >> ${reviews}; echo '{"findings":["Too short"]}'; exit 0; fi`,
    `if grep -q 'Too short'; then echo told >> ${reviews}; fi`,
  ].join('\n');
}

export function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

async function assertAnsweredOnce(forge: TestForge, issue: number): Promise<void> {
  const [pull] = await pullsOf(forge, issue);
  const { data } = await forge.forge.call('maintainer', 'GET', `${BASE}/pulls/${pull?.number}/comments`);
  assert.equal(JSON.stringify(data).match(/Because\./g)?.length, 1);
}

/** The one comment names refs, all of them there, and one of them has what the agent left. */
async function assertKept(stateDir: string, comments: readonly string[]): Promise<void> {
  const repository = join(stateDir, 'repo.git');
  const refs = comments.join('\n').match(/refs\/toolcrew\/saved\/[\w./-]+/g) ?? [];
  const files = await Promise.all(refs.map((ref) => gitAs(repository, 'ls-tree', '-r', '--name-only', ref)));
  assert.ok(files.includes('kept.txt\n'), comments.join('\n'));
}

export type Case = Scenario & { readonly effect: Effect; readonly key: string; readonly moment: Moment };

const isMeasured = ({ effect }: Case) => effect === 'gate' || effect === 'evidence';

/** Settings of the daemon on the way of a case. */
export function settingsOf(one: Case): string {
  const attempts = one.ends === 'tool-failed' ? 1 : 3;
  return [
    `agent: { max_attempts: ${attempts}, max_retry_backoff_ms: 100, serialize_paths: ${one.isSerialized ? '[serial/**]' : '[]'} }`,
    `hooks: { after_run: "true", before_remove: "true", from_repository: ${one.hasOwnHooks ?? false} }`,
    ...(one.isRead ? ['review: { agent: team-quality }'] : []),
    `gate: { mode: ${isMeasured(one) ? 'report' : 'off'} }`,
    `follow: { until: ${one.isReviewed ? 'approved' : 'open'} }`,
  ].join('\n');
}

/** Cases that have a repository and a state in common, each with an issue of its own. What is merged would be there for the next. */
export function placeOf(one: Case): string {
  return `${settingsOf(one)}${one.isSerialized ? one.moment : ''}`;
}

/** What the agent of a case does. The first leaves a process in a session of its own, and would go on for long when the daemon dies. */
function scriptOf(one: Case, attempts: string, reviews: string): string {
  return [
    ...(one.isRead ? [readsInto(reviews)] : []),
    `echo "$TOOL_ATTEMPT" >> ${attempts}`,
    ...(one.effect === 'agent'
      ? [`if [ "$TOOL_ATTEMPT" = 1 ]; then ${one.waits ?? 'setsid sleep 600 & sleep 600'}; fi`]
      : []),
    ...(one.nests ? [NESTS] : []),
    ...(one.isSerialized ? ['mkdir serial; echo two > serial/2.txt; git add serial'] : []),
    ...(one.isReviewed ? [ANSWERS] : []),
    ...(one.isAsked ? ['if [ "$TOOL_ATTEMPT" = 1 ]; then tool issue ask "Which one?"; exit 0; fi'] : []),
    ...(one.comments ? ['tool issue comment --body "On it."'] : []),
    one.ends === 'tool-failed' ? 'exit 1' : 'echo done >> work.txt; git add work.txt; git commit -qm "Do it"',
  ].join('\n');
}

export async function assertOneEnd(one: Case, place: KilledPlace, issue: number): Promise<void> {
  const { forge, daemon } = place;
  assert.deepEqual(await forge.labelsOf(issue), [one.ends]);
  const pulls = await pullsOf(forge, issue);
  assert.deepEqual(
    pulls.map(({ head }) => head),
    one.ends === 'tool-done' ? [`tool/issue-${issue}`] : [],
  );
  const shown = pulls.flatMap(({ body }) => body.match(/^### Checks$/gm) ?? []);
  assert.equal(shown.length, isMeasured(one) ? 1 : 0);
  const comments = await forge.comments(issue);
  if (one.isReviewed) await assertAnsweredOnce(forge, issue);
  // With a question, its comment and the answer.
  assert.equal(comments.length, one.isAsked ? 2 : one.ends === 'tool-failed' || one.nests || one.comments ? 1 : 0);
  if (one.isSerialized) {
    const files = await gitAs(forge.bare, 'ls-tree', '-r', '--name-only', `tool/issue-${issue}`);
    assert.match(files, /serial\/1\.txt\nserial\/2\.txt\n/);
  }
  if (one.nests) await assertKept(daemon.stateDir, comments);
  const ran = linesOf(place.path(issue, 'attempts'));
  assert.deepEqual(ran, [...new Set(ran)], 'no agent runs twice for one attempt');
  // What was reviewed is not reviewed again, and the author gets the finding in one attempt.
  assert.deepEqual(linesOf(place.path(issue, 'reviews')), one.isRead ? ['reviewed', 'told'] : []);
}

/** Has an issue go its way; the daemon is killed under it, and `next` starts another one. */
export async function goThrough(one: Case, place: KilledPlace, next: (issue: number) => void): Promise<number> {
  const { effect, key, moment, ends, isAsked = false } = one;
  const { forge, daemon } = place;
  const issue = await forge.open('Do it', { label: null });
  const earlier = one.isSerialized ? await openEarlier(forge) : 0;
  writeFileSync(place.path(issue, 'sh'), scriptOf(one, place.path(issue, 'attempts'), place.path(issue, 'reviews')));
  place.killAt(`${effect} ${key} ${moment} ${issue}`);
  await forge.label(issue, 'tool-todo');
  if (one.isReviewed) await askForChanges(forge, issue);
  if (one.isSerialized) await mergeEarlier(forge, daemon, earlier);
  const isAnsweredFirst = effect === 'label_remove';
  if (isAsked && isAnsweredFirst) await answer(forge, issue);
  assert.equal(await daemon.exit(), 'SIGKILL', daemon.log);

  next(issue);
  if (isAsked && !isAnsweredFirst) await answer(forge, issue);
  if (one.isReviewed) {
    const rounds = async () =>
      (await daemon.state()).following.find(({ issue_number: number }) => number === issue)?.rounds;
    await daemon.until('the round is over', async () => (await rounds()) === 1);
    await closePull(forge, issue);
  }
  await daemon.until('the issue is over and nothing is left to remove or tell', async () => {
    const { completed } = await daemon.state();
    const row = completed.find(({ issue_number: number }) => number === issue);
    const over = row?.outcome === (ends === 'tool-done' ? 'done' : 'failed');
    // The workspace goes before the comment that names what was saved of it.
    const isTold = !one.nests || (await forge.comments(issue)).length > 0;
    return over && isTold && (ends === 'tool-failed' || !existsSync(join(daemon.root, `issue-${issue}`)));
  });
  return issue;
}
