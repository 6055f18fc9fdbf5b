// An operation as an agent of a host asks for it: with what follows from it, where the lead is a model.

import { failure } from '../../base/rules/errors.ts';
import {
  type Answer,
  type TeamCaller,
  type TeamContext,
  tellLead,
  withReadable,
} from '../../team/operations/context.ts';
import type { ProjectFiles } from '../../team/operations/context-parts.ts';
import type { Show } from '../../team/operations/member-operations.ts';
import { evidenceWith, operate } from '../../team/operations/operations.ts';
import { advance } from '../../team/phases/advance.ts';
import type { PhaseContext } from '../../team/phases/phase-context.ts';
import type { TeamLog } from '../../team/ports.ts';
import { type Evidence, identify } from '../../team/rules/caller.ts';
import { isActive, isModelLed, type TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { teamReport } from '../../team/rules/views/report.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';

export type HostOperationContext = PhaseContext & { readonly project: Pick<ProjectFiles, 'writeReport'> };

/** Carries out one operation, and the steps of the phase that code takes after it. Throws, and shows mail, like `operate`. */
export async function operateInHost(
  context: HostOperationContext,
  name: string,
  given: unknown,
  evidence: Evidence,
  show?: Show,
): Promise<Answer> {
  const who = evidenceWith(context, given, evidence);
  if (name === 'TeamDelete') return deleteTeam(context, given, who);
  if (isJudgement(name, given)) await awaitMeasuring(context, who, wantedTeam(given));
  const answer = await operate(context, name, given, who, show);
  const isEnd = name === 'TaskUpdate' && (answer.status === 'completed' || answer.status === 'failed');
  if (!isEnd && name !== 'TaskList') return answer;
  return { ...answer, ...(await follow(context, who, wantedTeam(given), isEnd)) };
}

/** The team that a call names; null: the caller has but one. */
function wantedTeam(given: unknown): string | null {
  if (typeof given !== 'object' || given === null || !('team_name' in given)) return null;
  return typeof given.team_name === 'string' ? given.team_name : null;
}

function isJudgement(name: string, given: unknown): boolean {
  if (name !== 'SendMessage' || typeof given !== 'object' || given === null) return false;
  return 'type' in given && given.type === 'quality_gate_passed';
}

function isForced(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'force' in given && given.force === true;
}

function isSomebody(caller: ReturnType<typeof identify>[number]): caller is TeamCaller {
  return caller.kind === 'lead' || caller.kind === 'member';
}

/** What comes to pass after it: said to the lead, by the answer where it asked, else by mail. */
async function follow(context: PhaseContext, who: Evidence, wanted: string | null, isEnd: boolean): Promise<Answer> {
  const answer = await withLed(context, who, wanted, async (log, caller) => {
    if (caller.kind === 'member' && !isEnd) return {};
    const told = await goOn(context, log, { isLook: !isEnd });
    if (told === null) return {};
    if (caller.kind === 'lead') return { note: told.words };
    if (told.kind === 'news' || !isTold(log.state, told.words)) await tellLead(log, told.words);
    return {};
  });
  return answer ?? {};
}

/** Judged is what was measured: whoever judges waits for that. Throws where it takes another process too long. */
async function awaitMeasuring(context: PhaseContext, who: Evidence, wanted: string | null): Promise<void> {
  await withLed(context, who, wanted, async (log, caller) => {
    const told = await goOn(context, log, { mayAsk: false });
    if (told?.kind === 'busy' && told.step === 'measure')
      throw failure(HOOK_CODES.gate_still_running, { holder: told.holder });
    if (told?.kind === 'news' && caller.kind === 'member') await tellLead(log, told.words);
  });
}

/** With the caller's team, where the lead is a model; null elsewhere. */
async function withLed<T>(
  context: Pick<TeamContext, 'teams'>,
  who: Evidence,
  wanted: string | null,
  use: (log: TeamLog, caller: TeamCaller) => Promise<T>,
): Promise<T | null> {
  return withReadable(context.teams, async (logs) => {
    const callers = identify(
      who,
      logs.map((log) => log.state),
    ).filter(isSomebody);
    const caller = callers.find(({ team }) => wanted === null || team === wanted);
    const log = logs.find(({ state }) => state.team === caller?.team);
    return caller === undefined || log === undefined || !isModelLed(log.state) ? null : use(log, caller);
  });
}

async function goOn(context: PhaseContext, log: TeamLog, limits: Parameters<typeof advance>[2] = {}) {
  return advance(context, log, limits).catch((error: unknown) => {
    log.refresh();
    // Ended by force meanwhile: there is nothing to go on with.
    if (!isActive(log.state)) return null;
    throw error;
  });
}

/** Whether the lead was told so by mail since it was measured last. */
function isTold({ messages, gate }: TeamState, words: string): boolean {
  return messages.some(({ to, content, sentAt }) => to === LEAD && content === words && sentAt >= (gate?.at ?? 0));
}

/** A team that has built something leaves a report beside its log. It is not ended in the middle of a step, but by force. */
async function deleteTeam(context: HostOperationContext, given: unknown, who: Evidence): Promise<Answer> {
  const team = wantedTeam(given);
  if (team === null || isForced(given)) return deleteNow(context, given, who);
  const result = await context.phaseLock.take(team, () => deleteNow(context, given, who));
  if (!result.ok) throw failure(HOOK_CODES.team_not_deleted_yet, { team, holder: result.holder });
  return result.value;
}

async function deleteNow(context: HostOperationContext, given: unknown, who: Evidence): Promise<Answer> {
  const states = await withReadable(context.teams, (logs) => Promise.resolve(logs.map(({ state }) => state)));
  const answer = await operate(context, 'TeamDelete', given, who);
  const state = states.find(({ team }) => team === answer.team);
  if (state === undefined || !isModelLed(state) || state.purpose?.phase !== 'run') return answer;
  return { ...answer, report: context.project.writeReport(String(answer.archived), await reportOf(context, state)) };
}

async function reportOf({ workTree }: Pick<TeamContext, 'workTree'>, state: TeamState): Promise<string> {
  const tree = state.base === null ? null : await workTree.tree();
  const paths = state.base === null || tree === null ? [] : await workTree.changed(state.base, tree);
  const changed = (paths ?? []).map((path) => ({ path, added: null, removed: null }));
  return teamReport({ state, branch: null, changed, kept: [] });
}
