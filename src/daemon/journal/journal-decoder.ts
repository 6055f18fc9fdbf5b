// Decodes what stands in the daemon's journal back into records.

import * as z from 'zod';
import { EFFECTS } from '../rules/effect-names.ts';
import { type FinishedIssue, NO_FINISHED_ISSUES, withFinishedIssue } from '../rules/finished-issues.ts';
import { PERSON_CAUSES } from '../rules/follow-people.ts';
import type { JournalRecord } from '../rules/record.ts';
import { ATTEMPT_OUTCOMES, ISSUE_OUTCOMES, STEERS } from '../rules/record.ts';
import { type FrozenState, thawState } from '../rules/snapshot.ts';
import { type DaemonState, PHASES } from '../rules/state.ts';
import { evidenceSchema } from '../runners/evidence-decoder.ts';
import { teamSummary } from '../runners/team-summary-decoder.ts';
import { addPages } from './journal-loading.ts';

const issue = z.number().int().positive();
const count = z.number().nonnegative();
const usage = z.object({ input_tokens: count, output_tokens: count, cost_usd: count, turns: count, seconds: count });
const pullRequest = z.object({ number: issue, url: z.string() });
const touched = z.array(z.object({ glob: z.string(), path: z.string() }));
const openPull = z.object({ ...pullRequest.shape, issue, branch: z.string(), head: z.string(), touched });
const effect = { issue, effect: z.enum(EFFECTS), key: z.string() };

const ownFile = z.object({ commit: z.string(), sets: z.array(z.string()) });

const finding = z.object({
  file: z.string().nullable(),
  line: z.number().nullable(),
  severity: z.string().nullable(),
  text: z.string(),
});

const record = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('claimed'),
    issue,
    title: z.string(),
    url: z.string(),
    life: z.number().int().positive(),
    branch: z.string(),
    state_labels: z.array(z.string()),
    label_event: z.number().nullable(),
  }),
  z.object({
    type: z.literal('attempt_started'),
    issue,
    attempt: z.number().int().positive(),
    run: z.string(),
    runtime: z.string(),
    workspace: z.string(),
    version: z.string().optional(),
    own_file: ownFile.optional(),
  }),
  z.object({ type: z.literal('effect_started'), ...effect }),
  z.object({
    type: z.literal('effect_finished'),
    ...effect,
    result: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  }),
  z.object({ type: z.literal('effect_failed'), ...effect, error: z.string() }),
  z.object({ type: z.literal('session'), issue, session_id: z.string().nullable() }),
  z.object({ type: z.literal('usage'), issue, usage }),
  z.object({ type: z.literal('asked_pull_request'), issue, title: z.string(), body: z.string() }),
  z.object({ type: z.literal('asked_done'), issue }),
  z.object({ type: z.literal('asked_question'), issue, text: z.string(), label: z.string() }),
  z.object({ type: z.literal('unanswered'), issue, reason: z.string() }),
  z.object({
    type: z.literal('messages'),
    issue,
    messages: z.array(z.object({ author: z.string().nullable(), text: z.string() })),
    heard: z.number().nullable(),
  }),
  z.object({ type: z.literal('delivered'), issue, keys: z.array(z.string()) }),
  z.object({
    type: z.literal('attempt_ended'),
    issue,
    outcome: z.enum(ATTEMPT_OUTCOMES),
    reason: z.string(),
    usage,
    head: z.string().nullable(),
    next: z.enum(['publish', 'retry', 'give_up', 'stop', 'ask']),
    retry_at: z.number().nullable(),
    quota_until: z.number().optional(),
    paused: z.literal(true).optional(),
    team: teamSummary.optional(),
  }),
  z.object({
    type: z.literal('publish_failed'),
    issue,
    reason: z.string(),
    next: z.enum(['again', 'retry', 'give_up']),
    retry_at: z.number().nullable(),
    lost: z.literal(true).optional(),
  }),
  z.object({ type: z.literal('measured'), issue, evidence: evidenceSchema }),
  z.object({
    type: z.literal('reviewed'),
    issue,
    agent: z.string(),
    commit: z.string(),
    findings: z.array(finding),
    reason: z.string().nullable(),
    usage,
    next: z.enum(['again', 'author', 'publish']),
    retry_at: z.number().nullable(),
    failed: z.literal(true).optional(),
  }),
  z.object({ type: z.literal('sent_back'), issue, reason: z.string(), next: z.enum(['retry', 'give_up']) }),
  z.object({ type: z.literal('touched'), issue, sha: z.string(), touched }),
  z.object({ type: z.literal('released'), issue, touched }),
  z.object({
    type: z.literal('base_conflict'),
    issue,
    reason: z.string(),
    told: z.string(),
    next: z.enum(['retry', 'give_up']),
  }),
  z.object({ type: z.literal('surveyed'), issue, globs: z.array(z.string()), pulls: z.array(openPull) }),
  z.object({ type: z.literal('pull_request_over'), issue, pull_request: issue, state: z.enum(['merged', 'closed']) }),
  z.object({ type: z.literal('following'), issue, updated_at: z.string() }),
  z.object({
    type: z.literal('continued'),
    issue,
    reason: z.string(),
    told: z.string(),
    handled: z.array(z.string()),
    failure: z.string().nullable(),
    reviewers: z.array(z.string()),
  }),
  z.object({ type: z.literal('others_pushed'), issue, commit: z.string(), joins: z.boolean() }),
  z.object({ type: z.literal('base_wanted'), issue, commit: z.string() }),
  z.object({
    type: z.literal('awaits_person'),
    issue,
    cause: z.enum(PERSON_CAUSES),
    reason: z.string().nullable(),
  }),
  z.object({ type: z.literal('follow_stopped'), issue, reason: z.string() }),
  z.object({ type: z.literal('saved'), issue, lines: z.array(z.string()) }),
  z.object({
    type: z.literal('finished'),
    issue,
    outcome: z.enum(ISSUE_OUTCOMES),
    updated_at: z.string(),
    mergeable: z.literal(true).optional(),
  }),
  z.object({ type: z.literal('steered'), issue, steer: z.enum(STEERS) }),
  z.object({ type: z.literal('snapshot'), state: z.unknown() }),
]);

