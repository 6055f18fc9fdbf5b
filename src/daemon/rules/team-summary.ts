// A team in short, as it is shown beside others: snake_case names, times in ISO 8601, each text one bounded line.

import { bothEnds, oneLine } from '../../base/rules/text.ts';
import { costOfMember, costOfTask, costOfTeam } from '../../team/rules/cost.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { type ShownStatus, viewOf } from '../../team/rules/views/view.ts';

/** More than that is no list any more that a person reads. */
export const TASKS_SHOWN = 100;
const MESSAGES_SHOWN = 10;
const TEXT_MAX = 160;

export type TeamSummary = {
  readonly team: string;
  /** Where it stands: `working`, `gate`, `fallback`, … */
  readonly state: string;
  readonly pattern: string | null;
  readonly subject: string;
  /** Why its tasks go on one at a time; null: they do not. */
  readonly fallback: string | null;
  readonly members: readonly {
    readonly name: string;
    readonly phase: string;
    /** The id of what it works on. */
    readonly task: string | null;
    readonly cost_usd: number;
  }[];
  readonly task_counts: Readonly<Record<ShownStatus, number>>;
  readonly tasks: readonly {
    readonly id: string;
    readonly subject: string;
    readonly status: ShownStatus;
    readonly owner: string | null;
    /** That nothing was changed under it, with its owner's words; null: something was, or it is not known. */
    readonly note: string | null;
    readonly started_at: string | null;
    /** From its start to its end; null: it has not ended. */
    readonly seconds: number | null;
    readonly cost_usd: number;
  }[];
  readonly messages: {
    readonly count: number;
    /** The last ones, the oldest first. */
    readonly last: readonly {
      readonly at: string;
      readonly from: string;
      readonly to: string;
      readonly type: string;
      readonly content: string;
    }[];
  };
  /** What was measured last. */
  readonly gate: {
    readonly ok: boolean;
    readonly coverage: number | null;
    readonly checks: readonly { readonly check: string; readonly outcome: string; readonly figure: string | null }[];
    /** TRUST 5, where it was measured: from 0 to 5, null without a tool. */
    readonly scores: readonly { readonly dimension: string; readonly score: number | null; readonly state: string }[];
  } | null;
  /** Completions and writes that were not accepted. */
  readonly rejections: number;
  readonly cost_usd: number;
};

/** So much of a team is kept of an issue that is over. */
const TASKS_KEPT = 50;
const MEMBERS_KEPT = 20;
const MESSAGES_KEPT = 5;

/** What is kept of a team when its work is over. */
export function keptOf(team: TeamSummary): TeamSummary {
  const { members, tasks, messages } = team;
  return {
    ...team,
    members: members.slice(0, MEMBERS_KEPT),
    tasks: tasks.slice(0, TASKS_KEPT),
    messages: { count: messages.count, last: messages.last.slice(-MESSAGES_KEPT) },
  };
}

function line(text: string): string {
  return oneLine(text, TEXT_MAX);
}

function gateOf({ gate }: TeamState): TeamSummary['gate'] {
  if (gate === null) return null;
  const { ok, coverage, checks, trust5 } = gate;
  return {
    ok,
    coverage,
    checks: checks.map(({ check, outcome, figure }) => ({
      check,
      outcome,
      figure: figure === null ? null : line(figure),
    })),
    scores: (trust5?.dimensions ?? []).map(({ dimension, score, state }) => ({ dimension, score, state })),
  };
}

/** @param now ms since the epoch */
export function summaryOf(state: TeamState, now: number): TeamSummary {
  const view = viewOf(state, now);
  return {
    team: view.team,
    state: view.state,
    pattern: view.pattern,
    subject: line(view.subject),
    fallback: view.fallback === null ? null : bothEnds(view.fallback.reason, TEXT_MAX),
    members: view.members.map(({ name, phase, task }) => ({
      name,
      phase,
      task: task?.id ?? null,
      cost_usd: costOfMember(state, name)?.cost_usd ?? 0,
    })),
    task_counts: view.task_counts,
    tasks: view.tasks.slice(0, TASKS_SHOWN).map(({ id, subject, status, owner, note, started_at, ended_at }) => ({
      id,
      subject: line(subject),
      status,
      owner,
      note,
      started_at,
      seconds: started_at === null || ended_at === null ? null : (Date.parse(ended_at) - Date.parse(started_at)) / 1000,
      cost_usd: costOfTask(state, id)?.cost_usd ?? 0,
    })),
    messages: {
      count: view.messages.count,
      last: view.messages.last.slice(-MESSAGES_SHOWN).map(({ at, from, to, type, content }) => ({
        at,
        from,
        to,
        type,
        content: line(content),
      })),
    },
    gate: gateOf(state),
    rejections: view.rejections.count,
    cost_usd: costOfTeam(state)?.cost_usd ?? 0,
  };
}
