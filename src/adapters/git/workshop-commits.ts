// What commits hold: those of a writer with the paths that they change, and what two commits merged give.

import { ToolError } from '../../domain/errors.ts';
import { lastLines } from '../../domain/text.ts';
import type { ChangedPath, MemberCommit } from '../../engine/team/workshop-port.ts';
import type { Change } from './obstacles.ts';
import { fromRoot, type Repository, type Run } from './workshop-git.ts';
import { readRefs } from './workshop-refs.ts';

const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none', '--no-relative'];

function parts(text: string): string[] {
  return text.split('\0').filter((part) => part !== '');
}

/** What was told once of two commits holds for ever. */
const ancestry = new Map<string, boolean>();
const ANCESTRY_MAX = 10_000;

function note(first: string, second: string, holds: boolean, { common }: Repository): void {
  if (ancestry.size >= ANCESTRY_MAX) ancestry.clear();
  ancestry.set(`${common} ${first} ${second}`, holds);
}

export async function isAncestor(first: string, second: string, repository: Repository, run: Run): Promise<boolean> {
  if (first === second) return true;
  const known = ancestry.get(`${repository.common} ${first} ${second}`);
  if (known !== undefined) return known;
  const { exitCode, stdout } = await run.try(repository.top, ['merge-base', first, second]);
  const base = stdout.trim();
  // Any other code: one of them is not there, or not yet.
  if (exitCode === 0 || exitCode === 1) {
    note(first, second, base === first, repository);
    note(second, first, base === second, repository);
  }
  return exitCode === 0 && base === first;
}

/** Merges that were made of what git gave by itself. */
const clean = new Set<string>();

/** A merge that this program made: nothing of its own is to be told of it. */
export function noteMerge(sha: string, parents: readonly string[], repository: Repository): void {
  clean.add(`${repository.common} ${sha}`);
  for (const parent of parents) {
    note(parent, sha, true, repository);
    note(sha, parent, false, repository);
  }
}

