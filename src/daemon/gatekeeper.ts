// Decides whether an issue that carries an active label may be worked on, and whether it is a new one at all.

import type { Clock } from '../base/ports.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import type { LabelEvent, Tracker } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { FinishedIssue } from './rules/finished-issues.ts';
import type { Issue, StateLabels } from './rules/issue.ts';
import { activeLabelsOf } from './rules/issue.ts';
import type { Entry } from './rules/state.ts';
import { judgeTrust, type TrustMode, type WritePermission } from './rules/trust.ts';

export type Admission =
  | { readonly admitted: true; readonly labelEvent: number | null }
  | { readonly admitted: false; readonly why: readonly Refusal[] };

/** `at`: when it was decided, `since`: when this version of the issue was first met; both in elapsed time. */
type Known = {
  readonly updatedAt: string;
  readonly admission: Admission;
  readonly at: number;
  readonly since: number;
};

/** People may be let in without any change to the issue. */
const REFUSAL_FRESH_MS = 10 * 60_000;

/** The service tells versions apart by the second: a label put on in the same one as the change before it makes no new version. */
const SAME_VERSION_MS = 2_000;

export class Gatekeeper {
  readonly #tracker: Tracker;
  readonly #clock: Clock;
  readonly #known = new Map<number, Known>();

  constructor(tracker: Tracker, clock: Clock) {
    this.#tracker = tracker;
    this.#clock = clock;
  }

  /** What was decided last for this version of the issue, even if it is to be looked at again; undefined: nothing. */
  last(issue: Issue): Admission | undefined {
    const known = this.#known.get(issue.number);
    return known?.updatedAt === issue.updatedAt ? known.admission : undefined;
  }

  /** Whether the last decision was made when nothing more could change within the second of this version. */
  isSettled(issue: Issue): boolean {
    const known = this.#known.get(issue.number);
    return known !== undefined && known.at >= known.since + SAME_VERSION_MS;
  }

  /** What was decided for the issue as it stands now; undefined when it is to be looked at. */
  known(issue: Issue): Admission | undefined {
    const known = this.#known.get(issue.number);
    if (known?.updatedAt !== issue.updatedAt) return undefined;
    if (known.admission.admitted) return known.admission;
    const now = this.#clock.elapsed();
    const settles = known.since + SAME_VERSION_MS;
    const stale = now - known.at >= REFUSAL_FRESH_MS || (known.at < settles && now >= settles);
    return stale ? undefined : known.admission;
  }

  /**
   * Decides, asking the tracker once for each version of an issue.
   * @param spent the event by which the label was put on for work that is over, where there is such
   */
  async admit(
    issue: Issue,
    mode: TrustMode,
    states: StateLabels,
    spent: number | null,
    signal: AbortSignal,
  ): Promise<Admission> {
    const known = this.known(issue);
    if (known !== undefined) return known;
    const admission = await this.#decide(issue, mode, states, spent, signal);
    const { updatedAt } = issue;
    const at = this.#clock.elapsed();
    const before = this.#known.get(issue.number);
    this.#known.set(issue.number, {
      updatedAt,
      admission,
      at,
      since: before?.updatedAt === updatedAt ? before.since : at,
    });
    return admission;
  }

  async #decide(
    issue: Issue,
    mode: TrustMode,
    states: StateLabels,
    spent: number | null,
    signal: AbortSignal,
  ): Promise<Admission> {
    const [label] = activeLabelsOf(issue.labels, states);
    if (label === undefined) return { admitted: false, why: [refusal(WORK_CODES.issue_not_active, {})] };
    const event = await this.#tracker.readLabelEvent(issue.number, label, signal);
    // An older one, of a label that has become an active one since, is no new wish.
    if (event !== null && spent !== null && event.id <= spent)
      return { admitted: false, why: [refusal(WORK_CODES.issue_already_done, { label })] };
    if (mode === 'anyone') return { admitted: true, labelEvent: event?.id ?? null };
    const [author, labeller] = await Promise.all([
      this.#writePermission({ id: 0, actor: issue.author }, signal),
      // A label that was there from the start was put on by the author.
      this.#writePermission(event ?? { id: 0, actor: issue.author }, signal),
    ]);
    const verdict = judgeTrust(mode, label, author, labeller);
    return verdict.trusted ? { admitted: true, labelEvent: event?.id ?? null } : { admitted: false, why: verdict.why };
  }

  async #writePermission(event: LabelEvent, signal: AbortSignal): Promise<WritePermission> {
    return {
      actor: event.actor,
      mayWrite: event.actor !== null && (await this.#tracker.mayWrite(event.actor, signal)),
    };
  }

  /** Looks at every waiting issue again at the next poll: permissions may have changed. */
  reconsider(): void {
    for (const [number, { admission }] of this.#known) if (!admission.admitted) this.#known.delete(number);
  }

  forget(issue: number): void {
    this.#known.delete(issue);
  }

  /** Forgets issues that are not listed any more. */
  keepOnly(listed: ReadonlySet<number>): void {
    for (const number of this.#known.keys()) if (!listed.has(number)) this.#known.delete(number);
  }
}

/**
 * Whether a listed issue is one the daemon has already brought to its end: a listing may lag behind the labels that the
 * daemon changed. It is back when it changed after that. Of the same second, the event that put the label on tells, where
 * it is known.
 */
export function isOver(issue: Issue, past: FinishedIssue | undefined, entry: Entry | undefined): boolean {
  const endedAt = entry?.finished?.updatedAt ?? past?.updatedAt;
  if (endedAt === undefined) return false;
  const { labelEvent } = entry ?? past ?? { labelEvent: null };
  return labelEvent === null ? issue.updatedAt <= endedAt : issue.updatedAt < endedAt;
}
