// Moves a writer's branch together with the files of its worktree. After a kill in between, the next call completes the move.

import {
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isUntouched } from '../blob-hashes.ts';
import { asText, BYTES } from '../byte-names.ts';
import type { Repository, RunGit } from '../worktree-git.ts';
import { changesBetween, refAt } from './commits.ts';
import { obstaclesFor } from './obstacles.ts';
import type { Worktree } from './worktree.ts';

/** Commits, and the paths that get what the new commit holds; all others keep what is in the worktree. */
export type BranchMove = { readonly from: string; readonly to: string; readonly files: readonly string[] };

/** What says of a worktree that a merge is under way: its other side is no part of where it goes. */
const MERGE = ['MERGE_HEAD', 'MERGE_MODE', 'MERGE_MSG', 'AUTO_MERGE'];

function journalOf({ admin }: Worktree): string {
  return join(admin, 'toolcrew-move');
}

/** Whether a move has begun and is not complete. */
export function hasUnfinishedMove(worktree: Worktree): boolean {
  return existsSync(journalOf(worktree));
}

function readMove(worktree: Worktree): BranchMove | null {
  try {
    const value: unknown = JSON.parse(readFileSync(journalOf(worktree), 'utf8'));
    if (typeof value !== 'object' || value === null || !('from' in value && 'to' in value && 'files' in value))
      return null;
    const { from, to, files } = value;
    if (typeof from !== 'string' || typeof to !== 'string' || !Array.isArray(files)) return null;
    return { from, to, files: files.filter((file): file is string => typeof file === 'string') };
  } catch {
    return null;
  }
}

/** Moves the branch and the files. Writes the plan of the move first, for recovery after a kill. */
export async function moveBranch(
  worktree: Worktree,
  ref: string,
  step: BranchMove,
  repository: Repository,
  runGit: RunGit,
): Promise<void> {
  const path = journalOf(worktree);
  writeFileSync(`${path}.new`, JSON.stringify(step));
  renameSync(`${path}.new`, path);
  await finishMove(worktree, ref, repository, runGit);
}

/** Moves the branch unless uncommitted files block it. Returns those files, relative to the top; empty: it moved. */
export async function moveUnlessBlocked(
  worktree: Worktree,
  ref: string,
  { from, to }: Pick<BranchMove, 'from' | 'to'>,
  repository: Repository,
  runGit: RunGit,
): Promise<readonly string[]> {
  const { path, admin } = worktree;
  const changes = await changesBetween(from, to, repository, runGit);
  const dirty = await changedSince(path, runGit);
  // A merge of the writer's own that is not finished: all that it brought is in the way.
  const inTheWay = existsSync(join(admin, 'MERGE_HEAD')) ? [...dirty] : obstaclesFor(path, changes, dirty);
  if (inTheWay.length === 0)
    await moveBranch(worktree, ref, { from, to, files: changes.map((change) => change.path) }, repository, runGit);
  return inTheWay;
}

/** Names of files that differ from their last commit by more than a filter, from the top. */
async function changedSince(top: string, runGit: RunGit): Promise<ReadonlySet<string>> {
  const how = ['-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff', '--ignore-submodules=all'];
  const words = (await runGit.git(top, ['diff', ...how, 'HEAD'], BYTES)).split('\0');
  const files = words.flatMap((name, index) => {
    const [mode = '', , id = '', , status] = index % 2 === 1 ? (words[index - 1] ?? '').slice(1).split(' ') : [];
    return id === '' || (status === 'M' && isUntouched(top, { mode, id, name })) ? [] : [asText(name)];
  });
  return new Set(files);
}

/** Completes a move that has begun; repeated steps change nothing. */
export async function finishMove(
  worktree: Worktree,
  ref: string,
  repository: Repository,
  runGit: RunGit,
): Promise<void> {
  const step = readMove(worktree);
  const { path } = worktree;
  if (step !== null) {
    const { from, to, files } = step;
    const head = await refAt(ref, repository, runGit);
    // Elsewhere: whoever moved it on knew nothing of this.
    if (head === from || head === to) {
      await runGit.git(path, ['read-tree', '--reset', to]);
      await layOut(path, files, runGit);
      for (const name of MERGE) rmSync(join(worktree.admin, name), { force: true });
      if (head === from) await runGit.git(path, ['update-ref', ref, to, from]);
    }
  }
  rmSync(journalOf(worktree), { force: true });
}

/** Has these paths hold what the index says of them. */
async function layOut(top: string, files: readonly string[], runGit: RunGit): Promise<void> {
  const known = new Map<string, string>();
  for (const row of (await runGit.git(top, ['ls-files', '-z', '--stage'])).split('\0')) {
    const tab = row.indexOf('\t');
    if (tab !== -1) known.set(row.slice(tab + 1), row.slice(0, 6));
  }
  await removeFiles(
    top,
    files.filter((file) => !known.has(file) && isFile(top, file)),
    runGit,
  );
  // Submodules are left alone.
  const present = files.filter((file) => known.has(file) && known.get(file) !== '160000');
  if (present.length === 0) return;
  const input = present.map((file) => `${file}\0`).join('');
  await runGit.git(top, ['checkout-index', '--force', '--index', '--quiet', '-z', '--stdin'], { input });
}

/** Whether a file is there; one behind a link that leads elsewhere is not. */
function isFile(top: string, file: string): boolean {
  try {
    const directory = join(top, dirname(file));
    return realpathSync(directory) === directory && !lstatSync(join(top, file)).isDirectory();
  } catch {
    return false;
  }
}

/** So many paths stand in one call of git. */
const AT_ONCE = 200;

/**
 * Removes files that the index does not know, and the directories that they leave empty. By git: the write guard of a
 * teammate refuses files of others to all programs but git.
 */
async function removeFiles(top: string, files: readonly string[], runGit: RunGit): Promise<void> {
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const paths = files.slice(at, at + AT_ONCE).map((file) => `:(top,literal)${file}`);
    await runGit.git(top, ['clean', '--force', '--quiet', '-x', '--', ...paths]);
  }
  for (const file of files) {
    try {
      for (let at = dirname(file); at !== '.'; at = dirname(at)) rmdirSync(join(top, at));
    } catch {
      // It holds more, or is gone.
    }
  }
}
