// What was written under which task, where no commits say it: told by the team's log, which holds each write that was allowed.

import type { WrittenFacts } from '../trust5-facts.ts';
import { LEAD } from './message.ts';
import { nearPatterns } from './near-patterns.ts';
import { ownerOf } from './ownership.ts';
import { specOf, type TeamState, type Writing } from './state.ts';
import type { Task } from './task.ts';
import { bookOf } from './task-book.ts';

/** The task that a member is at, the one that it began last; null: none. */
function taskAtWork(open: readonly Task[], member: string): string | null {
  const [last] = open
    .filter(({ status, claim }) => status === 'in_progress' && claim?.member === member)
    .sort((one, other) => (other.claim?.at ?? 0) - (one.claim?.at ?? 0));
  return last?.id ?? null;
}

/** With one more, the latest last; of the same member at the same task the latest is kept. */
export function withWriting(
  before: readonly Writing[],
  open: readonly Task[],
  member: string,
  at: number,
): readonly Writing[] {
  const task = taskAtWork(open, member);
  return [...before.filter((one) => one.member !== member || one.task !== task), { member, task, at }];
}

/** Whether the last write of a path on record is that member's, at the task that it is at now. */
export function isOnRecord({ tasks, written, writers }: TeamState, path: string, member: string): boolean {
  const last = written.get(path)?.at(-1);
  // A lease alone is no write.
  const isWriter = writers.get(path)?.includes(member) === true;
  return isWriter && last?.member === member && last.task === taskAtWork(bookOf(tasks).open(), member);
}

/** Whether that member has ended the task without having begun it before. */
function isUnclaimed({ claim, endedAt }: Task, member: string): boolean {
  if (member === LEAD && claim === null) return true;
  return claim?.member === member && claim.at === endedAt;
}

function names({ files }: Task, path: string): boolean {
  const ownership = nearPatterns(path, [{ owner: LEAD, patterns: files }]);
  return files.includes(path) || ownerOf(path, ownership).owner !== null;
}

/**
 * The task under which a path was changed last; null: under none. Whoever begins no tasks was at the one that it ended next.
 * What no write on record changed is that of a task which names it and was done.
 */
function taskOf(path: string, { tasks, written }: TeamState): string | null {
  const done = [...tasks.values()]
    .filter(({ status }) => status === 'completed')
    .sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0));
  const last = written.get(path)?.at(-1);
  const later = done.filter(({ endedAt }) => endedAt !== null && endedAt >= (last?.at ?? 0));
  const found =
    last === undefined ? undefined : (last.task ?? later.find((task) => isUnclaimed(task, last.member))?.id);
  return found ?? later.findLast((task) => names(task, path))?.id ?? null;
}

/** What holds the rules and the documents of the team itself. */
const OWN = /^(?:\.(?:claude|tool|git)(?:\/|$)|\.mcp\.json$)/;

/**
 * What the log says of the files that were changed.
 * @param changed paths from the project's root
 */
export function writtenFacts(state: TeamState, changed: readonly string[]): WrittenFacts {
  const files = changed.filter((path) => !OWN.test(path)).map((path) => ({ path, task: taskOf(path, state) }));
  return { ...noFacts(state), written: files };
}

/** The same where it cannot be told what was changed, and why. */
export function unknownFacts(state: TeamState, unmeasured: string): WrittenFacts {
  return { ...noFacts(state), written: { unmeasured } };
}

function noFacts(state: TeamState): Omit<WrittenFacts, 'written'> {
  return { source: `log of ${state.team}`, spec: specOf(state) };
}
