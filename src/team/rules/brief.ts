// Briefs for members and the lead: at a spawn, after a compaction, at the next step.

import type { Ownership } from '../../guard/rules/ownership.ts';
import { deleteCall, endCalls, startWords } from './calls.ts';
import { CHOSEN_SOLO, triggerWords } from './fallback.ts';
import { blockingFailures, claimable, failedWords, isPastStarting } from './idle.ts';
import { agentOfRun, isLive, isModelLed, type Member, type TeamState } from './log/state.ts';
import { messageLine, recalledMembers, recallText, unreadOf } from './mail.ts';
import { LEAD } from './message.ts';
import { JUDGE, lacksVerdict } from './quality-verdict.ts';
import { ROLES, type RoleName } from './role.ts';
import type { TeamSettings } from './settings.ts';
import { shownStatus, type Task } from './task.ts';
import { taskIndexOf } from './task-index.ts';

function isRole(name: string): name is RoleName {
  return Object.hasOwn(ROLES, name);
}

/** The role of that name; undefined for one that only the project knows. */
export function roleNamed(name: string): (typeof ROLES)[RoleName] | undefined {
  return isRole(name) ? ROLES[name] : undefined;
}

function patternsOf(name: string, ownership: readonly Ownership[]): readonly string[] {
  return ownership.filter(({ owner }) => owner === name).flatMap(({ patterns }) => patterns);
}

export function taskLine(task: Task, state: TeamState): string {
  const status = shownStatus(task, state.tasks);
  const who = task.claim?.member ?? task.owner;
  const waits = status === 'blocked' ? ` after ${task.blockedBy.join(', ')}` : '';
  return `${task.id}. [${status}${waits}] ${task.subject}${who === null ? '' : ` (${who})`}`;
}

function membersLine(state: TeamState, but: string): string {
  const others = [...state.members.values()].filter((member) => member.phase !== 'over' && member.name !== but);
  return [...others.map((member) => member.name), ...(but === LEAD ? [] : [LEAD])].join(', ') || 'nobody yet';
}

/** What a teammate knows when it begins, or after its conversation was shortened. */
export function memberBrief(state: TeamState, member: Member, settings: TeamSettings, key: string | null): string {
  const { name } = member;
  const own = patternsOf(name, settings.ownership);
  const tasks = [...state.tasks.values()].filter((task) => task.claim?.member === name || task.owner === name);
  const unread = unreadOf(state, name);
  const role = roleNamed(name);
  return [
    `toolcrew: you are ${name} of team ${state.team}${role === undefined ? '' : ` (${role.does})`}. It works on: ${state.purpose?.subject ?? ''}`,
    `You can send messages to: ${membersLine(state, name)}.`,
    member.readOnly
      ? 'Your role is read-only: every write is refused.'
      : `You own ${own.length === 0 ? 'no files' : own.join(', ')}. Writes to files of others are refused: ask their owner with a change_request. Shared files need FileLease first. The first writer of a file without an owner holds it until its task ends.`,
    tasks.length === 0
      ? 'You have no task yet: call TaskList {} and claim one that fits your role.'
      : `Your tasks:\n${tasks.map((task) => taskLine(task, state)).join('\n')}`,
    'Use the tools of the MCP server "team": Inbox, TaskList, TaskGet, TaskUpdate (in_progress claims, completed ends), SendMessage' +
      (member.readOnly ? '.' : ', FileLease.'),
    ...(key === null ? [] : [`Your key is ${key}: pass it as "key" with each of these calls. Keep it secret.`]),
    ...(unread.length === 0 ? [] : [`Unread:\n${unread.map(messageLine).join('\n')}`]),
  ].join('\n');
}

/** What the lead knows after its conversation was shortened or taken up again. */
export function leadBrief(state: TeamState): string {
  const members = [...state.members.values()].map((member) => `${member.name}: ${member.phase}`);
  const unread = unreadOf(state, LEAD);
  return [
    `toolcrew: you lead team ${state.team} (${state.session}). It works on: ${state.purpose?.subject ?? ''}`,
    `Teammates: ${members.join(', ') || 'none yet'}.`,
    state.tasks.size === 0
      ? 'No tasks yet.'
      : `Tasks:\n${[...state.tasks.values()].map((task) => taskLine(task, state)).join('\n')}`,
    ...(unread.length === 0 ? [] : [`Unread:\n${unread.map(messageLine).join('\n')}`]),
    nextStepText(state),
  ].join('\n');
}

/** Roles of the team that nobody plays yet and that have something to do. */
export function rolesToStart(state: TeamState): readonly string[] {
  const wanted = state.purpose?.roles ?? [];
  const busy = new Set(
    taskIndexOf(state.tasks)
      .uncompletedTasks()
      .map(({ owner }) => owner),
  );
  return wanted.filter((role) => {
    const member = state.members.get(role);
    const isThere = member !== undefined && isLive(member);
    return !isThere && (state.tasks.size === 0 || busy.has(role));
  });
}

