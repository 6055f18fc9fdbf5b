// Wires the rooms into the contexts of team mode: for hooks, the team server and commands.
// Hooks start in milliseconds, so heavy modules are loaded at their first use.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasAgentFile } from '../agents/agent-tools.ts';
import { identityOf } from '../agents/member-environment.ts';
import { ownNamespaceIdentity } from '../agents/namespace-identity.ts';
import { systemClock } from '../base/clock.ts';
import { systemKeys } from '../base/keys.ts';
import type { Refusal } from '../base/rules/codes.ts';
import type { Environment } from '../base/rules/environment.ts';
import { asLine } from '../base/rules/text.ts';
import { Supervisor } from '../base/supervisor.ts';
import { callerOfToolCall } from '../claude-code/call-origin.ts';
import { certainIdentity } from '../claude-code/certain-identity.ts';
import { formOf } from '../claude-code/duplicate-hooks.ts';
import { hostAbove, isNestedHost } from '../claude-code/host-above.ts';
import { hostPlaces } from '../claude-code/host-settings.ts';
import { allowsTicketComments } from '../claude-code/host-version.ts';
import type { Resident } from '../claude-code/resident.ts';
import { createServerLiveness } from '../claude-code/server-liveness.ts';
import type { Checks } from '../gate/ports.ts';
import type { WorkTree } from '../git/ports.ts';
import { findProject, type Project } from '../git/project.ts';
import { projectState } from '../git/project-state.ts';
import type { TeamWorktrees } from '../git/worktrees/team-worktrees-port.ts';
import { mechanismOf } from '../guard/guard-mechanism.ts';
import { insideProject } from '../guard/rules/ownership.ts';
import { createLeaseFiles, createShellGuard } from '../guard/shell-guard.ts';
import { pathAsNamed, resolveTarget, writesOf } from '../guard/tool-writes.ts';
import { loadTeamSettings } from '../team/config/settings-snapshot.ts';
import { OpenTeams } from '../team/log/open-teams.ts';
import { FileTeams } from '../team/log/teams.ts';
import { removeHomes } from '../team/members/team-homes.ts';
import { beginBaseline } from '../team/operations/baseline-checks.ts';
import type { Host, TeamContext } from '../team/operations/context.ts';
import type { WriteRules } from '../team/operations/context-parts.ts';
import { MAY_WAIT } from '../team/operations/host-event.ts';
import type { PhaseLock, Teams } from '../team/ports.ts';
import type { EnvironmentEvidence } from '../team/rules/caller.ts';
import type { TeamSettings } from '../team/rules/settings.ts';
import { approvalOf } from '../team/spec-documents/spec-approvals.ts';
import type { HookContext } from './hook-context.ts';
import { projectOf } from './project.ts';

export type ComposedHooks = {
  readonly context: HookContext;
  readonly project: Project;
  /** What is said of a configuration that cannot be read. */
  readonly problems: () => readonly Refusal[];
};

/** Hosts wait 600 s for a hook, and a hook 590 s for the server: whoever waits for the checks of others is told in time. */
const CHECKS_PATIENCE_MS = 570_000;

/** How often it is looked for what somebody else writes down. */
const LOOK_MS = 100;

