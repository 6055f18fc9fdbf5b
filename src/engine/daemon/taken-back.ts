// Whether people took an issue back. Nothing is stopped on the listing's word alone: the issue itself is read.

import type { IssueOutcome } from '../../domain/daemon/record.ts';
import { messageOf } from '../../domain/errors.ts';
import { activeLabelsOf, type StateLabels } from '../../domain/issue.ts';
import type { Logger, Tracker } from '../ports.ts';

export type TakenBack = { readonly outcome: IssueOutcome; readonly updatedAt: string };

/** How an issue that is missing from the listing was taken back; null when it was not, or when that cannot be told. */
export async function takenBack(
  tracker: Tracker,
  log: Logger,
  number: number,
  labels: StateLabels,
  signal: AbortSignal,
): Promise<TakenBack | null> {
  try {
    const issue = await tracker.readIssue(number, signal);
    if (issue === null || issue.state === 'closed') return { outcome: 'closed', updatedAt: issue?.updatedAt ?? '' };
    return activeLabelsOf(issue.labels, labels).length > 0
      ? null
      : { outcome: 'label_removed', updatedAt: issue.updatedAt };
  } catch (error) {
    const message = `issue #${number} is missing from the listing and cannot be read: ${messageOf(error)}`;
    log.log('warn', 'poller', message, { issue: number });
    return null;
  }
}
