// Commits of team branches: ancestry, changed paths, merges, and tasks behind merged files.

import { failure } from '../../base/rules/errors.ts';
import { lastLines } from '../../base/rules/text.ts';
import { GIT_CODES } from '../rules/git-codes.ts';
import { fromRoot, type Repository, type RunGit } from '../worktree-git.ts';
import type { PathChange } from './obstacles.ts';
import { readRefs } from './refs.ts';
import type { ChangedPath, MemberCommit } from './team-worktrees-port.ts';

const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none', '--no-relative'];

function parts(text: string): string[] {
  return text.split('\0').filter((part) => part !== '');
}

/** Cache of ancestry between two commits, which never changes. */
const ancestry = new Map<string, boolean>();
const ANCESTRY_MAX = 10_000;

function note(first: string, second: string, holds: boolean, { common }: Repository): void {
  if (ancestry.size >= ANCESTRY_MAX) ancestry.clear();
  ancestry.set(`${common} ${first} ${second}`, holds);
}

/** Caches that `first` is an ancestor of `second`. */
export function noteAncestor(first: string, second: string, repository: Repository): void {
  note(first, second, true, repository);
}

export async function isAncestor(
  first: string,
  second: string,
  repository: Repository,
  runGit: RunGit,
): Promise<boolean> {
  if (first === second) return true;
  const known = ancestry.get(`${repository.common} ${first} ${second}`);
  if (known !== undefined) return known;
  const { exitCode, stdout } = await runGit.try(repository.top, ['merge-base', first, second]);
  const base = stdout.trim();
  // Any other code: a commit is missing, and may arrive later.
  if (exitCode === 0 || exitCode === 1) {
    note(first, second, base === first, repository);
    note(second, first, base === second, repository);
  }
  return exitCode === 0 && base === first;
}

/** Clean merges made by this process, with their parents. */
const clean = new Map<string, readonly string[]>();

/** Cache of `commitsBetween`: callers repeat a query until the branches move. */
const between = new Map<string, readonly MemberCommit[]>();
const BETWEEN_MAX = 100;

/** Caches a merge made by this process: it adds no changes of its own. */
function noteMerge(sha: string, parents: readonly string[], repository: Repository): void {
  clean.set(`${repository.common} ${sha}`, parents);
  for (const parent of parents) {
    note(parent, sha, true, repository);
    note(sha, parent, false, repository);
  }
}

