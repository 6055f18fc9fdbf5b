// What a writer changed in its worktree and did not commit.

import { existsSync, lstatSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyIndex } from './index-copy.ts';
import { refAt } from './workshop-commits.ts';
import { identity, type Repository, type Run } from './workshop-git.ts';
import type { Worktree } from './workshop-place.ts';

/** What a team keeps for itself is none of its work. */
const LEFT_OUT = ['.tool/teams', '.tool/state', '.tool/cache', '.tool/worktrees'];

const MARKER = /^<{7} /m;

function lines(text: string): string[] {
  return text.split('\0').filter((line) => line !== '');
}

/** Has the index hold all that is there and not ignored; repositories inside the worktree are left out. False: it did. */
async function stage(
  path: string,
  { prefix }: Repository,
  run: Run,
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const without = LEFT_OUT.map((place) => `:(top,exclude,literal)${prefix}${place}`);
  const listed = await run.git(
    path,
    ['ls-files', '-z', '-m', '-d', '-o', '--exclude-standard', '--', ':(top)', ...without],
    { env },
  );
  const files = [...new Set(lines(listed))].filter((file) => !file.endsWith('/'));
  const gone = new Set(files.filter((file) => isGone(path, file)));
  const update = async (how: readonly string[], some: readonly string[]) => {
    const input = some.map((file) => `${file}\0`).join('');
    if (input !== '') await run.git(path, ['update-index', '-z', ...how, '--stdin'], { env, input });
  };
  await update(['--force-remove'], [...gone]);
  await update(
    ['--add', '--remove', '--replace'],
    files.filter((file) => !gone.has(file)),
  );
  return files.length > 0;
}

/** Also where a directory, or a link to one, has taken the place: git would take the name for what is in there. */
function isGone(top: string, file: string): boolean {
  try {
    const directory = join(realpathSync(top), dirname(file));
    if (realpathSync(directory) !== directory) return true;
    return lstatSync(join(top, file)).isDirectory() && !existsSync(join(top, file, '.git'));
  } catch {
    return true;
  }
}

/** Files that a merge left with both sides in them. */
export async function conflictedFiles({ path }: Worktree, run: Run): Promise<string[]> {
  const rows = lines(await run.git(path, ['ls-files', '-z', '--unmerged']));
  const files = new Set(rows.map((row) => row.slice(row.indexOf('\t') + 1)));
  return [...files].filter((file) => {
    try {
      return MARKER.test(readFileSync(join(path, file), 'utf8'));
    } catch {
      return false;
    }
  });
}

/** Whether the index holds what HEAD does. */
async function isAsCommitted(path: string, run: Run): Promise<boolean> {
  const how = ['diff-index', '--cached', '--quiet', '--ignore-submodules=none', 'HEAD'];
  return (await run.try(path, how)).exitCode === 0;
}

/** Commits all of it; null when there is nothing. */
export async function commitAll(
  { path, admin }: Worktree,
  ref: string,
  message: string,
  author: Readonly<Record<string, string>>,
  repository: Repository,
  run: Run,
): Promise<string | null> {
  await stage(path, repository, run);
  const isMerge = existsSync(join(admin, 'MERGE_HEAD'));
  if (!isMerge && (await isAsCommitted(path, run))) return null;
  const how = ['--quiet', '--no-verify', '--no-gpg-sign', '--cleanup=whitespace', '--allow-empty'];
  await run.git(path, ['commit', ...how, '--file=-'], { env: author, input: message });
  return refAt(ref, repository, run);
}

/**
 * A commit of all of it that no branch has, worktree and index left alone; null when there is nothing. The same work on
 * the same commit gives the same one.
 */
export async function snapshot(
  { path, admin }: Worktree,
  team: string,
  member: string,
  repository: Repository,
  run: Run,
): Promise<string | null> {
  const scratch = mkdtempSync(join(tmpdir(), 'toolcrew-index-'));
  try {
    const index = join(scratch, 'index');
    copyIndex(join(admin, 'index'), index);
    const env = { GIT_INDEX_FILE: index };
    if (!(await stage(path, repository, run, env)) && (await isAsCommitted(path, run))) return null;
    const tree = (await run.git(path, ['write-tree'], { env })).trim();
    const told = await run.git(path, ['show', '--no-patch', '--format=%H %T %ct', 'HEAD']);
    const [head = '', headTree = '', seconds = ''] = told.trim().split(' ');
    if (tree === headTree) return null;
    const date = `${seconds} +0000`;
    const by = { ...identity(team, member), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const input = `Work of ${member} that was not committed\n`;
    return (await run.git(path, ['commit-tree', tree, '-p', head, '-F', '-'], { env: by, input })).trim();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
