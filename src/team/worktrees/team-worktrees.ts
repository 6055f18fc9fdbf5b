// Worktrees and branches of a team: one of each for every writer, and the one branch that takes in their work.

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { removeLargeTree } from '../../base/files/remove-tree.ts';
import { textOf } from '../../base/rules/codes.ts';
import { failure, ToolError } from '../../base/rules/errors.ts';
import { fromRoot, identity, type Repository, type RunGit, writerEnvironment } from '../../git/worktree-git.ts';
import {
  commitAt,
  commitsBetween,
  countsBetween,
  isAncestor,
  mergeCommit,
  refAt,
  tasksBehind,
} from '../../git/worktrees/commits.ts';
import { moveBranch, moveUnlessBlocked } from '../../git/worktrees/move.ts';
import {
  baseRef,
  headRef,
  keptRef,
  leftRef,
  memberBranch,
  memberPath,
  readOnlyPath,
  teamBranch,
} from '../../git/worktrees/names.ts';
import { resolvedBetween } from '../../git/worktrees/resolved-conflicts.ts';
import { renameSources, rollbackPlan } from '../../git/worktrees/rollback.ts';
import type {
  ChangedPath,
  MemberWork,
  Merge,
  TeamWorktrees,
  WriterPlace,
} from '../../git/worktrees/team-worktrees-port.ts';
import {
  changedIn,
  commitAll,
  leftOutOf,
  saveLeftOut,
  saveSnapshot,
  snapshot,
} from '../../git/worktrees/uncommitted.ts';
import { unresolvedIn } from '../../git/worktrees/unresolved-conflicts.ts';
import { ensureWorktree, findWorktree, removeWorktree } from '../../git/worktrees/worktree.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { LEAD } from '../rules/message.ts';
import { adoptTeamBranch } from './adopt-changes.ts';
import { beginBranch } from './begin-branch.ts';
import {
  checkedOut,
  deleteRefs,
  headsOf,
  moveHead,
  noteHead,
  noteMerged,
  resetToHead,
  userRefTips,
} from './branch-head.ts';
import { closeWriter } from './close.ts';
import { type TeamWorktreesOptions, type Tools, WorktreeAccess } from './worktree-access.ts';
import { requireTeam, type Writer } from './writer.ts';

/** Somebody else moves the team's branch each time: not more often than that. */
const MAX_TRIES = 10;

export function createTeamWorktrees(options: TeamWorktreesOptions): TeamWorktrees {
  return new GitTeamWorktrees(options);
}

class GitTeamWorktrees implements TeamWorktrees {
  readonly #access: WorktreeAccess;
  readonly #reading: RunGit;

  constructor(options: TeamWorktreesOptions) {
    this.#access = new WorktreeAccess(options);
    this.#reading = this.#access.reading;
  }

