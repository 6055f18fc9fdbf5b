// Files of Git LFS in workspaces: objects come from the daemon's store, and git of the clone makes files of them.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/ports.ts';
import { prefixed, refusal, textOf } from '../../base/rules/codes.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { type Clone, checkoutLfs } from '../../git/clone.ts';
import { isClone, writeConfig } from '../../git/git-directory.ts';
import { exportObjects } from '../../git/lfs-objects.ts';
import { LFS_OFF, LFS_SETTINGS, withLfs } from '../../git/rules/lfs.ts';
import type { HookName, WorkspaceTask } from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import type { Pruned } from './mirror/lfs.ts';
import { objectsIn } from './mirror/lfs-prune.ts';
import type { Mirror } from './mirror/mirror.ts';
import { PUSHED } from './mirror/pushes.ts';
import type { WorkspaceManifests } from './workspace-manifests.ts';

/** An object of the daemon's store that no workspace was given for so long may go. */
const UNUSED_MS = 14 * 24 * 60 * 60_000;

export class LfsFiles {
  readonly #mirror: Mirror;
  readonly #log: Logger;
  readonly #manifests: WorkspaceManifests;
  #isSaid = false;

  constructor(mirror: Mirror, log: Logger, manifests: WorkspaceManifests) {
    this.#mirror = mirror;
    this.#log = log;
    this.#manifests = manifests;
  }

  /** The commits whose files workspaces may have: that of the default branch, and what is published of the issues' branches. */
  async #tips(branches: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const all = [await this.#mirror.defaultBranch(signal), ...branches];
    const tips = await Promise.all(all.map((branch) => this.#mirror.branchHead(branch)));
    return tips.filter((sha) => sha !== null);
  }

  async #using(tips: readonly string[], signal: AbortSignal): Promise<boolean> {
    const using = await Promise.all(tips.map((sha) => this.#mirror.lfs.uses(sha, signal)));
    return using.includes(true);
  }

  /** Gives the workspace the settings of LFS where its repository uses it, or its agent has begun to; no agent may be at work. */
  async equip(task: WorkspaceTask, path: string, config: string, signal: AbortSignal): Promise<string> {
    if (!this.#mirror.lfs.isInstalled) return config;
    const begun = existsSync(join(path, '.git', 'lfs', 'objects'));
    const text =
      begun || (await this.#using(await this.#tips([task.branch], signal), signal)) ? withLfs(config) : config;
    if (text !== config) await writeConfig(path, text);
    return text;
  }

  /** Says once that a program is missing which the repository needs. */
  async announce(signal: AbortSignal): Promise<void> {
    if (this.#isSaid || this.#mirror.lfs.isInstalled || !(await this.#using(await this.#tips([], signal), signal)))
      return;
    this.#isSaid = true;
    this.#log.log('warn', 'workspace', refusal(WORKSPACES_CODES.lfs_missing, {}));
  }

  /** Git's settings for a script of the file's. A new clone reads the daemon's own store. */
  async settings(hook: HookName, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { lfs } = this.#mirror;
    const tips = await this.#tips([], signal);
    if (!(await this.#using(tips, signal))) return {};
    if (!lfs.isInstalled) return LFS_OFF;
    return hook === 'after_create' ? { ...LFS_SETTINGS, 'lfs.storage': lfs.store } : {};
  }

  /** Has the daemon's store hold what workspaces of the task need. What cannot be had is named, and its pointers stay. */
  async fetch(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const { lfs } = this.#mirror;
    const tips = await this.#tips([task.branch], signal);
    if (!(await this.#using(tips, signal))) return;
    if (!lfs.isInstalled) return this.announce(signal);
    const words = await this.#tryFetch(tips, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof ToolError)) throw error;
      return error.message;
    });
    if (words !== null) this.#sayLeft(task, words, 1000);
  }

  async #tryFetch(tips: readonly string[], signal: AbortSignal): Promise<string | null> {
    const { lfs } = this.#mirror;
    const place = await lfs.place(tips[0] ?? '', signal);
    if (place.kind === 'here') return (await lfs.fetch(tips, place, signal))?.said ?? null;
    const host = oneLine(place.host, 100);
    return `.lfsconfig of the default branch has the objects at ${host}; the daemon has no credential for it and does not ask it`;
  }

  /** Removes objects from the daemon's store that were unused for long. Those of the branches that the daemon pushed stay. */
  async prune(now: number, signal: AbortSignal): Promise<Pruned> {
    const { lfs } = this.#mirror;
    const before = now - UNUSED_MS;
    if (!lfs.isInstalled || objectsIn(lfs.store, before).size === 0) return { count: 0, bytes: 0 };
    await this.#mirror.refresh(signal);
    const pushed = await this.#mirror.refsBelow(`${PUSHED}/`);
    const branches = pushed.map((ref) => ref.slice(PUSHED.length + 1));
    const tips = await this.#tips(branches, signal);
    const place = await lfs.place(tips[0] ?? '', signal);
    if (place.kind === 'elsewhere') return { count: 0, bytes: 0 };
    return lfs.prune(tips, place, before, signal);
  }

  #sayLeft(task: WorkspaceTask, words: string, max: number): void {
    const what = refusal(WORKSPACES_CODES.lfs_pointers_left, { said: oneLine(words, max) });
    task.output(`${textOf(what)}\n`);
    this.#log.log('warn', 'workspace', prefixed(`issue #${task.issue}: `, what), { issue: task.issue });
  }

  /** Hands the workspace what the store has and it lacks. False when that is nothing ever. */
  async #supply(task: WorkspaceTask, path: string, signal: AbortSignal): Promise<boolean> {
    const { lfs } = this.#mirror;
    await this.fetch(task, signal);
    if (!lfs.isInstalled || !existsSync(lfs.store)) return false;
    const oids = new Set<string>();
    for (const sha of await this.#tips([task.branch], signal))
      if (await lfs.uses(sha, signal)) for (const oid of await lfs.objectsOf(sha, signal)) oids.add(oid);
    await exportObjects(lfs.store, path, oids);
    return oids.size > 0;
  }

  /** The clone has the settings and the objects of LFS before `act` brings it up to date, and its files after. */
  async around(clone: Clone, task: WorkspaceTask, act: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { issue } = task;
    const { path } = clone;
    const manifest = this.#manifests.read(issue);
    let hasObjects = false;
    if (manifest !== undefined && isClone(path)) {
      const config = await this.equip(task, path, manifest.config, signal);
      if (config !== manifest.config) this.#manifests.write({ issue, config });
      hasObjects = await this.#supply(task, path, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!(error instanceof ToolError)) throw error;
        this.#sayLeft(task, error.message, 1000);
        return false;
      });
    }
    await act();
    const words = hasObjects ? await checkoutLfs(clone, signal) : null;
    if (words !== null) this.#sayLeft(task, `git lfs checkout failed: ${words}`, 500);
  }
}
