// The user's prompt: a command of the team is decided here, in code, and the model is told what comes next.

import { messageOf } from '../../domain/errors.ts';
import { commitCommand, completedAlready, specName, statusOfSpec } from '../../domain/spec/spec.ts';
import { parseCommand } from '../../domain/team/arguments.ts';
import { leadBrief, rolesToStart, spawnParameters, waitingRoles } from '../../domain/team/brief.ts';
import type { Evidence } from '../../domain/team/caller.ts';
import { aloneWords, type GoingOn } from '../../domain/team/going-on.ts';
import { LEAD } from '../../domain/team/message.ts';
import { changeInTheWay, hasWritten, specInChange } from '../../domain/team/planning.ts';
import { approvalOf, changesOf, endedRunsOf, isCommand, soundsLikeApproval } from '../../domain/team/prompt.ts';
import type { Phase } from '../../domain/team/role.ts';
import type { TeamSettings } from '../../domain/team/settings.ts';
import type { TeamState } from '../../domain/team/state.ts';
import { listed } from '../../domain/team/task-draft.ts';
import { phaseOfTeam } from '../../domain/team/team-name.ts';
import type { TeamLog } from '../ports.ts';
import { mustBeReadable, type Unread, unreadWords, withReadable } from './context.ts';
import { type Command, type Decided, decideWork, propose } from './deciding.ts';
import { type HookAnswer, type HostEvent, SILENT } from './event.ts';
import { decideGoingOn, takeOver } from './going-on.ts';
import type { HookContext } from './hook-context.ts';
import { foundTeam } from './lead/founding.ts';
import { noteDelivered } from './member-operations.ts';
import { advance } from './phases/advance.ts';
import { askChanges } from './phases/plan.ts';
import { onRunsOver } from './run-over.ts';
import { hostAgent, serverTool } from './spawn.ts';

type Settled = Extract<Decided, { kind: 'decided' }>;

function say(lines: readonly string[]): HookAnswer {
  return { kind: 'context', text: `toolcrew: ${lines.join('\n')}` };
}

function stop(problems: readonly string[]): HookAnswer {
  return say([
    'the command cannot be carried out. Tell the user exactly this, and do nothing else:',
    ...problems.map((one) => `- ${one}`),
  ]);
}

export async function onPrompt(context: HookContext, event: HostEvent): Promise<HookAnswer> {
  // To a teammate its lead speaks, not the user.
  if (context.startedAs !== null) return SILENT;
  const ended = endedRunsOf(event.prompt);
  if (ended.length > 0) return onRunsOver(context, ended);
  const approval = approvalOf(event.prompt);
  if (approval !== null) return approve(context, event, approval);
  const changes = changesOf(event.prompt);
  if (changes !== null) return change(context, event, changes);
  if (!isCommand(event.prompt)) return soundsLikeApproval(event.prompt) ? tellWords(context, event) : SILENT;
  const settings = await context.settings();
  const parsed = parseCommand(event.prompt, Object.keys(settings.patterns));
  switch (parsed.kind) {
    case 'none':
      return SILENT;
    case 'invalid':
      return stop(parsed.problems);
    case 'command':
      return carryOut(context, event, parsed, settings);
  }
}

const NOT_WRITTEN = /\b(?:EACCES|EDQUOT|ENOSPC|EPERM|EROFS)\b/;

/** What cannot be written down, as on a full disk, is not begun; anything else is a fault of ours, and said as one. */
function unwritten(error: unknown): HookAnswer {
  const words = messageOf(error);
  if (!NOT_WRITTEN.test(words)) throw error;
  return stop([`nothing can be written down of it, and without that nothing of the team would hold: ${words}`]);
}

/** Without the team's tools there is no team, and no list of tasks to be gone through alone. */
function noServer({ project: { serverOffIn } }: HookContext): readonly string[] {
  return serverOffIn.map(
    (file) =>
      `disabledMcpjsonServers in ${file} holds "team", so that the tools of the team are not there: take "team" out of it, start Claude Code anew, and give the command again`,
  );
}

async function carryOut(
  context: HookContext,
  event: HostEvent,
  command: Command,
  settings: TeamSettings,
): Promise<HookAnswer> {
  const off = command.command === 'sync' ? [] : noServer(context);
  if (off.length > 0) return stop(off);
  switch (command.command) {
    case 'team-restart':
      return restart(context, event, command.words, settings);
    case 'sync':
      return sync(context, command.words);
    case 'plan':
    case 'run':
    case 'build-fix':
      return begin(context, event, command, settings).catch(unwritten);
  }
}

const TYPED: Readonly<Record<Phase, string>> = { plan: '1-plan', run: '2-run', debug: 'build-fix' };

