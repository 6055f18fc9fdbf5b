// Which of the paths that a call would write lie in directories that Git ignores.

import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Target } from '../domain/team/guard.ts';
import { type GitOptions, tryGit } from './git/git.ts';

/** Long enough for a question about names; who waits is a tool call. */
const ASKED_MS = 5_000;
/** How often an answer may end at a path that Git will say nothing of. */
const MOST_ASKED = 20;
const MOST_BYTES = 64 * 1024 * 1024;

/** Programs that the checks start: an install puts them there with all else, nobody one of them alone. */
const PROGRAMS = /(?:^|\/)(?:node_modules\/\.bin|\.?venv\/bin)(?:\/|$)/;

/** A package of an install, with all in it. */
const PACKAGE = /^(?:.*?\/)?(?:node_modules|site-packages)\/(?:@[^/]+\/[^/]+|[^.@/][^/]*)/;

/** Whether the checks may run it, so that it is changed by an install of all, or with a lease. */
function isProgram(path: string, root: string): boolean {
  if (PROGRAMS.test(path)) return true;
  const [place] = PACKAGE.exec(path) ?? [];
  return place !== undefined && kindAt(join(root, place)) !== 'none';
}

/** Where the pattern stands that names a path. */
type Rule = { readonly source: string; readonly line: number; readonly pattern: string };

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
async function ignoredAmong(names: readonly string[], options: GitOptions): Promise<ReadonlyMap<string, Rule>> {
  const ignored = new Map<string, Rule>();
  let rest = names;
  for (let round = 0; rest.length > 0 && round < MOST_ASKED; round += 1) {
    const input = rest.map((name) => `${name}\0`).join('');
    const words = ['check-ignore', '-z', '--verbose', '--non-matching', '--stdin'];
    const { exitCode, stdout } = await tryGit(words, { ...options, input });
    // Four of each: where the pattern is, its line, the pattern, the name.
    const fields = stdout.split('\0');
    const answered = Math.floor(fields.length / 4);
    for (let at = 0; at < answered; at += 1) {
      const [source = '', line = '', pattern = '', name = ''] = fields.slice(at * 4, at * 4 + 4);
      if (pattern !== '' && !pattern.startsWith('!')) ignored.set(name, { source, line: Number(line), pattern });
    }
    if (exitCode === 0 || exitCode === 1 || (round === 0 && answered === 0)) break;
    // It ended at one that lies in a submodule.
    rest = rest.slice(answered + 1);
  }
  return ignored;
}

/** Patterns of a file of rules behind that line, each with its place from the root, that leave something out again. */
function takenBack(path: string, line: number): readonly string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .slice(line)
      .flatMap((text) => (text.startsWith('!') ? text.slice(1).trim() : []));
  } catch {
    return [];
  }
}

/** Whether a pattern, of rules that lie in that directory, may fit names below the place; one without `*` and the like is for one file. */
function mayFit(pattern: string, rules: string, place: string): boolean {
  const at = pattern.search(/[*?[]/);
  if (at === -1) return false;
  const head = pattern.slice(0, at).replace(/^\//, '');
  const begin = head.slice(0, head.lastIndexOf('/') + 1);
  const inside = relative(rules, place);
  return `${inside}/`.startsWith(begin) || begin.startsWith(`${inside}/`);
}

/**
 * A directory of which only what is in it is ignored: whether some of that is left out again, be it there or not.
 * @param above the rule for what lies beside it: when it is the same, the directory is ignored itself
 */
function isPartly(place: string, { source, line, pattern }: Rule, above: Rule | undefined, root: string): boolean {
  if (!/(?:^|\/)\*+$/.test(pattern) || (above?.source === source && above.line === line)) return false;
  const isOfDirectory = basename(source) === '.gitignore';
  const start = isOfDirectory ? dirname(source) : '.';
  if (takenBack(resolve(root, source), line).some((one) => mayFit(one, start, place))) return true;
  // Rules that lie deeper count more.
  let directory = place;
  while (directory !== start && directory !== '.') {
    const rules = directory;
    if (takenBack(join(root, rules, '.gitignore'), 0).some((one) => mayFit(one, rules, place))) return true;
    directory = dirname(directory);
  }
  return !isOfDirectory && takenBack(join(root, '.gitignore'), 0).some((one) => mayFit(one, '.', place));
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
  const asked = inside.filter(({ path, place }) => place !== '.' && !isProgram(path, root));
  if (asked.length === 0) return new Set();
  // So that none is taken for a pattern; the first is the project.
  const names = asked.flatMap(({ path, place, isFile }) => [
    `./${place}/`,
    isFile ? `./${path}` : `./${dirname(place)}/`,
  ]);
  const options = { cwd: root, timeoutMs: ASKED_MS, maxBytes: MOST_BYTES };
  const ignored = await ignoredAmong(['././', ...new Set(names)], options);
  // In a repository that ignores the whole project nothing is told apart.
  if (ignored.has('././')) return new Set();
  const likely = asked.filter(({ path, place, isFile }) => {
    const rule = ignored.get(`./${place}/`);
    return (
      rule !== undefined &&
      (isFile ? ignored.has(`./${path}`) : !isPartly(place, rule, ignored.get(`./${dirname(place)}/`), root))
    );
  });
  const held = await heldAmong([...new Set(likely.flatMap(({ path, isFile }) => (isFile ? [] : path)))], options);
  const outputs = new Set(likely.flatMap(({ path }) => (held.has(path) ? [] : path)));
  // Of a path that is written twice each has to be one.
  for (const question of inside) if (!likely.includes(question)) outputs.delete(question.path);
  return outputs;
}
