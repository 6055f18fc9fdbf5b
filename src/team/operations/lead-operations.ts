// Operations of the lead alone: create a team, register its teammates, delete it.

import { lineWithCode, refusal, textOf } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { nearest } from '../../base/rules/nearest.ts';
import type { TeamLog } from '../ports.ts';
import { nextStepText, roleNamed, rolesToStart, taskLine } from '../rules/brief.ts';
import type { Evidence } from '../rules/caller.ts';
import { identify, memberName } from '../rules/caller.ts';
import { SHUTDOWN_ALL, spawnParameters } from '../rules/calls.ts';
import { MESSAGES_CODES } from '../rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../rules/codes/spec-codes.ts';
import { isUnstarted } from '../rules/log/fold-state.ts';
import type { Purpose } from '../rules/log/record.ts';
import { isActive, isLost, isModelLed, SHUTDOWN_DEADLINE_MS } from '../rules/log/state.ts';
import { LEAD } from '../rules/message.ts';
import type { Input } from '../rules/operation.ts';
import { agentOf, PATTERNS, type Phase, ROLES } from '../rules/role.ts';
import type { TeamSettings } from '../rules/settings.ts';
import { phaseOfTeam, specOfRun } from '../rules/team-name.ts';
import { missingForGate } from '../select/work-decision.ts';
import {
  type Answer,
  appendRequired,
  mustBeReadable,
  refuse,
  type TeamCaller,
  type TeamContext,
  withReadable,
} from './context.ts';
import { hostCall } from './spawn.ts';

const USUAL: Readonly<Record<Phase, keyof typeof PATTERNS>> = {
  plan: 'plan_research',
  run: 'implementation',
  debug: 'investigation',
};

function purposeOf(name: string, phase: Phase, input: Input, settings: TeamSettings): Purpose {
  const pattern = input.maybe('pattern') ?? USUAL[phase];
  const roles = Object.hasOwn(settings.patterns, pattern) ? settings.patterns[pattern] : undefined;
  if (roles === undefined) {
    const known = Object.keys(settings.patterns);
    const close = nearest(pattern, known);
    return refuse(MESSAGES_CODES.parameter_invalid, {
      ...{ field: 'pattern', expected: `one of ${known.join(', ')}`, got: pattern },
      ...(close === undefined ? {} : { near: close }),
    });
  }
  const own = Object.values(PATTERNS).find((one) => one.name === pattern)?.phase ?? phase;
  if (own !== phase)
    refuse(MESSAGES_CODES.parameter_invalid, {
      field: 'pattern',
      expected: `one of the phase ${phase}, like ${USUAL[phase]}`,
      got: `${pattern}, which is of the phase ${own}`,
    });
  return { phase, pattern, roles, subject: input.maybe('subject') ?? name };
}

/** Of a team that no command proposed. */
function purposeAllowed(
  { problems }: Pick<TeamContext, 'problems'>,
  name: string,
  phase: Phase,
  input: Input,
  settings: TeamSettings,
): Purpose {
  const [problem] = problems();
  if (!settings.enabled && problem !== undefined)
    refuse(OPERATIONS_CODES.settings_block_team, { problem: textOf(problem) });
  if (!settings.enabled) refuse(OPERATIONS_CODES.team_mode_off, {});
  return purposeOf(name, phase, input, settings);
}

/** Whether it names a teammate, or an agent of a host: one that has ended, or that no team knows, leads none either. */
function isSubordinate(evidence: Evidence): boolean {
  if (evidence.kind === 'environment') return evidence.teammate !== null && evidence.teammate !== LEAD;
  return evidence.kind === 'stamp' && (evidence.caller.agentId !== null || evidence.caller.agentType !== null);
}

/** Who creates leads; whoever may not lead is refused. */
async function mayCreate(context: Pick<TeamContext, 'teams'>, name: string, evidence: Evidence): Promise<void> {
  await withReadable(context.teams, async (logs, unread) => {
    const [caller] = identify(
      evidence,
      logs.map((log) => log.state),
    );
    if (caller?.kind === 'member' || isSubordinate(evidence)) refuse(OPERATIONS_CODES.main_agent_only, {});
    // A second team takes the first one's lead from its calls: it would have to say which with each.
    const isNamed = evidence.kind !== 'nothing' && (evidence.kind !== 'key' || caller?.kind === 'lead');
    const [standing] = logs;
    mustBeReadable(isNamed ? unread.filter(({ team }) => team === name) : unread);
    if (!isNamed && standing !== undefined)
      refuse(OPERATIONS_CODES.team_creator_unknown, {
        team: standing.state.team,
        why: evidence.kind === 'nothing' ? evidence.why : 'no team knows that key',
      });
  });
}