/** What follows when all tasks are done, and after the team is gone. */
const AFTER: Readonly<Record<Phase, { readonly outcome: string; readonly last: (subject: string) => string | null }>> =
  {
    plan: {
      outcome: 'Their results become a SPEC without you: you are told which, and what to ask the user.',
      last: () => null,
    },
    run: {
      outcome: 'When all is built it is measured as a whole, and you are told what came of it.',
      last: (id) =>
        `Tell the user what was done for each requirement, and what is theirs to do now: look at it, commit it with the SPEC's id, ${commitCommand(id)}, then \`/tool:3-sync ${id}\`. Commit nothing without their word.`,
    },
    debug: {
      outcome: 'The first cause that is proven ends the search: you are told which.',
      last: () => 'Tell the user the cause with its evidence, then mend it, with a test that fails without the repair.',
    },
  };

async function begin(
  context: HookContext,
  event: HostEvent,
  command: Command,
  settings: TeamSettings,
): Promise<HookAnswer> {
  const decided = await decideWork(context, command, settings);
  if (decided.kind === 'refused') return stop(decided.problems);
  const goesOn = await takeUpAlone(context, event, decided, settings);
  if (goesOn !== null) return goesOn;
  if (decided.decision.mode !== 'team') return beginAlone(context, event, decided);
  const { work, decision, reasons } = decided;
  const problem = await propose(context, decided);
  if (problem !== null) return stop([problem]);
  const { outcome } = AFTER[work.phase];
  const last = AFTER[work.phase].last(work.subject);
  return say([
    `/tool:${TYPED[work.phase]} in team mode, pattern ${decision.pattern ?? 'none'}: ${decision.roles.join(', ')}.`,
    ...reasons.map((one) => `- ${one}`),
    `Next, with the tools of the MCP server "team" (${serverTool('…', context.host())}):`,
    `1. TeamCreate {"team_name":"${work.team}"}. It answers with the tasks and the next calls.`,
    '2. Task for each teammate that it names; make the calls that these answer with, all in one message.',
    '3. Wait for them and answer what they ask; you write nothing yourself.',
    `4. ${outcome}`,
    `5. SendMessage {"recipient":"all","type":"shutdown_request","content":"The work is done."}, then TeamDelete {"team_name":"${work.team}"}.`,
    ...(last === null ? [] : [`6. ${last}`]),
    'If TeamCreate fails, do the tasks one at a time with sub-agents instead.',
  ]);
}

/** What the same command has left to be done one at a time goes on, so or as a team; null: it has left nothing of that kind. */
async function takeUpAlone(
  context: HookContext,
  event: HostEvent,
  decided: Settled,
  settings: TeamSettings,
): Promise<HookAnswer | null> {
  const { decision, isForced, reasons, work } = decided;
  const log = context.teams.list().includes(work.team) ? context.teams.open(work.team) : undefined;
  try {
    const going = log === undefined ? null : await decideGoingOn(context, log.state, decided);
    if (log === undefined || going === null) return null;
    const keep = settings.fallback.preserveProgress;
    const refusal = await takeOver(log, going, { session: event.session, keep, isForced });
    if (refusal !== null) return stop([refusal]);
    if (going.as === 'alone')
      return aloneNext(context, decided, log.state, decision.mode === 'team' ? going.why : reasons);
    const { outcome, last } = AFTER[work.phase];
    const end = last(work.subject);
    return say([
      `/tool:${TYPED[work.phase]} in team mode. ${againWords(going)} You lead it now; ${keptWords(settings)}.`,
      ...decision.reasons.map((one) => `- ${one}`),
      ...(await ledOn(context, log)),
      `${outcome} At the end SendMessage {"recipient":"all","type":"shutdown_request","content":"The work is done."}, then TeamDelete {"team_name":"${work.team}"}.`,
      ...(end === null ? [] : [end]),
    ]);
  } finally {
    await log?.close();
  }
}

function againWords({ alone }: GoingOn): string {
  return `What stood in sub-agent mode (${aloneWords(alone)}) goes on as a team, with the tasks that it has.`;
}

function keptWords({ fallback }: TeamSettings): string {
  return fallback.preserveProgress
    ? 'what was completed stays completed'
    : 'every task starts over (preserve_progress: false)';
}

/** One after the other, on a list of its own: code keeps it, and does of the phase what it does for a team. */
async function beginAlone(context: HookContext, event: HostEvent, decided: Settled): Promise<HookAnswer> {
  const { team } = decided.work;
  const stamp = { session: event.session, agentId: null, agentType: null, toolUseId: null };
  try {
    await foundTeam(context, decided, { kind: 'stamp', stamp });
  } catch (error) {
    return stop([messageOf(error)]);
  }
  const log = context.teams.open(team);
  if (log === undefined) return stop([`team ${team} is gone`]);
  await log.close();
  return aloneNext(context, decided, log.state, decided.reasons);
}

