// Workspaces on disk: one directory an issue, a Git clone in each, hooks around them.

import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolError } from '../domain/errors.ts';
import { formatSlug } from '../domain/repository.ts';
import { lastLines } from '../domain/text.ts';
import type { Workflow } from '../domain/workflow.ts';
import type { HookName, Place, Work, Workspaces, WorkspaceTask } from '../engine/ports.ts';
import * as clone from './clone.ts';
import type { Mirror } from './mirror.ts';
import { runProgram } from './program.ts';
import { ROOT_DATA } from './workspace-root.ts';

export type WorkspacesOptions = {
  /** Real path of the root. */
  readonly root: string;
  readonly mirror: Mirror;
  readonly workflow: () => Workflow;
  /** The environment that hooks run in: the person's, without any hosting credential. */
  readonly hookEnv: () => Readonly<Record<string, string>>;
};

/** What is kept of a complete workspace, outside of it. `config`: of the clone, as it was before any agent ran. */
type Mark = { readonly issue: number; readonly config: string };

const MAX_HOOK_OUTPUT = 256 * 1024;
const TEMPLATES = [
  '.github/pull_request_template.md',
  '.github/PULL_REQUEST_TEMPLATE.md',
  'docs/pull_request_template.md',
  'pull_request_template.md',
  'PULL_REQUEST_TEMPLATE.md',
];

