// A team's tasks with an index: the open ones, and the finished ones in the order of their ends.

import type { Task, TaskStatus } from './task.ts';

type Counts = Readonly<Record<TaskStatus, number>>;

function isOpen({ status }: Task): boolean {
  return status === 'pending' || status === 'in_progress';
}

/** Ids count up from 1. */
function byId(one: Task, other: Task): number {
  return Number(one.id) - Number(other.id);
}

export class TaskBook extends Map<string, Task> {
  readonly #open = new Map<string, Task>();
  /** Ids of finished tasks; the last one ended last. */
  readonly #ended: string[] = [];
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
    const wasEnded = before !== undefined && !isOpen(before);
    const isSameEnd = wasEnded && !isOpen(task) && before.endedAt === task.endedAt;
    // Whoever begins anew begins what ended lately.
    if (wasEnded && !isSameEnd) this.#ended.splice(this.#ended.lastIndexOf(id), 1);
    if (!isOpen(task) && !isSameEnd) this.#ended.push(id);
    return super.set(id, task);
  }

  override delete(): boolean {
    throw new TypeError('a task is never removed');
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** The open tasks, the oldest first. */
  open(): readonly Task[] {
    return [...this.#open.values()].sort(byId);
  }

  /** The tasks that ended last, at most so many, the oldest first. @param status missing: any end */
  ended(most: number, status?: TaskStatus): readonly Task[] {
    const found: Task[] = [];
    for (let place = this.#ended.length - 1; place >= 0 && found.length < most; place--) {
      const task = this.get(this.#ended[place] ?? '');
      if (task !== undefined && (status === undefined || task.status === status)) found.push(task);
    }
    return found.sort(byId);
  }
}

/** The index of a fold's tasks; of other tasks one is made. */
export function bookOf(tasks: ReadonlyMap<string, Task>): TaskBook {
  return tasks instanceof TaskBook ? tasks : new TaskBook(tasks);
}
