// Shell calls under the write guard: a ticket before the call, and afterwards what the guard noted.

import { refusal, textOf, withCode } from '../../base/rules/codes.ts';
import { clip, visible } from '../../base/rules/text.ts';
import { GUARD_LINE_CODES } from '../../guard/rules/guard-line-codes.ts';
import type { GuardNote } from '../../guard/rules/notes.ts';
import { insideProject } from '../../guard/rules/ownership.ts';
import type { TicketOwner } from '../../guard/shell-guard-port.ts';
import type { TeamContext } from '../../team/operations/context.ts';
import type { WriteRules } from '../../team/operations/context-parts.ts';
import type { FoundCaller } from '../../team/operations/event-caller.ts';
import type { HookAnswer, HostEvent } from '../../team/operations/host-event.ts';
import type { Caller } from '../../team/rules/caller.ts';
import { rulesOf } from '../../team/rules/caller-rules.ts';
import { judgeWrites, ruleOf } from '../../team/rules/guard.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { isOnRecord } from '../../team/rules/write-attribution.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { leaseToFirstWriter } from './first-writer.ts';

/** Calls that the host starts with a shell. */
const SHELLS: readonly string[] = ['Bash', 'Monitor'];

/** Refused paths that the agent is told about, with the call that helps. */
const MOST_TOLD = 3;
const MOST_CHARS = 300;

/** Agents of a lead whose team mode has failed: the log has their writes as the lead's own. */
const ALONE = 'alone';

function ticketOwnerOf(caller: Caller, state: TeamState, session: string, alone: boolean): TicketOwner {
  const { team } = state;
  if (alone) return { team, caller: ALONE };
  if (caller.kind === 'member') return { team, caller: caller.name };
  return { team, caller: caller.kind === 'lead' ? LEAD : `session-${session.replaceAll(/[^\w-]/g, '')}` };
}

export type TicketContext = Pick<TeamContext, 'settings' | 'now' | 'placeLeases'> &
  Pick<WriteRules, 'shellGuard' | 'allowsTicketComments' | 'worktree' | 'temporary' | 'hosts'>;

/**
 * Gives a shell call its ticket; null: the guard does not hold shell calls here, or it is another call.
 * @param alone whether the work goes on without a team: everything is allowed, and written down
 * @param read decides by the writes that the command names; asked where the guard takes no notes
 */
export async function attachTicket(
  context: TicketContext,
  event: HostEvent,
  { caller, log: { state } }: FoundCaller,
  alone: boolean,
  read: () => Promise<HookAnswer>,
): Promise<HookAnswer | null> {
  const { command } = event.input;
  if (!SHELLS.includes(event.tool) || typeof command !== 'string') return null;
  const guard = context.shellGuard;
  if (guard === null) return null;
  const hasTicketComments = context.allowsTicketComments(event.transcript);
  const answer = guard.takesNotes && hasTicketComments ? null : await read();
  if (answer !== null && answer.kind !== 'silent') return answer;
  const rules = rulesOf(caller, await context.settings(), {
    checkout: context.worktree === null ? 'shared' : 'own',
    alone,
    approval: state.approval,
    allowedGit: [],
  });
  context.placeLeases(state.team, state.leases, context.now());
  const place = ticketOwnerOf(caller, state, event.session, alone);
  if (!hasTicketComments) {
    await guard.wait(place, command, event.toolUseId, rules);
    return answer;
  }
  const ticketed = await guard.mark(place, command, event.toolUseId, rules);
  return { kind: 'rewrite', input: { ...event.input, command: ticketed }, grant: false };
}

/** Why a path was not written, with the call that helps. */
async function refusalOf(
  context: TicketContext,
  { caller, log: { state } }: FoundCaller,
  note: GuardNote,
): Promise<string> {
  const ruling = judgeWrites(
    { targets: [{ path: note.path, tree: false }], unresolved: [], git: null },
    caller,
    state,
    await context.settings(),
    {
      attended: false,
      now: context.now(),
      temporary: context.temporary,
      hosts: context.hosts,
      below: () => [],
      outputs: new Set(),
      checkout: context.worktree?.checkout ?? null,
    },
  );
  const holder =
    note.owner === '' ? 'is free, but its lease could not be taken' : `belongs to ${note.owner} (${note.pattern})`;
  const others = `${visible(note.path)} ${holder}`;
  return clip(ruling.decision === 'deny' ? ruling.reason : others, MOST_CHARS);
}

/**
 * Puts what the guard has noted of the caller's calls into the team's log.
 * @returns what the agent is told about refused writes; null: nothing
 */
export async function recordShellNotes(
  context: TicketContext,
  event: HostEvent,
  found: FoundCaller,
  alone: boolean,
): Promise<string | null> {
  const { caller, log } = found;
  const guard = context.shellGuard;
  if (guard === null) return null;
  const place = ticketOwnerOf(caller, log.state, event.session, alone);
  if (typeof event.input.command === 'string') guard.forget(place, event.input.command);
  const notes = guard.notes(place);
  if (notes.length === 0) return null;
  const pathsOf = (kind: GuardNote['kind']) =>
    [...new Set(notes.filter((one) => one.kind === kind).map(({ path }) => insideProject(path)))].flatMap((path) =>
      path === null || ruleOf(path) !== null ? [] : [path],
    );
  const member = alone || caller.kind === 'lead' ? LEAD : caller.kind === 'member' ? caller.name : null;
  if (caller.kind === 'member') await leaseToFirstWriter(context, log, caller, pathsOf('lease'));
  const decision = { type: 'decision', hook: 'ownership', member, fingerprint: '' } as const;
  const written = member === null ? [] : pathsOf('wrote').filter((path) => !isOnRecord(log.state, path, member));
  if (written.length > 0) {
    const reason = alone ? 'one at a time' : 'its own';
    const about = `${event.tool} ${written.join(', ')}`;
    await log.append({ ...decision, decision: 'accept', about, reason, paths: written }, { flush: false });
  }
  const refused = notes.filter(({ kind }) => kind === 'refused');
  const told: string[] = [];
  for (const note of refused.slice(0, MOST_TOLD)) told.push(await refusalOf(context, found, note));
  for (const { path, owner } of notes.filter(({ kind }) => kind === 'git'))
    told.push(textOf(refusal(GUARD_LINE_CODES.guard_git_refused, { call: `git ${path}`, advice: owner })));
  if (told.length === 0) return null;
  const about = `${event.tool} ${[...refused.map(({ path }) => path)].join(', ')}`.trim();
  await log.append({ ...decision, decision: 'reject', about, reason: told.join('; '), paths: [] }, { flush: false });
  const more = refused.length > MOST_TOLD ? [`and ${refused.length - MOST_TOLD} more paths`] : [];
  if (refused.length === 0) return null;
  const why = [...told, ...more].join('\n');
  return `toolcrew: ${withCode(refusal(HOOK_CODES.write_not_done, { paths: refused.map(({ path }) => path), why }))}`;
}
