// The user's word on a SPEC that a team has written: approved, to be changed, or not clear enough to count.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { type TeamContext, type UnreadableTeam, unreadWords, withReadable } from '../../team/operations/context.ts';
import type { EventOrigin, SpecStore, StepLock } from '../../team/operations/context-parts.ts';
import { type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { noteDelivered } from '../../team/operations/member-operations.ts';
import { loadWords } from '../../team/operations/spawn.ts';
import { askChanges } from '../../team/phases/plan.ts';
import type { TeamLog } from '../../team/ports.ts';
import { leadBrief, waitingRoles } from '../../team/rules/brief.ts';
import type { Evidence } from '../../team/rules/caller.ts';
import { endCalls, startLines } from '../../team/rules/calls.ts';
import { LEAD } from '../../team/rules/message.ts';
import { changeInTheWay, hasWritten, specInChange } from '../../team/rules/planning.ts';
import { completedAlready, specName, statusOfSpec } from '../../team/rules/spec-documents/spec.ts';
import { phaseOfTeam } from '../../team/rules/team-name.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { answerPrompt, refuseCommand } from './prompt-answer.ts';

type SpecContext = Pick<TeamContext, 'teams'> & { readonly project: SpecStore };

type ApprovalContext = SpecContext & Pick<EventOrigin, 'isNested'>;

type ChangeContext = TeamContext & ApprovalContext & StepLock;

function awaits(log: TeamLog, session: string): boolean {
  const { state } = log;
  const isDone = [...state.tasks.values()].every(({ status }) => status === 'completed');
  const isAlone = state.session === 'fallback' && state.purpose?.phase === 'plan' && isDone;
  return (
    (state.session === 'awaiting_approval' || isAlone) &&
    (state.lead.session === null || state.lead.session === session)
  );
}

/** Of the planning teams, which alone wait for the user's word, those whose logs cannot be read. */
function lostPlans(unread: readonly UnreadableTeam[]): readonly string[] {
  return unread.filter(({ team }) => phaseOfTeam(team) === 'plan').map(unreadWords);
}

/** No team waits for these words: they are about something else, unless one that cannot be read does. */
function unheard(lost: readonly string[]): HookAnswer {
  return lost.length === 0 ? SILENT : answerPrompt(['if the user means a SPEC, no team received it:', ...lost]);
}

/** Whether a SPEC of this status waits for the user. */
function isOpen(status: string | null): boolean {
  return status === 'draft' || status === 'awaiting_approval';
}

export async function approveByPrompt(context: ApprovalContext, event: HostEvent, wanted: string): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const waiting = logs.filter((one) => awaits(one, event.session));
    const lost = lostPlans(unread);
    // Without a team that waits for it, a lone "approve" is about something else.
    if (waiting.length === 0 && wanted === '') return unheard(lost);
    const drafts = context.project.specs().filter((id) => isOpen(statusOfSpec(context.project.spec(id) ?? '')));
    const writerOf = (id: string) => waiting.find(({ state }) => hasWritten(state, id));
    const [only = ''] = drafts;
    const id = wanted !== '' ? wanted : drafts.length === 1 && writerOf(only) !== undefined ? only : undefined;
    if (id === undefined)
      return refuseCommand([
        drafts.length === 0
          ? refusal(HOOK_CODES.nothing_to_approve, {})
          : refusal(HOOK_CODES.approval_not_understood, { replies: drafts.map((one) => `"approve ${one}"`) }),
        ...lost,
      ]);
    if (context.isNested()) return refuseCommand([refusal(HOOK_CODES.prompt_not_from_user, {})]);
    const change = changeInTheWay(
      logs.map(({ state }) => state),
      id,
    );
    if (change !== null) return refuseCommand([change]);
    const approval = await context.project.approval(id);
    const { status, counts, why } = approval;
    const isNew = status !== 'approved' || !counts;
    const problem = completedAlready(id, approval) ?? (isNew ? context.project.approve(id) : null);
    if (problem !== null) return refuseCommand([problem]);
    const log = writerOf(id);
    if (log?.state.session === 'awaiting_approval')
      await log.append({ type: 'moved', event: 'approved', reason: `the user approved ${id}`, by: 'user' });
    return answerPrompt([
      isNew ? `the user has approved ${id}.` : `${id} is approved already (${why}).`,
      ...(log === undefined ? [] : [`Next: ${endCalls(log.state.team)}.`]),
      `Then tell the user to type /clear, then \`/tool:2-run ${id} --team\`.`,
      ...lost,
    ]);
  });
}

const NEAR = 'near_approval';

/** To whoever seems to approve, the words that do: once for each SPEC that a team of theirs has written, else where they name the SPEC. */
export async function explainApproval(context: SpecContext, { session, prompt }: HostEvent): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs) => {
    const log = logs.find((one) => awaits(one, session));
    const named = context.project.specs().find((id) => prompt.includes(id));
    const id = named ?? (log === undefined ? undefined : writtenBy(context, log));
    if (id === undefined || !isOpen(statusOfSpec(context.project.spec(id) ?? ''))) return SILENT;
    if (log?.state.decisions.some(({ hook, about }) => hook === NEAR && about === id) === true) return SILENT;
    const words = { about: id, reason: 'the words that count were told', fingerprint: '', paths: [] };
    const record = { type: 'decision', hook: NEAR, decision: 'accept', member: null, ...words } as const;
    await log?.append(record, { flush: false });
    const more = log === undefined ? {} : { more: 'To change it, send `changes: ` and what to change.' };
    const one = refusal(HOOK_CODES.words_do_not_approve, { spec: id, ...more });
    return {
      kind: 'context',
      text: `toolcrew: the user has been told this: ${withCode(one)}`,
      user: `toolcrew: ${withCode(one)}`,
    };
  });
}

/** The SPEC that a team has written for what it plans, the latest; undefined: there is none. */
function writtenBy({ project }: Pick<SpecContext, 'project'>, { state }: TeamLog): string | undefined {
  const name = specName(state.purpose?.subject ?? '');
  return specInChange(state) ?? project.specs().findLast((id) => id.replace(/-\d+$/, '') === `SPEC-${name}`);
}

/** What the user wants otherwise in the SPEC of a team that waits for their word. */
export async function changeByPrompt(context: ChangeContext, event: HostEvent, wanted: string): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const log = logs.find((one) => awaits(one, event.session));
    const id = log === undefined ? undefined : writtenBy(context, log);
    const lost = lostPlans(unread);
    if (log === undefined || id === undefined) return unheard(lost);
    if (context.isNested()) return refuseCommand([refusal(HOOK_CODES.prompt_not_from_user, {})]);
    const { team } = log.state;
    const as: Evidence = { kind: 'environment', team, teammate: null };
    // Between its parts nobody else takes the results that are there for the last word.
    const asked = await context.phaseLock.take(team, () => askChanges(context, log, as, id, wanted));
    if (!asked.ok) return refuseCommand([refusal(HOOK_CODES.team_step_running, { team, holder: asked.holder })]);
    if (asked.value !== null) return refuseCommand([asked.value]);
    log.refresh();
    const again = waitingRoles(log.state);
    await noteDelivered(log, LEAD);
    return answerPrompt([
      `the user's changes to ${id} are now tasks of the planners.`,
      leadBrief(log.state),
      loadWords('lead', context.host()),
      ...(again.length === 0
        ? []
        : [
            'Start these again. Make each call, then the call that it returns; start the roles that wait for them once they can begin:',
          ]),
      ...startLines(log.state.team, again),
      ...lost,
    ]);
  });
}
