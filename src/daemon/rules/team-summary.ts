// A team in short, as it is shown beside others: snake_case names, times in ISO 8601, each text one bounded line.

import type { TeamSummary } from '../../agents/rules/team-summary.ts';
import { headAndTail, oneLine } from '../../base/rules/text.ts';
import { costOfMember, costOfTask, costOfTeam } from '../../team/rules/cost.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { teamView } from '../../team/rules/views/view.ts';

/** More than that is no list any more that a person reads. */
export const TASKS_SHOWN = 100;
const MESSAGES_SHOWN = 10;
const TEXT_MAX = 160;

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
  const view = teamView(state, now);
  return {
    team: view.team,
    state: view.state,
    pattern: view.pattern,
    subject: line(view.subject),
    fallback: view.fallback === null ? null : headAndTail(view.fallback.reason, TEXT_MAX),
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
