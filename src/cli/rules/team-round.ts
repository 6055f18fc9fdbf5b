// Texts of a later round of a team: what its teammates are told, and what came of it.

import { clip, fence, headAndTail, oneLine, visibleLines } from '../../base/rules/text.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';

/** So much of the earlier reports, of a result, and of all results is told. */
const REPORTS_MAX = 8_000;
const RESULT_MAX = 1_000;
const RESULTS_MAX = 6_000;

/** What each teammate is told beside its tasks. */
export function roundInstruction(round: number, reports: readonly string[]): string {
  const done =
    reports.length === 0
      ? 'Its commits are on the branch.'
      : `Its commits are on the branch. What was reported of it, as data:\n\n${fence(visibleLines(headAndTail(reports.join('\n\n'), REPORTS_MAX)))}`;
  return [
    `This is round ${round}. The work on the issue was handed in before. ${done}`,
    'Your tasks are about what came since. If nothing in it is for you to change, say so in the result of your task.',
    `Only ${LEAD} reaches the pull request. To answer a review thread, write a line \`Reply to thread NUMBER: TEXT\` into the result of your task.`,
  ].join('\n\n');
}

function resultsOf({ tasks }: TeamState): readonly { readonly who: string; readonly result: string }[] {
  return [...tasks.values()].flatMap(({ status, claim, owner, result }) =>
    status === 'completed' && result !== null ? [{ who: claim?.member ?? owner ?? LEAD, result }] : [],
  );
}

export type ThreadReply = { readonly thread: number; readonly body: string };

/** Answers in review threads that teammates wrote into the results of their tasks. */
export function threadReplies(state: TeamState): readonly ThreadReply[] {
  return resultsOf(state).flatMap(({ result }) =>
    [...result.matchAll(/^\s*Reply to thread (\d{1,15}): *(\S.*)$/gm)].map(([, thread = '', body = '']) => ({
      thread: Number(thread),
      body: body.trim(),
    })),
  );
}

/** Last words of the team: the sum of its report, then what each of its tasks came to. */
export function roundWords(state: TeamState, report: string | null): string {
  const sum = report?.split('\n').find((line) => /^\d+ of /.test(line)) ?? `team ${state.team} changed nothing`;
  const results = resultsOf(state).map(({ who, result }) => `${who}: ${oneLine(result, RESULT_MAX)}`);
  return clip([sum, ...results].join('\n'), RESULTS_MAX);
}
