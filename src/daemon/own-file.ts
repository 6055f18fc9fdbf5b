// The repository's own WORKFLOW.md in an attempt: pinned at its start, its hooks run around the agent.

import type { Logger } from '../base/ports.ts';
import { messageOf } from '../base/rules/errors.ts';
import { perform } from './effects.ts';
import type { HookName, Journal, OwnHookRunner, OwnWorkflow, PreparedWorkspace, WorkspaceTask } from './ports.ts';
import { type OwnFileMark, ownFileWords } from './rules/own-file.ts';
import type { Workflow } from './rules/workflow.ts';

export type OwnFileOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly log: Logger;
  /** Left out: no repository has a file of its own. */
  readonly ownFile?: OwnWorkflow;
  readonly ownHooks?: OwnHookRunner;
};

export type Pinned = {
  readonly workflow: Workflow;
  /** Why the file is not known; null: it is. */
  readonly unread: unknown;
};

/** The workflow of an attempt, with the file of the repository as it is now. */
export async function pinWorkflow({ ownFile, workflow }: OwnFileOptions, signal: AbortSignal): Promise<Pinned> {
  try {
    await ownFile?.pin(signal);
    return { workflow: workflow(), unread: null };
  } catch (error) {
    return { workflow: workflow(), unread: error };
  }
}

/** For the record of an attempt. */
export function ownMark({ own }: Workflow): { readonly own_file?: OwnFileMark } {
  return own === undefined || own.sets.length === 0 ? {} : { own_file: { commit: own.commit, sets: own.sets } };
}

/** Says where the settings of an attempt come from. */
export function sayOwn({ log }: OwnFileOptions, { own }: Workflow, issue: number, attempt: number): void {
  if (own === undefined || own.sets.length === 0) return;
  log.log('info', 'agent', `issue #${issue}: ${ownFileWords(own)}`, { issue, attempt });
}

function scriptOf({ own }: Workflow, hook: HookName): string | undefined {
  return own?.hooks[hook];
}

export function hasOwnHook(workflow: Workflow): boolean {
  return Object.keys(workflow.own?.hooks ?? {}).length > 0;
}

async function run(
  { journal, ownHooks }: OwnFileOptions,
  workflow: Workflow,
  hook: HookName,
  key: string,
  { task, path, signal }: { readonly task: WorkspaceTask; readonly path: string; readonly signal: AbortSignal },
): Promise<void> {
  const script = scriptOf(workflow, hook);
  if (script === undefined || ownHooks === undefined) return;
  await perform(journal, task.issue, 'hook', key, () => ownHooks.run(hook, script, task, path, signal));
}

/** `after_create` once for a workspace, then `before_run`. A failure fails the attempt. */
export async function runOwnBefore(
  options: OwnFileOptions,
  workflow: Workflow,
  task: WorkspaceTask,
  { path }: PreparedWorkspace,
  signal: AbortSignal,
): Promise<void> {
  const { ownHooks } = options;
  const at = { task, path, signal };
  if (ownHooks?.isPrepared(task.issue) === false)
    await run(options, workflow, 'after_create', `repository_after_create:${task.attempt}`, at);
  await run(options, workflow, 'before_run', `repository_before_run:${task.attempt}`, at);
}

/** A failure is logged and changes nothing. */
export async function runOwnAfter(
  options: OwnFileOptions,
  workflow: Workflow,
  hook: 'after_run' | 'before_remove',
  task: WorkspaceTask,
  path: string,
): Promise<void> {
  // What it follows may have been ended; its own time-out bounds it.
  const { signal } = new AbortController();
  const key = hook === 'after_run' ? `repository_after_run:${task.attempt}` : 'repository_before_remove';
  try {
    await run(options, workflow, hook, key, { task, path, signal });
  } catch (error) {
    const { issue } = task;
    options.log.log('warn', 'hook', messageOf(error), { issue });
  }
}
