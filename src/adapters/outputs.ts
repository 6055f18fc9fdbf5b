// Which of the paths that a call would write lie in directories that Git ignores.

import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Target } from '../domain/team/guard.ts';
import { type GitOptions, tryGit } from './git/git.ts';

/** Long enough for a question about names; who waits is a tool call. */
const ASKED_MS = 5_000;
/** How often an answer may end at a path that Git will say nothing of. */
const MOST_ASKED = 20;
const MOST_BYTES = 64 * 1024 * 1024;

/** Programs that the checks start: an install puts them there with all else, nobody one of them alone. */
const PROGRAMS = /(?:^|\/)(?:node_modules\/\.bin|\.?venv\/bin)(?:\/|$)/;

/** The directory that a target is, or becomes, or lies in. */
type Question = { readonly path: string; readonly place: string; readonly isFile: boolean };

/** A link is asked about as a file: what it leads to is a target of its own. */
function kindAt(path: string): 'directory' | 'file' | 'none' {
  try {
    return lstatSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return 'none';
  }
}

function questionOf({ path, tree, directory }: Target, root: string): Question {
  const kind = kindAt(join(root, path));
  const isFile = kind === 'none' ? !tree && (directory ?? null) === null : kind === 'file';
  return { path, place: isFile ? dirname(path) : path, isFile };
}

/**
 * Git's names of what it ignores: with a slash at its end, all in a directory, by the directory's own name or by a pattern
 * for what is in it. What Git has, or has something in, is not ignored.
 */
async function ignoredAmong(names: readonly string[], options: GitOptions): Promise<ReadonlySet<string>> {
  const ignored = new Set<string>();
  let rest = names;
  for (let round = 0; rest.length > 0 && round < MOST_ASKED; round += 1) {
    const input = rest.map((name) => `${name}\0`).join('');
    const words = ['check-ignore', '-z', '--verbose', '--non-matching', '--stdin'];
    const { exitCode, stdout } = await tryGit(words, { ...options, input });
    // Four of each: where the pattern is, its line, the pattern, the name.
    const fields = stdout.split('\0');
    const answered = Math.floor(fields.length / 4);
    for (let at = 0; at < answered; at += 1) {
      const [pattern = '', name = ''] = fields.slice(at * 4 + 2, at * 4 + 4);
      if (pattern !== '' && !pattern.startsWith('!')) ignored.add(name);
    }
    if (exitCode === 0 || exitCode === 1 || (round === 0 && answered === 0)) break;
    // It ended at one that lies in a submodule.
    rest = rest.slice(answered + 1);
  }
  return ignored;
}

/** Of directories that are ignored, those in which Git has something, or would take something that is there. */
async function heldAmong(paths: readonly string[], options: GitOptions): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const words = ['--literal-pathspecs', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--'];
  const { exitCode, stdout } = await tryGit([...words, ...paths.map((path) => `./${path}`)], options);
  if (exitCode !== 0) return new Set(paths);
  const held = stdout.split('\0');
  return new Set(paths.filter((path) => held.some((one) => one === path || one.startsWith(`${path}/`))));
}

/** A file is an output where Git ignores it as well as all else in its directory; a directory, where it ignores all in it. */
export async function outputsAmong(root: string, targets: readonly Target[]): Promise<ReadonlySet<string>> {
  const inside = targets.filter(({ path }) => !path.startsWith('/')).map((target) => questionOf(target, root));
  const asked = inside.filter(({ path, place }) => place !== '.' && !PROGRAMS.test(path));
  if (asked.length === 0) return new Set();
  // So that none is taken for a pattern; the first is the project.
  const names = asked.flatMap(({ path, place, isFile }) => [`./${place}/`, ...(isFile ? [`./${path}`] : [])]);
  const options = { cwd: root, timeoutMs: ASKED_MS, maxBytes: MOST_BYTES };
  const ignored = await ignoredAmong(['././', ...new Set(names)], options);
  // In a repository that ignores the whole project nothing is told apart.
  if (ignored.has('././')) return new Set();
  const likely = asked.filter(
    ({ path, place, isFile }) => ignored.has(`./${place}/`) && (!isFile || ignored.has(`./${path}`)),
  );
  const held = await heldAmong([...new Set(likely.flatMap(({ path, isFile }) => (isFile ? [] : path)))], options);
  const outputs = new Set(likely.flatMap(({ path }) => (held.has(path) ? [] : path)));
  // Of a path that is written twice each has to be one.
  for (const question of inside) if (!likely.includes(question)) outputs.delete(question.path);
  return outputs;
}
