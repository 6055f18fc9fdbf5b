// The reach of a teammate's process, in a project that others work on at the same time.

import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { credentialPlaces, Isolation } from '../../agents/isolation.ts';
import { namespaceIdentity } from '../../agents/namespace-identity.ts';
import type { IsolationMode } from '../../agents/rules/runtime.ts';
import { programPlace } from '../../base/package-root.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { failure } from '../../base/rules/errors.ts';
import { tryGit } from '../../git/git.ts';
import { plainConfigs } from '../../git/plain-config.ts';
import { type Project, teamWorktree } from '../../git/project.ts';
import { projectState } from '../../git/project-state.ts';
import { safeDirectories } from '../../git/trusted-directories.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import { createGitOverlay } from './git-overlay.ts';
import { hasPlaces, writablePlaces } from './member-places.ts';
import type { MemberRequest } from './members-port.ts';
import { homesOf } from './team-homes.ts';

/** Where a run's program is started, and with what it may write. */
export type MemberBounds = {
  readonly isolation: Isolation;
  /** Repositories of other users that the person takes for safe, as git's settings have them. */
  readonly safe: readonly string[];
  /**
   * The command line of a program as it is started for a teammate.
   * @param cwd its worktree, or a place in it
   * @param own further places of its own
   * @param run whose program it is
   */
  readonly wrap: (
    file: string,
    args: readonly string[],
    cwd: string,
    own: readonly string[],
    run: Pick<MemberRequest, 'team' | 'name' | 'epoch'>,
  ) => readonly [string, readonly string[]];
};

/** Parts of a project that all of a team write to: its log, and what checks have found. */
const SHARED = ['teams', 'cache'];

/** Of teammates whose lead is already where agents run. */
export async function inheritedBounds(): Promise<MemberBounds> {
  const isolation = await Isolation.probe('off', { readOnly: [], hidden: [], tables: '' });
  return { isolation, safe: [], wrap: (file, args) => [file, args] };
}

/** A worktree's directory, whatever place in it is given. */
function worktreeOf(cwd: string, worktrees: string): string {
  const [team, name] = relative(worktrees, cwd).split(sep);
  return team === undefined || name === undefined || team === '..' ? cwd : join(worktrees, team, name);
}

/** The person's checkouts of a repository; worktrees of teams lie in one of them. */
async function checkoutsOf(root: string): Promise<readonly string[]> {
  const { stdout } = await tryGit(['worktree', 'list', '--porcelain', '-z'], { cwd: root });
  const rows = stdout.split('\0').filter((row) => row.startsWith('worktree '));
  return rows.map((row) => row.slice('worktree '.length)).filter((path) => teamWorktree(path) === undefined);
}

/** The superuser of namespaces has no rights over what another user owns outside of them. */
function refuseForeign(common: string): void {
  const objects = join(common, 'objects');
  const owner = statSync(objects, { throwIfNoEntry: false })?.uid ?? 0;
  if (process.geteuid?.() !== 0 || owner === 0) return;
  throw failure(LEAD_CODES.objects_owned_by_other, { path: objects, user: String(owner) });
}

/**
 * Finds out where the repository is, and whether this machine has namespaces. Throws when they are required and cannot be had.
 * @param runtimeDir holds the temporary files of every teammate and of the gate
 */
export async function memberBounds(
  { root, main }: Project,
  mode: IsolationMode,
  env: Environment,
  runtimeDir: string,
): Promise<MemberBounds> {
  const asked = ['rev-parse', '--path-format=absolute', '--git-common-dir', '--show-toplevel'];
  const { exitCode, stdout } = await tryGit(asked, { cwd: root });
  const [common, top] = exitCode === 0 ? stdout.split('\n') : [];
  const state = projectState(main, env);
  const isolation = await Isolation.probe(mode, {
    readOnly: [
      env.HOME ?? homedir(),
      programPlace(),
      runtimeDir,
      state,
      main,
      ...(top === undefined ? [] : [top, ...(await checkoutsOf(root))]),
      ...(common === undefined ? [] : [hasPlaces(common) ? common : join(common, 'hooks')]),
      // It can lead git to objects that others do not have.
      ...(common === undefined ? [] : [join(common, 'objects', 'info')]),
    ],
    hidden: [...credentialPlaces(env), join(state, 'caller-signature.key')],
    replaced: common === undefined ? [] : await plainConfigs(common),
    tables: join(state, 'mounts'),
  });
  if (isolation.active && common !== undefined) refuseForeign(common);
  const shared = SHARED.map((name) => join(main, '.tool', name));
  return {
    isolation,
    safe: await safeDirectories(env),
    wrap: (file, args, cwd, own, run) => {
      if (!isolation.active) return [file, args];
      for (const path of shared) mkdirSync(path, { recursive: true });
      const worktree = worktreeOf(cwd, join(main, '.tool', 'worktrees'));
      const places = common === undefined ? [] : writablePlaces(common, worktree);
      const hasOverlay = common !== undefined && hasPlaces(common);
      const overlay = hasOverlay ? createGitOverlay(common, join(homesOf(state, run.team), run.name)) : null;
      const writable = [...places, ...shared, worktree, ...own, ...(overlay === null ? [] : [overlay.place])];
      return isolation.wrap(file, args, writable, {
        identity: namespaceIdentity(main, run),
        binds: overlay?.binds ?? [],
      });
    },
  };
}
