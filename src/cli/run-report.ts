// What came of a run, as data: for people, for programs, for a pull request.

import type { Gate, TeamState } from '../domain/team/state.ts';
import type { Outcome } from '../engine/team/lead/lead.ts';

export type RunReport = {
  readonly team: string;
  readonly outcome: Outcome['kind'];
  readonly tasks: readonly {
    readonly id: string;
    readonly subject: string;
    readonly owner: string | null;
    readonly outcome: string;
    readonly seconds: number | null;
  }[];
  readonly messages: number;
  /** Completions that were not accepted. */
  readonly rejections: number;
  readonly gate: Pick<Gate, 'ok' | 'coverage' | 'checks'> | null;
  readonly branch: string;
  /** How many files the branch changes. */
  readonly files: number;
  readonly seconds: number;
  /** Where the report for people lies. */
  readonly report: string;
};

function tasksOf(state: TeamState): RunReport['tasks'] {
  return [...state.tasks.values()].map(({ id, subject, owner, claim, status, startedAt, endedAt }) => ({
    id,
    subject,
    owner: claim?.member ?? owner,
    outcome: status,
    seconds: startedAt === null || endedAt === null ? null : Math.round((endedAt - startedAt) / 10) / 100,
  }));
}

export function runReport(
  { kind, state }: Outcome,
  work: Pick<RunReport, 'branch' | 'files' | 'seconds' | 'report'>,
): RunReport {
  const { gate } = state;
  return {
    team: state.team,
    outcome: kind,
    tasks: tasksOf(state),
    messages: state.messages.length,
    rejections: state.decisions.filter(({ hook, decision }) => decision === 'reject' && hook !== 'teammate_idle')
      .length,
    gate: gate === null ? null : { ok: gate.ok, coverage: gate.coverage, checks: gate.checks },
    ...work,
  };
}
