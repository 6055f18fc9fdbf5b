// What a call of the host's tools would write.

import { existsSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Target, Writes } from '../domain/team/guard.ts';
import type { ShellWrite } from './shell/effects.ts';

type Fields = Readonly<Record<string, unknown>>;

export type WritesOptions = {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

type Written = Pick<ShellWrite, 'tree' | 'directory' | 'hint' | 'script'> & { readonly by?: string };

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
function targets(path: string, { tree, directory, hint, script, by = '' }: Written, root: string): readonly Target[] {
  const paths = [...new Set([entryOf(path), realOf(path)])];
  const isAround = tree && paths.some((one) => holdsRoot(one, root));
  return [...(isAround ? [root] : []), ...paths].map((one) => ({
    path: fromRoot(one, root),
    tree,
    directory: directory === true ? 'made' : isDirectory(one) ? 'there' : null,
    ...(hint === undefined ? {} : { hint }),
    ...(script === undefined ? {} : { script: { name: script, by, isThere: existsSync(one) } }),
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
export function placeOf(path: string, root: string): { readonly path: string; readonly isDirectory: boolean } {
  const real = realOf(resolve(root, path));
  return { path: fromRoot(real, root), isDirectory: isDirectory(real) };
}

function definedOf(env: WritesOptions['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

/** The parser of JavaScript is loaded where there is something for it to read. */
async function codeReader(): Promise<(code: string) => readonly string[] | null> {
  const [{ onlyReads }, { parseScript }] = await Promise.all([
    import('./shell/node-code.ts'),
    import('./checks/syntax.ts'),
  ]);
  return (code) => onlyReads(parseScript(code));
}

async function shellWrites(command: string, cwd: string, { root, env }: WritesOptions): Promise<Writes> {
  const [{ readShell }, { fileView }] = await Promise.all([
    import('./shell/read-shell.ts'),
    import('./shell/file-view.ts'),
  ]);
  const variables = definedOf(env);
  const context = { ...fileView, cwd, home: variables.HOME ?? '/', env: variables };
  const first = readShell(command, context);
  const effects = first.hasCode === true ? readShell(command, { ...context, onlyReads: await codeReader() }) : first;
  return {
    targets: effects.writes.flatMap((write) => targets(write.path, write, root)),
    unresolved: effects.unresolved,
    repository: effects.repository,
  };
}

/** Reads what a call would write out of its input. */
export async function writesOf(tool: string, input: Fields, cwd: string, options: WritesOptions): Promise<Writes> {
  if (tool === 'Bash' || tool === 'Monitor') {
    const { command } = input;
    // What is watched may be a socket.
    if (tool === 'Monitor' && command === undefined) return { targets: [], unresolved: [] };
    return typeof command === 'string'
      ? shellWrites(command, cwd, options)
      : { targets: [], unresolved: ['a command that is no text'] };
  }
  if (tool === 'PowerShell' || tool === 'REPL')
    return { targets: [], unresolved: [`what ${tool} is given is code that is not read`] };
  const path = input.file_path ?? input.notebook_path;
  return typeof path === 'string' && path !== ''
    ? {
        targets: targets(resolve(cwd, pathAsNamed(path, options.env)), { tree: false }, options.root),
        unresolved: [],
      }
    : { targets: [], unresolved: [`${tool} without a path`] };
}
