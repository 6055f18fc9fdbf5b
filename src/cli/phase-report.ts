// Report of a finished phase: as data for programs, as lines for people.

import { visible, visibleLines } from '../base/rules/text.ts';
import type { LeadOutcome } from '../team/lead/lead-options.ts';
import { dollars, type Spent } from '../team/rules/cost.ts';
import { type Gate, isRefusal, type TeamState } from '../team/rules/log/state.ts';
import { type SpecStatus, specDirectory } from '../team/rules/spec-documents/spec.ts';
import { noteOf } from '../team/rules/task.ts';

export type PhaseReport = {
  readonly team: string;
  readonly outcome: LeadOutcome['kind'];
  readonly tasks: readonly {
    readonly id: string;
    readonly subject: string;
    readonly owner: string | null;
    readonly outcome: string;
    /** Note that the task changed nothing, with its owner's reason; null: it changed files, or that is unknown. */
    readonly note: string | null;
    readonly seconds: number | null;
  }[];
  readonly messages: number;
  /** Number of rejected completions. */
  readonly rejections: number;
  readonly gate: Pick<Gate, 'ok' | 'coverage' | 'checks'> | null;
  /** Plan phase only. */
  readonly plan: { readonly spec: string; readonly status: SpecStatus; readonly paths: readonly string[] } | null;
  /** Debug phase only; `cause` null: no hypothesis was proven. */
  readonly debug: {
    readonly cause: string | null;
    readonly evidence: string;
    readonly by: string | null;
    readonly tried: readonly { readonly subject: string; readonly said: string }[];
  } | null;
  /** Null: nothing is built in that phase. */
  readonly branch: string | null;
  /** Number of files that the branch changes. */
  readonly files: number;
  readonly seconds: number;
  /** By teammate and task, as their runtimes report them; `task` null: outside any task. */
  readonly costs: readonly Spent[];
  /** Path of the report for people; null: nothing was built. */
  readonly report: string | null;
};

function tasksOf(state: TeamState): PhaseReport['tasks'] {
  return [...state.tasks.values()].map((task) => {
    const { id, subject, owner, claim, status, startedAt, endedAt } = task;
    return {
      id,
      subject,
      owner: claim?.member ?? owner,
      outcome: status,
      note: noteOf(task),
      seconds: startedAt === null || endedAt === null ? null : Math.round((endedAt - startedAt) / 10) / 100,
    };
  });
}

function planResult(outcome: LeadOutcome): PhaseReport['plan'] {
  if (outcome.kind !== 'done' || outcome.found?.phase !== 'plan') return null;
  const { spec, status } = outcome.found;
  return {
    spec,
    status,
    paths: ['spec.md', 'plan.md', 'acceptance.md'].map((name) => `${specDirectory(spec)}/${name}`),
  };
}

function debugOf(outcome: LeadOutcome): PhaseReport['debug'] {
  if (outcome.kind !== 'done' || outcome.found?.phase !== 'debug') return null;
  const { cause, evidence, by, tried } = outcome.found;
  return { cause, evidence, by, tried };
}

export function phaseReport(
  outcome: LeadOutcome,
  work: Pick<PhaseReport, 'branch' | 'files' | 'seconds' | 'report'>,
): PhaseReport {
  const { kind, state } = outcome;
  const { gate } = state;
  return {
    team: state.team,
    outcome: kind,
    tasks: tasksOf(state),
    messages: state.messages.length,
    rejections: state.decisions.filter((one) => one.decision === 'reject' && isRefusal(one)).length,
    gate: gate === null ? null : { ok: gate.ok, coverage: gate.coverage, checks: gate.checks },
    plan: planResult(outcome),
    debug: debugOf(outcome),
    costs: [...state.costs.values()],
    ...work,
  };
}

const PLAN_NEXT: Readonly<Record<SpecStatus, (id: string) => string>> = {
  draft: (id) => `${id} needs no approval (require_plan_approval: false). Next: tool run ${id}`,
  awaiting_approval: (id) => `${id} waits for your approval: tool spec approve ${id}`,
  approved: (id) => `${id} is approved. Next: tool run ${id}`,
  completed: (id) => `${id} is completed already`,
};

/** The report for people. */
export function reportLines({ tasks, plan, debug, branch, files, costs, report }: PhaseReport): readonly string[] {
  return [
    ...tasks.map(
      ({ id, outcome, note, owner, subject }) =>
        `${id}  ${outcome}  ${owner ?? '–'}  ${visible(subject)}${note === null ? '' : `; ${visible(note)}`}`,
    ),
    ...(plan === null ? [] : [...plan.paths, PLAN_NEXT[plan.status](plan.spec)]),
    ...(debug === null || debug.cause === null
      ? []
      : [`cause: ${visible(debug.cause)} (${debug.by ?? 'nobody'})`, visibleLines(debug.evidence)]),
    ...(costs.length === 0 ? [] : [`cost: ${dollars(costs.reduce((sum, { cost_usd: usd }) => sum + usd, 0))}`]),
    ...(branch === null ? [] : [`${files} files on ${branch}; the report is ${report}`]),
  ];
}
