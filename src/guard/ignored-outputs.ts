// Build outputs among the write targets of a call: paths in directories that Git ignores.

import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type GitOptions, tryGit } from '../git/git.ts';
import type { Target } from './rules/writes.ts';

/** Timeout of one git process: a tool call waits for it. */
const ASKED_MS = 5_000;
/** Limit of `git check-ignore` runs: each ends early at a path in a submodule. */
const MOST_ASKED = 20;
const MOST_BYTES = 64 * 1024 * 1024;

/** Directories of programs that the checks start: an install writes all of them, never a single one. */
const PROGRAMS = /(?:^|\/)(?:node_modules\/\.bin|\.?venv\/bin)(?:\/|$)/;

/** An installed package with its content. */
const PACKAGE = /^(?:.*?\/)?(?:node_modules|site-packages)\/(?:@[^/]+\/[^/]+|[^.@/][^/]*)/;

/** Whether the checks may run the path: then it may change only by a full install or under a lease. */
function isProgram(path: string, root: string): boolean {
  if (PROGRAMS.test(path)) return true;
  const [place] = PACKAGE.exec(path) ?? [];
  return place !== undefined && kindAt(join(root, place)) !== 'none';
}

/** An ignore pattern with its file and line. */
type Rule = { readonly source: string; readonly line: number; readonly pattern: string };

/** A target with its directory: the target itself, or the parent of a file. */
type Question = { readonly path: string; readonly place: string; readonly isFile: boolean };

/** A symbolic link counts as a file: its destination is a separate target. */
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
 * Ignored names with their patterns. A trailing slash stands for all content of a directory, ignored by its own name or
 * by a pattern for its content. Tracked files, and directories that contain some, are not ignored.
 */
async function ignoredAmong(names: readonly string[], options: GitOptions): Promise<ReadonlyMap<string, Rule>> {
  const ignored = new Map<string, Rule>();
  let rest = names;
  for (let round = 0; rest.length > 0 && round < MOST_ASKED; round += 1) {
    const input = rest.map((name) => `${name}\0`).join('');
    const words = ['check-ignore', '-z', '--verbose', '--non-matching', '--stdin'];
    const { exitCode, stdout } = await tryGit(words, { ...options, input });
    // Four fields per name: file of the pattern, line, pattern, name.
    const fields = stdout.split('\0');
    const answered = Math.floor(fields.length / 4);
    for (let at = 0; at < answered; at += 1) {
      const [source = '', line = '', pattern = '', name = ''] = fields.slice(at * 4, at * 4 + 4);
      if (pattern !== '' && !pattern.startsWith('!')) ignored.set(name, { source, line: Number(line), pattern });
    }
    if (exitCode === 0 || exitCode === 1 || (round === 0 && answered === 0)) break;
    // Git stopped at a path in a submodule: skip that path.
    rest = rest.slice(answered + 1);
  }
  return ignored;
}

/** Negated patterns of an ignore file after that line, without the `!`. */
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

/**
 * Whether a pattern may match names below `place`. A pattern without wildcards names a single file.
 * @param rules directory of the ignore file
 */
function mayFit(pattern: string, rules: string, place: string): boolean {
  const at = pattern.search(/[*?[]/);
  if (at === -1) return false;
  const head = pattern.slice(0, at).replace(/^\//, '');
  const begin = head.slice(0, head.lastIndexOf('/') + 1);
  const inside = relative(rules, place);
  return `${inside}/`.startsWith(begin) || begin.startsWith(`${inside}/`);
}

/**
 * Whether a directory with ignored content has exceptions by negated patterns, for existing or future files.
 * @param above the pattern for the parent directory's content: if it is the same, the directory itself is ignored
 */
function isPartly(place: string, { source, line, pattern }: Rule, above: Rule | undefined, root: string): boolean {
  if (!/(?:^|\/)\*+$/.test(pattern) || (above?.source === source && above.line === line)) return false;
  const isOfDirectory = basename(source) === '.gitignore';
  const start = isOfDirectory ? dirname(source) : '.';
  if (takenBack(resolve(root, source), line).some((one) => mayFit(one, start, place))) return true;
  // Deeper ignore files take precedence.
  let directory = place;
  while (directory !== start && directory !== '.') {
    const rules = directory;
    if (takenBack(join(root, rules, '.gitignore'), 0).some((one) => mayFit(one, rules, place))) return true;
    directory = dirname(directory);
  }
  return !isOfDirectory && takenBack(join(root, '.gitignore'), 0).some((one) => mayFit(one, '.', place));
}

/** Ignored directories that contain tracked files, or files that `git add` would take. */
async function heldAmong(paths: readonly string[], options: GitOptions): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const words = ['--literal-pathspecs', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--'];
  const { exitCode, stdout } = await tryGit([...words, ...paths.map((path) => `./${path}`)], options);
  if (exitCode !== 0) return new Set(paths);
  const held = stdout.split('\0');
  return new Set(paths.filter((path) => held.some((one) => one === path || one.startsWith(`${path}/`))));
}

/** Targets that are outputs: directories with all content ignored, and ignored files in such directories. */
export async function ignoredOutputs(root: string, targets: readonly Target[]): Promise<ReadonlySet<string>> {
  const inside = targets.filter(({ path }) => !path.startsWith('/')).map((target) => questionOf(target, root));
  const asked = inside.filter(({ path, place }) => place !== '.' && !isProgram(path, root));
  if (asked.length === 0) return new Set();
  // The prefix `./` keeps names from being parsed as patterns; `././` is the project.
  const names = asked.flatMap(({ path, place, isFile }) => [
    `./${place}/`,
    isFile ? `./${path}` : `./${dirname(place)}/`,
  ]);
  const options = { cwd: root, timeoutMs: ASKED_MS, maxBytes: MOST_BYTES };
  const ignored = await ignoredAmong(['././', ...new Set(names)], options);
  // The repository ignores the whole project, so its rules do not identify outputs.
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
  // A path with several targets is an output only if each one is.
  for (const question of inside) if (!likely.includes(question)) outputs.delete(question.path);
  return outputs;
}
