// What members and the lead are told: at a spawn, after a compaction, at the next step.

import { CHOSEN_ALONE } from './fallback.ts';
import { claimable, failedInTheWay, failedWords, isPastStarting } from './idle.ts';
import { JUDGE, lacksWord } from './judge.ts';
import { calledBack, calledWords, messageLine, unreadOf } from './mail.ts';
import { LEAD } from './message.ts';
import type { Ownership } from './ownership.ts';
import { agentOf, ROLES, type RoleName } from './role.ts';
import type { TeamSettings } from './settings.ts';
import { agentOfRun, isLive, isModelLed, type Member, type TeamState } from './state.ts';
import { shownStatus, type Task } from './task.ts';
import { bookOf } from './task-book.ts';

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
    `Members that messages reach: ${membersLine(state, name)}.`,
    member.readOnly
      ? 'You only read: every write is refused.'
      : `You own ${own.length === 0 ? 'no files' : own.join(', ')}. Writes to files of others are refused: ask their owner with a change_request. Shared and unowned files need FileLease first.`,
    tasks.length === 0
      ? 'No task is meant for you yet: see TaskList, and claim what fits you.'
      : `Your tasks:\n${tasks.map((task) => taskLine(task, state)).join('\n')}`,
    'Work by the tools of the MCP server "team": Inbox, TaskList, TaskGet, TaskUpdate (in_progress claims, completed ends), SendMessage' +
      (member.readOnly ? '.' : ', FileLease.'),
    ...(key === null ? [] : [`Your key is ${key}: pass it as "key" with each of these calls, and tell it nobody.`]),
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
    nextStep(state),
  ].join('\n');
}

/** The parameters of `Task` for a role of this team. */
export function spawnParameters(team: string, role: string, prompt: string): Readonly<Record<string, string>> {
  return { subagent_type: agentOf(role), team_name: team, name: role, prompt };
}

/** Roles of the team that nobody plays yet and that have something to do. */
export function rolesToStart(state: TeamState): readonly string[] {
  const wanted = state.purpose?.roles ?? [];
  const busy = new Set(
    bookOf(state.tasks)
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
  return [...new Set([...roles, ...calledBack(state).map(({ name }) => name)])];
}

/** Why there is no team. */
function aloneWords({ fallback }: TeamState): string {
  if (fallback?.trigger === CHOSEN_ALONE) return `No team was wanted (${fallback.reason})`;
  return `Team mode failed (${fallback?.trigger ?? 'no trigger known'})`;
}

/** What follows when all tasks are completed. */
function doneWords(state: TeamState): string {
  if (lacksWord(state))
    return `Next: call TaskList. It runs the final gate if that is pending, and asks ${JUDGE} for quality_gate_passed, which is missing.`;
  if (state.purpose?.phase === 'plan')
    return 'Next: call TaskList. It builds the SPEC from the results, and tells you its id or what is wrong with them.';
  // At a terminal nothing follows by itself.
  return state.purpose?.phase === 'run' && isModelLed(state)
    ? 'Next: call TaskList. It runs the final gate if that is pending, and tells you the outcome.'
    : 'Next: SendMessage shutdown_request to all, then TeamDelete.';
}

/** What the lead does next, in words. */
export function nextStep(state: TeamState): string {
  const live = [...state.members.values()].filter(isLive).filter((member) => member.phase !== 'stopped');
  const book = bookOf(state.tasks);
  const isDone = book.size > 0 && book.isDone;
  const failed = failedInTheWay(state);
  const called = calledBack(state);
  const stillAtWork = live.flatMap((member) => (agentOfRun(state, member) === undefined ? [] : member.name));
  switch (state.session) {
    case 'created':
    case 'assigned':
      // After a restart.
      if (isDone) return doneWords(state);
      return `Next: start ${rolesToStart(state).join(', ') || 'teammates'} with Task, one call each, and make the calls that they answer with, all in one message.`;
    case 'spawned':
    case 'working':
      if (book.size === 0) return 'Next: TaskCreate for what each teammate is to do; they have no task yet.';
      if (called.length > 0)
        return `Next: ${calledWords(called)}: start ${called.map(({ name }) => name).join(', ')} with Task, and make the call that it answers with.`;
      if (failed.length > 0) return `Next: ${failedWords(failed)}`;
      return book.open().length === 0
        ? doneWords(state)
        : 'Next: wait for your teammates; answer what they ask; TaskList shows how far they are.';
    case 'spec_generated':
    case 'awaiting_approval':
      return 'Next: ask the user to reply with exactly "approve" and the id of the SPEC, or with "changes: " and what to change. No other wording counts.';
    case 'approved':
    case 'complete':
      return `Next: SendMessage {"recipient":"all","type":"shutdown_request","content":"The work is done."}, then TeamDelete {"team_name":"${state.team}"}.`;
    case 'gate':
      return 'Next: wait for quality_gate_passed, or for what is to be mended.';
    case 'shutting_down':
      return `Next: wait for ${live.map((member) => member.name).join(', ') || 'the last one'} to end, then TeamDelete.`;
    case 'shut_down':
      return `Next: TeamDelete {"team_name":"${state.team}"}.`;
    case 'fallback':
      return `${aloneWords(state)}: ${stillAtWork.length === 0 ? '' : `wait for ${stillAtWork.join(', ')}, still at work as a teammate, to end; then `}do the open tasks one at a time, each with one sub-agent, in the order of the list; set each to completed yourself with TaskUpdate; then TeamDelete.`;
    case 'none':
    case 'deleted':
      return 'Next: nothing; the team is gone.';
  }
}