const outcome = z.enum(ISSUE_OUTCOMES);

type FrozenPast = FrozenState['past'];

/** There may be tens of thousands of these: they are looked at where they stand, not copied one by one. */
function isFrozenPast(value: unknown): value is FrozenPast {
  return (
    Array.isArray(value) &&
    value.every((row: unknown) => {
      if (!Array.isArray(row) || row.length !== 5) return false;
      const [number, life, labelEvent, updatedAt, how]: unknown[] = row;
      return (
        isWhole(number) &&
        number > 0 &&
        isWhole(life) &&
        (labelEvent === null || typeof labelEvent === 'number') &&
        typeof updatedAt === 'string' &&
        ISSUE_OUTCOMES.some((known) => known === how)
      );
    })
  );
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isCleanups(value: unknown): value is FrozenState['cleanups'] {
  return (
    Array.isArray(value) &&
    value.every(
      (row: unknown) =>
        Array.isArray(row) &&
        row.length >= 2 &&
        row.length <= 4 &&
        (row.length === 2 || typeof row[2] === 'string') &&
        (row.length < 4 || isTexts(row[3])) &&
        isWhole(row[0]) &&
        typeof row[1] === 'string',
    )
  );
}

/** Earlier programs knew of none. */
const team = teamSummary.nullable().default(null);

const follow = z.object({
  since: z.number(),
  updatedAt: z.string(),
  rounds: z.number().int(),
  handled: z.array(z.string()),
  failure: z.string().nullable(),
  told: z.string().nullable(),
  reviewers: z.array(z.string()),
  stopped: z.string().nullable(),
  /** Earlier programs took nothing in of others. */
  others: z.array(z.string()).default([]),
  tip: z.string().nullable().default(null),
  updatedFrom: z.string().nullable().default(null),
  noticed: z.enum(PERSON_CAUSES).nullable().default(null),
});

const serial = z.object({
  sha: z.string(),
  touched,
  goesFirst: z.boolean(),
  isHurried: z.boolean(),
  isBehind: z.boolean(),
  rounds: z.number().int(),
  told: z.string().nullable(),
  since: z.number(),
});

const review = z.object({
  agent: z.string(),
  commit: z.string(),
  failures: z.number().int(),
  stage: z.enum(['open', 'sent', 'heard', 'over']),
  findings: z.array(finding),
  reason: z.string().nullable(),
  answer: z.object({ ok: z.boolean(), text: z.string() }).nullable(),
});

const question = z.object({
  attempt: z.number().int(),
  text: z.string(),
  label: z.string(),
  at: z.number(),
  isOpen: z.boolean(),
});

const message = z.object({
  key: z.string(),
  author: z.string().nullable(),
  text: z.string(),
  question: z.string().nullable(),
});

const storedEntry = z.object({
  number: issue,
  title: z.string(),
  url: z.string(),
  life: z.number().int(),
  branch: z.string(),
  stateLabels: z.array(z.string()),
  labelEvent: z.number().nullable(),
  claimedAt: z.number(),
  phase: z.enum(PHASES),
  attempt: z.number().int(),
  failures: z.number().int(),
  interruptions: z.number().int(),
  outages: z.number().int(),
  run: z
    .object({ id: z.string(), attempt: z.number().int(), startedAt: z.number(), pid: z.number().nullable() })
    .nullable(),
  runtime: z.string().nullable(),
  workspace: z.string().nullable(),
  sessionId: z.string().nullable(),
  retryAt: z.number().nullable(),
  lastError: z.string().nullable(),
  /** Earlier programs wrote none. */
  stepError: z.string().nullable().default(null),
  handedIn: z.number().int().optional(),
  sentBack: z.string().nullable().default(null),
  askedPullRequest: z.object({ title: z.string(), body: z.string() }).nullable(),
  askedDone: z.boolean(),
  /** Earlier programs kept none. */
  claim: z.string().nullable().default(null),
  /** Earlier programs asked nothing and passed no comments on. */
  question: question.nullable().default(null),
  version: z.string().default(''),
  heard: z.number().default(0),
  head: z.string().nullable(),
  /** Earlier programs measured nothing. */
  evidence: evidenceSchema.nullable().default(null),
  rounds: z.number().int().default(0),
  /** Earlier programs serialized nothing. */
  serial: serial.nullable().default(null),
  /** Earlier programs reviewed nothing. */
  review: review.nullable().default(null),
  pullRequest: pullRequest.nullable(),
  /** Earlier programs followed nothing. */
  follow: follow.nullable().default(null),
  pushed: z.array(z.string()),
  effects: z.record(z.string(), z.enum(['started', 'finished'])),
  spent: usage,
  running: usage,
  team,
  finished: z.object({ outcome, updatedAt: z.string(), at: z.number() }).nullable(),
});

/** Earlier programs counted no rounds: what they pushed was handed in once. */
const entry = storedEntry.transform(({ handedIn, ...kept }) => ({
  ...kept,
  handedIn: handedIn ?? (kept.pushed.length > 0 || kept.pullRequest !== null ? 1 : 0),
}));

const state = z.object({
  entries: z.array(entry),
  /** Earlier programs took none. */
  orders: z.array(z.tuple([issue, z.enum(['pause', 'cancel'])])).default([]),
  messages: z.array(z.tuple([issue, z.array(message)])).default([]),
  open: z.array(openPull).default([]),
  surveyed: z.array(z.string()).default([]),
  past: z.custom<FrozenPast>(isFrozenPast),
  cleanups: z.custom<FrozenState['cleanups']>(isCleanups),
  completed: z.array(
    z.object({
      number: issue,
      title: z.string(),
      url: z.string(),
      life: z.number().int(),
      outcome,
      attempts: z.number().int(),
      branch: z.string(),
      pullRequest: pullRequest.nullable(),
      reason: z.string().nullable(),
      startedAt: z.number(),
      finishedAt: z.number(),
      spent: usage,
      team,
    }),
  ),
  counts: z.object({ done: count, failed: count, label_removed: count, closed: count }),
  totals: usage,
  today: z.object({ day: z.string(), cost_usd: count }),
});

/** undefined when the value is no record of the journal. */
export function decodeRecord(value: unknown): JournalRecord | undefined {
  const decoded = record.safeParse(value);
  return decoded.success ? decoded.data : undefined;
}

/** undefined when the value is no state that `freezeState` made. */
export function decodeState(value: unknown): DaemonState | undefined {
  const decoded = state.safeParse(value);
  if (!decoded.success) return undefined;
  const pages = new Map<number, Map<number, FinishedIssue>>();
  for (const [number, life, labelEvent, updatedAt, outcome] of decoded.data.past)
    addPages(pages, withFinishedIssue(NO_FINISHED_ISSUES, number, { life, labelEvent, updatedAt, outcome }));
  return thawState(pages, decoded.data);
}