/** Roles that are to be started: their tasks could be begun now, or mail asks them for work, and nobody plays them any more. */
export function waitingRoles(state: TeamState): readonly string[] {
  if (isPastStarting(state)) return [];
  const roles = claimable(state).flatMap(({ owner }) => {
    const member = owner === null ? undefined : state.members.get(owner);
    const isThere = member !== undefined && isLive(member) && member.phase !== 'stopped';
    return owner === null || isThere ? [] : [owner];
  });
  return [...new Set([...roles, ...recalledMembers(state).map(({ name }) => name)])];
}

/** Why there is no team. */
function aloneWords({ fallback }: TeamState): string {
  if (fallback?.trigger === CHOSEN_SOLO) return `No team was wanted (${fallback.reason})`;
  return `Team mode failed (${fallback === null ? 'no trigger known' : triggerWords(fallback.trigger)})`;
}

/** What follows when all tasks are completed. */
function doneWords(state: TeamState): string {
  if (lacksVerdict(state))
    return `Next: call TaskList. It runs the final gate if that is pending, and asks ${JUDGE} for quality_gate_passed, which is missing.`;
  if (state.purpose?.phase === 'plan')
    return 'Next: call TaskList. It builds the SPEC from the results, and tells you its id or what is wrong with them.';
  // At a terminal nothing follows by itself.
  return state.purpose?.phase === 'run' && isModelLed(state)
    ? 'Next: call TaskList. It runs the final gate if that is pending, and tells you the outcome.'
    : `Next: ${endCalls(state.team)}.`;
}

/** Nobody is started yet, or again. */
function startNext(state: TeamState): string {
  const roles = rolesToStart(state);
  return roles.length === 0
    ? 'Next: register the teammates that you need with Task, then make the calls that they return.'
    : `Next: start ${startWords(roles, state.team)}.`;
}

function aloneNext(state: TeamState, teammates: readonly string[]): string {
  const first = [...state.tasks.values()].find(({ status }) => status !== 'completed');
  const wait = teammates.length === 0 ? '' : `Wait for ${teammates.join(', ')}, still at work as a teammate, to end. `;
  const none = state.tasks.size === 0 ? 'Do the work with sub-agents, one at a time.' : 'All tasks are completed.';
  const steps =
    first === undefined
      ? none
      : `Do the open tasks one at a time in the order of the list, each with one sub-agent. After each, call TaskUpdate yourself: {"taskId":"${first.id}","status":"completed"} for the first.`;
  return `${aloneWords(state)}. ${wait}${steps} At the end call ${deleteCall(state.team)}.`;
}

/** What the lead does next, in words. */
export function nextStepText(state: TeamState): string {
  const live = [...state.members.values()].filter(isLive).filter((member) => member.phase !== 'stopped');
  const book = taskIndexOf(state.tasks);
  const isDone = book.size > 0 && book.isDone;
  const failed = blockingFailures(state);
  const called = recalledMembers(state);
  const stillAtWork = live.flatMap((member) => (agentOfRun(state, member) === undefined ? [] : member.name));
  switch (state.session) {
    case 'created':
    case 'assigned':
      // After a restart.
      if (isDone) return doneWords(state);
      return startNext(state);
    case 'spawned':
    case 'working':
      if (book.size === 0) return 'Next: call TaskCreate for each teammate. They have no task yet.';
      if (called.length > 0)
        return `Next: ${recallText(called)}. Start ${startWords(
          called.map(({ name }) => name),
          state.team,
        )}.`;
      if (failed.length > 0) return `Next: ${failedWords(failed, state)}`;
      return book.open().length === 0
        ? doneWords(state)
        : 'Next: wait for your teammates and answer their questions. TaskList shows their progress.';
    case 'spec_generated':
    case 'awaiting_approval':
      return 'Next: ask the user to reply with exactly "approve" and the id of the SPEC, or with "changes: " and what to change. You cannot approve it, and no other wording counts.';
    case 'approved':
    case 'complete':
      return `Next: ${endCalls(state.team)}.`;
    case 'gate':
      return 'Next: wait for quality_gate_passed, or for requests for changes.';
    case 'shutting_down':
      return `Next: wait for ${live.map((member) => member.name).join(', ') || 'the last teammate'} to end, then ${deleteCall(state.team)}.`;
    case 'shut_down':
      return `Next: ${deleteCall(state.team)}.`;
    case 'fallback':
      return aloneNext(state, stillAtWork);
    case 'none':
    case 'deleted':
      return 'The team is deleted. Nothing is left to do.';
  }
}