/** The commit that a name stands for in a worktree; null without one. */
export async function commitAt(name: string, cwd: string, run: Run): Promise<string | null> {
  const { exitCode, stdout } = await run.try(cwd, ['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  return exitCode === 0 ? stdout.trim() : null;
}

/** The commit of a ref; null without one. */
export async function refAt(ref: string, repository: Repository, run: Run): Promise<string | null> {
  return (await commitsAt([ref], repository, run)).get(ref) ?? null;
}

/** The commits of those of the refs that exist, told at once. */
export async function commitsAt(
  refs: readonly string[],
  { top, common }: Repository,
  run: Run,
): Promise<ReadonlyMap<string, string>> {
  const found = readRefs(refs, common);
  if (found !== null) return found;
  const text = await run.git(top, ['for-each-ref', '--format=%(refname) %(objectname)', ...refs]);
  const rows = text.split('\n').map((row): [string, string] => {
    const space = row.indexOf(' ');
    return [row.slice(0, space), row.slice(space + 1)];
  });
  return new Map(rows.filter(([ref]) => refs.includes(ref)));
}

/** In a name of a file there may be anything but NUL; what stands before a commit's files is known beforehand. */
const BEGIN = '\u0001';

/** What each commit changes that is no merge. */
async function plainFiles(
  shas: readonly string[],
  { top }: Repository,
  run: Run,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = new Map<string, string[]>();
  if (shas.length === 0) return files;
  const how = ['--stdin', '-z', `--format=${BEGIN}%H`, '--name-only', ...PLAIN];
  const input = shas.map((sha) => `${sha}\n`).join('');
  let rest = shas;
  let own: string[] = [];
  for (const word of (await run.git(top, ['show', ...how], { input })).split('\0')) {
    const [next] = rest;
    if (next !== undefined && word === `${BEGIN}${next}`) {
      own = [];
      files.set(next, own);
      rest = rest.slice(1);
    } else {
      const file = own.length === 0 ? word.replace(/^\n/, '') : word;
      if (file !== '') own.push(file);
    }
  }
  if (rest.length > 0) throw new ToolError('git', `git show: expected ${shas.length} commits, got ${files.size}`);
  return files;
}

/** Of a merge what its parents, merged by git, do not give. Each alone: after another one git 2.39 tells all that it brings. */
async function mergeFiles(sha: string, parents: number, repository: Repository, run: Run): Promise<readonly string[]> {
  const { top, common } = repository;
  if (clean.has(`${common} ${sha}`)) return [];
  // Git cannot make a merge of more than two again.
  const text =
    parents > 2
      ? await run.git(top, ['diff-tree', '-r', '-z', '--name-only', ...PLAIN, `${sha}^1`, sha])
      : await run.git(top, ['show', '-z', '--format=', '--name-only', '--remerge-diff', ...PLAIN, sha]);
  return parts(text.replace(/^\n/, ''));
}

/** The commits of `to` that `from` lacks, oldest first; merges that add nothing of their own left out. */
export async function commitsBetween(
  from: string,
  to: string,
  repository: Repository,
  run: Run,
): Promise<readonly MemberCommit[]> {
  const { top } = repository;
  const range = `${from}..${to}`;
  const format = '--format=%H %P%x00%s%x00%(trailers:key=Task,valueonly,unfold)';
  const listed = await run.git(top, ['log', '-z', '--topo-order', '--reverse', format, range]);
  const words = listed === '' ? [] : listed.split('\0');
  const told: {
    readonly sha: string;
    readonly parents: readonly string[];
    readonly subject: string;
    readonly task: string;
  }[] = [];
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [shas = '', subject = '', trailers = ''] = words.slice(at, at + 3);
    const [sha = '', ...parents] = shas.trim().split(' ');
    told.push({ sha, parents, subject, task: trailers.trim().split('\n')[0]?.trim() ?? '' });
  }
  if (told.length === 0) return [];
  const plain = told.filter(({ parents }) => parents.length < 2).map(({ sha }) => sha);
  const changed = await plainFiles(plain, repository, run);
  const commits: MemberCommit[] = [];
  for (const { sha, parents, subject, task } of told) {
    const files = changed.get(sha) ?? (await mergeFiles(sha, parents.length, repository, run));
    if (parents.length > 1 && files.length === 0) continue;
    const paths = files.map((file) => fromRoot(file, repository)).sort();
    commits.push({ sha, subject, task: task === '' ? null : task, files: paths });
  }
  return commits;
}

/** How the files of two commits differ. */
export async function changesBetween(from: string, to: string, { top }: Repository, run: Run): Promise<Change[]> {
  const text = await run.git(top, ['diff-tree', '-r', '-z', '--name-status', ...PLAIN, from, to]);
  const words = parts(text);
  return words.flatMap((path, index) =>
    index % 2 === 0 ? [] : [{ path, isNew: words[index - 1] === 'A', isGone: words[index - 1] === 'D' }],
  );
}

/** The same with the lines that were added and removed, from the project's root. */
export async function countsBetween(
  from: string,
  to: string,
  repository: Repository,
  run: Run,
): Promise<readonly ChangedPath[]> {
  const text = await run.git(repository.top, ['diff', '-z', '--numstat', ...PLAIN, from, to]);
  return parts(text).map((row) => {
    const [added = '', removed = '', ...path] = row.split('\t');
    const count = (digits: string) => (digits === '-' ? 0 : Number(digits));
    return { path: fromRoot(path.join('\t'), repository), added: count(added), removed: count(removed) };
  });
}

/** The tree that two commits give, merged; the paths in conflict, from the top, when that is not clean. */
export async function mergeTrees(
  ours: string,
  theirs: string,
  { top }: Repository,
  run: Run,
): Promise<{ readonly tree: string } | { readonly conflicts: readonly string[] }> {
  const how = ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories'];
  const { exitCode, stdout, stderr } = await run.try(top, ['merge-tree', ...how, ours, theirs]);
  const [tree = '', ...files] = parts(stdout);
  if (exitCode === 0) return { tree };
  if (exitCode === 1) return { conflicts: [...new Set(files)].sort() };
  throw new ToolError('git', `git merge-tree failed for ${ours} and ${theirs}: ${lastLines(stderr || stdout, 8)}`);
}

/** No path has two slashes in a row. */
const MARK = '//task//';

/** Ids of the tasks whose merges changed these files, told from the top, in `to` since `from` left it; the oldest first. */
export async function tasksBehind(
  from: string,
  to: string,
  files: readonly string[],
  { top }: Repository,
  run: Run,
): Promise<readonly string[]> {
  // Limited to paths, Git leaves merges out whose first parent the range leaves out.
  const told = await run.git(top, [
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
  // Before the first mark there is nothing; then trailers and paths take turns.
  const [, ...rows] = told.split(MARK);
  const ids = rows.flatMap((trailers, index) => {
    const changed = parts((rows[index + 1] ?? '').replace(/^\0\n/, ''));
    return index % 2 === 0 && changed.some((path) => files.includes(path)) ? trailers.trim().split('\n') : [];
  });
  return [...new Set(ids.map((id) => id.trim()))].filter((id) => id !== '');
}
