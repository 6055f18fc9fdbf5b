// The end of a search for a cause: the first that was proven wins; whoever has not said it in the form is asked once more.

import { oneLine } from '../../base/rules/text.ts';
import { type OperationContext, operate } from '../operations/operations.ts';
import type { TeamLog } from '../ports.ts';
import type { Evidence } from '../rules/caller.ts';
import { findingsOf, type Tried, unclearRoles, VERDICT_FORM } from '../rules/hypothesis-verdict.ts';
import type { TeamState } from '../rules/log/state.ts';
import { LEAD } from '../rules/message.ts';
import { quoted } from '../rules/task-draft.ts';

/** So much is shown of words that settle nothing. */
const SAID_MAX = 200;

export type DebugResult = {
  /** Null: no hypothesis was proven. */
  readonly cause: string | null;
  readonly evidence: string;
  /** Who found it. */
  readonly by: string | null;
  readonly tried: readonly { readonly subject: string; readonly said: string }[];
};

function saidOf({ task, verdict }: Tried): string {
  if (verdict.kind === 'proven') return `proven: ${verdict.cause}`;
  if (verdict.kind === 'refuted') return `refuted: ${verdict.why}`;
  const result = oneLine(task.result ?? '', SAID_MAX);
  return `not settled, ${verdict.lack}${result === '' ? '' : ` (${result})`}`;
}

/** The hypothesis itself: whoever was asked once more has another task behind it. */
function hypothesisOf({ task }: Tried, { tasks }: TeamState): string {
  const first = [...tasks.values()].find(({ owner }) => owner !== null && owner === task.owner);
  return (first ?? task).subject;
}

/** Gives what came of it; null: somebody was asked once more. */
export async function closeDebug(context: OperationContext, log: TeamLog, as: Evidence): Promise<DebugResult | null> {
  const findings = findingsOf(log.state);
  const { proven } = findings;
  const unclear = proven === null ? unclearRoles(findings, log.state) : [];
  for (const owner of unclear) {
    const subject = 'Give the result of the hypothesis again';
    const description = [
      'The result of your last task does not have this form. Submit it again as the result of this task:',
      quoted(VERDICT_FORM),
    ].join('\n');
    await operate(context, 'TaskCreate', { subject, description, owner }, as);
  }
  if (unclear.length > 0) return null;
  // What goes on one at a time has no steps of a session.
  if (proven !== null && log.state.session !== 'fallback')
    await log.append({ type: 'moved', event: 'cause_proven', reason: proven.cause, by: LEAD });
  return {
    cause: proven?.cause ?? null,
    evidence: proven?.evidence ?? '',
    by: proven?.task.owner ?? null,
    tried: findings.tried.map((one) => ({ subject: hypothesisOf(one, log.state), said: saidOf(one) })),
  };
}