/** Parts of the context that the creation of a team needs. */
type CreationContext = Pick<
  TeamContext,
  'teams' | 'settings' | 'problems' | 'approval' | 'checks' | 'workTree' | 'keys' | 'hostProcess' | 'writesHeldBy'
>;

export async function createTeam(context: CreationContext, input: Input, evidence: Evidence): Promise<Answer> {
  const name = input.text('team_name');
  const phase = phaseOfTeam(name);
  if (phase === undefined) return refuse(OPERATIONS_CODES.team_name_invalid, { got: name });
  await mayCreate(context, name, evidence);
  const settings = await context.settings();
  // What is refused leaves no log behind.
  if (!context.teams.list().includes(name)) {
    purposeAllowed(context, name, phase, input, settings);
    // A person at a terminal is the one who approves.
    const needsWord = settings.requirePlanApproval && evidence.kind !== 'environment';
    if (phase === 'run' && needsWord) await mustBeApproved(context, name);
    const missing = await missingForGate(context, phase, settings);
    if (missing.length > 0) refuse(OPERATIONS_CODES.gate_not_ready, { missing: missing.map(textOf).join('; ') });
  }
  try {
    return withProblems(context, await begin(context, name, phase, input, evidence, settings));
  } catch (error) {
    if (error instanceof ToolError && error.kind === 'refused') throw error;
    const next = settings.fallback.enabled
      ? 'Do the tasks one at a time, each with one sub-agent'
      : 'fallback.enabled is false: stop here and tell the user';
    throw failure(
      OPERATIONS_CODES.team_create_failed,
      { said: messageOf(error).replace(/\.$/, ''), next },
      { cause: error },
    );
  }
}

/** Whoever makes a team to build without the command that does so needs the same: a SPEC that the user approved as it stands. */
async function mustBeApproved(context: Pick<TeamContext, 'approval'>, team: string): Promise<void> {
  const id = specOfRun(team);
  if (id === undefined) return refuse(OPERATIONS_CODES.team_without_spec, { team });
  const { status, counts, why } = await context.approval(id);
  if (status === null && !counts) return refuse(OPERATIONS_CODES.spec_not_found, { spec: id });
  if (!counts) refuse(SPEC_CODES.spec_not_approved, { spec: id, why, call: `TeamCreate {"team_name":"${team}"}` });
}

/** What is wrong with the settings is said by what goes by those that hold meanwhile. */
function withProblems({ problems }: Pick<TeamContext, 'problems'>, answer: Answer): Answer {
  const [problem] = problems();
  return problem === undefined ? answer : { ...answer, warning: lineWithCode(problem) };
}

async function begin(
  context: CreationContext,
  name: string,
  phase: Phase,
  input: Input,
  evidence: Evidence,
  settings: TeamSettings,
): Promise<Answer> {
  const log = context.teams.begin(name);
  try {
    const { proposal, session } = log.state;
    if (isActive(log.state)) refuse(OPERATIONS_CODES.team_already_active, { team: name, state: session });
    const purpose = proposal ?? purposeAllowed(context, name, phase, input, settings);
    const isFromHook = evidence.kind === 'stamp';
    const { key, hash } = context.keys.create();
    const commit = await context.workTree.head();
    const host = context.hostProcess();
    await appendRequired(log, {
      type: 'created',
      team: name,
      phase: purpose.phase,
      pattern: purpose.pattern,
      roles: purpose.roles,
      subject: purpose.subject,
      session: isFromHook ? evidence.caller.session : null,
      key_hash: evidence.kind === 'nothing' || evidence.kind === 'key' ? hash : null,
      approval: settings.requirePlanApproval,
      base: await context.workTree.tree(),
      writes_held_by: await context.writesHeldBy(),
      ...(commit === null ? {} : { commit }),
      ...(host === null ? {} : { host }),
      ...(proposal === null ? {} : { tasks: proposal.drafts }),
    });
    const { state } = log;
    const needsKey = state.lead.keyHash !== null;
    return {
      team: name,
      state: state.session,
      pattern: purpose.pattern,
      tasks: [...state.tasks.values()].map((task) => taskLine(task, state)),
      ...(needsKey
        ? {
            key,
            key_note: `toolcrew cannot identify callers${evidence.kind === 'nothing' ? ` (${evidence.why})` : ''}: pass this as "key" with each of your calls of the team server's tools.`,
          }
        : {}),
      next: rolesToStart(state).map((role) => ({
        tool: 'Task',
        input: spawnParameters(name, role, promptFor(role, state.tasks.size > 0)),
      })),
      note: nextStepText(state),
    };
  } finally {
    await log.close();
  }
}

function promptFor(role: string, hasTasks: boolean): string {
  return hasTasks ? `Do the tasks that are meant for ${role}.` : (roleNamed(role)?.does ?? `Work as ${role}.`);
}