async function waitFor(isThere: () => boolean): Promise<boolean> {
  const giveUpAt = Date.now() + CHECKS_PATIENCE_MS / 2;
  while (!isThere()) {
    if (Date.now() > giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}

/** Globs of ignored files that a team's worktrees have copies of, as the settings say now. */
export function copiesOf(main: string, env: Environment): () => Promise<readonly string[]> {
  return async () => (await loadTeamSettings(main, projectState(main, env))).settings.copies;
}

/** The checks where a team began. */
function lazyBaselineChecks({ root, main }: Project, env: Environment): TeamContext['checksBefore'] {
  return async ({ commit, tree }, quality, signal) => {
    const { withBaseTree } = await import('../git/worktrees/base-tree.ts');
    return withBaseTree(
      { root, env, objects: objectsOf(main), commit, tree, copies: await copiesOf(main, env)() },
      (place) => lazyChecks(place, checksPlace(main), env, root).run(quality, signal),
    );
  };
}

/** The checks and the work tree start programs: loaded when they are asked. */
function lazyChecks(root: string, cacheDirectory: string, env: Environment, lockRoot = root): Checks {
  const load = async () => {
    const { createChecks } = await import('../gate/run/checks.ts');
    return createChecks({ root, cacheDirectory, now: Date.now, env, patienceMs: CHECKS_PATIENCE_MS, lockRoot });
  };
  return {
    run: async (settings, signal, since) => (await load()).run(settings, signal, since),
    missing: async (settings) => (await load()).missing(settings),
  };
}

function lazyWorkTree(root: string, objects: string): WorkTree {
  const load = async () => (await import('../git/work-tree.ts')).createWorkTree({ root, objects });
  return {
    head: async () => (await load()).head(),
    tree: async () => (await load()).tree(),
    changed: async (from, to) => (await load()).changed(from, to),
  };
}

/** Lock for the steps that code takes: most calls take none. */
function lazyPhaseLock(project: string, state: string): PhaseLock {
  return {
    take: async (team, act) => {
      const { FilePhaseLock, phaseLockDirectories } = await import('../team/log/phase-lock.ts');
      return new FilePhaseLock({ project, directories: phaseLockDirectories(state) }).take(team, act);
    },
  };
}

/** How finished work becomes part of the team's branch, in a worktree that a lead made; null anywhere else. */
async function lazyTeamWorktrees({ root, main }: Project, env: Environment): Promise<TeamWorktrees | null> {
  if (!root.startsWith(join(main, '.tool', 'worktrees', '/'))) return null;
  return (await import('../team/worktrees/team-worktrees.ts')).createTeamWorktrees({ root: main, env });
}

/** Paths of files below a directory of the project; what belongs to Git or was installed is left out. */
function filesBelow(root: string, directory: string): string[] {
  const found: string[] = [];
  const open = [directory];
  for (let next = open.pop(); next !== undefined && found.length < 5_000; next = open.pop()) {
    let items: ReturnType<typeof entriesOf>;
    try {
      items = entriesOf(join(root, next));
    } catch {
      continue;
    }
    for (const item of items) {
      const path = next === '.' ? item.name : `${next}/${item.name}`;
      if (!item.isDirectory()) found.push(path);
      else if (item.name !== 'node_modules') open.push(path);
    }
  }
  return found;
}

function entriesOf(path: string) {
  return readdirSync(path, { withFileTypes: true });
}

/** Hosts that name their session to their hooks (from about 2.1.177) name the calling agent as well. */
function namesCallers(env: Environment): boolean {
  return env.CLAUDE_CODE_SESSION_ID !== undefined;
}

function sayOnStandardError(words: string): void {
  process.stderr.write(`${words}\n`);
}

/** The project's settings, and what they were found to lack the last time. */
function settingsOf(main: string, env: Environment) {
  let problems: readonly Refusal[] = [];
  const settings = async (): Promise<TeamSettings> => {
    const loaded = await loadTeamSettings(main, projectState(main, env));
    problems = loaded.problem === null ? [] : [loaded.problem];
    return loaded.settings;
  };
  return { settings, problems: () => problems };
}

/** Hosts name files by their whole paths: in a worktree that one, elsewhere the checkout. */
function insideOf({ root, main }: Project, named: string, env: Environment): string | null {
  const path = pathAsNamed(named, env);
  const place = [root, main].find((one) => path.startsWith(`${one}/`));
  return insideProject(place === undefined ? path : path.slice(place.length + 1));
}

/** The write guard around shell calls, where the host lets a hook mark them. */
function shellGuardOf(
  { root, main }: Project,
  env: Environment,
): Pick<WriteRules, 'shellGuard' | 'allowsTicketComments'> & Pick<TeamContext, 'writesHeldBy'> {
  const mechanism = mechanismOf(process.platform);
  const guard = createShellGuard({ root, main, env, mechanism });
  return {
    writesHeldBy: async () => (guard !== null && mechanism !== null ? mechanism.name : 'reader'),
    shellGuard: guard,
    allowsTicketComments,
  };
}

/** As the system's own programs find it. */
function temporaryOf({ TMPDIR, TMP, TEMP }: Environment): string {
  const place = TMPDIR || TMP || TEMP || '/tmp';
  return place.length > 1 && place.endsWith('/') ? place.slice(0, -1) : place;
}

/** Where results are kept. */
function checksPlace(main: string): string {
  return join(main, '.tool', 'cache', 'checks');
}

/** The teams of a project; with one that is put away the homes of its members go. */
export function teamsOf({ main }: Project, env: Environment): FileTeams {
  return new FileTeams({
    root: main,
    now: Date.now,
    onPutAway: (team) => void removeHomes(projectState(main, env), team),
  });
}

/** Where the trees of work that is not committed are kept. */
function objectsOf(main: string): string {
  return join(main, '.tool', 'cache', 'objects');
}

/** All that operations and hooks of a project stand on. */
export function composeContext(
  project: Project,
  env: Environment,
  teams: Teams,
  host: () => Host | null,
  say = sayOnStandardError,
): ComposedHooks {
  const { root, main } = project;
  const state = projectState(main, env);
  const { settings, problems } = settingsOf(main, env);
  return {
    project,
    problems,
    context: {
      teams,
      settings,
      problems,
      now: Date.now,
      keys: systemKeys,
      checks: lazyChecks(root, checksPlace(main), env),
      checksBefore: lazyBaselineChecks(project, env),
      waitFor,
      newSecrets: async (work, secrets) => {
        const { secretsOf } = await import('../gate/readers/secrets.ts');
        return secretsOf(root, objectsOf(main), work, secrets);
      },
      workTree: lazyWorkTree(root, objectsOf(main)),
      inside: (path) => insideOf(project, path, env),
      placeOf: (path) => resolveTarget(path, root),
      teamWorktrees: () => lazyTeamWorktrees(project, env),
      placeLeases: createLeaseFiles({ main, env }),
      hasAgentFile: (agent) => hasAgentFile(root, agent, env),
      approval: (id) => approvalOf(main, id, env),
      host,
      hostProcess: hostAbove,
      writesOf: (tool, input, cwd, git) => writesOf(tool, input, cwd, { root, env, git }),
      below: (directory) => filesBelow(root, directory),
      outputs: async (targets) => (await import('../guard/ignored-outputs.ts')).ignoredOutputs(root, targets),
      worktree: root === main ? null : { root, checkout: main },
      ...shellGuardOf(project, env),
      temporary: [...new Set(['/tmp', temporaryOf(env)])],
      hosts: hostPlaces(env),
      attended: env.CLAUDE_CODE_ENTRYPOINT === 'cli',
      mayWait: env[MAY_WAIT] === '1',
      isNested: () => isNestedHost(main),
      log: (level, words) => {
        if (level !== 'debug') say(`toolcrew: ${level}: ${asLine(words)}`);
      },
      whoseCall: callerOfToolCall,
      namesCallers: namesCallers(env),
      startedAs: startedAs(env, main),
      trust5: async (work) => {
        const { measureCheckoutTrust5 } = await import('../gate/run/trust5.ts');
        return measureCheckoutTrust5({ ...work, root, objects: objectsOf(main), env });
      },
      phaseLock: lazyPhaseLock(main, state),
      project: projectOf(project, env, teams, settings),
    },
  };
}

/**
 * For one hook of a host.
 * @param env of the hook's process
 * @param say takes a line that people are told
 * @param kept the project's teams, where a process that stays has them open; undefined: opened anew
 */
export function composeHooks(cwd: string, env: Environment, say: (words: string) => void, kept?: Teams): ComposedHooks {
  const project = findProject(cwd, env.CLAUDE_PROJECT_DIR);
  const teams = kept ?? teamsOf(project, env);
  const form = formOf(env, cwd);
  return composeContext(project, env, teams, () => ({ version: null, form }), say);
}

/** For one operation from a shell. */
export function composeOperations(cwd: string, env: Environment): HookContext {
  const project = findProject(cwd);
  return composeContext(project, env, teamsOf(project, env), () => null).context;
}

/** A hook is started by its host, and so is what its environment says. */
function startedAs(env: Environment, main: string): EnvironmentEvidence | null {
  const identity = ownNamespaceIdentity(main) ?? identityOf(env);
  return identity.teammate === null ? null : { kind: 'environment', isServer: true, ...identity };
}

/**
 * For a server that stays as long as its host.
 * @param hostVersion null: another client
 */
export function composeResident(env: Environment, hostVersion: () => string | null): Resident {
  const project = findProject(process.cwd(), env.CLAUDE_PROJECT_DIR);
  const teams = new OpenTeams(teamsOf(project, env));
  const form = formOf(env, process.cwd());
  const { context } = composeContext(project, env, teams, () => {
    const version = hostVersion();
    return version === null ? null : { version, form };
  });
  const liveness = createServerLiveness(project.main);
  // What fails there is told by the completion that needs it.
  const background = new Supervisor({ clock: systemClock, onFailure: () => undefined });
  const certain = certainIdentity(project.main);
  return {
    context,
    project,
    ...(certain === undefined
      ? { identity: identityOf(env), isCertain: false }
      : { identity: certain, isCertain: true }),
    state: projectState(project.main, env),
    announce: liveness.announce,
    isReached: liveness.isReached,
    left: liveness.left,
    measureBaseline: (team) => background.run(`before ${team}`, (signal) => beginBaseline(context, team, signal)),
    close: async () => {
      liveness.close();
      await background.close();
      await teams.close();
    },
  };
}
