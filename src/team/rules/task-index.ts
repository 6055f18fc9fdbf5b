// A team's tasks with an index: the open ones, the failed ones, and the finished ones in the order of their ends.

import { isProof } from './hypothesis-verdict.ts';
import type { Task, TaskStatus } from './task.ts';

type Counts = Readonly<Record<TaskStatus, number>>;

function isOpen({ status }: Task): boolean {
  return status === 'pending' || status === 'in_progress';
}

/** Ids count up from 1. */
function byId(one: Task, other: Task): number {
  return Number(one.id) - Number(other.id);
}

export class TaskIndex extends Map<string, Task> {
  readonly #open = new Map<string, Task>();
  readonly #failed = new Map<string, Task>();
  /** Ids of completed tasks whose results prove a cause. */
  readonly #proofs = new Set<string>();
  /** Ids of finished tasks by the times of their ends, the latest last. */
  readonly #ended: { readonly id: string; readonly at: number }[] = [];
  /** Of lists of ids, those that were not completed when they were asked for last. */
  #uncompleted = new WeakMap<readonly string[], readonly string[]>();
  readonly #counts: Record<TaskStatus, number> = { pending: 0, in_progress: 0, completed: 0, failed: 0 };

  constructor(tasks: ReadonlyMap<string, Task> = new Map()) {
    super();
    const all = [...tasks.values()];
    for (const task of all.filter(isOpen)) this.set(task.id, task);
    const ended = all.filter((task) => !isOpen(task));
    // A snapshot holds them by id.
    for (const task of ended.toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0)))
      this.set(task.id, task);
    if (ended.length === 0) return;
    // The map itself keeps the order of the ids.
    super.clear();
    for (const task of all) super.set(task.id, task);
  }

  override set(id: string, task: Task): this {
    const before = this.get(id);
    if (before !== undefined) this.#counts[before.status] -= 1;
    this.#counts[task.status] += 1;
    if (isOpen(task)) this.#open.set(id, task);
    else this.#open.delete(id);
    if (task.status === 'failed') this.#failed.set(id, task);
    else this.#failed.delete(id);
    if (task.status === 'completed' && isProof(task.result)) this.#proofs.add(id);
    else this.#proofs.delete(id);
    if (before?.status === 'completed' && task.status !== 'completed') this.#uncompleted = new WeakMap();
    const wasEnded = before !== undefined && !isOpen(before);
    const isSameEnd = wasEnded && !isOpen(task) && before.endedAt === task.endedAt;
    // Whoever begins anew begins what ended lately.
    if (wasEnded && !isSameEnd)
      this.#ended.splice(
        this.#ended.findLastIndex((one) => one.id === id),
        1,
      );
    if (!isOpen(task) && !isSameEnd) this.#insertEnd(id, task.endedAt ?? 0);
    return super.set(id, task);
  }

  /** At the end, unless the clock was set back. */
  #insertEnd(id: string, at: number): void {
    const before = this.#ended.findLastIndex((one) => one.at <= at);
    this.#ended.splice(before + 1, 0, { id, at });
  }

  override delete(): boolean {
    throw new TypeError('a task is never removed');
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** Whether every task is completed. */
  get isDone(): boolean {
    return this.#open.size === 0 && this.#failed.size === 0;
  }

  /** Whether the result of a completed task proves a cause. */
  get isProven(): boolean {
    return this.#proofs.size > 0;
  }

  /** The open tasks, the oldest first. */
  open(): readonly Task[] {
    return [...this.#open.values()].sort(byId);
  }

  /** The failed tasks, the oldest first. */
  failed(): readonly Task[] {
    return [...this.#failed.values()].sort(byId);
  }

  /** The tasks that are not completed, the oldest first. */
  uncompletedTasks(): readonly Task[] {
    return [...this.#open.values(), ...this.#failed.values()].sort(byId);
  }

  /** Those of these ids whose tasks are not completed, in their order. A list that is asked for again costs only what was left of it. */
  uncompleted(ids: readonly string[]): readonly string[] {
    const before = this.#uncompleted.get(ids) ?? ids;
    const left = before.filter((id) => this.get(id)?.status !== 'completed');
    if (left.length < before.length) this.#uncompleted.set(ids, left);
    return left;
  }

  /** The tasks that ended then or later, the last one first. @param at ms since the epoch */
  *endedSince(at: number): Generator<Task> {
    for (let place = this.#ended.length - 1; place >= 0; place--) {
      const end = this.#ended[place];
      if (end === undefined || end.at < at) return;
      const task = this.get(end.id);
      if (task !== undefined) yield task;
    }
  }

  /** The tasks that ended last, at most so many, the oldest first. @param status missing: any end */
  ended(most: number, status?: TaskStatus): readonly Task[] {
    const found: Task[] = [];
    for (let place = this.#ended.length - 1; place >= 0 && found.length < most; place--) {
      const task = this.get(this.#ended[place]?.id ?? '');
      if (task !== undefined && (status === undefined || task.status === status)) found.push(task);
    }
    return found.sort(byId);
  }
}

/** The index of a fold's tasks; of other tasks one is made. */
export function taskIndexOf(tasks: ReadonlyMap<string, Task>): TaskIndex {
  return tasks instanceof TaskIndex ? tasks : new TaskIndex(tasks);
}

/**
 * Whether a teammate has had nothing else in hand since it began a task: what it changed for two at once came in with the one
 * that it completed first.
 */
export function isOnlyOne({ id, claim, owner, startedAt, createdAt }: Task, tasks: ReadonlyMap<string, Task>): boolean {
  const who = claim?.member ?? owner;
  const book = taskIndexOf(tasks);
  const isOther = (other: Task) => other.id !== id && other.claim?.member === who;
  if (book.open().some((other) => other.status === 'in_progress' && isOther(other))) return false;
  for (const other of book.endedSince(startedAt ?? createdAt)) if (isOther(other)) return false;
  return true;
}