/** A role of the user's own is played by an agent of theirs, which nobody else brings; without a host, by any program. */
function lacksAgent(context: Pick<TeamContext, 'host' | 'hasAgentFile'>, role: string, agent: string): boolean {
  return context.host() !== null && roleNamed(role) === undefined && !context.hasAgentFile(agent);
}

export async function registerMember(
  context: Pick<TeamContext, 'settings' | 'keys' | 'host' | 'hasAgentFile' | 'problems'>,
  log: TeamLog,
  caller: TeamCaller,
  input: Input,
): Promise<Answer> {
  if (caller.kind !== 'lead') refuse(OPERATIONS_CODES.lead_only, { does: 'starts teammates' });
  if (log.state.session === 'fallback' && isModelLed(log.state))
    refuse(OPERATIONS_CODES.team_without_members, { team: log.state.team });
  const name = input.text('name');
  const agent = input.text('subagent_type');
  const settings = await context.settings();
  const known = [
    ...new Set([
      ...(log.state.purpose?.roles ?? []),
      ...Object.keys(ROLES),
      ...Object.values(settings.patterns).flat(),
    ]),
  ];
  const role = memberName(agent);
  if (!known.includes(role) || agent !== agentOf(role)) {
    const close = known.includes(role) ? agentOf(role) : nearest(agent, known.map(agentOf));
    refuse(MESSAGES_CODES.parameter_invalid, {
      ...{ field: 'subagent_type', expected: `one of ${known.map(agentOf).join(', ')}`, got: agent },
      ...(close === undefined ? {} : { near: close }),
    });
  }
  if (name !== role)
    refuse(MESSAGES_CODES.parameter_invalid, {
      ...{ field: 'name', expected: `${role}, the agent's name without its prefix`, got: name },
    });
  const own = roleNamed(name);
  const model = own === undefined || own.model === 'inherit' ? settings.defaultModel : own.model;
  await appendRequired(log, {
    type: 'member_registered',
    name,
    agent,
    read_only: own?.readOnly ?? false,
    model,
    prompt: input.text('prompt'),
    max: settings.maxTeammates,
  });
  const member = log.state.members.get(name);
  if (member === undefined) return refuse(OPERATIONS_CODES.member_not_registered, { member: name });
  // Without hooks nobody sees the call: the member counts as started, and is known by its key.
  const key = log.state.lead.keyHash === null ? null : context.keys.create();
  if (key !== null)
    await appendRequired(log, { type: 'member_spawned', name, epoch: member.epoch, key_hash: key.hash, pid: null });
  return withProblems(context, {
    member: name,
    run: member.epoch,
    state: log.state.members.get(name)?.phase ?? member.phase,
    call: hostCall(member, log.state, context.host(), key?.key ?? null),
    note: lacksAgent(context, name, agent)
      ? textOf(refusal(OPERATIONS_CODES.agent_definition_unusable, { agent, member: name }))
      : 'Make the call in `call` now, unchanged. Several such calls in one message run in parallel. If the host denies it, make it once more. If the user denies it, ask them how to continue.',
  });
}

export async function deleteTeam(
  context: Pick<TeamContext, 'teams' | 'now'>,
  log: TeamLog,
  caller: TeamCaller,
  input: Input,
): Promise<Answer> {
  const { state } = log;
  if (caller.kind !== 'lead') refuse(OPERATIONS_CODES.lead_only, { does: 'deletes a team', who: caller.name });
  const forced = input.flag('force');
  const at = context.now();
  const { refused } = await log.append({ type: 'deleted', forced, by: caller.name });
  if (refused !== null) {
    const missing = [...state.members.values()].filter(
      (member) => member.phase !== 'over' && !isUnstarted(member) && !isLost(member, at),
    );
    const names = missing.map(({ name, shutdown }) =>
      shutdown === null ? `${name} (not asked)` : `${name} (asked, ${shutdown.readAt === null ? 'not read' : 'read'})`,
    );
    const unasked = missing.some(({ shutdown }) => shutdown === null);
    const left = state.shutdownAt === null ? null : Math.ceil((state.shutdownAt + SHUTDOWN_DEADLINE_MS - at) / 1000);
    if (missing.length === 0) throw new ToolError(refused);
    const waits = left !== null && left > 0 ? { force_in: left } : {};
    refuse(OPERATIONS_CODES.team_has_live_members, {
      ...{ team: state.team, members: names, ...waits },
      next: unasked
        ? `Ask first: ${SHUTDOWN_ALL}`
        : waits.force_in === undefined
          ? `Wait for them, or call TeamDelete {"team_name":"${state.team}","force":true}`
          : `Wait for them; after ${left} s more you can force it.`,
    });
  }
  const done = [...state.tasks.values()].filter(({ status }) => status === 'completed').length;
  return {
    team: state.team,
    state: 'deleted',
    archived: context.teams.archive(state.team),
    completed_tasks: done,
    tasks: state.tasks.size,
  };
}
