// The work of a command: begun by a team, begun one task at a time, or taken up where it was left.

import { refusal } from '../../base/rules/codes.ts';
import { startTeam } from '../../team/lead/start-team.ts';
import { mustBeReadable, type TeamContext, unreadWords, withReadable } from '../../team/operations/context.ts';
import type { HostFacts, PeopleLog } from '../../team/operations/context-parts.ts';
import type { HookAnswer, HostEvent } from '../../team/operations/host-event.ts';
import { noteDelivered } from '../../team/operations/member-operations.ts';
import { hostAgent, loadWords, serverTool } from '../../team/operations/spawn.ts';
import { decideResumeMode, recordTakeover } from '../../team/operations/take-over.ts';
import { advance } from '../../team/phases/advance.ts';
import type { PhaseContext } from '../../team/phases/phase-context.ts';
import type { TeamLog } from '../../team/ports.ts';
import { leadBrief, rolesToStart } from '../../team/rules/brief.ts';
import { deleteCall, endCalls, startLines } from '../../team/rules/calls.ts';
import { OPERATIONS_CODES } from '../../team/rules/codes/operations-codes.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { aloneWords, type ResumeMode } from '../../team/rules/resume-mode.ts';
import type { Phase } from '../../team/rules/role.ts';
import type { TeamSettings } from '../../team/rules/settings.ts';
import { commitCommand } from '../../team/rules/spec-documents/spec.ts';
import {
  type Decided,
  decideWork,
  recordProposal,
  type TeamCommand,
  type WorkContext,
} from '../../team/select/work-decision.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { answerPrompt, refuseCommand } from './prompt-answer.ts';
import { reasonOfError } from './rejection.ts';

export type RestartContext = PhaseContext & { readonly project: HostFacts };

export type BeginContext = RestartContext & WorkContext;

type Settled = Extract<Decided, { kind: 'decided' }>;

const TYPED: Readonly<Record<Phase, string>> = { plan: '1-plan', run: '2-run', debug: 'build-fix' };

/** What follows when all tasks are done, and after the team is gone. */
const AFTER: Readonly<Record<Phase, { readonly outcome: string; readonly last: (subject: string) => string | null }>> =
  {
    plan: {
      outcome: 'toolcrew builds a SPEC from their results, and tells you its id and what to ask the user.',
      last: () => null,
    },
    run: {
      outcome: 'When all tasks are completed, the final gate runs, and you are told the outcome.',
      last: (id) =>
        `Tell the user what was done for each requirement, and their next steps: review it, commit it with the SPEC's id (${commitCommand(id)}), then \`/tool:3-sync ${id}\`. Commit only if the user asks.`,
    },
    debug: {
      outcome: 'The first proven cause ends the search, and you are told which it is.',
      last: () =>
        'Tell the user the cause with its evidence. Then repair it, with a test that fails without the repair.',
    },
  };

export async function beginWork(
  context: BeginContext,
  event: HostEvent,
  command: TeamCommand,
  settings: TeamSettings,
): Promise<HookAnswer> {
  const decided = await decideWork(context, command, settings);
  if (decided.kind === 'refused') return refuseCommand(decided.problems);
  const goesOn = await resumeAlone(context, event, decided, settings);
  if (goesOn !== null) return goesOn;
  if (decided.decision.mode !== 'team') return beginAlone(context, event, decided);
  const { work, decision, reasons } = decided;
  const problem = await recordProposal(context, decided);
  if (problem !== null) return refuseCommand([problem]);
  const { outcome } = AFTER[work.phase];
  const last = AFTER[work.phase].last(work.subject);
  return answerPrompt([
    `/tool:${TYPED[work.phase]} in team mode, pattern ${decision.pattern ?? 'none'}: ${decision.roles.join(', ')}.`,
    ...reasons.map((one) => `- ${one}`),
    ...((await context.writesHeldBy()) === 'reader' ? [OPEN_SHELLS] : []),
    `Next, with the tools of the MCP server "team" (${serverTool('…', context.host())}). ${loadWords('lead', context.host())}`,
    `1. TeamCreate {"team_name":"${work.team}"}. It returns the tasks and the next calls.`,
    '2. Call Task for each teammate that it names, then make the calls that these return, all in one message.',
    '3. Wait for them and answer their questions. Write nothing yourself.',
    `4. ${outcome}`,
    `5. ${endCalls(work.team)}.`,
    ...(last === null ? [] : [`6. ${last}`]),
    'If TeamCreate fails, do the tasks one at a time with sub-agents instead.',
  ]);
}

/** Told to the lead, and by it to the user. */
const OPEN_SHELLS =
  '- The write guard does not hold shell commands here: only obvious writes to files of others are refused. `tool doctor` says why.';

