// The directory that holds the workspaces: ours alone, real paths only.

import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { readStateDirHolder } from '../journal/state-dir.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';

/** What is ours in the root beside the workspaces. */
export const ROOT_DATA = '.toolcrew';

function inside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** `stateDir`: of the daemon that claimed the root; null when that is not known. */
type Owner = { readonly repository: string; readonly stateDir: string | null };

const UNREADABLE: Owner = { repository: '(unreadable)', stateDir: null };

function readOwner(root: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(root, ROOT_DATA, 'root.json'), 'utf8'));
    if (typeof value !== 'object' || value === null || !('repository' in value)) return UNREADABLE;
    const { repository } = value;
    const stateDir = 'state_dir' in value && typeof value.state_dir === 'string' ? value.state_dir : null;
    return typeof repository === 'string' ? { repository, stateDir } : UNREADABLE;
  } catch (error) {
    return error instanceof SyntaxError ? UNREADABLE : undefined;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** What a claim leaves when no workspace was ever made: neither a workspace, nor a manifest of one, nor work that is being saved. */
function isBare(root: string): boolean {
  return (
    namesIn(root).every((name) => name === ROOT_DATA) &&
    namesIn(join(root, ROOT_DATA)).every((name) => name === 'spares' || name.startsWith('root.json'))
  );
}

/**
 * What stands against a root that somebody claimed; undefined when nobody needs it: a start that failed claims nothing for good.
 * Two processes with state directories of their own never share one, also for the same repository: each removes what it does not know.
 */
function objectionToOwner(root: string, owner: Owner, repository: string, stateDir: string | null): string | undefined {
  if (owner.repository !== repository && !isBare(root))
    return `holds the workspaces of ${owner.repository}, not of ${repository}`;
  // Whoever holds the caller's own state directory is the caller, or is what he is refused for.
  const isUnknown = stateDir === null && owner.repository === repository;
  const isElsewhere = owner.stateDir !== null && owner.stateDir !== stateDir && !isUnknown;
  const holder = isElsewhere ? readStateDirHolder(owner.stateDir) : undefined;
  return holder === undefined ? undefined : `is in use by the process ${holder.pid} for ${owner.repository}`;
}

/**
 * Why an existing directory cannot be the root; undefined when it can.
 * @param real its real path
 * @param repository what the root is for, as `<host>/<owner>/<repo>`: a second repository needs a root of its own
 * @param stateDir must lie apart from it; null when it is not known yet
 */
export function objectionToRoot(real: string, repository: string, stateDir: string | null): string | undefined {
  if (real === dirname(real) || inside(homedir(), real)) return 'holds the home directory';
  if (stateDir !== null && (inside(real, stateDir) || inside(stateDir, real)))
    return `is not apart from state.dir ${stateDir}`;
  const status = lstatSync(real);
  if (!status.isDirectory()) return 'is not a directory';
  const uid = process.getuid?.();
  if (uid !== undefined && status.uid !== uid) return `belongs to another user (uid ${status.uid})`;
  const owner = readOwner(real);
  if (owner === undefined) return isBare(real) ? undefined : 'holds files that are not ours';
  return objectionToOwner(real, owner, repository, stateDir);
}

function refuse(root: string, error: unknown): never {
  const said = messageOf(error);
  throw failure(WORKSPACES_CODES.workspace_root_unusable, { path: root, said }, { cause: error });
}

/** Makes the directory and gives its real path; throws when it cannot be the root. Arguments as for `objectionToRoot`. */
export function checkRoot(root: string, repository: string, stateDir: string): string {
  let real = root;
  let objection: string | undefined;
  try {
    mkdirSync(root, { recursive: true });
    real = realpathSync(root);
    objection = objectionToRoot(real, repository, stateDir);
  } catch (error) {
    refuse(root, error);
  }
  if (objection === undefined) return real;
  throw failure(WORKSPACES_CODES.workspace_root_taken, { path: real, why: objection });
}

/** Takes the root for the repository, when it can be had, and gives its real path. The state directory is held by now. */
export function claimRoot(root: string, repository: string, stateDir: string): string {
  const real = checkRoot(root, repository, stateDir);
  const known = readOwner(real);
  if (known?.repository === repository && known.stateDir === stateDir) return real;
  const path = join(real, ROOT_DATA, 'root.json');
  try {
    mkdirSync(join(real, ROOT_DATA), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.${process.pid}`, `${JSON.stringify({ repository, state_dir: stateDir })}\n`);
    renameSync(`${path}.${process.pid}`, path);
  } catch (error) {
    refuse(root, error);
  }
  return real;
}