/** What is to be done one at a time. */
function aloneNext(context: HookContext, { work }: Settled, state: TeamState, reasons: readonly string[]): HookAnswer {
  const { team, phase } = work;
  const last = AFTER[phase].last(work.subject);
  const open = [...state.tasks.values()].filter(({ status }) => status !== 'completed');
  const agentWords = (owner: string | null) => (owner === null ? '' : `${hostAgent(owner, context.host())}: `);
  return say([
    `/tool:${TYPED[phase]} in sub-agent mode.`,
    ...reasons.map((one) => `- ${one}`),
    'Next: do these one at a time, each with one sub-agent. Give each agent the results of the tasks before. In sub-agent mode, agents must not claim tasks, take leases (FileLease) or send messages. Say so in the prompt of each agent.',
    ...open.map(({ id, owner, subject, description }) => `${id}. ${agentWords(owner)}${subject}. ${description}`),
    `When one is done, say so yourself, with the tools of the MCP server "team" (${serverTool('…', context.host())}): TaskUpdate {"taskId":"<its number>","status":"completed","result":"<what came of it, in the form that it asks for>"}. What the answer says of it comes next.`,
    `At the end TeamDelete {"team_name":"${team}"}.`,
    ...(last === null ? [] : [last]),
  ]);
}

async function restart(
  context: HookContext,
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
      return stop([
        names.length === 0
          ? 'no team stands: there is nothing to restart'
          : `team: expected one of ${names.join(', ')}, got ${wanted === '' ? 'none' : wanted}`,
      ]);
    const going = await decideGoingOn(context, log.state, null);
    const keep = settings.fallback.preserveProgress;
    const refusal = await takeOver(log, going, { session: event.session, keep, isForced: false });
    if (refusal !== null) return stop([refusal]);
    return say([
      `team ${log.state.team} was restarted, and you lead it now; ${keptWords(settings)}.`,
      ...(going === null ? [] : [going.as === 'team' ? againWords(going) : `It is no team: ${going.why.join('; ')}.`]),
      ...(await ledOn(context, log)),
      ...unread.map(unreadWords),
    ]);
  });
}

/** What whoever leads a team that stands from now on does next. */
async function ledOn(context: HookContext, log: TeamLog): Promise<readonly string[]> {
  // All may have been done before: then what follows from it comes to pass now. A prompt does not wait for a project's checks.
  const told = await advance(context, log, { mayMeasure: false });
  await noteDelivered(log, LEAD);
  // Where there is no team, nobody is registered for it.
  const roles = log.state.session === 'fallback' ? [] : rolesToStart(log.state);
  return [
    leadBrief(log.state),
    ...(told === null ? [] : [told.words]),
    ...(roles.length === 0 ? [] : ['Register each again with Task:']),
    ...roles.map(
      (role) =>
        `- Task ${JSON.stringify(spawnParameters(log.state.team, role, `Do the open tasks that are meant for ${role}.`))}`,
    ),
  ];
}

async function sync(context: HookContext, id: string): Promise<HookAnswer> {
  const outcome = await context.project.sync(id, null);
  if (outcome.kind === 'refused') return stop(outcome.reasons);
  const { status, met, judged, since, uncommitted, written } = outcome;
  return say([
    `/tool:3-sync ${id}: ${met ? 'all of it is met' : 'not all of it is met'}; status: ${status}. Held against the changes since ${since}:`,
    ...judged.map(({ id: one, test, missing }) =>
      missing.length === 0 ? `- ${one}: met, by ${test ?? ''}` : `- ${one}: not met: ${missing.join('; ')}`,
    ),
    ...(uncommitted.length === 0 ? [] : [`Not looked at, since they are not committed: ${listed(uncommitted)}.`]),
    ...(written.length === 0 ? [] : [`Written: ${written.join(', ')}.`]),
    met
      ? 'Next: tell the user so, and bring the documentation up to date. The status and the result are set already; do not change them.'
      : 'Next: tell the user what is not met and what is missing. Do not change the status or the result: the next sync does.',
  ]);
}

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
function lostPlans(unread: readonly Unread[]): readonly string[] {
  return unread.filter(({ team }) => phaseOfTeam(team) === 'plan').map(unreadWords);
}

/** No team waits for these words: they are about something else, unless one that cannot be read does. */
function unheard(lost: readonly string[]): HookAnswer {
  return lost.length === 0 ? SILENT : say(['if the user speaks of a SPEC, no team was told:', ...lost]);
}