/** What the same command has left to be done one at a time goes on, so or as a team; null: it has left nothing of that kind. */
async function resumeAlone(
  context: BeginContext,
  event: HostEvent,
  decided: Settled,
  settings: TeamSettings,
): Promise<HookAnswer | null> {
  const { decision, isForced, reasons, work } = decided;
  const log = context.teams.list().includes(work.team) ? context.teams.open(work.team) : undefined;
  try {
    const going = log === undefined ? null : await decideResumeMode(context, log.state, decided);
    if (log === undefined || going === null) return null;
    const keep = settings.fallback.preserveProgress;
    const problem = await recordTakeover(context, log, going, {
      session: event.session,
      keep,
      isForced,
      host: context.hostProcess(),
    });
    if (problem !== null) return refuseCommand([problem]);
    if (going.as === 'alone')
      return aloneNext(context, decided, log.state, decision.mode === 'team' ? going.why : reasons);
    const { outcome, last } = AFTER[work.phase];
    const end = last(work.subject);
    return answerPrompt([
      `/tool:${TYPED[work.phase]} in team mode. ${againWords(going)} You lead it now; ${keptWords(settings)}.`,
      ...decision.reasons.map((one) => `- ${one}`),
      ...(await ledOn(context, log)),
      `${outcome} At the end call ${endCalls(work.team)}.`,
      ...(end === null ? [] : [end]),
    ]);
  } finally {
    await log?.close();
  }
}

function againWords({ alone }: ResumeMode): string {
  return `The work was in sub-agent mode (${aloneWords(alone)}) and continues as a team with the same tasks.`;
}

function keptWords({ fallback }: TeamSettings): string {
  return fallback.preserveProgress
    ? 'what was completed stays completed'
    : 'every task starts over (preserve_progress: false)';
}

/** One after the other, on a list of its own: code keeps it, and does of the phase what it does for a team. */
async function beginAlone(context: TeamContext & PeopleLog, event: HostEvent, decided: Settled): Promise<HookAnswer> {
  const { team } = decided.work;
  const caller = { session: event.session, agentId: null, agentType: null, toolUseId: null };
  try {
    await startTeam(context, decided, { kind: 'stamp', caller });
  } catch (error) {
    return refuseCommand([reasonOfError(error)]);
  }
  const log = context.teams.open(team);
  if (log === undefined) return refuseCommand([refusal(OPERATIONS_CODES.team_gone, { team })]);
  await log.close();
  return aloneNext(context, decided, log.state, decided.reasons);
}

/** What is to be done one at a time. */
function aloneNext(
  context: Pick<TeamContext, 'host'>,
  { work }: Settled,
  state: TeamState,
  reasons: readonly string[],
): HookAnswer {
  const { team, phase } = work;
  const last = AFTER[phase].last(work.subject);
  const open = [...state.tasks.values()].filter(({ status }) => status !== 'completed');
  const agentWords = (owner: string | null) => (owner === null ? '' : `${hostAgent(owner, context.host())}: `);
  return answerPrompt([
    `/tool:${TYPED[phase]} in sub-agent mode.`,
    ...reasons.map((one) => `- ${one}`),
    'Next: do these tasks one at a time, each with one sub-agent. Give each agent the results of the tasks before. In sub-agent mode, agents must not claim tasks, take leases (FileLease) or send messages. Say so in the prompt of each agent.',
    ...open.map(({ id, owner, subject, description }) => `${id}. ${agentWords(owner)}${subject}. ${description}`),
    `After each, call ${serverTool('TaskUpdate', context.host())} yourself, with the agent's result in the form that the task asks for: {"taskId":"${open[0]?.id ?? '1'}","status":"completed","result":"…"} for the first. Then do what the answer says. ${loadWords('lead', context.host())}`,
    `At the end call ${deleteCall(team)}.`,
    ...(last === null ? [] : [last]),
  ]);
}

export async function restartTeam(
  context: RestartContext,
  event: HostEvent,
  wanted: string,
  settings: TeamSettings,
): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    mustBeReadable(unread.filter(({ team }) => (wanted === '' ? logs.length === 0 : team === wanted)));
    const names = logs.map((log) => log.state.team);
    const log =
      wanted === '' ? (logs.length === 1 ? logs[0] : undefined) : logs.find((one) => one.state.team === wanted);
    if (log === undefined)
      return refuseCommand([
        names.length === 0
          ? refusal(HOOK_CODES.nothing_to_restart, {})
          : refusal(HOOK_CODES.restarted_team_unknown, { known: names, got: wanted === '' ? 'none' : wanted }),
      ]);
    const going = await decideResumeMode(context, log.state, null);
    const keep = settings.fallback.preserveProgress;
    const problem = await recordTakeover(context, log, going, {
      session: event.session,
      keep,
      isForced: false,
      host: context.hostProcess(),
    });
    if (problem !== null) return refuseCommand([problem]);
    return answerPrompt([
      `team ${log.state.team} was restarted, and you lead it now; ${keptWords(settings)}.`,
      ...(going === null
        ? []
        : [going.as === 'team' ? againWords(going) : `It stays in sub-agent mode: ${going.why.join('; ')}.`]),
      ...(await ledOn(context, log)),
      ...unread.map(unreadWords),
    ]);
  });
}

/** What whoever leads a team that stands from now on does next. */
async function ledOn(context: PhaseContext, log: TeamLog): Promise<readonly string[]> {
  // All may have been done before: then what follows from it comes to pass now. A prompt does not wait for a project's checks.
  const told = await advance(context, log, { mayMeasure: false });
  await noteDelivered(log, LEAD);
  // Where there is no team, nobody is registered for it.
  const roles = log.state.session === 'fallback' ? [] : rolesToStart(log.state);
  return [
    leadBrief(log.state),
    loadWords('lead', context.host()),
    ...(told === null ? [] : [told.words]),
    ...(roles.length === 0 ? [] : ['Start these again. Make each call, then the call that it returns:']),
    ...startLines(log.state.team, roles),
  ];
}
