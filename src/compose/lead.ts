// Wires the rooms into a lead that is code: for `tool plan`, `tool run`, `tool build-fix`, and a team on an issue.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { describeHolder, LockTaken, ProcessLock } from '../base/files/process-lock.ts';
import { packageRoot } from '../base/package-root.ts';
import { endProcessesOfRun } from '../base/processes/processes.ts';
import type { RuntimeDir } from '../base/processes/runtime-dir.ts';
import { refusal, textOf } from '../base/rules/codes.ts';
import type { CommandLine } from '../base/rules/command-line.ts';
import type { Environment } from '../base/rules/environment.ts';
import { failure } from '../base/rules/errors.ts';
import { createChecks } from '../gate/run/checks.ts';
import { measureTrust5 } from '../gate/run/trust5.ts';
import { ignoreStateDirectories } from '../git/own-ignored.ts';
import { findProject, type Project } from '../git/project.ts';
import { projectState } from '../git/project-state.ts';
import { mechanismOf } from '../guard/guard-mechanism.ts';
import { prepareShell } from '../guard/guard-shell.ts';
import { SHELL_VARIABLE } from '../guard/rules/ticket.ts';
import { closeLeftTeam } from '../team/lead/close-left-team.ts';
import type { LeadOptions } from '../team/lead/lead-options.ts';
import type { MemberTimeouts } from '../team/lead/member-session.ts';
import { OpenTeams } from '../team/log/open-teams.ts';
import { recordResult } from '../team/log/undelivered-results.ts';
import { ClaudeMembers, type ClaudeMembersOptions } from '../team/members/claude-members.ts';
import { openGateSandbox } from '../team/members/gate-sandbox.ts';
import type { MemberBounds } from '../team/members/member-bounds.ts';
import { createMemberGuard, type MemberGuard } from '../team/members/member-guard.ts';
import type { MemberHomeOptions } from '../team/members/member-home.ts';
import { CommandMembers } from '../team/members/members.ts';
import type { Members } from '../team/members/members-port.ts';
import type { TeamContext } from '../team/operations/context.ts';
import type { PeopleLog } from '../team/operations/context-parts.ts';
import { NO_HOST, type TeamVariable } from '../team/rules/select/activation.ts';
import type { TeamSettings } from '../team/rules/settings.ts';
import { phaseOfTeam } from '../team/rules/team-name.ts';
import { createTeamWorktrees } from '../team/worktrees/team-worktrees.ts';
import type { HookContext } from './hook-context.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';
import { composeContext, copiesOf, teamsOf } from './team.ts';

/** What plays the teammates. */
export type TeammateRuntime =
  /** A program that reads its prompt from standard input. */
  | { readonly kind: 'command'; readonly command: CommandLine }
  | ({ readonly kind: 'claude' } & Omit<ClaudeMembersOptions, keyof MemberHomeOptions>);

export type ComposeLeadOptions = {
  readonly cwd: string;
  readonly env: Environment;
  readonly players: TeammateRuntime;
  /** Names of further variables that teammates get. */
  readonly passed: readonly string[];
  readonly timeouts: MemberTimeouts;
  /** For temporary files; the lead closes it. */
  readonly runtime: RuntimeDir;
  /** What teammates may reach. */
  readonly bounds: Promise<MemberBounds>;
  readonly variable: TeamVariable;
  /** What marks all that is started; undefined: made of the project's place. */
  readonly mark?: string;
  readonly say: (words: string) => void;
  /** Tells people what is logged at a level; absent: it is said as everything else. */
  readonly log?: PeopleLog['log'];
};

