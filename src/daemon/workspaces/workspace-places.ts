// Places of workspaces: a directory for each issue inside the root, and whether an agent has been in it.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Isolation } from '../../agents/isolation.ts';
import { failure } from '../../base/rules/errors.ts';
import type { Clone, CloneStatus } from '../../git/clone.ts';
import { LOCAL_MS } from '../../git/git.ts';
import { restoreConfig } from '../../git/git-directory.ts';
import type { Author } from '../../git/rules/author.ts';
import type { WorkspaceTask } from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import type { LateClone, WorkspaceManifests } from './workspace-manifests.ts';

/** `settled`: how this process left it, clean and with no work to be saved; undefined: git has to be asked. */
export type GuardedClone = Clone & { readonly settled: CloneStatus | undefined };

export type PlacesOptions = {
  /** Real path of the root. */
  readonly root: string;
  /** What agents run in, and git in a clone where one has been. */
  readonly isolation: Pick<Isolation, 'active' | 'wrap'>;
  /** How long one git command in a clone may take. */
  readonly gitTimeoutMs?: number;
  /** Of the daemon's own commits in a clone; undefined: the usual one. */
  readonly author?: Author | undefined;
  /** Agents and hooks run on other machines: here a clone changes only where this process changes it. */
  readonly agentsElsewhere?: boolean;
  /** Makes a clone that is late. */
  readonly makeClone?: (clone: Clone, task: WorkspaceTask, late: LateClone, signal: AbortSignal) => Promise<void>;
};

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

export class WorkspacePlaces {
  readonly #options: PlacesOptions;
  readonly #manifests: WorkspaceManifests;
  /** Workspaces made by this process in which no agent has been. */
  readonly #untouched = new Set<number>();
  readonly #settled = new Map<number, CloneStatus>();

  constructor(options: PlacesOptions, manifests: WorkspaceManifests) {
    this.#options = options;
    this.#manifests = manifests;
  }

  pathOf(issue: number): string {
    return join(this.#options.root, `issue-${issue}`);
  }

  /** The path, checked to be a real directory inside the root. */
  checked(issue: number): string {
    const path = this.pathOf(issue);
    const real = realPath(path);
    if (real !== path) throw failure(WORKSPACES_CODES.workspace_unusable, { path, got: real ?? 'nothing' });
    return path;
  }

  /** Whether a workspace that was made for the issue is there, as a real directory. */
  isOurs(issue: number): boolean {
    const path = this.pathOf(issue);
    return this.#manifests.read(issue) !== undefined && realPath(path) === path;
  }

  /** Made by this process, and no agent has been in it. */
  isNew(issue: number): boolean {
    return this.#untouched.has(issue);
  }

  /** Where the clone is to stand that is not made yet; undefined: it is there, or was never to be. */
  lateOf(issue: number): LateClone | undefined {
    return this.#manifests.read(issue)?.late;
  }

  isLate(issue: number): boolean {
    return this.lateOf(issue) !== undefined;
  }

  /** Has the clone be made later, there. */
  delay(issue: number, late: LateClone): void {
    this.#settled.delete(issue);
    this.#manifests.write({ issue, config: '', late });
  }

  addNew(issue: number): void {
    this.#untouched.add(issue);
    this.#settled.delete(issue);
  }

  /** Called after a step that left nothing in the clone to be saved. */
  settle(issue: number, status: CloneStatus | undefined): void {
    if (this.#options.agentsElsewhere === true && status?.dirty === false) this.#settled.set(issue, status);
  }

  /** From here on an agent may be in it. */
  touch(issue: number): void {
    this.#untouched.delete(issue);
  }

  /** The clone as git of ours uses it: inside the agent's namespaces, unless no agent has been in it. */
  cloneOf(issue: number): Clone {
    const { isolation, gitTimeoutMs = LOCAL_MS, author } = this.#options;
    const path = this.pathOf(issue);
    const isOpen = this.isNew(issue) || !isolation.active;
    const launch = (file: string, args: readonly string[]) => isolation.wrap(file, args, [path]);
    return { path, launch: isOpen ? undefined : launch, timeoutMs: gitTimeoutMs, author };
  }

  /**
   * The clone, its Git directory put back to what it was before any agent ran. No agent may be at work in it. The caller
   * may change it, so that it counts as settled no more. One that is late is made.
   */
  async guarded(task: WorkspaceTask, signal: AbortSignal): Promise<GuardedClone> {
    const late = this.lateOf(task.issue);
    if (late !== undefined) {
      await this.#options.makeClone?.(this.cloneOf(task.issue), task, late, signal);
      this.settle(task.issue, { oid: late.head, branch: late.branch, dirty: false });
    }
    const settled = this.#settled.get(task.issue);
    this.#settled.delete(task.issue);
    const path = this.checked(task.issue);
    const manifest = this.#manifests.read(task.issue);
    if (manifest === undefined) throw failure(WORKSPACES_CODES.workspace_incomplete, { path });
    await restoreConfig(path, manifest.config, task.branch);
    return { ...this.cloneOf(task.issue), settled };
  }
}
