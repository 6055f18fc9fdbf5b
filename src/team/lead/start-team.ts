// Starts work that code leads: a new team, the same tasks without a team, or a team that an earlier lead left.

import { lineWithCode, refusal } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { appendRequired, type TeamContext } from '../operations/context.ts';
import type { HostFacts, PeopleLog } from '../operations/context-parts.ts';
import { type OperationContext, operate } from '../operations/operations.ts';
import { decideResumeMode, recordTakeover } from '../operations/take-over.ts';
import type { TeamLog } from '../ports.ts';
import type { Evidence } from '../rules/caller.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';
import { overTaskBudget } from '../rules/cost.ts';
import { CHOSEN_SOLO, FALLBACK_TRIGGERS } from '../rules/fallback.ts';
import { isFinished } from '../rules/lead-step.ts';
import { isActive, type TeamState } from '../rules/log/state.ts';
import { aloneWords, type ResumeMode } from '../rules/resume-mode.ts';
import { fallBack } from '../rules/select/activation.ts';
import { type Decided, recordProposal } from '../select/work-decision.ts';

const TERMINAL: Evidence = { kind: 'environment', team: null, teammate: null };

/**
 * Creates the team of a decision, or the same tasks to be done one at a time.
 * @param as who leads it
 * @param wordsHash of what people wrote before it begins; undefined: nothing
 */
export async function startTeam(
  context: OperationContext & PeopleLog,
  decided: Extract<Decided, { kind: 'decided' }>,
  as = TERMINAL,
  wordsHash?: string,
): Promise<void> {
  const { work, decision } = decided;
  const problem = await recordProposal(context, decided, wordsHash);
  if (problem !== null) throw new ToolError(problem);
  const said = await createTeam(context, work.team, as);
  if (said !== null && decision.mode === 'team') return createAlone(context, work.team, said);
  if (said !== null) throw failure(OPERATIONS_CODES.team_create_failed, { said });
  if (decision.mode === 'team') return;
  await withLog(context, work.team, (log) => fallTo(log, decision.trigger ?? CHOSEN_SOLO, decision.reasons.join('; ')));
}

async function withLog<T>(
  { teams }: Pick<TeamContext, 'teams'>,
  team: string,
  use: (log: TeamLog) => Promise<T>,
): Promise<T> {
  const log = teams.open(team);
  if (log === undefined) throw failure(OPERATIONS_CODES.team_gone, { team });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

/** Gives why it failed; what is refused, since another leads that team, is no failure. */
async function createTeam(context: OperationContext, team: string, as: Evidence): Promise<string | null> {
  try {
    await operate(context, 'TeamCreate', { team_name: team }, as);
    return null;
  } catch (error) {
    if (error instanceof ToolError && error.cause === undefined) throw error;
    return messageOf(error instanceof ToolError ? error.cause : error);
  }
}

/** The same tasks without what a team needs besides them. */
async function createAlone(context: OperationContext & PeopleLog, team: string, said: string): Promise<void> {
  const settings = await context.settings();
  const trigger = 'team_create_failed';
  const decision = fallBack(trigger, { causes: [said] }, settings);
  if (decision.mode === 'refused') throw new ToolError(decision.refusal);
  await withLog(context, team, async (log) => {
    const { proposal } = log.state;
    if (proposal === null) throw failure(OPERATIONS_CODES.team_create_failed, { said });
    const { phase, pattern, roles, subject, drafts } = proposal;
    if (!isActive(log.state))
      await appendRequired(log, {
        ...{ type: 'created', team, phase, pattern, roles, subject },
        ...{ session: null, key_hash: null, approval: settings.requirePlanApproval, base: null, tasks: drafts },
      });
    await fallTo(log, trigger, said);
  });
  const why = `${FALLBACK_TRIGGERS[trigger]}: ${said}`;
  context.log(settings.fallback.logLevel, lineWithCode(refusal(LEAD_CODES.fell_back, { team, trigger, why })));
}

async function fallTo(log: TeamLog, trigger: string, reason: string): Promise<void> {
  await appendRequired(log, { type: 'fell_back', trigger, reason });
}

/** Whether a lead left it: it stands, or what it was to build is done and its log was not put away. */
export function isLeft(state: TeamState): boolean {
  return isActive(state) || (state.lead.session === null && state.purpose?.phase === 'run' && isFinished(state));
}

/** How what stands goes on, for people. */
function sayGoingOn(team: string, going: ResumeMode, reasons: readonly string[], say: (words: string) => void): void {
  for (const words of going.as === 'team' ? reasons : going.why) say(words);
  say(
    going.as === 'team'
      ? `team ${team} stood in sub-agent mode (${aloneWords(going.alone)}): its work goes on as a team, with the tasks that it has`
      : `team ${team} stands in sub-agent mode: its work goes on so, one task at a time`,
  );
}

/**
 * Takes over a team that an earlier lead left; false when there is none. Refuses one that a host's session leads.
 * @param say takes a line that people are told
 * @param decided what the command comes to that takes it up; null: one that decides nothing
 * @param wordsHash of what people wrote so far, which members are told that start; undefined: nothing new
 */
export async function resumeTeam(
  context: TeamContext & { readonly project: HostFacts },
  team: string,
  say: (words: string) => void,
  decided: Extract<Decided, { kind: 'decided' }> | null = null,
  wordsHash?: string,
): Promise<boolean> {
  if (!context.teams.list().includes(team)) return false;
  return withLog(context, team, async (log) => {
    const { state } = log;
    if (!isLeft(state)) return false;
    // All that is left of it is to be put away.
    if (!isActive(state)) return true;
    if (state.lead.session !== null) throw failure(LEAD_CODES.team_led_by_host, { team });
    const going = await decideResumeMode(context, state, decided);
    const failed = [...state.tasks.values()].filter(({ status }) => status === 'failed');
    const { fallback: falling, budget } = await context.settings();
    const { preserveProgress: keep } = falling;
    const refused = await recordTakeover(context, log, going, {
      session: null,
      keep,
      isForced: decided?.isForced === true,
      host: null,
      wordsHash,
    });
    if (refused !== null) throw new ToolError(refused);
    if (going !== null) sayGoingOn(team, going, decided?.decision.reasons ?? [], say);
    else if (decided !== null) say(`team ${team} stands: its work goes on`);
    if (!keep) say(`team ${team}: every task starts over (preserve_progress: false)`);
    for (const { id, subject, result } of keep ? failed : []) {
      const over = overTaskBudget(state, id, budget);
      say(
        over === null
          ? `task ${id} "${subject}" is tried again; it had failed: ${result ?? 'no reason given'}`
          : lineWithCode(refusal(LEAD_CODES.task_not_retried, { task: id, subject, why: over })),
      );
    }
    return true;
  });
}
