// Before a tool runs: whether this caller may write that, spawn that, call that; and who calls the team's server.

import { lineWithCode, type Refusal, refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { waysToMerge } from '../../guard/rules/git-calls.ts';
import { insideProject } from '../../guard/rules/ownership.ts';
import type { Target } from '../../guard/rules/writes.ts';
import { type TeamContext, withReadable } from '../../team/operations/context.ts';
import type {
  EventOrigin,
  PeopleLog,
  ProjectFiles,
  SpecStore,
  WriteRules,
} from '../../team/operations/context-parts.ts';
import {
  type CallerEvidence,
  evidenceOf,
  type FoundCaller,
  findCaller,
  isAlone,
  isOfLead,
  isTeammate,
} from '../../team/operations/event-caller.ts';
import { type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { hostAgent, serverTool } from '../../team/operations/spawn.ts';
import type { TeamLog } from '../../team/ports.ts';
import { nextStepText, roleNamed, rolesToStart } from '../../team/rules/brief.ts';
import { asRole, memberName } from '../../team/rules/caller.ts';
import { spawnParameters } from '../../team/rules/calls.ts';
import { gitRowsFor, isFirstWriters, judgeWrites, ruleOf } from '../../team/rules/guard.ts';
import { agentOfRun, type Member, START_HOOK, startsOf, type TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { onlyReads } from '../../team/rules/role.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { changesOf, specApprovedBy } from '../rules/prompt.ts';
import { kindOfTool } from '../rules/tool-kind.ts';
import { approvalFault } from './approval-guard.ts';
import { leaseToFirstWriter } from './first-writer.ts';
import { onTeammateIdle } from './on-teammate-idle.ts';
import { type Reason, reasonWithCode, reasonWithoutCode, reject } from './rejection.ts';
import { attachTicket } from './shell-tickets.ts';

/** The calls that a host is about to make, judged by the rules of writes. */
export type ToolUseContext = Pick<TeamContext, 'teams' | 'settings' | 'now' | 'placeLeases' | 'host'> &
  CallerEvidence &
  WriteRules &
  PeopleLog &
  Pick<EventOrigin, 'mayWait'> & { readonly project: Pick<SpecStore, 'spec'> & Pick<ProjectFiles, 'agentTools'> };

export async function onPreToolUse(context: ToolUseContext, event: HostEvent): Promise<HookAnswer> {
  const kind = kindOfTool(event.tool);
  if (kind === 'other') return SILENT;
  if (kind === 'end') return onTeammateIdle(context, event, true);
  if (kind === 'later') return refuseReservedWords(event);
  if (kind === 'ours') return calledBy(context, event);
  return withReadable(context.teams, async (logs, unread) => {
    const found = await findCaller(context, event, logs, unread);
    if (found === undefined) return SILENT;
    // Where team mode has failed, the lead's own agents do the work; who was started as a teammate still is one.
    if (found.log.state.session === 'fallback' && !isTeammate(context, event, found)) {
      const reader = readOnlyTeammate(event, found);
      if (kind === 'write' && reader !== null) return guardWrite(context, event, reader);
      if (kind === 'write' && isAlone(event, found)) {
        const read = () => noteAlone(context, event, found);
        return (await attachTicket(context, event, found, true, read)) ?? read();
      }
      if (kind === 'spawn' && found.caller.kind === 'lead') await takePlace(event, found.log);
      return SILENT;
    }
    if (kind === 'write') return guardWrite(context, event, found);
    return kind === 'spawn' ? judgeSpawn(context, event, found) : refuseHosts(context, event, found);
  });
}

/** What is sent as a prompt later would count as the user's own word then. */
function refuseReservedWords({ tool, input }: HostEvent): HookAnswer {
  const texts = Object.values(input).flatMap((value) => (typeof value === 'string' ? [value] : []));
  const word = texts.find((text) => specApprovedBy(text) !== null || changesOf(text) !== null);
  if (word === undefined) return SILENT;
  return reject(refusal(HOOK_CODES.approval_word_reserved, { tool, words: oneLine(word, 80) }));
}

/** The lead's agent of a role that only reads, as the teammate that it would be; null: it is none. */
function readOnlyTeammate({ agentType, session }: HostEvent, { log }: FoundCaller): FoundCaller | null {
  const name = memberName(agentType ?? '');
  return onlyReads(name) && isOfLead(log.state, session) ? { log, caller: asRole(name, log.state.team, true) } : null;
}

async function calledBy(context: Pick<TeamContext, 'teams'> & CallerEvidence, event: HostEvent): Promise<HookAnswer> {
  const evidence = await evidenceOf(context, event);
  if (evidence.kind !== 'stamp') return { kind: 'caller', caller: null };
  const { caller } = evidence;
  if (caller.agentType !== '') return { kind: 'caller', caller };
  // An agent that only the transcripts name is known by its binding.
  return withReadable(context.teams, async (logs) => {
    const bound = logs.map((log) => log.state.bindings.get(caller.agentId ?? '')).find((one) => one !== undefined);
    return { kind: 'caller', caller: { ...caller, agentType: bound?.name ?? 'an agent' } };
  });
}

async function note(
  log: TeamLog,
  found: FoundCaller,
  about: string,
  decision: 'accept' | 'reject',
  reason: Reason,
  paths: readonly string[],
): Promise<void> {
  const { caller } = found;
  const who = caller.kind === 'outsider' ? `${caller.who}: ` : '';
  await log.append(
    {
      type: 'decision',
      hook: 'ownership',
      decision,
      member: caller.kind === 'member' ? caller.name : caller.kind === 'lead' ? LEAD : null,
      about,
      reason: `${who}${reasonWithoutCode(reason)}`,
      fingerprint: '',
      paths,
    },
    { flush: false },
  );
}

/**
 * Whether a teammate takes the team's finished work into its own worktree, or brings that back to its branch, as it is told to
 * when its work cannot be merged. That touches files of anybody; what it adds of its own is judged when the task is completed.
 */
function isWayToMerge(
  { startedAs, worktree }: ToolUseContext,
  event: HostEvent,
  { caller, log }: FoundCaller,
): boolean {
  if (startedAs === null || worktree === null || event.tool !== 'Bash' || caller.kind !== 'member') return false;
  const { command } = event.input;
  const isThere = event.cwd === worktree.root || event.cwd.startsWith(`${worktree.root}/`);
  const ways = waysToMerge(log.state.team, caller.name);
  return isThere && typeof command === 'string' && ways.some((one) => `git ${one}` === command.trim());
}

async function guardWrite(context: ToolUseContext, event: HostEvent, found: FoundCaller): Promise<HookAnswer> {
  const read = () => judgeNamed(context, event, found);
  if (isWayToMerge(context, event, found)) return read();
  return (await attachTicket(context, event, found, false, read)) ?? read();
}

/** Judges the writes that the call itself names. */
async function judgeNamed(context: ToolUseContext, event: HostEvent, found: FoundCaller): Promise<HookAnswer> {
  const { caller, log } = found;
  const settings = await context.settings();
  const rows = gitRowsFor(caller, settings, context.worktree === null ? 'shared' : 'own');
  const writes = await context.writesOf(event.tool, event.input, event.cwd, rows);
  const { targets, unresolved, git } = writes;
  if (targets.length + unresolved.length === 0 && git === null) return SILENT;
  if (isWayToMerge(context, event, found)) {
    await note(log, found, `${event.tool} ${String(event.input.command)}`, 'accept', "the team's finished work", []);
    return SILENT;
  }
  const rule = (outputs: ReadonlySet<string>) =>
    judgeWrites(writes, caller, log.state, settings, {
      attended: context.attended,
      now: context.now(),
      temporary: context.temporary,
      hosts: context.hosts,
      below: context.below,
      outputs,
      checkout: context.worktree?.checkout ?? null,
    });
  let ruling = rule(new Set());
  // Git is asked only where something would be refused.
  if (ruling.decision === 'deny' && caller.kind === 'member') {
    const outputs = await context.outputs(targets);
    if (outputs.size > 0) ruling = rule(outputs);
  }
  const fault =
    caller.kind === 'lead' && log.state.approval && ruling.decision !== 'deny'
      ? approvalFault(event, writes, context.project.spec)
      : null;
  const paths = targets.map(({ path }) => path).join(', ');
  const about = `${event.tool} ${paths || (git === null ? '(unresolved)' : '(git)')}`;
  if (fault !== null) {
    await note(log, found, about, 'reject', fault, []);
    return reject(fault);
  }
  if (ruling.decision === 'allow') {
    const first = targets.filter(
      ({ path, directory = null }) => directory === null && isFirstWriters(path, null, settings),
    );
    const taken = caller.kind === 'member' ? await leaseToFirstWriter(context, log, caller, namesOf(first)) : null;
    if (taken !== null) return reject(taken);
    await note(log, found, about, 'accept', 'its own', ruling.paths);
    return SILENT;
  }
  await note(log, found, about, 'reject', ruling.reason, []);
  const shown = ruling.refusal ?? ruling.reason;
  return ruling.decision === 'ask' ? { kind: 'ask', reason: reasonWithCode(shown) } : reject(shown);
}

/** Paths of the project among targets. */
function namesOf(targets: readonly Target[]): readonly string[] {
  return targets.flatMap(({ path }) => (path.startsWith('/') ? [] : (insideProject(path) ?? [])));
}

/** Records what work that is done one at a time writes; nothing is refused. */
async function noteAlone(context: ToolUseContext, event: HostEvent, { log }: FoundCaller): Promise<HookAnswer> {
  try {
    const { targets } = await context.writesOf(event.tool, event.input, event.cwd, []);
    const paths = targets
      .flatMap(({ path, tree }) => (tree ? [path, ...context.below(path)] : [path]))
      .flatMap((path) => (path.startsWith('/') ? [] : (insideProject(path) ?? [])))
      .filter((path) => ruleOf(path) === null);
    if (paths.length === 0) return SILENT;
    const about = `${event.tool} ${targets.map(({ path }) => path).join(', ')}`;
    const words = { about, reason: 'one at a time', fingerprint: '', paths };
    const record = { type: 'decision', hook: 'ownership', decision: 'accept', member: LEAD, ...words } as const;
    await log.append(record, { flush: false });
  } catch (error) {
    context.log(
      'warn',
      lineWithCode(refusal(HOOK_CODES.writes_not_noted, { tool: event.tool, said: messageOf(error) })),
    );
  }
  return SILENT;
}

/** An agent that the lead starts for itself is not the teammate of that role, who has not been seen to run. */
async function takePlace({ input }: HostEvent, log: TeamLog): Promise<void> {
  const member = log.state.members.get(memberName(String(input.subagent_type ?? '')));
  if (member === undefined || member.phase === 'over' || agentOfRun(log.state, member) !== undefined) return;
  const { name, epoch } = member;
  await log.append({
    type: 'member_ended',
    name,
    epoch,
    how: 'replaced',
    reason: 'the lead has its tasks done by itself',
  });
}

/** Without these an agent can neither claim a task nor say what came of it. */
const NEEDED = ['TaskList', 'TaskGet', 'TaskUpdate', 'Inbox', 'SendMessage'];

/** Refusal of an agent of the project's own that could take no part in a team; null: it can. */
function unreached(context: ToolUseContext, member: Member): Refusal | null {
  const { agent } = member;
  // A plugin's agents are its own.
  const tools = hostAgent(member.name, context.host()) === agent ? context.project.agentTools(agent) : null;
  if (tools === null) return null;
  const needed = NEEDED.map((tool) => serverTool(tool, context.host()));
  const missing = needed.filter((tool) => !tools.includes(tool) && !tools.includes('*'));
  return missing.length === 0 || tools.some((tool) => /^mcp__team(?:__\*)?$/.test(tool))
    ? null
    : refusal(HOOK_CODES.agent_lacks_tools, { agent, tools: missing });
}

async function judgeSpawn(context: ToolUseContext, event: HostEvent, found: FoundCaller): Promise<HookAnswer> {
  const { caller, log } = found;
  const { state } = log;
  const type = String(event.input.subagent_type ?? '');
  const { team } = state;
  const refuse = async (reason: Refusal): Promise<HookAnswer> => {
    await note(log, found, `${event.tool} ${type}`, 'reject', reason, []);
    return reject(reason);
  };
  if (caller.kind === 'member') return refuse(refusal(HOOK_CODES.agents_for_lead_only, { team }));
  if (caller.kind !== 'lead') return refuse(refusal(HOOK_CODES.session_not_lead, { team }));
  if (event.tool === 'Workflow') return refuse(refusal(HOOK_CODES.workflow_refused, { team }));
  const member = state.members.get(memberName(type));
  const isSeen = member !== undefined && agentOfRun(state, member) !== undefined;
  if (member?.phase !== 'registered' && (member?.phase !== 'working' || isSeen))
    return refuse(unregistered(state, memberName(type), member));
  const lacking = unreached(context, member);
  if (lacking !== null) return refuse(lacking);
  if (startsOf(state, member) >= MAX_STARTS || (member.denied ?? 0) >= MAX_STARTS)
    return refuse(await unstarted(context, log, member));
  const record = { member: LEAD, about: member.name, reason: 'it is registered', fingerprint: '', paths: [] };
  await log.append({ type: 'decision', hook: START_HOOK, decision: 'accept', ...record }, { flush: false });
  // With a name some hosts would make it a teammate of their own kind; in a work tree of its own it could write nothing.
  const { name: _, team_name: __, isolation: ___, ...kept } = event.input;
  const input = { ...kept, subagent_type: hostAgent(member.name, context.host()) };
  // In its auto mode the host has each call checked as the model wrote it: what needs no change is left as it is.
  const isRight = type === input.subagent_type && Object.keys(kept).length === Object.keys(event.input).length;
  return isRight ? SILENT : { kind: 'rewrite', input, grant: false };
}

/** So often the host is asked to start a teammate that it never starts. */
const MAX_STARTS = 2;

/** The host has let nobody start it, asked or not: its tasks go on without a team. Gives what the lead is told. */
async function unstarted(context: ToolUseContext, log: TeamLog, { name, epoch }: Member): Promise<Refusal> {
  const reason = `${name} was called ${MAX_STARTS} times, and the host has not started it`;
  const told = (next: string) => refusal(HOOK_CODES.member_never_started, { member: name, count: MAX_STARTS, next });
  const { fallback } = await context.settings();
  if (!fallback.enabled) return told('Ask the user whether they denied it, and why. Start nobody before they answer.');
  await log.append({ type: 'member_ended', name, epoch, how: 'not_started', reason });
  await log.append({ type: 'fell_back', trigger: 'spawn_failed', reason });
  context.log(fallback.logLevel, `sub-agents in place of team ${log.state.team}: ${reason}`);
  return told(`If the user denied it, first ask them how to continue. ${nextStepText(log.state)}`);
}

/** Refusal of an agent that is not registered, with the call that helps. */
function unregistered(state: TeamState, name: string, member: Member | undefined): Refusal {
  const { team } = state;
  if (member?.phase === 'working' || member?.phase === 'idle')
    return refusal(HOOK_CODES.agent_already_started, {
      member: name,
      phase: member.phase === 'idle' ? 'waiting for work' : 'at work',
    });
  const isRole = roleNamed(name) !== undefined || state.purpose?.roles.includes(name) === true;
  const role = isRole ? name : rolesToStart(state)[0];
  const call =
    role === undefined
      ? "Register it first with the team server's Task."
      : `First call the team server's Task ${JSON.stringify(spawnParameters(team, role, member?.prompt ?? `Do the tasks that are meant for ${role}.`))}, then make the call that it returns.`;
  const code = member === undefined ? HOOK_CODES.agent_not_registered : HOOK_CODES.agent_run_over;
  return refusal(code, { team, member: name, call });
}

/** The host's own team tools would hold a second state: they rest while a team stands. */
async function refuseHosts(context: ToolUseContext, event: HostEvent, found: FoundCaller): Promise<HookAnswer> {
  const { caller, log } = found;
  if (caller.kind === 'outsider') return SILENT;
  const { tool } = event;
  const instead = serverTool(tool, context.host());
  const reason = refusal(HOOK_CODES.host_tool_refused, { team: log.state.team, tool, instead });
  await note(log, found, tool, 'reject', reason, []);
  return reject(reason);
}
