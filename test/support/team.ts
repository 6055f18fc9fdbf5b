// A team's records with the least said, and a fold that is told them one after the other.

import assert from 'node:assert/strict';
import type { Code, Refusal, ValuesOf } from '../../src/base/rules/codes.ts';
import type { Trust5Summary } from '../../src/gate/rules/trust5.ts';
import { TeamFold } from '../../src/team/rules/log/fold.ts';
import type { TeamRecord, TeamRecordType } from '../../src/team/rules/log/record.ts';
import { serializeTeam } from '../../src/team/rules/log/snapshot.ts';
import type { Member, TeamState } from '../../src/team/rules/log/state.ts';
import type { Task } from '../../src/team/rules/task.ts';
import { isRefusal } from './codes.ts';

type Of<T extends TeamRecordType> = Extract<TeamRecord, { type: T }>;

export const TEAM = 'tool-run-spec-auth-001';
export const LEAD = 'team-lead';

/** Scores as a log keeps them. */
export const TRUST5: Trust5Summary = {
  ok: false,
  score: 4,
  securityIssues: 2,
  dimensions: [
    { dimension: 'tested', state: 'passed', score: 5, figures: ['tests: 3 tests pass'], source: 'npm test' },
    { dimension: 'secured', state: 'failed', score: 3, figures: ['secrets: 2 in 9 added lines'], source: 'git log -p' },
    { dimension: 'unified', state: 'not_measured', score: null, figures: ['no formatter'], source: 'nothing' },
  ],
};

/** One good record of each type. */
export const RECORDS: { readonly [T in TeamRecordType]: Of<T> } = {
  proposed: {
    type: 'proposed',
    phase: 'run',
    pattern: 'implementation',
    roles: ['backend-dev', 'tester'],
    subject: 'SPEC-AUTH-001',
    reasons: ['3 domains'],
    drafts: [{ key: 'a', subject: 's', description: 'd', owner: 'tester', files: ['tests/**'], blockedBy: ['b'] }],
  },
  created: {
    type: 'created',
    team: TEAM,
    phase: 'run',
    pattern: 'implementation',
    roles: ['backend-dev', 'tester'],
    subject: 'SPEC-AUTH-001',
    session: 'session-1',
    key_hash: 'hash-of-lead',
    approval: true,
    base: null,
  },
  task_created: {
    type: 'task_created',
    subject: 'Sign in',
    description: 'Takes a password',
    owner: null,
    files: ['src/api/login.ts'],
    blocked_by: [],
    by: LEAD,
  },
  task_updated: { type: 'task_updated', task: '1', status: 'in_progress', result: null, by: 'backend-dev', epoch: 1 },
  task_assigned: { type: 'task_assigned', task: '1', owner: 'tester', by: LEAD },
  member_registered: {
    type: 'member_registered',
    name: 'backend-dev',
    agent: 'team-backend-dev',
    read_only: false,
    model: 'inherit',
    prompt: 'Do your tasks',
    max: 10,
  },
  member_spawned: { type: 'member_spawned', name: 'backend-dev', epoch: 1, key_hash: 'hash', pid: 77 },
  member_bound: { type: 'member_bound', name: 'backend-dev', epoch: 1, agent_id: 'agent-1' },
  member_seen: { type: 'member_seen', name: 'backend-dev', epoch: 1 },
  member_used: {
    type: 'member_used',
    name: 'backend-dev',
    epoch: 1,
    task: '1',
    cost_usd: 0.0125,
    input_tokens: 100,
    output_tokens: 50,
    turns: 2,
  },
  member_idle: { type: 'member_idle', name: 'backend-dev', epoch: 1, stopped: false },
  member_ended: { type: 'member_ended', name: 'backend-dev', epoch: 1, how: 'confirmed', reason: 'its process ended' },
  message_sent: {
    type: 'message_sent',
    to: 'tester',
    kind: 'progress',
    content: 'half done',
    in_reply_to: null,
    by: 'backend-dev',
    epoch: 1,
  },
  mail_seen: { type: 'mail_seen', member: 'tester', seqs: [1], how: 'read' },
  lease_taken: {
    type: 'lease_taken',
    path: 'package.json',
    until: 2_000_000,
    reason: 'a dependency',
    by: 'tester',
    epoch: 1,
  },
  lease_released: { type: 'lease_released', path: 'package.json', by: 'tester', epoch: 1 },
  decision: {
    type: 'decision',
    hook: 'TaskCompleted',
    decision: 'reject',
    member: 'backend-dev',
    about: 'task 1',
    reason: 'two tests fail',
    fingerprint: 'tree-1',
    paths: [],
  },
  gate_measured: {
    type: 'gate_measured',
    task: '1',
    tree: 'tree-1',
    ok: true,
    checks: [{ check: 'tests', outcome: 'passed', reason: 'all', details: ['a'], command: 'npm test', figure: '7' }],
    coverage: 87.5,
  },
  base_measured: { type: 'base_measured', checks: [], coverage: 80 },
  moved: { type: 'moved', event: 'ownership_assigned', reason: 'decomposed', by: LEAD },
  fell_back: { type: 'fell_back', trigger: 'spawn_failed', reason: 'no such agent' },
  restarted: { type: 'restarted', session: 'session-2', key_hash: null, keep: true },
  lead_moved: { type: 'lead_moved', session: 'session-2' },
  writes_held: { type: 'writes_held', by: 'kernel' },
  deleted: { type: 'deleted', forced: false, by: LEAD },
  snapshot: { type: 'snapshot', state: {} },
  continued: { type: 'continued', next: 'log.2.jsonl' },
};

