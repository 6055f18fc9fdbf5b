// Shares of the repositories of one daemon: in the slots, the budget of the day, and pauses while a runtime has no quota.

import type { Clock } from '../base/ports.ts';
import { type SlotShare, sharedSlots } from './rules/slot-shares.ts';

export type ShareMember = {
  /** Left out: what it has spent counts no more when it leaves. */
  readonly name?: string;
  /** How many slots it holds. */
  readonly held: () => number;
  /** What its agents have cost on a day (UTC), US dollars. */
  readonly spentOn: (day: string) => number;
  /** It may have a slot that was not free. */
  readonly wake: () => void;
};

export type Share = {
  /** How many slots it may take now. */
  readonly free: () => number;
  /** Says how many of its issues wait for a slot alone. */
  readonly wants: (issues: number) => void;
  /** Says that it holds fewer slots than before. */
  readonly freed: () => void;
  /** Ends its part: it holds and wants nothing more. */
  readonly leave: () => void;
};

export type SlotSharesOptions = {
  /** For all together. */
  readonly limits: () => { readonly slots: number; readonly costPerDayUsd: number | null };
  readonly clock: Clock;
};

type Member = ShareMember & { wants: number; since: number };

export class SlotShares {
  readonly #options: SlotSharesOptions;
  readonly #members = new Set<Member>();
  /** Those that left, or have not come: what they have spent stays spent. By name. */
  readonly #gone = new Map<string, Pick<ShareMember, 'spentOn'>>();
  /** Until when a runtime has no quota, ms since the epoch. */
  readonly pauses = new Map<string, number>();

  constructor(options: SlotSharesOptions) {
    this.#options = options;
  }

  /** What all of them may cost on a day (UTC), and have cost, US dollars. */
  budget(day: string): { readonly limit: number | null; readonly spent: number } {
    const spent = [...this.#members, ...this.#gone.values()].reduce((sum, member) => sum + member.spentOn(day), 0);
    return { limit: this.#options.limits().costPerDayUsd, spent };
  }

  /** Counts what a repository has spent, until it joins. */
  remember(name: string, spentOn: ShareMember['spentOn']): void {
    this.#gone.set(name, { spentOn });
  }

  join(options: ShareMember): Share {
    const { clock, limits } = this.#options;
    const member: Member = { ...options, wants: 0, since: clock.elapsed() };
    this.#members.add(member);
    const { name } = options;
    if (name !== undefined) this.#gone.delete(name);
    const wakeOthers = () => {
      for (const other of this.#members) if (other !== member && other.wants > 0) other.wake();
    };
    const shareOf = (one: Member): SlotShare => ({ held: one.held(), wants: one.wants, since: one.since });
    return {
      free: () => {
        const others = [...this.#members].filter((one) => one !== member);
        const since = member.wants > 0 ? member.since : clock.elapsed();
        return sharedSlots(limits().slots, { ...shareOf(member), since }, others.map(shareOf));
      },
      wants: (issues) => {
        const before = member.wants;
        if (before === 0 && issues > 0) member.since = clock.elapsed();
        member.wants = issues;
        // What was kept for it is theirs.
        if (issues < before) wakeOthers();
      },
      freed: wakeOthers,
      leave: () => {
        if (this.#members.delete(member) && name !== undefined) this.#gone.set(name, member);
        wakeOthers();
      },
    };
  }
}
