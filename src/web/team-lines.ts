// The teams of issues, at work and finished, in words that the text dashboard and the page share.

import type { TeamSummary } from '../agents/rules/team-summary.ts';
import { oneLine } from '../base/rules/text.ts';
import type { StateView } from '../daemon/view.ts';
import { dollars } from './format.ts';

export type IssueTeam = {
  readonly issue: number;
  /** `<owner>/<repo>#<number>` */
  readonly identifier: string;
  readonly url: string;
  /** How the issue's time with the daemon ended; null: it has not. */
  readonly outcome: string | null;
  /** When that was. */
  readonly finishedAt: string | null;
  readonly team: TeamSummary;
};

/** One for each running issue that a team works on. */
export function teamsOf(view: StateView): readonly IssueTeam[] {
  return view.running.flatMap(({ issue_number: issue, issue_identifier: identifier, issue_url: url, team }) =>
    team === null ? [] : [{ issue, identifier, url, outcome: null, finishedAt: null, team }],
  );
}

/** Those of issues that are over, the newest first. */
export function finishedTeamsOf(view: StateView): readonly IssueTeam[] {
  return view.completed.flatMap(
    ({ issue_number: issue, issue_identifier: identifier, issue_url: url, outcome, finished_at: finishedAt, team }) =>
      team === null ? [] : [{ issue, identifier, url, outcome, finishedAt, team }],
  );
}

/** Both, as the API shows them. */
export function teamRows(view: StateView) {
  return [...teamsOf(view), ...finishedTeamsOf(view)].map(({ issue, outcome, team }) => ({
    issue_number: issue,
    outcome,
    ...team,
  }));
}

/** What was measured last, in one line. */
export function gateWords({ gate }: TeamSummary): string {
  if (gate === null) return 'not measured yet';
  const checks = gate.checks.map(
    ({ check, outcome, figure }) => `${check} ${outcome.replace('_', ' ')}${figure === null ? '' : ` (${figure})`}`,
  );
  const scores = gate.scores.map(({ dimension, score }) => `${dimension} ${score ?? 'not measured'}`);
  return [gate.ok ? 'passed' : 'not passed', ...checks, ...scores].join(' · ');
}

const SUBJECT_MAX = 80;
/** So wide what is said of a task may be. */
export const TASK_MAX = 220;

/** What a task is about, and what is to be known of its end. */
export function taskWords({ subject, note }: TeamSummary['tasks'][number]): string {
  return [oneLine(subject, SUBJECT_MAX), ...(note === null ? [] : [note])].join('; ');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** How far it is, in one line. */
export function teamWords({ team, outcome }: Pick<IssueTeam, 'team' | 'outcome'>): string {
  const { task_counts: counts } = team;
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  return [
    ...(outcome === null ? [] : [outcome]),
    ...(team.fallback !== null ? [`one at a time (${team.fallback})`] : outcome === null ? [team.state] : []),
    ...(team.pattern === null ? [] : [team.pattern]),
    `${counts.completed} of ${all} tasks`,
    ...(counts.failed === 0 ? [] : [`${counts.failed} failed`]),
    counted(team.messages.count, 'message'),
    counted(team.rejections, 'rejection'),
    ...(team.cost_usd === 0 ? [] : [dollars(team.cost_usd)]),
  ].join(' · ');
}
