// The work tree that a team began from, made anew outside of the checkout: no runner or linter there finds it.

import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { removeLargeTree } from '../../base/files/remove-tree.ts';
import { isAlive } from '../../base/processes/processes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { treeEnvironment } from '../work-tree.ts';
import { createRunGit, findRepository, type Repository, type RunGit } from '../worktree-git.ts';
import { copyIgnored } from './copies.ts';
import { shareDependencies } from './submodules.ts';
import { removeWorktree, worktreesBelow } from './worktree.ts';
import { WorktreeLock } from './worktree-lock.ts';

export type BaseTreeOptions = {
  /** The project's directory. */
  readonly root: string;
  readonly env: Environment;
  /** Takes the objects of trees that were looked at. */
  readonly objects: string;
  readonly commit: string;
  readonly tree: string;
  /** Globs of ignored files that it has copies of. */
  readonly copies: readonly string[];
  /** The directory that it is made in; undefined: that of temporary files. */
  readonly above?: string;
};

const PREFIX = 'toolcrew-base-';

type Tools = { readonly repository: Repository; readonly runGit: RunGit };

/** Makes it, as a detached worktree of the repository, for as long as `use` takes. @param use gets the project's directory in it */
export async function withBaseTree<T>(options: BaseTreeOptions, use: (root: string) => Promise<T>): Promise<T> {
  const { root, env, above = tmpdir() } = options;
  const repository = await findRepository(root, createRunGit(env), env);
  const lock = new WorktreeLock(join(repository.common, 'toolcrew', 'worktrees.lock'));
  const tools = { repository, runGit: createRunGit(env, { common: repository.common, mark: lock.mark }) };
  const place = realpathSync(mkdtempSync(join(above, `${PREFIX}${process.pid}-`)));
  // Some tools take a project's name from its directory.
  const path = join(place, basename(repository.top));
  try {
    await lock.take(async () => {
      await removeLeft(realpathSync(above), tools);
      await make(path, options, tools);
    });
    return await use(join(path, repository.prefix));
  } finally {
    await lock.take(() => remove(path, place, repository));
  }
}

async function make(path: string, options: BaseTreeOptions, { repository, runGit }: Tools) {
  const { root, objects, commit, tree, copies } = options;
  await runGit.git(repository.root, ['worktree', 'add', '--quiet', '--no-checkout', '--detach', path, commit]);
  const env = await treeEnvironment(root, objects);
  const trees = ['GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES'].map((name) => [name, env?.[name] ?? '']);
  await runGit.git(path, ['read-tree', '--reset', '-u', tree], { env: Object.fromEntries(trees) });
  // What was not committed then is not committed here.
  await runGit.git(path, ['read-tree', 'HEAD']);
  await shareDependencies(path, repository, runGit);
  await copyIgnored(path, repository, copies, runGit);
}

async function remove(path: string, place: string, repository: Repository): Promise<void> {
  await removeWorktree(path, repository);
  await removeLargeTree(place);
}

/** Those whose makers were killed. */
async function removeLeft(above: string, { repository }: Tools): Promise<void> {
  for (const name of readdirSync(above)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    const place = join(above, name);
    if (pid === undefined || isAlive(Number(pid))) continue;
    const admins = worktreesBelow(place, repository.common);
    if (admins.length === 0) continue;
    for (const admin of admins) rmSync(admin, { recursive: true, force: true });
    await removeLargeTree(place);
  }
}
