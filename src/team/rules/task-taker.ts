// The teammate that the lead gives a task without an owner.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { nearPatterns } from '../../guard/rules/near-patterns.ts';
import { type Ownership, ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import { LEAD_CODES } from './codes/lead-codes.ts';
import { fitsMember } from './idle.ts';
import type { TeamState } from './log/state.ts';
import { ROLES } from './role.ts';
import type { Task } from './task.ts';
import { taskIndexOf } from './task-index.ts';

export type TakerFacts = {
  /** Roles whose process runs now. */
  readonly running: ReadonlySet<string>;
  /** Roles that begin nothing any more, with the reason. */
  readonly spent: ReadonlyMap<string, string>;
  readonly ownership: readonly Ownership[];
  readonly maxTeammates: number;
};

export type Taker =
  /** Somebody who is there takes it. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'give'; readonly role: string }
  | { readonly kind: 'nobody'; readonly why: string };

function isReadOnly(state: TeamState, name: string): boolean {
  return (
    state.members.get(name)?.readOnly ?? Object.values(ROLES).find((role) => role.name === name)?.readOnly ?? false
  );
}

/** Whose files it names; without those that are shared or nobody's. */
export function fileOwners({ files }: Pick<Task, 'files'>, ownership: readonly Ownership[]): readonly string[] {
  const owners = files.map((file) => ownerOf(file, nearPatterns(file, ownership)).owner);
  return [...new Set(owners.filter((owner) => owner !== null && owner !== SHARED))].filter((owner) => owner !== null);
}

/** Those that the team began with, and those that came to it. */
function rolesOf({ purpose, members }: TeamState): readonly string[] {
  return [...new Set([...(purpose?.roles ?? []), ...members.keys()])];
}

/** Who may be given work that is nobody's: whoever writes, or all where nobody does. */
function candidates(state: TeamState, owners: readonly string[]): readonly string[] {
  const known = rolesOf(state);
  if (state.purpose?.phase !== 'run') return known;
  const missing = owners.filter((owner) => Object.hasOwn(ROLES, owner) && !known.includes(owner));
  return [...known, ...missing].filter((name) => !isReadOnly(state, name));
}

/** Whether the team has room for it, or it has a place already. */
function hasPlace({ members }: TeamState, name: string, max: number): boolean {
  const there = [...members.values()].filter((one) => one.phase !== 'over' && one.name !== name);
  return there.length < max;
}

/** Whoever writes in the team, whether or not anybody plays it now: a restart leaves nobody there. */
export function writersOf(state: TeamState): readonly string[] {
  return rolesOf(state).filter((name) => !isReadOnly(state, name));
}

function openTasks({ tasks }: TeamState, name: string): number {
  return taskIndexOf(tasks)
    .uncompletedTasks()
    .filter(({ owner }) => owner === name).length;
}

function whyNobody(able: readonly string[], owners: readonly string[], facts: TakerFacts): string {
  if (owners.length > 1) return `its files belong to ${owners.join(' and ')}: each of them needs a separate task`;
  if (able.length === 0)
    return `no role of the team fits${owners.map((one) => `; its files belong to ${one}`).join('')}`;
  const reasons = able.map((name) => `${name}: ${facts.spent.get(name) ?? `max_teammates is ${facts.maxTeammates}`}`);
  return `no teammate with a fitting role can take it: ${reasons.join('; ')}`;
}

/** Who takes a task that is nobody's, and could be begun. */
export function takerOf(task: Task, state: TeamState, facts: TakerFacts): Taker {
  const { running, spent, ownership, maxTeammates } = facts;
  const owners = fileOwners(task, ownership);
  const able = candidates(state, owners).filter((name) => fitsMember(task, name, ownership));
  if (able.some((name) => running.has(name) && !spent.has(name) && !isReadOnly(state, name))) return { kind: 'taken' };
  const free = able.filter((name) => !spent.has(name) && hasPlace(state, name, maxTeammates));
  const [first] = free.toSorted(
    (one, other) =>
      Number(owners.includes(other)) - Number(owners.includes(one)) || openTasks(state, one) - openTasks(state, other),
  );
  if (first !== undefined) return { kind: 'give', role: first };
  const why = whyNobody(able, owners, facts);
  return { kind: 'nobody', why: textOf(refusal(LEAD_CODES.task_unclaimable, { task: task.id, why, owners })) };
}