async function approve(context: HookContext, event: HostEvent, wanted: string): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const waiting = logs.filter((one) => awaits(one, event.session));
    const lost = lostPlans(unread);
    // Without a team that waits for it, a lone "approve" is about something else.
    if (waiting.length === 0 && wanted === '') return unheard(lost);
    const waits = (id: string) => {
      const status = statusOfSpec(context.project.spec(id) ?? '');
      return status === 'draft' || status === 'awaiting_approval';
    };
    const drafts = context.project.specs().filter(waits);
    const writerOf = (id: string) => waiting.find(({ state }) => hasWritten(state, id));
    const [only = ''] = drafts;
    const id = wanted !== '' ? wanted : drafts.length === 1 && writerOf(only) !== undefined ? only : undefined;
    if (id === undefined)
      return stop([
        `which SPEC is approved? There is ${drafts.join(', ') || 'none that is a draft'}: answer "approve <id>"`,
        ...lost,
      ]);
    if (context.isNested()) return stop([NOT_THE_USERS]);
    const change = changeInTheWay(
      logs.map(({ state }) => state),
      id,
    );
    if (change !== null) return stop([change]);
    const approval = await context.project.approval(id);
    const { status, counts, why } = approval;
    const isNew = status !== 'approved' || !counts;
    const problem = completedAlready(id, approval) ?? (isNew ? context.project.approve(id) : null);
    if (problem !== null) return stop([problem]);
    const log = writerOf(id);
    if (log?.state.session === 'awaiting_approval')
      await log.append({ type: 'moved', event: 'approved', reason: `the user approved ${id}`, by: 'user' });
    return say([
      isNew ? `${id} is approved, by the user's own word.` : `${id} is approved already (${why}).`,
      ...(log === undefined
        ? []
        : [
            `Next: SendMessage {"recipient":"all","type":"shutdown_request","content":"approved"}, TeamDelete {"team_name":"${log.state.team}"}.`,
          ]),
      `Then tell the user: /clear, and \`/tool:2-run ${id} --team\` in the fresh context.`,
      ...lost,
    ]);
  });
}

const NEAR = 'near_approval';

/** To whoever seems to approve, the words that do: once for each team. */
async function tellWords(context: HookContext, { session }: HostEvent): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs) => {
    const log = logs.find((one) => awaits(one, session));
    const id = log === undefined ? undefined : writtenBy(context, log);
    if (log === undefined || id === undefined || log.state.decisions.some(({ hook }) => hook === NEAR)) return SILENT;
    const words = { about: id, reason: 'the words that count were told', fingerprint: '', paths: [] };
    const record = { type: 'decision', hook: NEAR, decision: 'accept', member: null, ...words } as const;
    await log.append(record, { flush: false });
    return say([
      `${id} is not approved by these words. If the user means to approve it, tell them to send exactly \`approve ${id}\` as a prompt of its own; \`changes:\` with what they want otherwise has it changed.`,
    ]);
  });
}

/** Of a prompt that another host has sent. */
const NOT_THE_USERS =
  'this Claude Code was started by another one that works in the same project: what it is sent is not the word of the user, who answers for a SPEC in a session or a terminal of their own';

/** The SPEC that a team has written for what it plans, the latest; undefined: there is none. */
function writtenBy({ project }: HookContext, { state }: TeamLog): string | undefined {
  const name = specName(state.purpose?.subject ?? '');
  return specInChange(state) ?? project.specs().findLast((id) => id.replace(/-\d+$/, '') === `SPEC-${name}`);
}

/** What the user wants otherwise in the SPEC of a team that waits for their word. */
async function change(context: HookContext, event: HostEvent, wanted: string): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const log = logs.find((one) => awaits(one, event.session));
    const id = log === undefined ? undefined : writtenBy(context, log);
    const lost = lostPlans(unread);
    if (log === undefined || id === undefined) return unheard(lost);
    if (context.isNested()) return stop([NOT_THE_USERS]);
    const { team } = log.state;
    const as: Evidence = { kind: 'environment', team, teammate: null };
    // Between its parts nobody else takes the results that are there for the last word.
    const asked = await context.turn.take(team, () => askChanges(context, log, as, id, wanted));
    if (!asked.ok) return stop([`${asked.holder} is at a step of team ${team}: say it again in a moment`]);
    if (asked.value !== null) return stop([asked.value]);
    log.refresh();
    const again = waitingRoles(log.state);
    await noteDelivered(log, LEAD);
    return say([
      `what the user wants otherwise in ${id} was given to those whose results it is made of.`,
      leadBrief(log.state),
      ...(again.length === 0 ? [] : ['Register each again with Task, and whoever waits for them once it can begin:']),
      ...again.map(
        (role) =>
          `- Task ${JSON.stringify(spawnParameters(log.state.team, role, `Do the open tasks that are meant for ${role}.`))}`,
      ),
      ...lost,
    ]);
  });
}
