// What commits hold: those of a writer with the paths that they change, and what two commits merged give.

import { ToolError } from '../../domain/errors.ts';
import { lastLines } from '../../domain/text.ts';
import type { ChangedPath, MemberCommit } from '../../engine/team/workshop-port.ts';
import type { Change } from './obstacles.ts';
import { fromRoot, type Repository, type Run } from './workshop-git.ts';

const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none', '--no-relative'];

function parts(text: string): string[] {
  return text.split('\0').filter((part) => part !== '');
}

export async function isAncestor(first: string, second: string, repository: Repository, run: Run): Promise<boolean> {
  return (await run.try(repository.top, ['merge-base', '--is-ancestor', first, second])).exitCode === 0;
}

/** The commit that a name stands for; null without one. */
export async function commitAt(name: string, cwd: string, run: Run): Promise<string | null> {
  const { exitCode, stdout } = await run.try(cwd, ['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  return exitCode === 0 ? stdout.trim() : null;
}

/** The commits of those of the refs that exist, told at once. */
export async function commitsAt(
  refs: readonly string[],
  { top }: Repository,
  run: Run,
): Promise<ReadonlyMap<string, string>> {
  const text = await run.git(top, ['for-each-ref', '--format=%(refname) %(objectname)', ...refs]);
  const rows = text.split('\n').map((row): [string, string] => {
    const space = row.indexOf(' ');
    return [row.slice(0, space), row.slice(space + 1)];
  });
  return new Map(rows.filter(([ref]) => refs.includes(ref)));
}

/** Of a merge only what its parents, merged by git, do not give: a clean one has nothing. */
async function filesOf(sha: string, parents: number, { top }: Repository, run: Run): Promise<string[]> {
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
  const listed = await run.git(repository.top, [
    'rev-list',
    '--topo-order',
    '--reverse',
    '--parents',
    `${from}..${to}`,
  ]);
  const commits: MemberCommit[] = [];
  for (const row of listed.split('\n').filter((line) => line !== '')) {
    const [sha = '', ...parents] = row.split(' ');
    const files = await filesOf(sha, parents.length, repository, run);
    if (parents.length > 1 && files.length === 0) continue;
    const format = '--format=%s%x00%(trailers:key=Task,valueonly,unfold)';
    const told = await run.git(repository.top, ['show', '--no-patch', format, sha]);
    const [subject = '', trailers = ''] = told.split('\0');
    const task = trailers.trim().split('\n')[0]?.trim() ?? '';
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
