// Any records of a team's log, sensible at their place or not, from so few names that they meet.

import fc from 'fast-check';
import type { Stored } from '../../src/base/rules/stored-record.ts';
import type { TeamRecord, TeamRecordType } from '../../src/team/rules/log/record.ts';
import { MEMBER_LEASE_MS } from '../../src/team/rules/log/state.ts';
import { LEAD, rec, TEAM } from './team.ts';

const NAMES = ['backend-dev', 'tester', 'quality'];

const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true });

const text = fc.oneof(fc.constantFrom('a', '', '{"$map":[]}'), fc.string({ maxLength: 6 }));
const maybeText: fc.Arbitrary<string | null> = fc.option(text);
const texts = fc.array(text, { maxLength: 2 });
const name = fc.constantFrom(...NAMES);
const author = fc.constantFrom(...NAMES, ...NAMES, LEAD);
const perhaps: fc.Arbitrary<string | null> = fc.option(author);
const recipient = fc.constantFrom(...NAMES, LEAD, 'all', 'all', 'stranger');
const epoch = fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 3);
const task = fc.constantFrom('1', '1', '2', '3', '9');
const maybePid: fc.Arbitrary<number | null> = fc.option(fc.nat());
const maybeReply: fc.Arbitrary<number | null> = fc.option(fc.integer({ min: -1, max: 4 }));
const maybeJudged: fc.Arbitrary<string | null> = fc.option(fc.constantFrom(...NAMES, 'stranger'));
const maybeTask: fc.Arbitrary<string | null> = fc.option(task);
const maybePercent: fc.Arbitrary<number | null> = fc.option(fc.integer({ min: 0, max: 100 }));
const path = fc.constantFrom('package.json', 'README.md', '__proto__');
const type = <T extends TeamRecordType>(value: T) => fc.constant(value);
const phase = fc.constantFrom('plan', 'run', 'debug');
const purpose = { phase, pattern: maybeText, roles: texts, subject: text };

/** Contents that look like what a snapshot makes of maps among them. */
const content = fc.oneof(
  text,
  fc.constantFrom<Readonly<Record<string, unknown>>>(
    { $map: [] },
    { $map: [['a', { $map: [[1, 2]] }]] },
    { schema: { $map: [['x', 'y']] } },
    JSON.parse('{"__proto__":{"$map":[]},"constructor":1}'),
  ),
  // As it comes out of a file: no number that JSON cannot hold.
  fc
    .dictionary(text, fc.jsonValue(), { maxKeys: 2, noNullPrototype: true })
    .map((value) => JSON.parse(JSON.stringify(value))),
);

