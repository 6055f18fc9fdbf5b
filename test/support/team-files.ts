// A team at work, in real log files: what boards, lists and events are shown of.

import assert from 'node:assert/strict';
import type { FileTeamLog } from '../../src/team/log/team-log.ts';
import { FileTeams } from '../../src/team/log/teams.ts';
import type { TeamRecord, TeamRecordType } from '../../src/team/rules/log/record.ts';
import { LEAD, rec, TEAM } from './team.ts';

type Fields<T extends TeamRecordType> = Partial<Omit<Extract<TeamRecord, { type: T }>, 'type'>>;

/** Writes a team's log; time stands still unless it is moved on. */
export class Scribe {
  readonly #teams: FileTeams;
  readonly #log: FileTeamLog;
  #at: number;

  /** @param at when it begins, ms since the epoch */
  constructor(root: string, team = TEAM, at = Date.now() - 10 * 60_000, maxBytes?: number) {
    this.#at = at;
    this.#teams = new FileTeams({ root, now: () => this.#at, ...(maxBytes === undefined ? {} : { maxBytes }) });
    this.#log = this.#teams.begin(team);
  }

  get directory(): string {
    return this.#log.directory;
  }

  later(ms: number): this {
    this.#at += ms;
    return this;
  }

  async put(record: TeamRecord): Promise<string | null> {
    return (await this.#log.append(record, { flush: false })).refusal;
  }

  /** The record counts. */
  async tell<T extends TeamRecordType>(type: T, fields: Fields<T> = {}): Promise<void> {
    assert.equal(await this.put(rec(type, fields)), null, type);
  }

  async close(): Promise<void> {
    await this.#log.close();
  }

  archive(): string {
    return this.#teams.archive(this.#log.state.team);
  }
}

/** A running team with some of everything; ten minutes old, most of it in the last minute. */
export async function busyTeam(root: string, team = TEAM): Promise<Scribe> {
  const scribe = new Scribe(root, team);
  await scribe.tell('created', {
    team,
    subject: 'SPEC-AUTH-001',
    roles: ['backend-dev', 'frontend-dev', 'tester'],
  });
  const tasks: readonly Fields<'task_created'>[] = [
    { subject: 'Tables for users and sessions', owner: 'backend-dev' },
    { subject: 'POST /api/users with its validation', owner: 'backend-dev', blocked_by: ['1'] },
    { subject: 'The sign-up form ログイン画面 🔐', owner: 'frontend-dev', blocked_by: ['2'] },
    { subject: 'Tests of the sign-up', owner: 'tester' },
    { subject: 'Words for an address that is taken', owner: null },
  ];
  for (const task of tasks) await scribe.tell('task_created', task);
  for (const name of ['backend-dev', 'frontend-dev', 'tester']) {
    await scribe.tell('member_registered', { name, agent: `team-${name}` });
    if (name !== 'tester') await scribe.tell('member_spawned', { name });
  }
  scribe.later(60_000);
  await scribe.tell('task_updated', { task: '1' });
  scribe.later(4 * 60_000);
  await scribe.tell('gate_measured', {
    ok: false,
    checks: [
      { check: 'tests', outcome: 'passed', reason: 'all pass', details: [], command: 'npm test', figure: '42 tests' },
      {
        check: 'coverage',
        outcome: 'failed',
        reason: '61 % of 80 %: src/api/users.ts 12 %',
        details: [],
        command: null,
        figure: '61 %',
      },
      {
        check: 'security',
        outcome: 'not_measured',
        reason: 'nothing to measure it with',
        details: [],
        command: null,
        figure: null,
      },
    ],
    coverage: 61,
  });
  await scribe.tell('decision', { reason: 'The gate rejects the coverage.\ncoverage: 61 % of 80 %' });
  scribe.later(3 * 60_000);
  await scribe.tell('task_updated', { task: '1', status: 'completed', result: 'two tables' });
  await scribe.tell('task_updated', { task: '2' });
  await scribe.tell('message_sent', {
    to: 'frontend-dev',
    kind: 'api_ready',
    content: { endpoint: 'POST /api/users', schema: { email: 'string' } },
  });
  await scribe.tell('mail_seen', { member: 'frontend-dev', seqs: [1], how: 'read' });
  await scribe.tell('message_sent', {
    by: 'frontend-dev',
    to: LEAD,
    content: '画面を作っています — half of the form is done',
  });
  await scribe.tell('lease_taken', { path: 'package.json', by: 'backend-dev', until: Date.now() + 5 * 60_000 });
  scribe.later(90_000);
  await scribe.tell('decision', {
    hook: 'ownership',
    member: 'frontend-dev',
    about: 'src/api/users.ts',
    reason: "src/api/users.ts is backend-dev's (src/api/**): send a change_request",
    fingerprint: '',
  });
  return scribe;
}
