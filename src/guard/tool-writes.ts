// The writes of a call of the host's tools.

import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { type Refusal, refusal, textOf } from '../base/rules/codes.ts';
import type { Environment } from '../base/rules/environment.ts';
import type { GitRow } from './rules/git-calls.ts';
import { GUARD_CODES } from './rules/guard-codes.ts';
import type { Target, Writes } from './rules/writes.ts';
import type { ObviousWrite } from './writing-programs.ts';

type Fields = Readonly<Record<string, unknown>>;

export type WritesOptions = {
  readonly root: string;
  readonly env: Environment;
  /** Calls of git that are refused. */
  readonly git: readonly GitRow[];
};

/** As many links as the system follows, which then calls it a loop. */
const LINKS_MAX = 40;

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Where a path really leads: its links followed, those to what does not exist yet as well. */
function realOf(path: string, left = LINKS_MAX): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const place = realOf(parent, left);
    const link = left > 0 ? linkAt(join(place, basename(path))) : null;
    return link === null ? join(place, basename(path)) : realOf(resolve(place, link), left - 1);
  }
}

/** The entry that a path names: the links before its last part followed, that part itself not. */
function entryOf(path: string): string {
  // These lead elsewhere for the process that writes.
  if (/^\/(?:proc|dev)\//.test(path)) return path;
  return join(realOf(dirname(path)), basename(path));
}

/** From the project's root where it lies inside; absolute otherwise. */
function fromRoot(path: string, root: string): string {
  const inside = relative(root, path);
  if (inside === '') return '.';
  return inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? path : inside;
}

/** Whether the project lies somewhere below that path. */
function holdsRoot(path: string, root: string): boolean {
  return root.startsWith(path.endsWith('/') ? path : `${path}/`);
}

/**
 * The entry that a path names, and what that is a link to: both have to be allowed. A tree that the project lies in is the
 * project as well.
 */
function targets({ path, tree, directory }: ObviousWrite, root: string): readonly Target[] {
  const paths = [...new Set([entryOf(path), realOf(path)])];
  // `mkdir` changes nothing there.
  if (directory === true && paths.every(isDirectory)) return [];
  const isAround = tree && paths.some((one) => holdsRoot(one, root));
  return [...(isAround ? [root] : []), ...paths].map((one) => ({
    path: fromRoot(one, root),
    tree,
    directory: directory === true ? 'made' : isDirectory(one) ? 'there' : null,
  }));
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** A path as the host takes it: without blanks around it, `~` as the home of the user. */
export function pathAsNamed(path: string, env: WritesOptions['env']): string {
  const trimmed = path.trim();
  return /^~(?:\/|$)/.test(trimmed) ? join(env.HOME || homedir(), trimmed.slice(1)) : trimmed;
}

/** What a path of the project leads to: where that is, from its root when it lies inside, and whether it is a directory. */
export function resolveTarget(path: string, root: string): { readonly path: string; readonly isDirectory: boolean } {
  const real = realOf(resolve(root, path));
  return { path: fromRoot(real, root), isDirectory: isDirectory(real) };
}

async function shellWrites(command: string, cwd: string, { root, env, git: rows }: WritesOptions): Promise<Writes> {
  const { obviousWrites } = await import('./obvious-writes.ts');
  const { writes, git } = obviousWrites(command, { cwd: realOf(cwd), home: env.HOME || homedir(), root, rows });
  return { targets: writes.flatMap((write) => targets(write, root)), unresolved: [], git };
}

function unresolved(why: Refusal): Writes {
  return { targets: [], unresolved: [textOf(why)], git: null };
}

/** Reads what a call would write out of its input. */
export async function writesOf(tool: string, input: Fields, cwd: string, options: WritesOptions): Promise<Writes> {
  if (tool === 'Bash' || tool === 'Monitor') {
    const { command } = input;
    // What is watched may be a socket.
    if (tool === 'Monitor' && command === undefined) return { targets: [], unresolved: [], git: null };
    if (typeof command === 'string') return shellWrites(command, cwd, options);
    return unresolved(refusal(GUARD_CODES.writes_command_no_text, {}));
  }
  if (tool === 'PowerShell' || tool === 'REPL') return unresolved(refusal(GUARD_CODES.writes_code_not_read, { tool }));
  const path = input.file_path ?? input.notebook_path;
  if (typeof path !== 'string' || path === '') return unresolved(refusal(GUARD_CODES.writes_path_missing, { tool }));
  const named = resolve(cwd, pathAsNamed(path, options.env));
  return { targets: targets({ path: named, tree: false }, options.root), unresolved: [], git: null };
}
