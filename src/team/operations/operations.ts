// The team operations: one implementation for models and for shells.

import { nearest } from '../../base/rules/nearest.ts';
import type { TeamLog } from '../ports.ts';
import type { Evidence } from '../rules/caller.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';
import { type Input, isOperation, OPERATIONS, type OperationName, readInput } from '../rules/operation.ts';
import { type Answer, callerOf, refuse, type TeamCaller, type TeamContext, withReadable } from './context.ts';
import { createTeam, deleteTeam, registerMember } from './lead-operations.ts';
import { leaseFile, readInbox, type Show, sendMessage } from './member-operations.ts';
import { recordingRefusal, recordingRefusalOutside } from './refusal-record.ts';
import { createTask, getTask, listTasks, updateTask } from './task-operations.ts';

type Inner = Exclude<OperationName, 'TeamCreate'>;

/** Parts of the context that some operation needs; each operation names its own. */
export type OperationContext = Pick<TeamContext, 'teams' | 'keys' | 'now'> &
  Parameters<typeof createTeam>[0] &
  Parameters<typeof registerMember>[0] &
  Parameters<typeof deleteTeam>[0] &
  Parameters<typeof sendMessage>[0] &
  Parameters<typeof leaseFile>[0] &
  Parameters<typeof createTask>[0] &
  Parameters<typeof updateTask>[0];

function perform(
  context: OperationContext,
  name: Inner,
  log: TeamLog,
  caller: TeamCaller,
  input: Input,
  show: Show,
): Promise<Answer> | Answer {
  switch (name) {
    case 'Task':
      return registerMember(context, log, caller, input);
    case 'SendMessage':
      return sendMessage(context, log, caller, input);
    case 'TaskCreate':
      return createTask(context, log, caller, input);
    case 'TaskUpdate':
      return updateTask(context, log, caller, input);
    case 'TaskList':
      return listTasks(log, caller, input);
    case 'TaskGet':
      return getTask(log, caller, input);
    case 'TeamDelete':
      return deleteTeam(context, log, caller, input);
    case 'Inbox':
      return readInbox(log, caller, show);
    case 'FileLease':
      return leaseFile(context, log, caller, input);
  }
}

/** Who asks, with the key that the call itself may hold. */
export function evidenceWith(context: Pick<TeamContext, 'keys'>, given: unknown, evidence: Evidence): Evidence {
  if (evidence.kind !== 'nothing' || typeof given !== 'object' || given === null || !('key' in given)) return evidence;
  const { key } = given;
  return typeof key === 'string' && key !== '' ? { kind: 'key', hash: context.keys.hash(key) } : evidence;
}

/**
 * Carries out one operation. Throws a ToolError of the kind `refused`: it names the value, the rule and what is valid.
 * @param evidence who asks, from outside of what was asked
 * @param show shows mail, which is read with that; missing: who calls has it with the answer
 */
export async function operate(
  context: OperationContext,
  name: string,
  given: unknown,
  evidence: Evidence,
  show: Show = () => Promise.resolve(),
): Promise<Answer> {
  if (!isOperation(name)) {
    const names = Object.keys(OPERATIONS);
    const close = nearest(name, names);
    return refuse(OPERATIONS_CODES.operation_unknown, {
      name,
      known: names,
      ...(close === undefined ? {} : { near: close }),
    });
  }
  const read = readInput(name, given);
  if (!read.ok) return refuse(OPERATIONS_CODES.input_invalid, { operation: name, problems: read.problems });
  const { input } = read;
  const who = evidenceWith(context, given, evidence);
  if (name === 'TeamCreate')
    return recordingRefusalOutside(context, name, input, who, () => createTeam(context, input, who));
  return withReadable(context.teams, async (logs, unread) => {
    const { caller, log } = callerOf(who, logs, input.maybe('team_name'), unread);
    // Whose start nobody saw has its first call as the sign of it.
    if (caller.kind === 'member' && caller.member.phase === 'registered')
      await log.append({ type: 'member_spawned', name: caller.name, epoch: caller.epoch, key_hash: null, pid: null });
    return recordingRefusal(context, name, input, caller, log, (seen) =>
      perform(context, name, seen, caller, input, show),
    );
  });
}
