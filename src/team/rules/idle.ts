// Decisions about a member that stops: it continues while it has work that it could do.

import { type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { oneLine } from '../../base/rules/text.ts';
import { nearPatterns } from '../../guard/rules/near-patterns.ts';
import { type Ownership, ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import { deleteCall, endCalls, startWords } from './calls.ts';
import { LEAD_CODES } from './codes/lead-codes.ts';
import {
  COMPLETION_HOOK,
  isLive,
  MAX_REJECTIONS,
  type Member,
  type Message,
  rejectionKey,
  startsOf,
  type TeamState,
} from './log/state.ts';
import { messageLine, recalledMembers, recallText, unreadOf } from './mail.ts';
import { LEAD } from './message.ts';
import { askedJudge, JUDGE, JUDGE_ROUNDS, lacksVerdict, measuredLines } from './quality-verdict.ts';
import type { TeamSettings } from './settings.ts';
import { beginsAfter, isHeldUp, type Task, waitsFor } from './task.ts';
import { taskIndexOf } from './task-index.ts';

export type IdleVerdict =
  | { readonly accept: true; readonly reason: string }
  | {
      readonly accept: false;
      /** Tells what to do next; `reason` is its text. */
      readonly refusal: Refusal;
      readonly reason: string;
      /** The task that becomes the member's with this. */
      readonly assign: Task | null;
      /** Messages that the reason shows. */
      readonly shown: readonly Message[];
      /** The same as long as nothing has changed. */
      readonly fingerprint: string;
    };

/** Whether an unowned task fits a member: none of its files belongs to another member. */
export function fitsMember(task: Task, name: string, ownership: readonly Ownership[]): boolean {
  if (task.owner !== null) return task.owner === name;
  return task.files.every((file) => {
    const { owner } = ownerOf(file, nearPatterns(file, ownership));
    return owner === null || owner === SHARED || owner === name;
  });
}

/** Tasks that could be begun now, the oldest first. @param by who would begin what is nobody's; null: whoever it is */
export function claimable(state: TeamState, by: string | null = null): readonly Task[] {
  return taskIndexOf(state.tasks)
    .open()
    .filter((task) => task.status === 'pending' && beginsAfter(task, state.tasks, by).length === 0);
}

function earlyWords(task: Task, state: TeamState): string {
  const before = waitsFor(task, state.tasks).map((id) => `task ${id}`);
  if (before.length > 0 && task.isEarly === true)
    return ` You can complete it only after ${before.join(' and ')}. When you need that result, end your turn: you continue as soon as it is there.`;
  return before.length === 0
    ? ''
    : ` You can begin: its prerequisite is announced as ready. You can complete it only after ${before.join(' and ')}: until then end your turn; you are resumed.`;
}

function line(task: Task): string {
  return `task ${task.id} "${task.subject}"`;
}

function fingerprintOf(state: TeamState, parts: readonly string[]): string {
  return [...parts, `completed ${taskIndexOf(state.tasks).counts.completed}`].join('|');
}

/** How often its completion was rejected, as far as that makes a difference: who tries has not merely stopped. */
function rejectionsOf({ id }: Task, { rejections }: TeamState, name: string): number {
  const { total = 0 } = rejections.get(rejectionKey(COMPLETION_HOOK, name, `task ${id}`)) ?? {};
  return Math.min(total, MAX_REJECTIONS);
}

function mailWords(messages: readonly Message[]): string {
  return `You have ${messages.length} unread message${messages.length === 1 ? '' : 's'}:\n${messages.map(messageLine).join('\n')}\nAct on ${messages.length === 1 ? 'it' : 'them'} before you stop.`;
}

/** Sessions in which no work is begun or finished any more: what the team is for has come about, or it is to end. */
const OVER: ReadonlySet<string> = new Set(['approved', 'complete', 'shutting_down', 'shut_down']);

/**
 * Judges a teammate that stops. Somebody who was asked to end may, once that was read.
 * @param mayWait it goes on by itself when what it waits for is there, and is not sent back to its task before
 */
export function judgeIdle(state: TeamState, member: Member, settings: TeamSettings, mayWait = false): IdleVerdict {
  const { name, epoch } = member;
  const unread = unreadOf(state, name);
  const mail = unread.length === 0 ? [] : [mailWords(unread)];
  if (member.shutdown !== null && (member.shutdown.readAt !== null || unread.length === 0))
    return { accept: true, reason: 'it was asked to end' };
  const { validateWork } = settings.hooks.teammateIdle;
  const isOver = OVER.has(state.session);
  const open = taskIndexOf(state.tasks)
    .open()
    .filter(
      (task) =>
        task.status === 'in_progress' &&
        task.claim?.member === name &&
        task.claim.epoch === epoch &&
        !isHeldUp(task, state.tasks),
    );
  const unfinished = validateWork && !isOver ? open : [];
  const first = open.length > 0 || member.shutdown !== null || isOver ? undefined : nextFor(state, member, settings);
  const next = mayWait && first !== undefined && waitsEarly(first, state) ? undefined : first;
  if (unfinished.length === 0 && unread.length === 0 && next === undefined)
    return {
      accept: true,
      reason:
        open.length === 0 || isOver
          ? 'nothing is left for it'
          : 'unfinished work is not looked at (validate_work: false)',
    };
  const words = [
    ...mail,
    ...unfinished.map(
      (task) =>
        `You have not finished ${line(task)}: finish it and call TaskUpdate {"taskId":"${task.id}","status":"completed"}, or "failed" with a result that says why.${arrivedWords(task, state)}`,
    ),
    ...(next === undefined
      ? []
      : [
          `${line(next)} is yours now: call TaskUpdate {"taskId":"${next.id}","status":"in_progress"}, then do it.${earlyWords(next, state)}${next.description === '' ? '' : ` It says: ${next.description}`}`,
          ...(name === JUDGE ? measuredLines(state) : []),
        ]),
  ];
  const why = refusal(LEAD_CODES.work_unfinished, {
    ...{ lines: words.join('\n'), unread: unread.length, tasks: unfinished.map(({ id }) => id) },
    ...(next === undefined ? {} : { next: next.id }),
  });
  return {
    accept: false,
    refusal: why,
    reason: textOf(why),
    assign: next === undefined || next.owner === name ? null : next,
    shown: unread,
    fingerprint: fingerprintOf(state, [
      `run ${epoch}`,
      ...unfinished.map((task) => `open ${task.id} rejected ${rejectionsOf(task, state, name)}`),
      ...unread.map((message) => `unread ${message.seq}`),
      ...(next === undefined ? [] : [`next ${next.id}`]),
    ]),
  };
}

/** What an early task waited for: the results that its owner goes on with. */
function arrivedWords(task: Task, { tasks }: TeamState): string {
  if (task.isEarly !== true) return '';
  const results = task.blockedBy.flatMap((id) => {
    const { owner, result } = tasks.get(id) ?? {};
    return result === null || result === undefined
      ? []
      : [`\nTask ${id} is completed. The result of ${owner}:\n${result}`];
  });
  return results.join('');
}

/** Whether it is early, and what it waits for is not there yet. */
function waitsEarly(task: Task, { tasks }: TeamState): boolean {
  return task.isEarly === true && waitsFor(task, tasks).length > 0;
}

/**
 * Whether a member that stops waits for others of the team, who are at work on what its own task needs: it goes on when
 * that is there, and nothing is to be said to it before.
 */
export function waitsForOthers(state: TeamState, { name, epoch, shutdown }: Member): boolean {
  if (shutdown !== null || isPastStarting(state)) return false;
  const held = taskIndexOf(state.tasks)
    .open()
    .filter((task) => {
      const { claim, owner, status } = task;
      if (status === 'pending') return owner === name && task.isGivenBack !== true && waitsEarly(task, state);
      return claim?.member === name && claim.epoch === epoch && isHeldUp(task, state.tasks);
    });
  const before = held.flatMap((task) => waitsFor(task, state.tasks)).map((id) => state.tasks.get(id));
  return before.length > 0 && before.every((task) => isInHand(task, state));
}

function isInHand(task: Task | undefined, { members }: TeamState): boolean {
  const member = members.get(task?.claim?.member ?? task?.owner ?? '');
  return member !== undefined && isLive(member) && member.phase !== 'stopped';
}

function nextFor(state: TeamState, member: Member, settings: TeamSettings): Task | undefined {
  const free = claimable(state, member.name).filter((task) => fitsMember(task, member.name, settings.ownership));
  return free.find((task) => task.owner === member.name) ?? (member.readOnly ? undefined : free[0]);
}

/** Sessions in which a lead has its work done. */
const AT_WORK: ReadonlySet<string> = new Set(['spawned', 'working']);

/** Whether who judges is to be asked for its word: it is in no turn in which that may come. */
function isWordDue(state: TeamState): boolean {
  if (!AT_WORK.has(state.session) || !lacksVerdict(state) || askedJudge(state).length >= JUDGE_ROUNDS) return false;
  return state.members.get(JUDGE)?.phase !== 'working';
}

/** Whether nobody is started for a task any more: the team is to end, or its tasks go on without one. */
export function isPastStarting({ session }: TeamState): boolean {
  return OVER.has(session) || session === 'fallback';
}

/** So much is shown of why something failed. */
const SAID_MAX = 200;

/** Tasks that have failed, where nothing else can go on without them; a search for a cause does. */
export function blockingFailures(state: TeamState): readonly Task[] {
  const book = taskIndexOf(state.tasks);
  if (book.counts.failed === 0 || state.purpose?.phase === 'debug') return [];
  const goesOn = book
    .open()
    .some(
      (task) =>
        task.status === 'in_progress' || (task.status === 'pending' && beginsAfter(task, state.tasks).length === 0),
    );
  return goesOn ? [] : book.failed();
}

export function failedWords(failed: readonly Task[], { team }: TeamState): string {
  const named = failed.map(
    ({ id, subject, result }) => `task ${id} "${subject}" (${oneLine(result ?? 'no reason given', SAID_MAX)})`,
  );
  const ids = failed.map(({ id }) => `TaskUpdate {"taskId":"${id}","status":"pending"}`).join(', ');
  return `tell the user that the work cannot continue without ${named.join(', ')}. To try again, call ${ids}. To end without it, call ${endCalls(team)}.`;
}

type Stuck = { readonly id: string; readonly words: string };

/** The call that gives a task to somebody who writes. */
function givingCall({ id }: Task, { members, purpose }: TeamState): string {
  const writers = [...members.values()].filter(({ readOnly }) => !readOnly).map(({ name }) => name);
  const [owner = '', ...others] = writers.length > 0 ? writers : (purpose?.roles ?? []);
  const call = `TaskUpdate {"taskId":"${id}","status":"pending","owner":"${owner}"}`;
  return others.length === 0 ? call : `${call} (or ${others.join(', ')})`;
}

/** Open tasks that come to nothing as they are: nobody who is there may claim them, or they wait for one that has failed. */
function stuckLines(state: TeamState, waiting: readonly Task[]): readonly Stuck[] {
  const nobodys = waiting
    .filter((task) => task.owner === null)
    .map((task) => ({
      id: task.id,
      words: `${line(task)} has no owner, and no teammate at work may claim it. Give it to one: ${givingCall(task, state)}. If its files have several owners, call TaskCreate for each owner, then TaskUpdate {"taskId":"${task.id}","status":"failed","result":"split"}.`,
    }));
  const failed = blockingFailures(state);
  const isWaitedFor = taskIndexOf(state.tasks).counts.pending > 0;
  if (failed.length === 0 || !isWaitedFor) return nobodys;
  return [
    ...nobodys,
    { id: failed.map(({ id }) => id).join('+'), words: `Before you stop, ${failedWords(failed, state)}` },
  ];
}

/** Judges the lead that stops: mail waits for it, or work or a request for somebody whom nobody has started. */
export function judgeLeadStop(state: TeamState, settings: TeamSettings): IdleVerdict {
  const unread = unreadOf(state, LEAD);
  const waiting = claimable(state).filter((task) => {
    const able = [...state.members.values()].filter(
      (member) => isLive(member) && member.phase !== 'stopped' && (task.owner !== null || !member.readOnly),
    );
    return !able.some((member) => fitsMember(task, member.name, settings.ownership));
  });
  // What became of a call that was to start somebody, the lead has been told: whoever denied it is not asked again by us.
  const isCalled = ({ owner }: Task) => {
    const member = state.members.get(owner ?? '');
    return member !== undefined && startsOf(state, member) > 0;
  };
  const waits = isPastStarting(state) ? [] : waiting.filter((task) => task.owner !== null && !isCalled(task));
  const called = isPastStarting(state) ? [] : recalledMembers(state);
  const toDelete = state.session === 'shut_down' ? [`All teammates have ended. Call ${deleteCall(state.team)}.`] : [];
  const isDone = state.session === 'complete' || state.session === 'approved';
  const toEnd = isDone ? [`The team's work is done. Call ${endCalls(state.team)}.`] : [];
  const toAsk = isWordDue(state)
    ? [`${JUDGE} has ended its work without quality_gate_passed. Call TaskList {}: it asks ${JUDGE} for it.`]
    : [];
  const stuck = isPastStarting(state) ? [] : stuckLines(state, waiting);
  if (unread.length + waits.length + called.length + toDelete.length + toEnd.length + toAsk.length + stuck.length === 0)
    return { accept: true, reason: 'nothing waits for the lead' };
  const owners = [...new Set(waits.flatMap((task) => task.owner ?? []))];
  const lines = [
    ...(unread.length === 0 ? [] : [mailWords(unread)]),
    ...(owners.length === 0
      ? []
      : [`${waits.map(line).join(', ')} can begin, and nobody works on it. Start ${startWords(owners, state.team)}.`]),
    ...(called.length === 0
      ? []
      : [
          `${recallText(called)}. Start ${startWords(
            called.map(({ name }) => name),
            state.team,
          )}.`,
        ]),
    ...stuck.map(({ words }) => words),
    ...toDelete,
    ...toEnd,
    ...toAsk,
  ];
  const why = refusal(LEAD_CODES.lead_work_pending, {
    ...{ lines: lines.join('\n'), unread: unread.length, tasks: waits.map(({ id }) => id) },
    ...{ roles: [...owners, ...called.map(({ name }) => name)], stuck: stuck.map(({ id }) => id) },
  });
  return {
    accept: false,
    refusal: why,
    reason: textOf(why),
    assign: null,
    shown: unread,
    fingerprint: fingerprintOf(state, [
      state.session,
      ...unread.map((message) => `unread ${message.seq}`),
      ...waits.map((task) => `waits ${task.id}`),
      ...stuck.map(({ id }) => `stuck ${id}`),
      ...called.flatMap(({ mail }) => mail.map(({ seq }) => `called ${seq}`)),
    ]),
  };
}
