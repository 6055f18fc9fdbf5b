// An operation that is refused leaves a line in the team's log: who asked for what, and why it did not come about.

import { messageOf, ToolError } from '../../base/rules/errors.ts';
import { clip, oneLine } from '../../base/rules/text.ts';
import type { TeamLog } from '../ports.ts';
import { type Evidence, identify } from '../rules/caller.ts';
import { OPERATION_HOOK } from '../rules/log/state.ts';
import { LEAD } from '../rules/message.ts';
import type { Input, OperationName } from '../rules/operation.ts';
import { type Answer, type TeamCaller, type TeamContext, withReadable } from './context.ts';

const REASON_MAX = 2_000;
const ABOUT_MAX = 160;
/** Whoever asks again and again is noted once for each reason, and where that changes at most so often. */
const AGAIN_MS = 60_000;

function aboutOf(name: OperationName, input: Input): string {
  switch (name) {
    case 'TeamCreate':
    case 'TeamDelete':
      return `${name} ${input.maybe('team_name') ?? ''}`;
    case 'Task':
      return `${name} ${input.text('subagent_type')}`;
    case 'SendMessage':
      return `${name} ${input.text('type')} to ${input.text('recipient')}`;
    case 'TaskCreate':
      return `${name} "${input.text('subject')}"`;
    case 'TaskUpdate':
      return `${name} ${input.text('taskId')} ${input.text('status')}`;
    case 'TaskGet':
      return `${name} ${input.text('taskId')}`;
    case 'FileLease':
      return `${name} ${input.text('path')}`;
    case 'TaskList':
    case 'Inbox':
      return name;
  }
}

async function note(log: TeamLog, member: string | null, about: string, error: ToolError, now: number): Promise<void> {
  const reason = clip(messageOf(error), REASON_MAX);
  const isNoted = log.state.decisions.some(
    (one) =>
      one.hook === OPERATION_HOOK &&
      one.member === member &&
      one.about === about &&
      (one.reason === reason || now - one.at < AGAIN_MS),
  );
  if (isNoted) return;
  const words = { member, about, reason, fingerprint: '', paths: [] };
  // What keeps it from being written down is not why it was refused.
  await log
    .append({ type: 'decision', hook: OPERATION_HOOK, decision: 'reject', ...words }, { flush: false })
    .catch(() => null);
}

/** The log, which tells whether something was written into it that says of a refusal itself. */
function watched(log: TeamLog): { readonly log: TeamLog; readonly isSaid: () => boolean } {
  let isSaid = false;
  return {
    log: {
      get state() {
        return log.state;
      },
      refresh: () => log.refresh(),
      append: async (record, options) => {
        const appended = await log.append(record, options);
        if (appended.refused !== null || (record.type === 'decision' && record.decision !== 'accept')) isSaid = true;
        return appended;
      },
      close: () => log.close(),
    },
    isSaid: () => isSaid,
  };
}

/** Carries out an operation of somebody in a team; its refusal is noted there, and thrown. */
export async function recordingRefusal(
  { now }: Pick<TeamContext, 'now'>,
  name: OperationName,
  input: Input,
  caller: TeamCaller,
  log: TeamLog,
  perform: (log: TeamLog) => Promise<Answer> | Answer,
): Promise<Answer> {
  const { log: seen, isSaid } = watched(log);
  try {
    return await perform(seen);
  } catch (error) {
    if (error instanceof ToolError && error.kind === 'refused' && !isSaid())
      await note(
        log,
        caller.kind === 'lead' ? LEAD : caller.name,
        oneLine(aboutOf(name, input), ABOUT_MAX),
        error,
        now(),
      );
    throw error;
  }
}

/** The same for one that is in no team yet: it is noted where whoever asks belongs to one that stands. */
export async function recordingRefusalOutside(
  { teams, now }: Pick<TeamContext, 'teams' | 'now'>,
  name: OperationName,
  input: Input,
  evidence: Evidence,
  perform: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await perform();
  } catch (error) {
    if (error instanceof ToolError && error.kind === 'refused')
      await withReadable(teams, async (logs) => {
        const states = logs.map(({ state }) => state);
        const caller = identify(evidence, states).find(({ kind }) => kind === 'lead' || kind === 'member');
        if (caller === undefined || !('team' in caller)) return;
        const log = logs.find(({ state }) => state.team === caller.team);
        const member = caller.kind === 'member' ? caller.name : LEAD;
        if (log !== undefined) await note(log, member, oneLine(aboutOf(name, input), ABOUT_MAX), error, now());
      });
    throw error;
  }
}