/** Removes a tree, also where a program made directories that cannot be written to. Links are removed, not followed. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function makeWritable(path: string): Promise<void> {
  const status = await lstat(path);
  if (!status.isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await makeWritable(join(path, name));
}

export class DiskWorkspaces implements Workspaces {
  readonly #options: WorkspacesOptions;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
  }

  pathOf(issue: number): string {
    return join(this.#options.root, `issue-${issue}`);
  }

  #markPath(issue: number): string {
    return join(this.#options.root, ROOT_DATA, `issue-${issue}.json`);
  }

  async #readMark(issue: number): Promise<Mark | undefined> {
    try {
      const value: unknown = JSON.parse(await readFile(this.#markPath(issue), 'utf8'));
      if (typeof value !== 'object' || value === null || !('config' in value) || !('issue' in value)) return undefined;
      const { config } = value;
      return typeof config === 'string' && value.issue === issue ? { issue, config } : undefined;
    } catch {
      return undefined;
    }
  }

  /** The path, checked to be a real directory inside the root. */
  async #checked(issue: number): Promise<string> {
    const path = this.pathOf(issue);
    const real = await realpath(path).catch(() => undefined);
    if (real !== path)
      throw new ToolError(
        'workspace_root',
        `expected the workspace ${path} to be a directory of its own, got ${real ?? 'nothing'}`,
      );
    return path;
  }

  /** The clone, its configuration put back to what it was before any agent ran. */
  async #guarded(issue: number): Promise<string> {
    const path = await this.#checked(issue);
    const mark = await this.#readMark(issue);
    if (mark === undefined) throw new ToolError('workspace_root', `the workspace ${path} is not complete`);
    await clone.restoreConfig(path, mark.config);
    return path;
  }

  refresh(signal: AbortSignal): Promise<void> {
    return this.#options.mirror.refresh(signal);
  }

  async prepare(task: WorkspaceTask, _signal: AbortSignal): Promise<Place> {
    const path = this.pathOf(task.issue);
    const mark = await this.#readMark(task.issue);
    const real = await realpath(path).catch(() => undefined);
    if (mark !== undefined && real === path && (await clone.isClone(path))) return { path, created: false };
    await rm(this.#markPath(task.issue), { force: true });
    await removeTree(path);
    await mkdir(path);
    return { path, created: true };
  }

  async afterCreate(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const path = await this.#checked(task.issue);
    await this.#options.mirror.refresh(signal);
    const script = this.#options.workflow().hooks.afterCreate;
    if (script === null) await clone.cloneMirror(this.#options.mirror.path, path, signal);
    else await this.#script('after_create', script, task, signal);
  }

  async complete(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const path = await this.#checked(task.issue);
    if (!(await clone.isClone(path)))
      throw new ToolError(
        'hook',
        `after_create left no Git clone in ${path}; expected one with its own .git directory`,
      );
    if (this.#options.workflow().hooks.afterCreate !== null) await clone.disarm(path, signal);
    const mark: Mark = { issue: task.issue, config: await clone.readConfig(path) };
    const fresh = `${this.#markPath(task.issue)}.${randomBytes(4).toString('hex')}`;
    await writeFile(fresh, JSON.stringify(mark), { mode: 0o600 });
    await rename(fresh, this.#markPath(task.issue));
  }

  async beforeRun(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const path = await this.#guarded(task.issue);
    const script = this.#options.workflow().hooks.beforeRun;
    await this.#options.mirror.refresh(signal);
    if (script === null) {
      await this.#sync(path, task, signal);
      return;
    }
    await this.#script('before_run', script, task, signal);
    const { branch } = await clone.statusOf(path, signal);
    if (branch !== task.branch) await clone.moveToBranch(path, task.branch, signal);
  }

  /** The first attempt starts from the latest default branch; later ones keep their work and take it in where that merges cleanly. */
  async #sync(path: string, task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const main = `refs/remotes/origin/${await this.#options.mirror.defaultBranch(signal)}`;
    const local = `refs/heads/${task.branch}`;
    const published = `refs/remotes/origin/${task.branch}`;
    const untouched = (await readdir(path)).length === 1;
    if (!untouched) await clone.fetchOrigin(path, signal);
    const refs = await clone.refsOf(path, [local, published]);
    if (!refs.has(local)) {
      if (!untouched && (await clone.statusOf(path, signal)).dirty) await this.#save(path, task, signal);
      await clone.startBranch(path, task.branch, refs.has(published) ? published : main, signal);
      if (!untouched) await clone.removeUntracked(path, signal);
    } else {
      const status = await clone.statusOf(path, signal);
      if (status.branch !== task.branch) {
        if (status.dirty) await this.#save(path, task, signal);
        await clone.startBranch(path, task.branch, local, signal);
      }
    }
    const others = [...(refs.has(local) && refs.has(published) ? [published] : []), ...(refs.size > 0 ? [main] : [])];
    for (const other of others) {
      if (!(await clone.mergeIfClean(path, other, signal)))
        task.output(`${other} does not merge cleanly; it is left out\n`);
    }
  }

  async #save(path: string, task: WorkspaceTask, signal: AbortSignal): Promise<string> {
    const ref = `refs/toolcrew/saved/issue-${task.issue}-${task.life}-${task.attempt}`;
    await clone.saveUncommitted(path, ref, signal);
    await this.#options.mirror.keep(path, ref);
    task.output(`uncommitted changes saved as ${ref}\n`);
    return ref;
  }

  async afterRun(task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
    return this.#afterwards('after_run', this.#options.workflow().hooks.afterRun, task, signal);
  }

  async beforeRemove(task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
    return this.#afterwards('before_remove', this.#options.workflow().hooks.beforeRemove, task, signal);
  }

  async #afterwards(hook: HookName, script: string | null, task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
    if (script === null) return false;
    await this.#guarded(task.issue);
    await this.#script(hook, script, task, signal);
    return true;
  }

  async #script(hook: HookName, script: string, task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const { hooks, tracker } = this.#options.workflow();
    const path = this.pathOf(task.issue);
    const result = await runProgram('/bin/sh', ['-e', '-c', script], {
      cwd: path,
      env: {
        ...this.#options.hookEnv(),
        ...task.env,
        TOOL_ISSUE: String(task.issue),
        TOOL_ATTEMPT: String(task.attempt),
        TOOL_BRANCH: task.branch,
        TOOL_WORKSPACE: path,
        TOOL_REPO: formatSlug(tracker.slug),
        TOOL_CLONE_URL: this.#options.mirror.path,
        TOOL_DEFAULT_BRANCH: await this.#options.mirror.defaultBranch(signal),
      },
      signal,
      timeoutMs: hooks.timeoutMs,
      graceMs: 2_000,
      maxBytes: MAX_HOOK_OUTPUT,
    });
    const said = [result.stdout, result.stderr].filter((text) => text !== '').join('\n');
    if (said !== '') task.output(said.endsWith('\n') ? said : `${said}\n`);
    if (result.timedOut)
      throw new ToolError('hook', `${hook} took longer than hooks.timeout_ms (${hooks.timeoutMs} ms) and was ended`);
    signal.throwIfAborted();
    if (result.exitCode === 0) return;
    const how =
      result.exitCode === null
        ? `was ended by ${result.signal ?? 'a signal'}`
        : `ended with exit code ${result.exitCode}`;
    const advice = hook === 'after_create' ? ' (if a clone failed: check `gh auth status`)' : '';
    throw new ToolError('hook', `${hook} ${how}${advice}: ${lastLines(said, 8) || 'it printed nothing'}`);
  }

  async peek(task: WorkspaceTask, signal: AbortSignal): Promise<string | null> {
    const path = await this.#checked(task.issue);
    if (!(await clone.isClone(path))) return null;
    const candidates = [await clone.readRef(path, `refs/heads/${task.branch}`), await clone.readHead(path)];
    return this.#publishable(path, candidates, signal);
  }

  /** The first commit that changes anything: an agent that committed on a branch of its own is taken at its work, not at the branch's name. */
  async #publishable(
    path: string,
    candidates: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<string | null> {
    for (const sha of new Set(candidates)) {
      if (sha !== null && (await this.#options.mirror.brings(sha, clone.objectsOf(path), signal))) return sha;
    }
    return null;
  }

  async collect(task: WorkspaceTask, signal: AbortSignal): Promise<Work> {
    const path = await this.#guarded(task.issue);
    const status = await clone.statusOf(path, signal);
    const own = status.branch === task.branch ? status.oid : await clone.refOf(path, `refs/heads/${task.branch}`);
    const head = await this.#publishable(path, [own, status.oid], signal);
    return { head, savedAs: head === null && status.dirty ? await this.#save(path, task, signal) : null };
  }

  async push(task: WorkspaceTask, sha: string, ours: readonly string[], signal: AbortSignal): Promise<void> {
    const path = await this.#checked(task.issue);
    if (!(await clone.isClone(path))) throw new ToolError('git', `${path} holds no Git clone of its own any more`);
    await this.#options.mirror.push(task.branch, sha, clone.objectsOf(path), ours, signal);
  }

  defaultBranch(signal: AbortSignal): Promise<string> {
    return this.#options.mirror.defaultBranch(signal);
  }

  async pullRequestTemplate(signal: AbortSignal): Promise<string | null> {
    for (const path of TEMPLATES) {
      const text = await this.#options.mirror.readFile(path, signal);
      if (text !== null) return text;
    }
    return null;
  }

  async commitMessages(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<readonly string[]> {
    const path = await this.#checked(task.issue);
    return this.#options.mirror.commitMessages(sha, clone.objectsOf(path), signal);
  }

  async remove(task: WorkspaceTask, signal: AbortSignal): Promise<void> {
    const path = this.pathOf(task.issue);
    try {
      const guarded = await this.#guarded(task.issue);
      if ((await clone.statusOf(guarded, signal)).dirty) await this.#save(guarded, task, signal);
    } catch (error) {
      signal.throwIfAborted();
      task.output(`nothing to save in ${path}: ${messageOf(error)}\n`);
    }
    await rm(this.#markPath(task.issue), { force: true });
    await removeTree(path);
  }
}