/** Any record but those that stand at the ends of a file. */
export const anyRecord: fc.Arbitrary<TeamRecord> = fc.oneof(
  // The ends of members and teams are rare, or hardly anything would happen before them.
  {
    weight: 1,
    arbitrary: fc.constant(rec('message_sent', { by: LEAD, to: 'all', kind: 'shutdown_request', content: 'done' })),
  },
  {
    weight: 1,
    arbitrary: record({
      type: type('proposed'),
      ...purpose,
      reasons: texts,
      drafts: fc.array(
        record({ key: text, subject: text, description: text, owner: name, files: texts, blockedBy: texts }),
        { maxLength: 2 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant(rec('created')) },
  {
    weight: 3,
    arbitrary: record({
      type: type('task_created'),
      subject: text,
      description: text,
      owner: perhaps,
      files: texts,
      blocked_by: fc.oneof(fc.constant([]), fc.array(task, { maxLength: 2 })),
      by: author,
    }),
  },
  {
    weight: 12,
    arbitrary: record({
      type: type('task_updated'),
      task,
      status: fc.constantFrom('pending', 'in_progress', 'in_progress', 'completed', 'completed', 'failed'),
      result: maybeText,
      by: author,
      epoch,
    }),
  },
  { weight: 1, arbitrary: record({ type: type('task_assigned'), task, owner: author, by: author }) },
  {
    weight: 4,
    arbitrary: record({
      type: type('member_registered'),
      name: fc.constantFrom(...NAMES, LEAD, 'all'),
      agent: text,
      read_only: fc.boolean(),
      model: text,
      prompt: text,
      max: fc.constantFrom(10, 10, 2, 0),
    }),
  },
  {
    weight: 4,
    arbitrary: record({
      type: type('member_spawned'),
      name,
      epoch,
      key_hash: maybeText,
      pid: maybePid,
    }),
  },
  {
    weight: 3,
    arbitrary: record({ type: type('member_bound'), name: author, epoch, agent_id: fc.constantFrom('a1', 'a2', 'a3') }),
  },
  { weight: 2, arbitrary: record({ type: type('member_seen'), name: author, epoch }) },
  {
    weight: 2,
    arbitrary: record({
      type: type('member_used'),
      name,
      epoch,
      task: maybeTask,
      cost_usd: fc.constantFrom(0, 0.1, 0.2, -1),
      input_tokens: fc.nat(),
      output_tokens: fc.nat(),
      turns: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: record({ type: type('member_idle'), name, epoch, stopped: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: record({
      type: type('member_ended'),
      name,
      epoch,
      how: fc.constantFrom('confirmed', 'lease', 'forced', 'replaced', 'not_started'),
      reason: text,
    }),
  },
  {
    weight: 6,
    arbitrary: record({
      type: type('message_sent'),
      to: recipient,
      kind: fc.constantFrom('progress', 'change_request', 'shutdown_request', 'quality_gate_passed'),
      content,
      in_reply_to: maybeReply,
      by: author,
      epoch,
    }),
  },
  {
    weight: 4,
    arbitrary: record({
      type: type('mail_seen'),
      member: author,
      seqs: fc.array(fc.integer({ min: -1, max: 8 }), { maxLength: 4 }),
      how: fc.constantFrom('delivered', 'read'),
    }),
  },
  {
    weight: 4,
    arbitrary: record({
      type: type('lease_taken'),
      path,
      until: fc.integer({ max: 1e10 }),
      reason: text,
      by: author,
      epoch,
    }),
  },
  { weight: 2, arbitrary: record({ type: type('lease_released'), path, by: author, epoch }) },
  {
    weight: 3,
    arbitrary: record({
      type: type('decision'),
      hook: fc.constantFrom('guard', 'TaskCompleted'),
      decision: fc.constantFrom('accept', 'reject', 'reject', 'escalated', 'failed'),
      member: maybeJudged,
      about: text,
      reason: text,
      fingerprint: fc.constantFrom('x', 'y'),
      paths: fc.array(path, { maxLength: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      type: type('gate_measured'),
      task: maybeTask,
      tree: text,
      ok: fc.boolean(),
      checks: fc.constant([]),
      coverage: maybePercent,
    }),
  },
  {
    weight: 8,
    arbitrary: record({
      type: type('moved'),
      event: fc.constantFrom(
        'ownership_assigned',
        'spec_generated',
        'approval_asked',
        'approved',
        'changes_asked',
        'gate_started',
        'gate_passed',
        'gate_failed',
        'cause_proven',
      ),
      reason: text,
      by: author,
    }),
  },
  { weight: 1, arbitrary: record({ type: type('fell_back'), trigger: text, reason: text }) },
  {
    weight: 1,
    arbitrary: record({
      type: type('restarted'),
      session: maybeText,
      key_hash: maybeText,
      keep: fc.boolean(),
      alone: fc.boolean(),
      forced: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: record({ type: type('lead_moved'), session: fc.string() }) },
  {
    weight: 1,
    arbitrary: record({
      type: type('writes_held'),
      by: fc.constantFrom('kernel' as const, 'seatbelt' as const, 'reader' as const),
    }),
  },
  { weight: 1, arbitrary: record({ type: type('deleted'), forced: fc.boolean(), by: author }) },
);

const TIME = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(0, 1, 1000, 1000, -500) },
  { weight: 1, arbitrary: fc.constantFrom(61_000, MEMBER_LEASE_MS + 1) },
);

const FIRST: fc.Arbitrary<readonly TeamRecord[]> = fc
  .constantFrom('plan', 'run', 'debug')
  .chain((phase) =>
    fc
      .boolean()
      .map((approval) => [
        rec('created', { team: TEAM, phase, approval }),
        rec('task_created'),
        rec('task_created', { owner: 'tester', blocked_by: ['1'] }),
        ...NAMES.flatMap((name) => [rec('member_registered', { name }), rec('member_spawned', { name })]),
      ]),
  );

/** A log: mostly of a team that was made and has begun; time goes on, seldom by much, sometimes backwards. */
export const anyLog: fc.Arbitrary<readonly Stored<TeamRecord>[]> = fc
  .tuple(
    fc.oneof({ arbitrary: FIRST, weight: 9 }, { arbitrary: fc.constant([]), weight: 1 }),
    fc.array(fc.tuple(anyRecord, TIME), {
      maxLength: 60,
      size: 'max',
    }),
  )
  .map(([first, rest]) => {
    let at = 1_000_000;
    return [...first.map((one) => [one, 1] as const), ...rest].map(([one, step], index) => {
      at += step;
      return { ...one, v: 1, id: `r${index}`, at } as const;
    });
  });
