// Attribution of changed files to tasks where no commits record it, from the allowed writes in the team's log.

import type { WrittenFacts } from '../../gate/rules/trust5-facts.ts';
import { nearPatterns } from '../../guard/rules/near-patterns.ts';
import { ownerOf } from '../../guard/rules/ownership.ts';
import { specOf, type TeamState, type Writing } from './log/state.ts';
import { LEAD } from './message.ts';
import type { Task } from './task.ts';
import { taskIndexOf } from './task-index.ts';

/** Id of the member's task in progress, the one begun last; null: none. */
function taskAtWork(open: readonly Task[], member: string): string | null {
  const [last] = open
    .filter(({ status, claim }) => status === 'in_progress' && claim?.member === member)
    .sort((one, other) => (other.claim?.at ?? 0) - (one.claim?.at ?? 0));
  return last?.id ?? null;
}

/** Adds a write at the end, and drops an earlier one of the same member and task. */
export function withWriting(
  before: readonly Writing[],
  open: readonly Task[],
  member: string,
  at: number,
): readonly Writing[] {
  const task = taskAtWork(open, member);
  return [...before.filter((one) => one.member !== member || one.task !== task), { member, task, at }];
}

/** Whether the last recorded write of a path is that member's, in its current task. */
export function isOnRecord({ tasks, written, writers }: TeamState, path: string, member: string): boolean {
  const last = written.get(path)?.at(-1);
  // A lease alone is no write.
  const isWriter = writers.get(path)?.includes(member) === true;
  return isWriter && last?.member === member && last.task === taskAtWork(taskIndexOf(tasks).open(), member);
}

/** Whether the member ended the task without beginning it first. */
function isUnclaimed({ claim, endedAt }: Task, member: string): boolean {
  if (member === LEAD && claim === null) return true;
  return claim?.member === member && claim.at === endedAt;
}

function names({ files }: Task, path: string): boolean {
  const ownership = nearPatterns(path, [{ owner: LEAD, patterns: files }]);
  return files.includes(path) || ownerOf(path, ownership).owner !== null;
}

/**
 * Id of the task of a path's last change; null: none. A write without a task counts for the task that its member ended
 * next without beginning it. Otherwise the change counts for a later completed task that names the path.
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

/** Files of the host, of toolcrew and of Git: rules and documents of the team, not its work. */
const OWN = /^(?:\.(?:claude|tool|git)(?:\/|$)|\.mcp\.json$)/;

/**
 * Facts of the log about the changed files.
 * @param changed paths from the project's root
 */
export function writtenFacts(state: TeamState, changed: readonly string[]): WrittenFacts {
  const files = changed.filter((path) => !OWN.test(path)).map((path) => ({ path, task: taskOf(path, state) }));
  return { ...noFacts(state), written: files };
}

/** Facts without the changed files, which are unknown. @param unmeasured the reason */
export function unknownFacts(state: TeamState, unmeasured: string): WrittenFacts {
  return { ...noFacts(state), written: { unmeasured } };
}

function noFacts(state: TeamState): Omit<WrittenFacts, 'written'> {
  return { source: `log of ${state.team}`, spec: specOf(state) };
}