/** The good record of that type, with what is said differently. */
export function rec<T extends TeamRecordType>(type: T, other: Partial<Omit<Of<T>, 'type'>> = {}): TeamRecord {
  return { ...RECORDS[type], ...other };
}

/** Why a record does not count: its code, with the values that are named. */
export type Why = { readonly holds: (refused: Refusal | null) => void };

export function why<C extends Code>(
  of: C,
  values: { readonly [K in keyof ValuesOf<C>]?: ValuesOf<C>[K] | undefined } = {},
): Why {
  return { holds: (refused) => isRefusal<Code>(refused, of, values) };
}

/** A team as its log tells it. Times are milliseconds after the first moment, which moves on with `later`. */
export class Story {
  readonly fold = new TeamFold();
  #at = 1_000_000;
  #count = 0;

  get state(): TeamState {
    return this.fold.state;
  }

  get at(): number {
    return this.#at;
  }

  later(ms: number): this {
    this.#at += ms;
    return this;
  }

  take(record: TeamRecord): Refusal | null {
    this.#count += 1;
    return this.fold.take({ ...record, v: 1, id: `r${this.#count}`, at: this.#at });
  }

  /** The record counts. */
  tell<T extends TeamRecordType>(type: T, other: Partial<Omit<Of<T>, 'type'>> = {}): this {
    assert.equal(this.take(rec(type, other)), null, `${type} ${JSON.stringify(other)}`);
    return this;
  }

  /** The record does not count, for that reason, and changes nothing. */
  refuse<T extends TeamRecordType>(reason: Why, type: T, other: Partial<Omit<Of<T>, 'type'>> = {}): this {
    const before = JSON.stringify(serializeTeam(this.state));
    reason.holds(this.take(rec(type, other)));
    assert.equal(JSON.stringify(serializeTeam(this.state)), before, `${type} was refused and changed something`);
    return this;
  }

  /** Registers a member and tells that it was started. */
  join(...names: readonly string[]): this {
    for (const name of names) {
      this.tell('member_registered', { name, agent: `team-${name}` });
      this.tell('member_spawned', { name, epoch: this.member(name).epoch });
    }
    return this;
  }

  claim(task: string, by: string, epoch = 1): this {
    return this.tell('task_updated', { task, status: 'in_progress', by, epoch });
  }

  complete(task: string, by: string, epoch = 1): this {
    return this.tell('task_updated', { task, status: 'completed', by, epoch });
  }

  askToEnd(to = 'all'): this {
    return this.tell('message_sent', { by: LEAD, epoch: 0, to, kind: 'shutdown_request', content: 'done' });
  }

  member(name: string): Member {
    const member = this.state.members.get(name);
    assert.ok(member !== undefined, `no member ${name}`);
    return member;
  }

  task(id: string): Task {
    const task = this.state.tasks.get(id);
    assert.ok(task !== undefined, `no task ${id}`);
    return task;
  }

  /** `1 in_progress backend-dev#1`, one for each task. */
  get tasks(): readonly string[] {
    return [...this.state.tasks.values()].map(({ id, status, claim }) =>
      [id, status, ...(claim === null ? [] : [`${claim.member}#${claim.epoch}`])].join(' '),
    );
  }

  /** `backend-dev#1 over: confirmed`, one for each member. */
  get members(): readonly string[] {
    return [...this.state.members.values()].map(
      ({ name, epoch, phase, ended }) => `${name}#${epoch} ${phase}${ended === null ? '' : `: ${ended.how}`}`,
    );
  }
}

/** A team of these members, all started, with so many tasks. */
export function teamOf(members: readonly string[], tasks = 0): Story {
  const story = new Story().tell('created');
  for (let count = 0; count < tasks; count++) story.tell('task_created', { subject: `Task ${count + 1}` });
  return story.join(...members);
}
