// The shared task list: adding, claiming, finishing, looking.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { nearest } from '../../base/rules/nearest.ts';
import { type Ownership, ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import type { TeamLog } from '../ports.ts';
import { startWords } from '../rules/calls.ts';
import { MESSAGES_CODES } from '../rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';
import { TASK_CODES } from '../rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { claimable, fitsMember, isPastStarting } from '../rules/idle.ts';
import type { TeamState } from '../rules/log/state.ts';
import { isLive, isModelLed } from '../rules/log/state.ts';
import { LEAD } from '../rules/message.ts';
import type { Input } from '../rules/operation.ts';
import { JUDGE, measuredLines } from '../rules/quality-verdict.ts';
import { ROLES } from '../rules/role.ts';
import { SHOWN_STATUSES, shownStatus, TASK_STATUSES, type Task, type TaskStatus, waitsFor } from '../rules/task.ts';
import { taskIndexOf } from '../rules/task-index.ts';
import { fileOwners } from '../rules/task-taker.ts';
import { type CompletionContext, judgeCompletion } from './completion-gate.ts';
import {
  type Answer,
  appendRequired,
  makeTask,
  refuse,
  type TeamCaller,
  type TeamContext,
  tellLead,
} from './context.ts';
import { changedNothing } from './no-change-check.ts';

function shown(task: Task, state: TeamState, by: string | null = null): Answer {
  return {
    taskId: task.id,
    subject: task.subject,
    owner: task.claim?.member ?? task.owner,
    status: shownStatus(task, state.tasks, by),
    ...(task.blockedBy.length === 0 ? {} : { blocked_by: task.blockedBy }),
    ...(task.holdsUp === undefined ? {} : { holds_up: task.holdsUp }),
  };
}

function taskOf(state: TeamState, id: string): Task {
  const task = state.tasks.get(id);
  return task ?? refuse(TASK_CODES.task_not_found, { field: 'taskId', task: id, count: state.tasks.size });
}

/** Names that a task can be meant for: the members, and the roles that are to become some. */
function knownTo({ members, purpose }: TeamState): readonly string[] {
  return [...new Set([...members.keys(), ...(purpose?.roles ?? [])])];
}

function checkOwner(state: TeamState, owner: string): void {
  const known = knownTo(state);
  if (known.includes(owner)) return;
  // As agents are called, and not members.
  const bare = owner.replace(/^team-/, '');
  if (!known.includes(bare) && Object.hasOwn(ROLES, bare) && isModelLed(state))
    refuse(TASK_CODES.task_owner_not_started, { owner: bare, start: startWords([bare], state.team) });
  const close = known.includes(bare) ? bare : nearest(owner, known);
  refuse(MESSAGES_CODES.parameter_invalid, {
    ...{ field: 'owner', expected: `one of ${known.join(', ')}`, got: owner },
    ...(close === undefined ? {} : { near: close }),
  });
}

/** Whose each of the files is. */
function ownersWords(files: readonly string[], owners: readonly string[], ownership: readonly Ownership[]): string {
  const each = owners.map((name) => {
    const own = files.filter((file) => fileOwners({ files: [file] }, ownership).includes(name));
    return `${own.join(', ')} ${own.length === 1 ? 'is' : 'are'} ${name}'s`;
  });
  return each.join('; ');
}

export async function createTask(
  context: Pick<TeamContext, 'inside' | 'settings'>,
  log: TeamLog,
  caller: TeamCaller,
  input: Input,
): Promise<Answer> {
  const owner = input.maybe('owner') ?? null;
  if (owner !== null) checkOwner(log.state, owner);
  const files = input
    .texts('files')
    .map((file) => context.inside(file) ?? refuse(WORK_CODES.path_outside_project, { field: 'files', path: file }));
  const { ownership } = await context.settings();
  for (const file of files) {
    const whose = ownerOf(file, ownership).owner;
    if (owner !== null && whose !== null && whose !== SHARED && whose !== owner)
      refuse(TASK_CODES.task_file_of_other, {
        ...{ file, owner: whose },
        ...(knownTo(log.state).includes(whose) ? {} : ({ where: 'not in this team yet' } as const)),
      });
  }
  const owners = fileOwners({ files }, ownership);
  // Nobody could ever claim it.
  if (owner === null && owners.length > 1)
    refuse(TASK_CODES.task_files_of_others, { files, owners, each: ownersWords(files, owners, ownership) });
  const task = await makeTask(log, {
    type: 'task_created',
    subject: input.text('subject'),
    description: input.text('description'),
    owner,
    files,
    blocked_by: input.texts('blocked_by'),
    by: caller.name,
  });
  return task === undefined ? {} : { ...shown(task, log.state), ...toBeStarted(task, caller, log.state) };
}

/** Whose run is over begins nothing by itself. */
function toBeStarted({ owner }: Task, caller: TeamCaller, state: TeamState): Answer {
  const member = owner === null ? undefined : state.members.get(owner);
  if (member === undefined || caller.kind !== 'lead' || !isModelLed(state) || isPastStarting(state)) return {};
  if (isLive(member) && member.phase !== 'stopped') return {};
  const start = startWords([member.name], state.team);
  return { note: textOf(refusal(TASK_CODES.owner_not_at_work, { member: member.name, start })) };
}

function statusOf(text: string): TaskStatus {
  return (
    TASK_STATUSES.find((status) => status === text) ??
    refuse(MESSAGES_CODES.parameter_invalid, {
      ...{ field: 'status', expected: `one of ${TASK_STATUSES.join(', ')}`, got: text },
    })
  );
}

/** What is not the caller's to complete is said before any check runs for it. */
function mustBeOf(task: Task, name: string, { tasks }: TeamState): void {
  const { id, status, claim, owner } = task;
  if (status === 'in_progress' && claim !== null && claim.member !== name)
    refuse(TASK_CODES.task_claimed, { task: id, holder: claim.member });
  if (claim?.member !== name && owner !== name) refuse(TASK_CODES.task_not_claimed, { task: id, member: name });
  const before = waitsFor(task, tasks).map((other) => `task ${other} "${tasks.get(other)?.subject ?? ''}"`);
  if (before.length > 0)
    refuse(status === 'in_progress' ? TASK_CODES.task_waits : TASK_CODES.task_blocked, { task: id, before });
}

/** A lead that is a model completes for nobody: what a teammate is to do, that teammate completes. */
function mustNotBeOfAnother({ id, owner, claim, status }: Task, state: TeamState): void {
  if (owner === null || status !== 'pending' || claim !== null) return;
  if (!isModelLed(state) || state.session === 'fallback') return;
  const there = state.members.get(owner);
  const isAtWork = there !== undefined && isLive(there) && there.phase !== 'stopped';
  const another = [...state.members.keys()].find((name) => name !== owner);
  const next = isAtWork ? `${owner} completes it.` : `Start ${startWords([owner], state.team)}.`;
  refuse(TASK_CODES.task_not_begun, { task: id, owner, next, ...(another === undefined ? {} : { another }) });
}

export async function updateTask(
  context: CompletionContext,
  log: TeamLog,
  caller: TeamCaller,
  input: Input,
): Promise<Answer> {
  const task = taskOf(log.state, input.text('taskId'));
  const status = statusOf(input.text('status'));
  const owner = input.maybe('owner');
  const { name, epoch } = caller;
  const settings = await context.settings();
  if (owner !== undefined) {
    if (caller.kind !== 'lead') refuse(OPERATIONS_CODES.lead_only, { does: 'gives tasks to others' });
    checkOwner(log.state, owner);
  }
  if (status === 'in_progress' && caller.kind === 'member' && !fitsMember(task, name, settings.ownership)) {
    const { id, owner: whose, files } = task;
    if (whose === null) refuse(TASK_CODES.task_does_not_fit, { task: id, files, member: name });
    refuse(TASK_CODES.task_meant_for_other, { task: id, owner: whose, member: name });
  }
  // It is begun by whom it is given to.
  if (status === 'in_progress' && caller.kind === 'lead' && owner !== undefined) {
    await appendRequired(log, { type: 'task_assigned', task: task.id, owner, by: name });
    return shown(taskOf(log.state, task.id), log.state);
  }
  if (status === 'completed' && caller.kind === 'member') mustBeOf(task, name, log.state);
  if (status === 'completed' && caller.kind === 'lead') mustNotBeOfAnother(task, log.state);
  const before = startableTasks(log.state);
  const { gate } = log.state;
  const passed =
    status === 'completed' ? await judgeCompletion(context, log, task, caller, input.maybe('result') ?? '') : null;
  if (passed !== null && passed.refusal !== null) throw new ToolError(passed.refusal);
  const isNothing = passed !== null && (await changedNothing(context, task, caller, log.state, gate));
  await appendRequired(log, {
    type: 'task_updated',
    task: task.id,
    status,
    result: input.maybe('result') ?? null,
    ...(owner === undefined ? {} : { owner }),
    ...(isNothing ? { changed_nothing: true } : {}),
    by: name,
    epoch,
  });
  const released = await endLeases(log, caller);
  return {
    ...shown(taskOf(log.state, task.id), log.state),
    ...(passed === null ? {} : { checks: passed.reason }),
    ...(released.length === 0 ? {} : { leases_given_back: released }),
    ...(await unblockedSince(log, before, name, task.id)),
  };
}

/** What a member holds for a task is free again when it is at none any more; gives the paths. */
async function endLeases(log: TeamLog, caller: TeamCaller): Promise<readonly string[]> {
  const { leases, tasks } = log.state;
  const { name, epoch } = caller;
  const isAtWork = taskIndexOf(tasks)
    .open()
    .some(({ claim, status }) => claim?.member === name && status === 'in_progress');
  if (caller.kind !== 'member' || isAtWork) return [];
  const paths = [...leases.values()].filter(({ member }) => member === name).map(({ path }) => path);
  const released: string[] = [];
  // One that has run out meanwhile needs no giving back.
  for (const path of paths)
    if ((await log.append({ type: 'lease_released', path, by: name, epoch })).refusal === null) released.push(path);
  return released;
}

/** The ids of tasks that could be begun now. */
export function startableTasks(state: TeamState): ReadonlySet<string> {
  return new Set(claimable(state).map(({ id }) => id));
}

/** Tasks that have become startable; notifies the lead of those that no running member takes. */
export async function unblockedSince(
  log: TeamLog,
  before: ReadonlySet<string>,
  by: string,
  but: string | null = null,
): Promise<Answer> {
  const freed = claimable(log.state).filter(({ id }) => !before.has(id) && id !== but);
  if (freed.length === 0) return {};
  return { can_begin_now: freed.map((one) => shown(one, log.state)), ...(await tell(log, freed, by)) };
}

/** Tells the lead of work that can begin and has nobody at it. */
async function tell(log: TeamLog, freed: readonly Task[], by: string): Promise<Answer> {
  const idle = freed.filter(({ owner }) => {
    const member = owner === null ? undefined : log.state.members.get(owner);
    return owner !== null && (member === undefined || !isLive(member) || member.phase === 'stopped');
  });
  if (idle.length === 0 || by === LEAD) return {};
  const words = idle.map(({ id, owner }) => `task ${id} for ${owner ?? ''}`).join(', ');
  await tellLead(
    log,
    `${words} can begin now${isModelLed(log.state) ? `, and nobody is at work on it. Start ${startWords([...new Set(idle.flatMap(({ owner }) => owner ?? []))], log.state.team)}.` : ''}`,
  );
  return { note: `${LEAD} was told` };
}

/** So many finished tasks are listed beside the open ones, and so many of one status. */
const ENDED_LISTED = 20;
const SELECTED_LISTED = 100;

export function listTasks({ state }: TeamLog, { name }: TeamCaller, input: Input): Answer {
  const book = taskIndexOf(state.tasks);
  const status = SHOWN_STATUSES.find((one) => one === input.maybe('status'));
  const open = book.open();
  const statusOf = (task: Task) => shownStatus(task, book, name);
  const blocked = open.filter((task) => statusOf(task) === 'blocked').length;
  const counts = { ...book.counts, pending: book.counts.pending - blocked, blocked };
  const listed =
    status === undefined
      ? byId([...open, ...book.ended(ENDED_LISTED)])
      : status === 'completed' || status === 'failed'
        ? book.ended(SELECTED_LISTED, status)
        : open.filter((task) => statusOf(task) === status).slice(-SELECTED_LISTED);
  return { team: state.team, tasks: listed.map((task) => shown(task, state, name)), counts };
}

function byId(tasks: readonly Task[]): readonly Task[] {
  return tasks.toSorted((one, other) => Number(one.id) - Number(other.id));
}

export function getTask(log: TeamLog, { name }: TeamCaller, input: Input): Answer {
  const task = taskOf(log.state, input.text('taskId'));
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  return {
    ...shown(task, log.state, name),
    description: task.description,
    files: task.files,
    result: task.result,
    ...(task.returned === undefined ? {} : { rejected_result: task.returned }),
    ...(name === JUDGE && log.state.gate !== null ? { measured: measuredLines(log.state) } : {}),
    created_by: task.createdBy,
    created_at: time(task.createdAt),
    started_at: time(task.startedAt),
    ended_at: time(task.endedAt),
  };
}
