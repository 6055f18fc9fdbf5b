// The issue as the daemon reads it, and what its labels say.

import type { Blockers } from './blockers.ts';

/** Who did something on the hosting service. `type` is the service's own: `User`, `Bot`, `Organization`, … */
export type Actor = { readonly login: string; readonly type: string };

export type Issue = {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly state: 'open' | 'closed';
  readonly labels: readonly string[];
  /** null when the account is gone. */
  readonly author: Actor | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly blockers: Blockers;
};

/** The labels that say where an issue stands. */
export type StateLabels = {
  readonly active: readonly string[];
  readonly done: string;
  readonly failed: string;
};

/** Label names are compared as the hosting service does: without regard to case. */
export function sameLabel(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

export function hasLabel(labels: readonly string[], wanted: string): boolean {
  return labels.some((label) => sameLabel(label, wanted));
}

/** The active labels that the issue carries, as the issue spells them. */
export function activeLabelsOf(labels: readonly string[], states: StateLabels): string[] {
  return labels.filter((label) => hasLabel(states.active, label));
}

/** Every state label that the issue carries, as the issue spells it. */
export function stateLabelsOf(labels: readonly string[], states: StateLabels): string[] {
  return labels.filter((label) => hasLabel([...states.active, states.done, states.failed], label));
}

/** Oldest first, the number deciding between equals. */
export function byAge(a: Issue, b: Issue): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.number - b.number;
}

/** Place of an issue in the order of these labels, 0 first; that of one without any of them is their number. */
export function priorityOf(issue: Issue, labels: readonly string[]): number {
  const place = labels.findIndex((label) => hasLabel(issue.labels, label));
  return place === -1 ? labels.length : place;
}

/** The branch of an issue's k-th life: `tool/issue-7`, then `tool/issue-7-2`. */
export function branchOf(prefix: string, issueNumber: number, life: number): string {
  return life === 1 ? `${prefix}issue-${issueNumber}` : `${prefix}issue-${issueNumber}-${life}`;
}

/** The issue that such a branch is of; null: it is another branch. */
export function issueOf(prefix: string, branch: string): number | null {
  const number = branch.startsWith(prefix)
    ? /^issue-([1-9]\d*)(?:-\d+)?$/.exec(branch.slice(prefix.length))?.[1]
    : undefined;
  return number === undefined ? null : Number(number);
}
