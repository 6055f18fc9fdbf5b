// Blockers of an issue: what its row tells of them, and the words for those that are open.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { WORK_CODES } from './codes/work-codes.ts';

/** How many others the service counts, and how many of them are open. */
export type Tally = { readonly open: number; readonly all: number };

/** What the row of an issue tells of its blockers. */
export type Blockers = {
  /** Numbers of issues and pull requests that its text names. */
  readonly named: readonly number[];
  readonly dependencies: Tally;
  readonly subIssues: Tally;
};

const NONE: Tally = { open: 0, all: 0 };
export const NO_BLOCKERS: Blockers = { named: [], dependencies: NONE, subIssues: NONE };

/** An issue that the service links to another one. `repository`: null for that of the other one. */
export type LinkedIssue = {
  readonly repository: string | null;
  readonly number: number;
  readonly state: 'open' | 'closed';
};

export type Link = 'dependencies' | 'subIssues';
export const LINKS: readonly Link[] = ['dependencies', 'subIssues'];
const LINK_WORDS: Readonly<Record<Link, string>> = { dependencies: 'dependency', subIssues: 'sub-issue' };

/** Open blockers. `unseen`: how many more the service counts than it shows to this account. */
export type OpenBlockers = {
  readonly named: readonly number[];
  readonly links: Readonly<Record<Link, { readonly shown: readonly LinkedIssue[]; readonly unseen: number }>>;
};

/** Whether the row names a blocker that may be open. */
export function hasBlockers({ named, dependencies, subIssues }: Blockers): boolean {
  return named.length > 0 || dependencies.open > 0 || subIssues.open > 0;
}

/** Equal for rows that tell the same. */
export function blockersKey({ named, dependencies, subIssues }: Blockers): string {
  return [named.join(), dependencies.open, dependencies.all, subIssues.open, subIssues.all].join(' ');
}

const MOST_SHOWN = 10;

function listed(items: readonly string[]): string {
  const shown =
    items.length > MOST_SHOWN ? [...items.slice(0, MOST_SHOWN), `${items.length - MOST_SHOWN} more`] : items;
  const last = shown.at(-1) ?? '';
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${last}` : last;
}

/** Why the issue waits; null when no blocker is open. */
export function judgeBlockers({ named, links }: OpenBlockers): Refusal | null {
  const groups = named.length === 0 ? [] : [`${listed(named.map((number) => `#${number}`))} (in its text)`];
  for (const link of LINKS) {
    const { shown, unseen } = links[link];
    // What the text names already is not named twice.
    const others = shown.filter(({ repository, number }) => repository !== null || !named.includes(number));
    const items = others.map(({ repository, number }) => `${repository ?? ''}#${number}`);
    if (unseen > 0) items.push(`${unseen} that the daemon's account cannot read`);
    if (items.length > 0) groups.push(`${listed(items)} (${LINK_WORDS[link]})`);
  }
  return groups.length === 0 ? null : refusal(WORK_CODES.issue_blocked, { blockers: groups.join(', and for ') });
}

/** @param cycle numbers of the issues, each waiting for the next, the last one for the first */
export function blockedInCycle(cycle: readonly number[]): Refusal {
  const chain = cycle.map((number, index) => `#${number} waits for #${cycle[index + 1] ?? cycle[0] ?? number}`);
  return refusal(WORK_CODES.issue_blocked_in_cycle, { chain });
}