  async begin(team: string, how?: 'anew') {
    await this.#access.requireGit();
    return this.#access.withLock(async ({ repository, runGit }) => {
      const place = await checkedOut(teamBranch(team), repository, runGit);
      if (place !== null) throw new ToolError(place);
      return beginBranch(team, how === 'anew', repository, runGit);
    });
  }

  adoptChanges(team: string, members: readonly string[]): Promise<readonly string[]> {
    return this.#access.withLock(({ repository, runGit }) => adoptTeamBranch(team, members, repository, runGit));
  }

  open(team: string, member: string, how?: 'updated'): Promise<WriterPlace> {
    return this.#access.anywhere(team, member, async (writer, tools) => {
      const { worktree, branch, astray } = writer;
      await this.#access.equip(worktree.path, tools);
      const merge = how === undefined || astray !== null ? null : await update(writer, team, member, tools);
      const place = { path: rootIn(worktree.path, tools.repository), branch, env: writerEnvironment(team, member) };
      return { ...place, conflict: merge?.kind === 'conflict' ? merge.files : [] };
    });
  }

  openReadOnly(team: string, name: string, at?: string) {
    return this.#access.withLock(async (tools) => {
      const { repository, runGit } = tools;
      const path = readOnlyPath(team, name, repository);
      const heads = await headsOf(team, null, repository, runGit);
      const head = requireTeam(team, heads.head);
      await noteHead(team, heads, repository, runGit);
      if (this.#access.isMissing(path, repository)) await removeWorktree(path, repository);
      const commit = at ?? head;
      await ensureWorktree(path, ['--detach', commit], repository, runGit);
      await runGit.git(path, ['checkout', '--quiet', '--detach', '--force', commit]);
      await runGit.git(path, ['clean', '--quiet', '-ffd']);
      await this.#access.equip(path, tools);
      return { path: rootIn(path, repository), head: commit };
    });
  }

  update(team: string, member: string): Promise<Merge> {
    return this.#access.writer(team, member, (writer, tools) => update(writer, team, member, tools));
  }

  astray(team: string, member: string): Promise<string | null> {
    return this.#access.anywhere(team, member, async ({ worktree, astray }, { repository, runGit }) => {
      if (astray !== null && astray.sha !== null)
        await saveSnapshot(worktree, astray.sha, team, member, repository, runGit);
      return astray?.words ?? null;
    });
  }

  leftOut(team: string, member: string, files: readonly string[]) {
    return this.#access.writer(team, member, async ({ worktree }, { repository, runGit }) => {
      const root = rootIn(worktree.path, repository);
      const { repositories, ignored, inSubmodules } = await leftOutOf(worktree, root, files, repository, runGit);
      const fromTop = (paths: readonly string[]) => paths.map((path) => fromRoot(path, repository));
      return { repositories: fromTop(repositories), ignored, inSubmodules: fromTop(inSubmodules) };
    });
  }

  keep(team: string, member: string, ignored: readonly string[]): Promise<string> {
    return this.#access.writer(team, member, ({ worktree, at }, { repository, runGit }) =>
      saveLeftOut(worktree, at, team, member, repository, runGit, ignored),
    );
  }

  save(team: string, member: string, message: string): Promise<string | null> {
    return this.#access.writer(team, member, ({ worktree, ref }, { repository, runGit }) =>
      commitAll(worktree, ref, message, team, member, repository, runGit),
    );
  }

  async commits(team: string, member: string): Promise<MemberWork> {
    const { repository } = await this.#access.ready();
    const { at, ...heads } = await headsOf(team, member, repository, this.#reading);
    if (at === undefined) return { tip: null, commits: [] };
    const head = requireTeam(team, heads.head);
    return { tip: at, commits: await commitsBetween(head, at, repository, this.#reading) };
  }

  async unmerged(team: string, member: string): Promise<readonly string[]> {
    const { repository } = await this.#access.ready();
    const own = async () => (await this.commits(team, member)).commits.flatMap(({ files }) => files);
    if (findWorktree(memberPath(team, member, repository), repository) === null) return unique(await own());
    // First what it stands on is its branch again, where it can be: its commits may be elsewhere.
    const beside = await this.#access.anywhere(team, member, async ({ worktree, head, astray }, { runGit }) => {
      if (astray?.sha === null) return [];
      const names = await changedIn(worktree, repository, runGit);
      const others = astray === null ? [] : await commitsBetween(head, astray.sha, repository, runGit);
      return [...names.map((path) => fromRoot(path, repository)), ...others.flatMap(({ files }) => files)];
    });
    return unique([...beside, ...(await own())]);
  }

  async unsettled(team: string, member: string): Promise<readonly string[]> {
    const { repository } = await this.#access.ready();
    const head = requireTeam(team, (await headsOf(team, member, repository, this.#reading)).head);
    const { commits } = await this.commits(team, member);
    const files = unique(commits.flatMap((commit) => commit.files));
    return unresolvedIn(rootIn(memberPath(team, member, repository), repository), files, head, this.#reading);
  }

  async settled(team: string, member: string, upTo: string, files: readonly string[]) {
    const { repository } = await this.#access.ready();
    const head = requireTeam(team, (await headsOf(team, member, repository, this.#reading)).head);
    return resolvedBetween(head, upTo, files, repository, this.#reading);
  }

  async kept(team: string): Promise<readonly string[]> {
    const { repository } = await this.#access.ready();
    const head = requireTeam(team, (await headsOf(team, null, repository, this.#reading)).head);
    const how = ['for-each-ref', '--format=%(refname)', `--no-merged=${head}`, `refs/toolcrew/saved/${team}/`];
    return (await this.#reading.git(repository.root, how)).split('\n').filter((ref) => ref !== '');
  }

  merge(team: string, member: string, message: string, upTo?: string): Promise<Merge> {
    return this.#access.withLock(async ({ repository, runGit }) => {
      const { top } = repository;
      const place = await checkedOut(teamBranch(team), repository, runGit);
      if (place !== null) return { kind: 'checked_out', words: textOf(place) };
      let why: string | null = null;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const heads = await headsOf(team, member, repository, runGit);
        const { at } = heads;
        const head = requireTeam(team, heads.head);
        if (heads.tip !== head) return { kind: 'moved' };
        if (at === undefined) return { kind: 'nothing' };
        const last = upTo === undefined || upTo === at ? at : await commitAt(upTo, top, runGit);
        if (last === null || (last !== at && !(await isAncestor(last, at, repository, runGit))))
          throw failure(WORK_CODES.commit_not_on_branch, { commit: String(upTo), member, head: at });
        if (await isAncestor(last, head, repository, runGit)) return { kind: 'nothing' };
        const merged = await mergeCommit(head, last, message, identity(team, LEAD), repository, runGit, 'always');
        if (typeof merged !== 'string')
          return conflictOf(merged.conflicts, { of: last, into: head }, repository, runGit);
        why = await moveHead(team, heads, merged, repository, runGit);
        if (why === null) return { kind: 'merged', head: merged };
      }
      throw failure(WORK_CODES.team_branch_contended, {
        ...{ branch: teamBranch(team), tries: MAX_TRIES },
        ...(why === null ? {} : { said: why }),
      });
    });
  }

  async checkedOut(team: string): Promise<string | null> {
    const place = await checkedOut(teamBranch(team), (await this.#access.ready()).repository, this.#reading);
    return place === null ? null : textOf(place);
  }

  async tips() {
    const { repository, runGit } = await this.#access.ready();
    return userRefTips(repository, runGit);
  }

  putBack(team: string): Promise<string | null> {
    return this.#access.withLock(({ repository, runGit }) => resetToHead(team, repository, runGit));
  }

  refuse(team: string, member: string, sha: string, files: readonly string[]): Promise<string> {
    return this.#access.writer(team, member, async ({ worktree, ref, at, head }, { repository, runGit }) => {
      const kept = keptRef('refused', team, member, sha);
      const plan = await rollbackPlan({ sha, files, at, head }, identity(team, member), repository, runGit);
      if (plan === null) {
        if ((await refAt(kept, repository, runGit)) !== null) return kept;
        throw failure(WORK_CODES.commit_not_on_branch, { commit: sha, member });
      }
      const all = (await snapshot(worktree, team, member, repository, runGit)) ?? at;
      await runGit.git(worktree.path, ['update-ref', kept, all]);
      const back = [...plan.files, ...(await renameSources(plan, all, repository, runGit))];
      await moveBranch(worktree, ref, { from: at, to: plan.to, files: back }, repository, runGit);
      return kept;
    });
  }

  /** The commits that the team's branch began from, and stands at. */
  async #span(team: string) {
    const { repository } = await this.#access.ready();
    const to = requireTeam(team, (await headsOf(team, null, repository, this.#reading)).head);
    return { from: (await refAt(baseRef(team), repository, this.#reading)) ?? to, to, repository };
  }

  async tasks(team: string): Promise<readonly string[]> {
    const { from, to, repository } = await this.#span(team);
    return tasksBehind(from, to, null, repository, this.#reading);
  }

  async changed(team: string): Promise<readonly ChangedPath[]> {
    const { from, to, repository } = await this.#span(team);
    return countsBetween(from, to, repository, this.#reading);
  }

  close(team: string, member: string): Promise<string | null> {
    return this.#access.withLock(async ({ repository, runGit }) => {
      const kept = await closeWriter(team, member, repository, runGit);
      await runGit.git(repository.root, ['update-ref', '-d', headRef(memberBranch(team, member))]);
      return kept;
    });
  }

  end(team: string, known: readonly string[]): Promise<void> {
    return this.#access.withLock(async (tools) => {
      const { repository, runGit } = tools;
      const directory = join(repository.worktrees, team);
      const names = existsSync(directory) ? readdirSync(directory) : [];
      const aside = names.map((name) => name.replace(/^\.aside-/, '')).filter((name) => /^[A-Za-z0-9]/.test(name));
      const members = new Set([...known, ...aside]);
      await noteMerged(team, repository, runGit);
      const closing = [...members].map((member) => closeWriter(team, member, repository, runGit));
      for (const one of await Promise.allSettled(closing)) if (one.status === 'rejected') throw one.reason;
      for (const name of names.filter((one) => one.startsWith('@')))
        await removeWorktree(join(directory, name), repository);
      await removeLargeTree(directory);
      await resetToHead(team, repository, runGit);
      // Nobody of the team is there any more: the branch is the person's.
      const branches = [...members].map((member) => headRef(memberBranch(team, member)));
      await deleteRefs([...branches, leftRef(team)], repository, runGit);
    });
  }

  async forget(team: string, members: readonly string[]): Promise<void> {
    await this.end(team, members);
    await this.#access.withLock(async ({ repository, runGit }) => {
      const { root } = repository;
      const ref = headRef(teamBranch(team));
      const base = await refAt(baseRef(team), repository, runGit);
      if (base === null || (await refAt(ref, repository, runGit)) !== base) return;
      await runGit.git(root, ['update-ref', '-d', ref, base]);
      await runGit.git(root, ['update-ref', '-d', baseRef(team), base]);
    });
  }
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].sort();
}

/** Where the project's root is in a worktree; there, though no commit has it yet. */
function rootIn(path: string, { prefix }: Repository): string {
  const root = resolve(path, prefix);
  mkdirSync(root, { recursive: true });
  return root;
}

/** Brings the team's branch into a writer's. */
async function update(
  { worktree, ref, at, head }: Writer,
  team: string,
  member: string,
  { repository, runGit }: Tools,
): Promise<Merge> {
  // They are asked for next, and tell which of the two comes before the other.
  await commitsBetween(head, at, repository, runGit);
  if (await isAncestor(head, at, repository, runGit)) return { kind: 'nothing' };
  const author = identity(team, member);
  const merged = await mergeCommit(at, head, `Merge ${teamBranch(team)}\n`, author, repository, runGit);
  if (typeof merged !== 'string') return conflictOf(merged.conflicts, { of: at, into: head }, repository, runGit);
  const inTheWay = await moveUnlessBlocked(worktree, ref, { from: at, to: merged }, repository, runGit);
  if (inTheWay.length > 0) return conflictOf(inTheWay, { of: at, into: head }, repository, runGit);
  return { kind: 'merged', head: merged };
}

/** @param files from the top @param commits the writer's, and the team's */
async function conflictOf(
  files: readonly string[],
  commits: { readonly of: string; readonly into: string },
  repository: Repository,
  runGit: RunGit,
): Promise<Merge> {
  const tasks = await tasksBehind(commits.of, commits.into, files, repository, runGit);
  return { kind: 'conflict', files: files.map((file) => fromRoot(file, repository)), tasks };
}
