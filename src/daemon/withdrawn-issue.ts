// Check whether people took an issue back. It reads the issue itself: the listing alone never stops work.

import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { Tracker } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { activeLabelsOf, type Issue, type StateLabels, sameLabel } from './rules/issue.ts';
import type { IssueOutcome } from './rules/record.ts';
import type { Entry } from './rules/state.ts';

export type WithdrawalCheck =
  | { readonly kind: 'held'; readonly issue: Issue }
  | { readonly kind: 'taken'; readonly outcome: IssueOutcome; readonly updatedAt: string }
  /** No answer came. */
  | { readonly kind: 'unknown' };

/** Labels for an issue in work: active are the current ones, and those under which it was claimed. */
function labelsFor(entry: Entry, labels: StateLabels): StateLabels {
  const claimed = entry.stateLabels.filter(
    (label) => !sameLabel(label, labels.done) && !sameLabel(label, labels.failed),
  );
  return { ...labels, active: [...labels.active, ...claimed] };
}

/** The label that was put on again asks for new work: what is followed is over, and the next poll takes the issue on anew. */
function relabelled({ follow }: Entry, issue: Issue): WithdrawalCheck {
  return { kind: 'taken', outcome: 'done', updatedAt: follow?.updatedAt ?? issue.updatedAt };
}

/** Reads an issue in work. Only changes of the issue take it back, not an edit of the active labels in WORKFLOW.md. */
export async function checkWithdrawal(
  tracker: Tracker,
  log: Logger,
  entry: Entry,
  labels: StateLabels,
  signal: AbortSignal,
): Promise<WithdrawalCheck> {
  const { number } = entry;
  try {
    const issue = await tracker.readIssue(number, signal);
    if (issue === null || issue.state === 'closed')
      return { kind: 'taken', outcome: 'closed', updatedAt: issue?.updatedAt ?? '' };
    const isActive = activeLabelsOf(issue.labels, labelsFor(entry, labels)).length > 0;
    if (entry.follow !== null) return isActive ? relabelled(entry, issue) : { kind: 'held', issue };
    return isActive ? { kind: 'held', issue } : { kind: 'taken', outcome: 'label_removed', updatedAt: issue.updatedAt };
  } catch (error) {
    const what = refusal(WORK_CODES.issue_unreadable, { issue: number, said: messageOf(error) });
    if (!signal.aborted) log.log('warn', 'poller', what, { issue: number });
    return { kind: 'unknown' };
  }
}
