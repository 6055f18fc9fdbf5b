// Access to a team's repository and to the worktrees of its writers, one call at a time.

import { join } from 'node:path';
import type { Environment } from '../../base/rules/environment.ts';
import {
  createRunGit,
  findRepository,
  type Repository,
  type RunGit,
  requireMergingGit,
} from '../../git/worktree-git.ts';
import { copyIgnored } from '../../git/worktrees/copies.ts';
import { memberPath } from '../../git/worktrees/names.ts';
import { shareDependencies } from '../../git/worktrees/submodules.ts';
import { findWorktree } from '../../git/worktrees/worktree.ts';
import { WorktreeLock } from '../../git/worktrees/worktree-lock.ts';
import { openWriterAnywhere, requireOnBranch, type Writer, type WriterAnywhere } from './writer.ts';

export type TeamWorktreesOptions = {
  /** The project's root, as `findProject` gives it. */
  readonly root: string;
  readonly env: Environment;
  /** Globs of ignored files that each worktree has copies of; missing: none. */
  readonly copies?: () => Promise<readonly string[]>;
};

export type Tools = { readonly repository: Repository; readonly runGit: RunGit; readonly lock: WorktreeLock };

export class WorktreeAccess {
  readonly #options: TeamWorktreesOptions;
  /** Git for what changes nothing, without the lock. */
  readonly reading: RunGit;
  #tools: Promise<Tools> | undefined;
  /** The git that is there is looked at once. */
  #git: Promise<void> | undefined;
  /** Worktrees that have what is installed in the checkout. */
  readonly #equipped = new Set<string>();

  constructor(options: TeamWorktreesOptions) {
    this.#options = options;
    this.reading = createRunGit(options.env);
  }

  /** Throws where git is too old to merge without a work tree. */
  requireGit(): Promise<void> {
    const { root, env } = this.#options;
    this.#git ??= requireMergingGit(root, this.reading, env).catch((error: unknown) => {
      this.#git = undefined;
      throw error;
    });
    return this.#git;
  }

  ready(): Promise<Tools> {
    const { root, env } = this.#options;
    this.#tools ??= (async () => {
      const repository = await findRepository(root, this.reading, env);
      const lock = new WorktreeLock(join(repository.common, 'toolcrew', 'worktrees.lock'));
      return { repository, lock, runGit: createRunGit(env, { common: repository.common, mark: lock.mark }) };
    })().catch((error: unknown) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  async withLock<T>(act: (tools: Tools) => Promise<T>): Promise<T> {
    const tools = await this.ready();
    return tools.lock.take(() => act(tools));
  }

  /** Acts in a writer's worktree, which is there and in order. */
  writer<T>(team: string, member: string, act: (writer: Writer, tools: Tools) => Promise<T>): Promise<T> {
    return this.anywhere(team, member, (found, tools) => act(requireOnBranch(found), tools));
  }

  /** The same in one that may stand elsewhere than on its branch. */
  anywhere<T>(team: string, member: string, act: (found: WriterAnywhere, tools: Tools) => Promise<T>): Promise<T> {
    return this.withLock(async (tools) => {
      const { repository, runGit } = tools;
      this.isMissing(memberPath(team, member, repository), repository);
      return act(await openWriterAnywhere({ team, member }, repository, runGit), tools);
    });
  }

  /** Whether a worktree is to be made anew: nothing is in it then. */
  isMissing(path: string, repository: Repository): boolean {
    const isMissing = findWorktree(path, repository) === null;
    if (isMissing) this.#equipped.delete(path);
    return isMissing;
  }

  /** Once for each start of a lead: something may have been installed before that. */
  async equip(path: string, { repository, runGit }: Tools): Promise<void> {
    if (this.#equipped.has(path)) return;
    await shareDependencies(path, repository, runGit);
    await copyIgnored(path, repository, (await this.#options.copies?.()) ?? [], runGit);
    this.#equipped.add(path);
  }
}
