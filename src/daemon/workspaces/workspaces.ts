// Workspaces on disk: one directory an issue, a Git clone in each, hooks around them.

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createTreeRemover, removeTree } from '../../base/files/remove-tree.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import { prefixed, refusal, textOf } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import * as clone from '../../git/clone.ts';
import { isUnstarted, saysDamaged } from '../../git/git.ts';
import { isClone, readConfig } from '../../git/git-directory.ts';
import { GIT_CODES } from '../../git/rules/git-codes.ts';
import type {
  Changes,
  HookName,
  KeptWork,
  PreparedWorkspace,
  TakenBase,
  Work,
  WorkspaceState,
  Workspaces,
  WorkspaceTask,
} from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import { isDiskFull } from '../rules/disk-full.ts';
import { branchesBelow, goesOn, takeBase } from './base-taking.ts';
import { collectFrom, headNow } from './collect.ts';
import { type HookScriptsOptions, runHookScript } from './hook-scripts.ts';
import { keptWork } from './kept-work.ts';
import { bringCommit, commitsOf, delayClone, isWaiting, makeLate, moveLate, saveLate } from './late-clone.ts';
import { LfsFiles } from './lfs-files.ts';
import type { ModuleCopies } from './mirror/module-copies.ts';
import { expireSaved } from './mirror/saved-refs.ts';
import { readTemplate } from './pull-request-template.ts';
import { setAside } from './set-aside.ts';
import { SpareClones } from './spare-clones.ts';
import { fillWorkspace } from './submodules.ts';
import { WorkspaceManifests } from './workspace-manifests.ts';
import { type GuardedClone, type PlacesOptions, WorkspacePlaces } from './workspace-places.ts';
import { ROOT_DATA } from './workspace-root.ts';
import { salvage, savedEarlier, saveWork, takeCommit, tellsSaved, worksOf } from './workspace-saves.ts';
import { putBack, stateOf } from './workspace-state.ts';
import { mayBeClone, syncByScript, syncWorkspace } from './workspace-sync.ts';

export type WorkspacesOptions = HookScriptsOptions &
  PlacesOptions & {
    /** Makes the root again when programs that clean up temporary files took it away; throws when it is another's by now. */
    readonly claimRoot: () => void;
    readonly clock: Clock;
    readonly log: Logger;
    readonly modules: ModuleCopies;
    /** Removes a directory, or throws with what keeps it. */
    readonly remove?: (path: string) => Promise<void>;
  };

export class DiskWorkspaces implements Workspaces {
  readonly #options: WorkspacesOptions;
  readonly places: WorkspacePlaces;
  readonly #manifests: WorkspaceManifests;
  readonly #spares: SpareClones;
  readonly #lfs: LfsFiles;
  readonly #remove: (path: string) => Promise<void>;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
    this.#remove = options.remove ?? createTreeRemover();
    this.#manifests = new WorkspaceManifests(join(options.root, ROOT_DATA));
    this.#spares = new SpareClones(join(options.root, ROOT_DATA, 'spares'), options.mirror, options.clock);
    this.#lfs = new LfsFiles(options.mirror, options.log, this.#manifests);
    const parts = { mirror: options.mirror, spares: this.#spares, lfs: this.#lfs, manifests: this.#manifests };
    this.places = new WorkspacePlaces({ ...options, makeClone: makeLate.bind(null, parts) }, this.#manifests);
  }

  pathOf(issue: number): string {
    return this.places.pathOf(issue);
  }

  refresh(signal: AbortSignal): Promise<void> {
    return this.#options.mirror.refresh(signal);
  }

  /** Says what the repository needs and this machine lacks. */
  announce(signal: AbortSignal): Promise<void> {
    return this.#lfs.announce(signal);
  }

  outdate(): void {
    this.#options.mirror.outdate();
  }

  async keepSpares(count: number, signal: AbortSignal): Promise<void> {
    const { claimRoot, workflow } = this.#options;
    if (count > 0) claimRoot();
    await this.#spares.keep(workflow().hooks.afterCreate === null && !this.#isLate ? count : 0, signal);
  }

  /** Whether clones are made once their files are read. Whoever keeps workspaces wants to look into them. */
  get #isLate(): boolean {
    return this.#options.agentsElsewhere === true && !this.#options.workflow().workspace.keep;
  }

