// Decides whether an issue that carries an active label may be worked on, and whether it is a new one at all.

import type { Past } from '../../domain/daemon/past.ts';
import type { Entry } from '../../domain/daemon/state.ts';
import type { Issue, StateLabels } from '../../domain/issue.ts';
import { activeLabelsOf } from '../../domain/issue.ts';
import { judgeTrust, type Standing, type TrustMode } from '../../domain/trust.ts';
import type { LabelEvent, Tracker } from '../ports.ts';

export type Admission =
  | { readonly admitted: true; readonly labelEvent: number | null }
  | { readonly admitted: false; readonly reason: string };

type Known = { readonly updatedAt: string; readonly admission: Admission };

export class Gatekeeper {
  readonly #tracker: Tracker;
  readonly #known = new Map<number, Known>();

  constructor(tracker: Tracker) {
    this.#tracker = tracker;
  }

  /** What was decided for the issue as it stands now; undefined when it has not been looked at. */
  known(issue: Issue): Admission | undefined {
    const known = this.#known.get(issue.number);
    return known?.updatedAt === issue.updatedAt ? known.admission : undefined;
  }

  /** Decides, asking the tracker once for each version of an issue. */
  async admit(issue: Issue, mode: TrustMode, states: StateLabels, signal: AbortSignal): Promise<Admission> {
    const known = this.known(issue);
    if (known !== undefined) return known;
    const admission = await this.#decide(issue, mode, states, signal);
    this.#known.set(issue.number, { updatedAt: issue.updatedAt, admission });
    return admission;
  }

  async #decide(issue: Issue, mode: TrustMode, states: StateLabels, signal: AbortSignal): Promise<Admission> {
    const [label] = activeLabelsOf(issue.labels, states);
    if (label === undefined) return { admitted: false, reason: 'it carries no active label' };
    if (mode === 'anyone') return { admitted: true, labelEvent: null };
    const event = await this.#tracker.readLabelEvent(issue.number, label, signal);
    const [author, labeller] = await Promise.all([
      this.#standing({ id: 0, actor: issue.author }, signal),
      // A label that was there from the start was put on by the author.
      this.#standing(event ?? { id: 0, actor: issue.author }, signal),
    ]);
    const verdict = judgeTrust(mode, label, author, labeller);
    return verdict.trusted
      ? { admitted: true, labelEvent: event?.id ?? null }
      : { admitted: false, reason: verdict.reason };
  }

  async #standing(event: LabelEvent, signal: AbortSignal): Promise<Standing> {
    return {
      actor: event.actor,
      mayWrite: event.actor !== null && (await this.#tracker.mayWrite(event.actor, signal)),
    };
  }

  /** Looks at every waiting issue again at the next poll: permissions may have changed. */
  reconsider(): void {
    for (const [number, { admission }] of this.#known) if (!admission.admitted) this.#known.delete(number);
  }

  /** Forgets issues that are not listed any more. */
  keepOnly(listed: ReadonlySet<number>): void {
    for (const number of this.#known.keys()) if (!listed.has(number)) this.#known.delete(number);
  }
}

/**
 * Whether a listed issue is one the daemon has already brought to its end: a listing may lag behind the labels that the
 * daemon changed. It is back when it changed after that.
 */
export function isOver(issue: Issue, past: Past | undefined, entry: Entry | undefined): boolean {
  const endedAt = past?.updatedAt ?? entry?.finished?.updatedAt;
  return endedAt !== undefined && issue.updatedAt <= endedAt;
}
