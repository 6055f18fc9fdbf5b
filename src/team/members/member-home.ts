// The home of a teammate's process: a directory of its own, one for temporary files, and its identity in the environment.

import { delimiter, dirname, join, relative, sep } from 'node:path';
import { createAgentHome } from '../../agents/agent-home.ts';
import type { AgentProgram } from '../../agents/agent-process.ts';
import { NAMESPACE_VARIABLE, RUN_VARIABLE } from '../../base/processes/processes.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { NO_PUSH } from '../../git/clone.ts';
import { teamWorktree } from '../../git/project.ts';
import type { MemberBounds } from './member-bounds.ts';
import type { MemberGuard } from './member-guard.ts';
import type { MemberRequest } from './members-port.ts';
import { homesOf } from './team-homes.ts';

export type MemberHomeOptions = {
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly env: Environment;
  /** Names of further variables to pass on. */
  readonly passed: readonly string[];
  /** What all that this lead starts carries in its environment. */
  readonly mark: string;
  /** They are found out while the work is decided on. */
  readonly bounds: Promise<MemberBounds>;
  /** The write guard around each teammate's process; absent: none. */
  readonly guard?: MemberGuard;
};

export type MemberHome = {
  /** Marks the run's processes. */
  readonly id: string;
  readonly tmp: string;
  readonly variables: Readonly<Record<string, string>>;
  /** A program as it is started there. */
  readonly program: (file: string, args: readonly string[], more: Readonly<Record<string, string>>) => AgentProgram;
  /** Ends the run's part of the guard. */
  readonly end: () => void;
};

/** Whatever the repository's own settings say: no helper hands out a credential, and no address can be pushed to. */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ['credential.helper', ''],
  ['http.extraHeader', ''],
  [`url.${NO_PUSH}/.pushInsteadOf`, ''],
];

/**
 * Further settings for git by its environment.
 * @param safe repositories of other users that the person takes for safe
 */
export function withGitSettings(
  env: Readonly<Record<string, string>>,
  safe: readonly string[],
): Readonly<Record<string, string>> {
  const count = Number(env.GIT_CONFIG_COUNT ?? 0);
  const settings = [...GIT_SETTINGS, ...safe.map((place) => ['safe.directory', place] as const)];
  const rows = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ]);
  return { ...env, ...Object.fromEntries(rows), GIT_CONFIG_COUNT: String(count + settings.length) };
}

/** What tells a teammate's process, and all that it starts, from others. */
export function memberVariables({
  team,
  name,
  epoch,
}: Pick<MemberRequest, 'team' | 'name' | 'epoch'>): Readonly<Record<string, string>> {
  return { TOOL_TEAM: team, TOOL_TEAMMATE: name, TOOL_TEAMMATE_RUN: String(epoch) };
}

/**
 * In a worktree that its teammate took away git finds no repository, and not the person's checkout above it: each directory
 * up to that is named, because git looks into the one that it is started in all the same.
 */
function ceiling(cwd: string): Readonly<Record<string, string>> {
  const place = teamWorktree(cwd);
  if (place === undefined) return {};
  const parts = relative(place.top, dirname(place.worktree)).split(sep);
  const above = [place.top, ...parts.map((_, at) => join(place.top, ...parts.slice(0, at + 1)))];
  return { GIT_CEILING_DIRECTORIES: above.join(delimiter) };
}

/** Makes a run's home; whoever asked removes `tmp` when the run is over. */
export async function createMemberHome(
  { stateDir, runtime, env, passed, mark, bounds, guard }: MemberHomeOptions,
  run: MemberRequest,
): Promise<MemberHome> {
  const id = `${mark}.${run.team}.${run.name}.${run.epoch}`;
  const tmp = runtime.make(`m-${run.name}-${run.epoch}`);
  const home = await createAgentHome({
    stateDir: join(homesOf(stateDir, run.team), run.name),
    issue: 0,
    attempt: run.epoch,
    run: id,
    tmp,
    env,
    passed,
    carry: null,
  });
  const { isolation, safe, wrap } = await bounds;
  const { active } = isolation;
  const guarded = (await guard?.(run)) ?? null;
  const own = {
    ...home.env,
    ...run.env,
    ...memberVariables(run),
    ...guarded?.variables,
    ...ceiling(run.cwd),
    ...(active ? { [NAMESPACE_VARIABLE]: '1' } : {}),
    [RUN_VARIABLE]: id,
  };
  const variables = withGitSettings(own, safe);
  return {
    id,
    tmp,
    variables,
    end: () => guarded?.end(),
    program: (file, args, more) => {
      const [first = file, ...rest] = [...(guarded?.command ?? []), file, ...args];
      const [wrapped, all] = wrap(first, rest, run.cwd, [home.path, tmp, ...(guarded?.writable ?? [])], run);
      return { file: wrapped, args: all, cwd: run.cwd, env: { ...more, ...variables }, run: id, isIsolated: active };
    },
  };
}