  async prepare(task: WorkspaceTask, signal: AbortSignal): Promise<PreparedWorkspace> {
    this.#options.claimRoot();
    const path = this.pathOf(task.issue);
    const isLate = this.places.isLate(task.issue);
    const isOurs = this.places.isOurs(task.issue) && this.#manifests.read(task.issue)?.isFilling !== true;
    if (isOurs && (isLate ? this.#isLate : isClone(path))) return { path, created: false };
    if (isOurs && !isLate && !(await this.#salvage(task, signal))) await this.#setAside(task);
    // The manifest of a late clone stays: `complete` needs its commit.
    await (isLate ? removeTree(path) : this.#clear(task));
    await mkdir(path);
    return { path, created: !isLate || !this.#isLate };
  }

  /** Makes room for a new one. Files that a container left as another user stay, out of the way. */
  async #clear(task: WorkspaceTask): Promise<void> {
    const { issue } = task;
    const isLate = this.places.isLate(issue);
    this.places.touch(issue);
    this.#manifests.remove(issue);
    try {
      // There is little in it.
      await (isLate ? removeTree : this.#remove)(this.pathOf(issue));
    } catch (error) {
      await this.#setAside(task, `holds files that cannot be removed (${messageOf(error)})`).catch(() => {
        throw error;
      });
    }
  }

  /** What could not be saved or removed stays, in a place where nothing removes it. */
  async #setAside(task: WorkspaceTask, why = 'could not be saved whole'): Promise<void> {
    const { root, log } = this.#options;
    const place = await setAside(root, this.pathOf(task.issue), `issue-${task.issue}-${task.life}`);
    const what = refusal(WORKSPACES_CODES.workspace_set_aside, { why, place });
    task.output(`${textOf(what)}\n`);
    log.log('warn', 'workspace', prefixed(`issue #${task.issue}: `, what), { issue: task.issue });
  }

  async #salvage(task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
    if (await saveLate(this.places, this.#options.mirror, task, signal)) return true;
    const scratch = join(this.#options.root, ROOT_DATA, `salvage-${task.issue}`);
    return salvage(this.places.cloneOf(task.issue), this.#options.mirror, task, scratch, signal);
  }

  async afterCreate(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const path = this.places.checked(task.issue);
    if (this.#isLate) return this.#options.mirror.refresh(signal);
    await this.#options.mirror.refresh(signal, task.branch);
    const script = this.#options.workflow().hooks.afterCreate;
    if (script === null) return this.#spares.fill(task, path, signal);
    await this.#lfs.fetch(task, signal);
    await this.#script('after_create', script, task, signal);
  }

  async complete(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const path = this.places.checked(task.issue);
    if (this.#isLate) return delayClone(this.places, this.#options.mirror, task, signal);
    if (!isClone(path)) throw failure(WORKSPACES_CODES.after_create_no_clone, { path });
    if (this.#options.workflow().hooks.afterCreate !== null) await clone.removePushAccess(path, signal);
    const config = await this.#lfs.equip(task, path, readConfig(path), signal);
    const isMoved = await bringCommit(this.places, this.#options.mirror, task, signal);
    this.#manifests.write({ issue: task.issue, config });
    if (!isMoved) this.places.addNew(task.issue);
  }

  async beforeRun(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    this.places.checked(task.issue);
    await this.#options.mirror.refresh(signal, this.places.isLate(task.issue) ? undefined : task.branch);
    try {
      if (this.#options.workflow().hooks.beforeRun === null) await this.#sync(task, signal);
      else await this.#syncByScript(task, signal);
      await this.#fillModules(task, signal);
    } finally {
      // From here on the agent may be in it.
      this.places.touch(task.issue);
    }
  }

  async #fillModules(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const { workflow, modules: copies, clock, log, isolation } = this.#options;
    // Without namespaces git follows nothing inside that an agent may have planted.
    const isNew = this.places.isNew(task.issue);
    if (this.places.isLate(task.issue) || !workflow().workspace.submodules || (!isNew && !isolation.active)) return;
    await fillWorkspace(
      { clone: this.places.cloneOf(task.issue), isNew, copies, clock, log, manifests: this.#manifests },
      task,
      signal,
    );
  }

  async #syncByScript(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const { mirror, workflow } = this.#options;
    const isNew = this.places.isNew(task.issue);
    const at = await this.places.guarded(task, signal);
    const script = () => this.#script('before_run', workflow().hooks.beforeRun ?? '', task, signal);
    const run = () => this.#lfs.around(this.places.cloneOf(task.issue), task, script, signal);
    await syncByScript({ clone: at, mirror, task, isNew }, run, signal);
  }

  /** A clone that git cannot use any more is made anew; where a new one cannot be used either, so is what it came from. */
  async #sync(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const { mirror } = this.#options;
    for (let tries = 0; ; tries++) {
      const isNew = this.places.isNew(task.issue);
      // Nobody but git of ours has been in it.
      const isPristine = isNew && this.#options.workflow().hooks.afterCreate === null;
      try {
        if (await moveLate(this.places, mirror, task, signal)) return;
        const sync = async () => {
          const at = isPristine ? this.places.cloneOf(task.issue) : await this.places.guarded(task, signal);
          const left = await syncWorkspace({ clone: at, mirror, task, isNew, isPristine }, signal);
          this.places.settle(task.issue, left);
        };
        await this.#lfs.around(this.places.cloneOf(task.issue), task, sync, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        const words = messageOf(error);
        if (!mayBeClone(error) || isDiskFull(error) || tries === 2 || (isNew && !saysDamaged(words))) throw error;
        if (await isWaiting(this.places, mirror, task, signal)) throw error;
        task.output(`the clone cannot be used and is made anew: ${words}\n`);
        if (isNew) mirror.distrust();
        else if (!(await this.#salvage(task, signal))) await this.#setAside(task);
        await this.#clear(task);
        await mkdir(this.pathOf(task.issue));
        await this.afterCreate(task, signal);
        await this.complete(task, signal);
      }
    }
  }

  async afterRun(task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
    return this.#afterwards('after_run', this.#options.workflow().hooks.afterRun, task, signal);
  }

  async beforeRemove(task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
    return this.#afterwards('before_remove', this.#options.workflow().hooks.beforeRemove, task, signal);
  }

  async #afterwards(hook: HookName, script: string | null, task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
    if (script === null) return false;
    await this.places.guarded(task, signal);
    await this.#script(hook, script, task, signal);
    return true;
  }

  async #script(hook: HookName, script: string, task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const settings = await this.#lfs.settings(hook, signal);
    await runHookScript(this.#options, hook, script, task, this.pathOf(task.issue), signal, settings);
  }

  async peek(task: WorkspaceTask, signal: AbortSignal): Promise<string | null> {
    const path = this.places.checked(task.issue);
    const isLate = this.places.isLate(task.issue);
    if (!isLate && !isClone(path)) return null;
    try {
      const at = isLate ? await this.#commitsOf(task, signal) : this.places.cloneOf(task.issue);
      return await headNow(at, this.#options.mirror, task, signal);
    } catch {
      // The agent is at work: what cannot be read now is no work yet.
      signal.throwIfAborted();
      return null;
    }
  }

  #commitsOf(task: WorkspaceTask, signal: AbortSignal): Promise<GuardedClone> {
    return commitsOf(this.places, this.#options.mirror, task, signal);
  }

  async collect(task: WorkspaceTask, signal: AbortSignal): Promise<Work> {
    try {
      const settle = (status: clone.CloneStatus | undefined) => this.places.settle(task.issue, status);
      return await collectFrom(await this.#commitsOf(task, signal), this.#options.mirror, task, settle, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ToolError) || error.kind !== 'git') throw error;
      // Only the agent has been there since git could last use the clone.
      throw failure(GIT_CODES.workspace_broken_by_agent, { said: error.message, cause: error.code }, { cause: error });
    }
  }

  async push(task: WorkspaceTask, sha: string, ours: readonly string[], signal: AbortSignal, kept?: string) {
    await this.#held(task, sha, signal);
    // A process that ended in the middle may have taken the commit alone.
    await this.#options.mirror.lfs.take(this.pathOf(task.issue), sha, signal);
    await this.#options.mirror.push(task.branch, sha, ours, signal, kept);
  }

  /** Sees to it that the mirror has the commit. */
  async #held(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<void> {
    if (await this.#options.mirror.holds(sha)) return;
    const path = this.places.checked(task.issue);
    if (!isClone(path)) throw failure(GIT_CODES.workspace_clone_lost, { path });
    await takeCommit(this.places.cloneOf(task.issue), this.#options.mirror, task.issue, sha, signal);
  }

  defaultBranch(signal: AbortSignal): Promise<string> {
    return this.#options.mirror.defaultBranch(signal);
  }

  pullRequestTemplate(signal: AbortSignal): Promise<string | null> {
    return readTemplate(this.#options.mirror, signal);
  }

  async baseOf(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<string> {
    await this.#held(task, sha, signal);
    return this.#options.mirror.comparison.baseOf(sha, signal);
  }

  async changedPaths(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<readonly string[]> {
    await this.#held(task, sha, signal);
    return this.#options.mirror.comparison.changedPaths(sha, signal);
  }

  async takeBase(task: WorkspaceTask, signal: AbortSignal): Promise<TakenBase> {
    const { mirror, workflow } = this.#options;
    this.outdate();
    const update = () => this.beforeRun(task, signal).then(() => this.collect(task, signal));
    const hasScript = workflow().hooks.beforeRun !== null;
    return takeBase({ mirror, update, clone: () => this.places.guarded(task, signal), hasScript }, task, signal);
  }

  branches(prefix: string): Promise<ReadonlyMap<string, string>> {
    return branchesBelow(this.#options.mirror, prefix);
  }

  conflicts(older: string, younger: string, signal: AbortSignal): Promise<readonly string[]> {
    return this.#options.mirror.comparison.conflictsOfOwn(older, younger, signal);
  }

  goesOn(branch: string, from: string, commit: string, signal: AbortSignal): Promise<boolean | null> {
    return goesOn(this.#options.mirror, branch, from, commit, signal);
  }

  async commitMessages(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<readonly string[]> {
    await this.#held(task, sha, signal);
    return this.#options.mirror.comparison.commitMessages(sha, signal);
  }

  async changes(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<Changes> {
    const base = await this.baseOf(task, sha, signal);
    return { base, ...(await this.#options.mirror.comparison.changes(base, sha, signal)) };
  }

  async stateOf(task: WorkspaceTask, signal: AbortSignal): Promise<WorkspaceState> {
    return stateOf(await this.places.guarded(task, signal), signal);
  }

  async putBack(task: WorkspaceTask, state: WorkspaceState, signal: AbortSignal): Promise<boolean> {
    return putBack(await this.places.guarded(task, signal), state, signal);
  }

  async remove(
    removed: WorkspaceTask,
    signal: AbortSignal,
    tell?: (saved: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const { mirror } = this.#options;
    const saved: string[] = [];
    const output = (text: string) => {
      removed.output(text);
      if (tellsSaved(text)) saved.push(text.trim());
    };
    const task: WorkspaceTask = { ...removed, output };
    const isMade = this.#manifests.read(task.issue) !== undefined;
    const isOurs = this.places.isOurs(task.issue) || this.places.isLate(task.issue);
    let isSaved = true;
    try {
      if (!(await saveWork(await this.#commitsOf(task, signal), mirror, task, signal))) await this.#setAside(task);
    } catch (error) {
      signal.throwIfAborted();
      if (isUnstarted(error)) throw error;
      task.output(`the clone in ${this.pathOf(task.issue)} cannot be used: ${messageOf(error)}\n`);
      isSaved = !isMade || (isOurs && (await this.#salvage(task, signal)));
      if (isOurs && !isSaved) await this.#setAside(task);
    }
    const earlier = await savedEarlier(mirror, task, saved).catch(() => []);
    if (saved.length + earlier.length > 0) await tell?.([...earlier, ...saved]);
    await this.#clear(task);
    if (isSaved) await mirror.forget((ref) => ref.startsWith(`${worksOf(task.issue)}/`)).catch(() => undefined);
  }

  async kept(task: WorkspaceTask, signal: AbortSignal): Promise<KeptWork> {
    const { root, mirror } = this.#options;
    const isLate = this.places.isLate(task.issue);
    const isThere = this.places.isOurs(task.issue) || isLate;
    const at = isThere && (isLate || isClone(this.pathOf(task.issue))) ? await this.places.guarded(task, signal) : null;
    return keptWork(root, isThere ? (at ?? this.places.cloneOf(task.issue)) : null, mirror, task, signal);
  }

  pruneLfs(signal: AbortSignal): Promise<{ readonly count: number; readonly bytes: number }> {
    return this.#lfs.prune(this.#options.clock.now(), signal);
  }

  async expireSaved(): Promise<number> {
    const { mirror, workflow, clock } = this.#options;
    return expireSaved(mirror, dirname(mirror.path), workflow().workspace.savedKeepDays, clock.now());
  }
}