/** The commit that a name resolves to in a worktree; null when there is none. */
export async function commitAt(name: string, cwd: string, runGit: RunGit): Promise<string | null> {
  const { exitCode, stdout } = await runGit.try(cwd, ['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  return exitCode === 0 ? stdout.trim() : null;
}

/** The commit of a ref; null without one. */
export async function refAt(ref: string, repository: Repository, runGit: RunGit): Promise<string | null> {
  return (await commitsAt([ref], repository, runGit)).get(ref) ?? null;
}

/** Commits of the refs that exist, with at most one git process. */
export async function commitsAt(
  refs: readonly string[],
  { top, common }: Repository,
  runGit: RunGit,
): Promise<ReadonlyMap<string, string>> {
  const found = readRefs(refs, common);
  if (found !== null) return found;
  const text = await runGit.git(top, ['for-each-ref', '--format=%(refname) %(objectname)', ...refs]);
  const rows = text.split('\n').map((row): [string, string] => {
    const space = row.indexOf(' ');
    return [row.slice(0, space), row.slice(space + 1)];
  });
  return new Map(rows.filter(([ref]) => refs.includes(ref)));
}

type Told = Omit<MemberCommit, 'files'> & { readonly parents: readonly string[]; readonly files: readonly string[] };

/** Status letter before each path: it keeps a file name from being parsed as a commit. */
const STATUS = /^\n?[A-Z]$/;

/** Commits of `to` that `from` lacks, oldest first, with changed paths relative to the top; merges without paths. */
async function toldBetween(from: string, to: string, repository: Repository, runGit: RunGit): Promise<readonly Told[]> {
  const format = '--format=%H %P%x00%s%x00%(trailers:key=Task,valueonly,unfold)';
  const how = ['-z', '--topo-order', '--reverse', format, '--name-status', '--no-diff-merges', ...PLAIN];
  const words = (await runGit.git(repository.top, ['log', ...how, `${from}..${to}`])).split('\0');
  const told: Told[] = [];
  for (let at = 0; at + 2 < words.length; ) {
    const [shas = '', subject = '', trailers = ''] = words.slice(at, at + 3);
    const [sha = '', ...parents] = shas.trim().split(' ');
    const task = trailers.trim().split('\n')[0]?.trim() ?? '';
    const files: string[] = [];
    for (at += 3; STATUS.test(words[at] ?? ''); at += 2) files.push(words[at + 1] ?? '');
    told.push({ sha, parents, subject, task: task === '' ? null : task, files });
  }
  note(to, from, told.length === 0, repository);
  // The list is complete, so an ancestor `from` is the parent of a listed commit.
  const isBefore = told.some(({ parents }) => parents.includes(from));
  note(from, to, isBefore, repository);
  return told;
}

/**
 * Paths that a merge changes beyond git's own merge of its parents.
 * One process per merge: after the first one, git 2.39 lists all paths that a merge brings.
 */
async function mergeFiles(
  sha: string,
  parents: number,
  repository: Repository,
  runGit: RunGit,
): Promise<readonly string[]> {
  const { top, common } = repository;
  if (clean.has(`${common} ${sha}`)) return [];
  // `--remerge-diff` supports two parents only.
  const text =
    parents > 2
      ? await runGit.git(top, ['diff-tree', '-r', '-z', '--name-only', ...PLAIN, `${sha}^1`, sha])
      : await runGit.git(top, ['show', '-z', '--format=', '--name-only', '--remerge-diff', ...PLAIN, sha]);
  return parts(text.replace(/^\n/, ''));
}

/** Commits of `to` that `from` lacks, oldest first, without merges that add no changes of their own. */
export async function commitsBetween(
  from: string,
  to: string,
  repository: Repository,
  runGit: RunGit,
): Promise<readonly MemberCommit[]> {
  const { common, prefix } = repository;
  if (from === to || ancestry.get(`${common} ${to} ${from}`) === true) return [];
  const [side, ...others] = (clean.get(`${common} ${to}`) ?? []).filter((parent) => parent !== from);
  // A clean merge of `from` and `side` adds only the commits of `side`.
  if (side !== undefined && others.length === 0) return commitsBetween(from, side, repository, runGit);
  const key = `${common} ${prefix} ${from} ${to}`;
  const known = between.get(key);
  if (known !== undefined) return known;
  const commits: MemberCommit[] = [];
  for (const { parents, files, ...commit } of await toldBetween(from, to, repository, runGit)) {
    const isMerge = parents.length > 1;
    const changed = isMerge ? await mergeFiles(commit.sha, parents.length, repository, runGit) : files;
    if (isMerge && changed.length === 0) continue;
    commits.push({ ...commit, files: changed.map((file) => fromRoot(file, repository)).sort() });
  }
  if (between.size >= BETWEEN_MAX) between.clear();
  between.set(key, commits);
  return commits;
}

/** Changed paths between two commits, relative to the top. */
export async function changesBetween(
  from: string,
  to: string,
  { top }: Repository,
  runGit: RunGit,
): Promise<PathChange[]> {
  const text = await runGit.git(top, ['diff-tree', '-r', '-z', '--name-status', ...PLAIN, from, to]);
  const words = parts(text);
  return words.flatMap((path, index) =>
    index % 2 === 0 ? [] : [{ path, isNew: words[index - 1] === 'A', isGone: words[index - 1] === 'D' }],
  );
}

/** Changed paths with the numbers of added and removed lines, relative to the project's root. */
export async function countsBetween(
  from: string,
  to: string,
  repository: Repository,
  runGit: RunGit,
): Promise<readonly ChangedPath[]> {
  const text = await runGit.git(repository.top, ['diff', '-z', '--numstat', ...PLAIN, from, to]);
  return parts(text).map((row) => {
    const [added = '', removed = '', ...path] = row.split('\t');
    const count = (digits: string) => (digits === '-' ? 0 : Number(digits));
    return { path: fromRoot(path.join('\t'), repository), added: count(added), removed: count(removed) };
  });
}

/** Tree of the merge of two commits; on conflict, the conflicting paths relative to the top. */
export async function mergeTrees(
  ours: string,
  theirs: string,
  { top }: Repository,
  runGit: RunGit,
): Promise<{ readonly tree: string } | { readonly conflicts: readonly string[] }> {
  const how = ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories'];
  const { exitCode, stdout, stderr } = await runGit.try(top, ['merge-tree', ...how, ours, theirs]);
  const [tree = '', ...files] = parts(stdout);
  if (exitCode === 0) return { tree };
  if (exitCode === 1) return { conflicts: [...new Set(files)].sort() };
  throw failure(GIT_CODES.git_failed, {
    command: 'merge-tree',
    target: `${ours} and ${theirs}`,
    said: lastLines(stderr || stdout, 8),
  });
}

/** Merge commit, or the conflicting paths relative to the top. Without `always`, a fast-forward gives `theirs`. */
export async function mergeCommit(
  ours: string,
  theirs: string,
  message: string,
  author: Readonly<Record<string, string>>,
  repository: Repository,
  runGit: RunGit,
  when?: 'always',
): Promise<string | { readonly conflicts: readonly string[] }> {
  if (when === undefined && (await isAncestor(ours, theirs, repository, runGit))) return theirs;
  // `theirs` contains `ours`, so the merge has its tree.
  const result = (await isAncestor(ours, theirs, repository, runGit))
    ? { tree: `${theirs}^{tree}` }
    : await mergeTrees(ours, theirs, repository, runGit);
  if ('conflicts' in result) return result;
  const args = ['commit-tree', result.tree, '-p', ours, '-p', theirs, '-F', '-'];
  const made = (await runGit.git(repository.top, args, { env: author, input: message })).trim();
  noteMerge(made, [ours, theirs], repository);
  return made;
}

/** Separator: no path contains two slashes in a row. */
const MARK = '//task//';

/**
 * Ids of the tasks whose merges in `from..to` changed these files, oldest first.
 * @param files relative to the top; null: any
 */
export async function tasksBehind(
  from: string,
  to: string,
  files: readonly string[] | null,
  { top }: Repository,
  runGit: RunGit,
): Promise<readonly string[]> {
  // Filtered below: with a path limit, Git omits merges whose first parent is outside the range.
  const told = await runGit.git(top, [
    'log',
    '-z',
    '-m',
    '--first-parent',
    '--reverse',
    '--name-only',
    ...PLAIN,
    `--format=${MARK}%(trailers:key=Task,valueonly,unfold)${MARK}`,
    `${from}..${to}`,
  ]);
  // The text before the first mark is empty; then trailers and paths alternate.
  const [, ...rows] = told.split(MARK);
  const ids = rows.flatMap((trailers, index) => {
    const changed = parts((rows[index + 1] ?? '').replace(/^\0\n/, ''));
    return index % 2 === 0 && changed.some((path) => files?.includes(path) !== false)
      ? trailers.trim().split('\n')
      : [];
  });
  return [...new Set(ids.map((id) => id.trim()))].filter((id) => id !== '');
}