export type ComposedLead = {
  readonly context: HookContext;
  readonly project: Project;
  readonly lead: Omit<LeadOptions, 'width' | 'onEvent' | 'output' | 'onPresence'>;
  /** Ends what an earlier lead of that team left running; gives how many processes there were. */
  readonly endLeftovers: (team: string) => Promise<number>;
  /** Whether there are worktrees of a team of that name. */
  readonly hasWorktrees: (team: string) => boolean;
  /** Makes this process the team's lead until it is closed; throws when another one is, or teammates cannot be started as they have to be. */
  readonly hold: (team: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

function holdTeam(stateDir: string, team: string): ProcessLock {
  const lock = ProcessLock.tryTake({ path: join(stateDir, 'leads', `${team}.lock`), workflow: team });
  if (!(lock instanceof LockTaken)) return lock;
  if (lock.holder === null) throw failure(COMPOSE_CODES.team_lead_contended, { team });
  const { since } = lock.holder;
  throw failure(COMPOSE_CODES.team_led_elsewhere, { team, holder: describeHolder(lock.holder), since });
}

const LEFTOVER_GRACE_MS = 1_000;

/** What marks all that leads of a project start. */
function runMarkOf(main: string): string {
  return createHash('sha256').update(main).digest('hex').slice(0, 12);
}

function hasWorktrees(main: string, team: string): boolean {
  return existsSync(join(main, '.tool', 'worktrees', team));
}

function endLeftovers(mark: string, team: string): Promise<number> {
  return endProcessesOfRun(`${mark}.${team}.`, LEFTOVER_GRACE_MS);
}

/**
 * Closes what a lead that is code has left of a team that is deleted. Throws while one leads it still.
 * @returns the branch that stays, and the refs that keep what it lacks; null: nothing was left, or nothing of it is to stay
 */
export async function closeDeleted({ main }: Project, env: Environment, team: string) {
  if (!hasWorktrees(main, team)) return null;
  const lock = holdTeam(projectState(main, env), team);
  try {
    await endLeftovers(runMarkOf(main), team);
    // Where it is called may be one of the worktrees.
    const teamWorktrees = createTeamWorktrees({ root: main, env });
    if (phaseOfTeam(team) === 'run')
      return { branch: `tool/${team}`, kept: await closeLeftTeam(teamWorktrees, team, []) };
    await teamWorktrees.forget(team, []);
    return null;
  } finally {
    lock.release();
  }
}

/** The write guard around teammates' processes, prepared while the work is decided on; where it cannot be had, that is said once. */
function memberGuardOf(
  main: string,
  env: Environment,
  settings: () => Promise<TeamSettings>,
  say: (words: string) => void,
): { readonly guard: MemberGuard; readonly writesHeldBy: TeamContext['writesHeldBy'] } {
  const from = join(packageRoot(), 'dist', 'native');
  const mechanism = mechanismOf(process.platform);
  const preparing = prepareShell({ env, before: env[SHELL_VARIABLE] ?? null, from, mechanism });
  let isSaid = false;
  const guard: MemberGuard = async (run) => {
    const prepared = await preparing;
    if (prepared.ok) return createMemberGuard(main, prepared.shell, env, settings)(run);
    if (!isSaid) say(textOf(refusal(COMPOSE_CODES.guard_not_in_use, { why: prepared.why })));
    isSaid = true;
    return null;
  };
  return { guard, writesHeldBy: async () => ((await preparing).ok && mechanism !== null ? mechanism.name : 'reader') };
}

function membersOf(players: TeammateRuntime, home: MemberHomeOptions): Members {
  return players.kind === 'claude'
    ? new ClaudeMembers({ ...home, ...players })
    : new CommandMembers({ ...home, command: players.command, more: {} });
}

export function composeLead(options: ComposeLeadOptions): ComposedLead {
  const { cwd, env, players, passed, timeouts, runtime, bounds, say } = options;
  const project = findProject(cwd);
  const { root, main } = project;
  const teams = new OpenTeams(teamsOf(project, env));
  const { context } = composeContext(project, env, teams, () => null, say);
  const mark = options.mark ?? runMarkOf(main);
  const held: ProcessLock[] = [];
  const stateDir = projectState(main, env);
  const hostVersion = players.kind === 'claude' ? players.version : NO_HOST;
  const view = {
    ...context.project,
    hostVersion: () => Promise.resolve(hostVersion),
    // As it is now: a settings file may have changed.
    get variable() {
      return options.variable;
    },
  };
  const { guard, writesHeldBy } = memberGuardOf(main, env, context.settings, say);
  const leading: HookContext = { ...context, project: view, log: options.log ?? context.log, writesHeldBy };
  const home = { stateDir, runtime, env, passed, mark, bounds, guard };
  const sandboxFor = (place: string, team: string) => () => openGateSandbox(home, { main, team, root: place });
  return {
    context: leading,
    project,
    lead: {
      context: leading,
      members: membersOf(players, home),
      teamWorktrees: createTeamWorktrees({ root, env, copies: copiesOf(main, env) }),
      clock: systemClock,
      // What was measured is kept where no teammate writes.
      checksAt: (place, team) =>
        createChecks({
          root: place,
          cacheDirectory: join(stateDir, 'checks'),
          now: Date.now,
          openSandbox: sandboxFor(place, team),
        }),
      trust5At: (work) => measureTrust5({ ...work, openSandbox: sandboxFor(work.root, work.team) }),
      planCallbacks: {
        writeSpec: leading.project.writeSpec,
        askApproval: null,
      },
      budgetUsd: null,
      instruction: null,
      timeouts,
      say,
      onEnding: (team, found) => recordResult(main, team, found),
    },
    endLeftovers: (team) => endLeftovers(mark, team),
    hasWorktrees: (team) => hasWorktrees(main, team),
    hold: async (team) => {
      await bounds;
      held.push(holdTeam(stateDir, team));
      ignoreStateDirectories(main);
    },
    close: async () => {
      for (const lock of held) lock.release();
      await teams.close();
      await runtime.close();
    },
  };
}
