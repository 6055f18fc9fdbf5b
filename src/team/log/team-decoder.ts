// Decodes what stands in a team's log back into records. By hand: hooks read logs, and have no time to load a library.

import { isObject } from '../../base/rules/values.ts';
import { DIMENSIONS, OUTCOMES } from '../../gate/rules/quality.ts';
import type { TeamRecord, TeamRecordType } from '../rules/log/record.ts';
import { MOVED_EVENTS } from '../rules/log/session.ts';
import { MESSAGES } from '../rules/message.ts';
import { TASK_STATUSES } from '../rules/task.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const number: Check = (value) => typeof value === 'number';
const whole: Check = (value) => Number.isSafeInteger(value);
const any: Check = (value) => value !== undefined;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const orMissing =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const list =
  (check: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return false;
    for (const item of value) if (!check(item)) return false;
    return true;
  };
const oneOf = (...words: readonly string[]): Check => {
  const known: ReadonlySet<unknown> = new Set(words);
  return (value) => known.has(value);
};

type Fields<T> = { readonly [Key in Exclude<keyof T, 'type'>]-?: Check };

const shape = (fields: Readonly<Record<string, Check>>): Check => {
  const keys = Object.keys(fields);
  const checks = Object.values(fields);
  // A loop of its own: this runs for each record of a log, in each process that reads it.
  return (value) => {
    if (!isObject(value)) return false;
    for (let index = 0; index < keys.length; index++) if (!checks[index]?.(value[keys[index] ?? ''])) return false;
    return true;
  };
};

const phase = oneOf('plan', 'run', 'debug');
const purpose = { phase, pattern: orNull(text), roles: list(text), subject: text };
const author = { by: text, epoch: whole };
const draft = shape({
  key: text,
  subject: text,
  description: text,
  owner: text,
  files: list(text),
  blockedBy: list(text),
  early: orMissing(flag),
});
const outcome = oneOf(...OUTCOMES);
const failure = shape({
  command: text,
  how: oneOf('ended', 'timed_out'),
  names: orNull(list(text)),
  count: orNull(whole),
  reason: text,
  details: list(text),
});
const check = shape({
  check: oneOf('tests', 'coverage', 'lint', 'security', 'performance'),
  outcome,
  reason: text,
  details: list(text),
  command: orNull(text),
  figure: orNull(text),
  failures: orMissing(list(failure)),
});
const trust5 = shape({
  dimensions: list(
    shape({
      dimension: oneOf(...DIMENSIONS),
      state: outcome,
      score: orNull(number),
      figures: list(text),
      source: text,
    }),
  ),
  score: orNull(number),
  ok: flag,
  securityIssues: orNull(whole),
});

const holder = oneOf('kernel', 'seatbelt', 'reader');

const RECORDS: { readonly [T in TeamRecordType]: Fields<Extract<TeamRecord, { type: T }>> } = {
  proposed: {
    ...purpose,
    reasons: list(text),
    drafts: list(draft),
    alone: orMissing(text),
    forced: orMissing(flag),
    words_hash: orMissing(text),
  },
  created: {
    ...purpose,
    team: text,
    session: orNull(text),
    key_hash: orNull(text),
    approval: flag,
    base: orNull(text),
    commit: orMissing(text),
    host: orMissing(text),
    writes_held_by: orMissing(holder),
    tasks: orMissing(list(draft)),
  },
  task_created: {
    subject: text,
    description: text,
    owner: orNull(text),
    files: list(text),
    blocked_by: list(text),
    early: orMissing(flag),
    holds_up: orMissing(text),
    by: text,
  },
  task_updated: {
    ...author,
    task: text,
    status: oneOf(...TASK_STATUSES),
    result: orNull(text),
    owner: orMissing(text),
    changed_nothing: orMissing(flag),
  },
  task_assigned: { task: text, owner: text, by: text },
  member_registered: { name: text, agent: text, read_only: flag, model: text, prompt: text, max: whole },
  member_spawned: { name: text, epoch: whole, key_hash: orNull(text), pid: orNull(whole) },
  member_bound: { name: text, epoch: whole, agent_id: text },
  member_seen: { name: text, epoch: whole },
  member_used: {
    name: text,
    epoch: whole,
    task: orNull(text),
    cost_usd: number,
    input_tokens: whole,
    output_tokens: whole,
    turns: whole,
  },
  member_idle: { name: text, epoch: whole, stopped: flag, left: orMissing(list(text)) },
  member_ended: {
    name: text,
    epoch: whole,
    how: oneOf('confirmed', 'lease', 'forced', 'replaced', 'not_started'),
    reason: text,
  },
  message_sent: {
    ...author,
    to: text,
    kind: oneOf(...Object.keys(MESSAGES)),
    content: (value) => typeof value === 'string' || isObject(value),
    in_reply_to: orNull(whole),
  },
  mail_seen: { member: text, seqs: list(whole), how: oneOf('delivered', 'read') },
  lease_taken: { ...author, path: text, until: number, reason: text },
  lease_released: { ...author, path: text },
  decision: {
    hook: text,
    decision: oneOf('accept', 'reject', 'escalated', 'failed'),
    member: orNull(text),
    about: text,
    reason: text,
    fingerprint: text,
    paths: list(text),
    returned: orMissing(text),
  },
  gate_measured: {
    task: orNull(text),
    tree: text,
    ok: flag,
    checks: list(check),
    coverage: orNull(number),
    trust5: orMissing(trust5),
    head: orMissing(text),
  },
  base_measured: { checks: list(check), coverage: orNull(number), why: orMissing(text) },
  moved: {
    event: oneOf(...MOVED_EVENTS),
    tasks: orMissing(list(draft)),
    reason: text,
    by: text,
  },
  fell_back: { trigger: text, reason: text },
  restarted: {
    session: orNull(text),
    key_hash: orNull(text),
    keep: flag,
    host: orMissing(text),
    alone: orMissing(flag),
    forced: orMissing(flag),
    words_hash: orMissing(text),
  },
  lead_moved: { session: text, host: orMissing(text) },
  writes_held: { by: holder },
  deleted: { forced: flag, by: text },
  snapshot: { state: any },
  continued: { next: text },
};

const CHECKS = new Map(Object.entries(RECORDS).map(([type, fields]) => [type, shape(fields)]));

function isRecord(value: unknown): value is TeamRecord {
  return isObject(value) && typeof value.type === 'string' && CHECKS.get(value.type)?.(value) === true;
}

/** undefined when the value is no record of a team's log. */
export function decodeTeamRecord(value: unknown): TeamRecord | undefined {
  return isRecord(value) ? value : undefined;
}
