// The file's own scripts around a workspace: a shell in it, with the person's environment and a time limit.

import { pathToFileURL } from 'node:url';
import { type ProgramResult, runProgram } from '../../base/processes/program.ts';
import { failure } from '../../base/rules/errors.ts';
import { lastLines } from '../../base/rules/text.ts';
import { SAFE_CONFIG } from '../../git/git.ts';
import { formatSlug } from '../../git/rules/repository.ts';
import type { HookName, WorkspaceTask } from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import { saysDiskFull } from '../rules/disk-full.ts';
import type { Workflow } from '../rules/workflow.ts';
import type { Mirror } from './mirror/mirror.ts';

export const MAX_HOOK_OUTPUT = 256 * 1024;

export type HookScriptsOptions = {
  readonly mirror: Mirror;
  readonly workflow: () => Workflow;
  /** The environment that hooks run in: the person's, without any hosting credential. */
  readonly hookEnv: () => Readonly<Record<string, string>>;
};

/** Settings in the environment come before those of a repository. */
function gitSettings(settings: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = Object.entries(settings);
  const variables = pairs.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(pairs.length), ...Object.fromEntries(variables) };
}

/** @param more settings of git for this script */
export async function runHookScript(
  options: HookScriptsOptions,
  hook: HookName,
  script: string,
  task: WorkspaceTask,
  path: string,
  signal: AbortSignal,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { hooks, tracker } = options.workflow();
  // An agent may have been there: git in a script follows nothing that it planted. A status looks into no repository inside.
  const safe = hook === 'after_create' ? {} : { ...SAFE_CONFIG, 'diff.ignoreSubmodules': 'all' };
  const all = { ...safe, ...more };
  const settings = Object.keys(all).length === 0 ? {} : gitSettings(all);
  const result = await runProgram('/bin/sh', ['-e', '-c', script], {
    cwd: path,
    env: {
      ...options.hookEnv(),
      ...settings,
      ...task.env,
      TOOL_ISSUE: String(task.issue),
      TOOL_ATTEMPT: String(task.attempt),
      TOOL_BRANCH: task.branch,
      TOOL_WORKSPACE: path,
      TOOL_REPO: formatSlug(tracker.slug),
      // Not the bare path: `git clone` of that would share files with the daemon's own copy.
      TOOL_CLONE_URL: pathToFileURL(options.mirror.source).href,
      TOOL_DEFAULT_BRANCH: await options.mirror.defaultBranch(signal),
    },
    signal,
    timeoutMs: hooks.timeoutMs,
    graceMs: 2_000,
    maxBytes: MAX_HOOK_OUTPUT,
  });
  concludeHook(hook, result, { task, timeoutMs: hooks.timeoutMs, signal });
}

/** Passes on what a hook printed; throws when it did not end well. @param hook its name in messages */
export function concludeHook(
  hook: string,
  result: ProgramResult,
  {
    task,
    timeoutMs,
    signal,
  }: { readonly task: WorkspaceTask; readonly timeoutMs: number; readonly signal: AbortSignal },
): void {
  const said = [result.stdout, result.stderr].filter((text) => text !== '').join('\n');
  if (said !== '') task.output(said.endsWith('\n') ? said : `${said}\n`);
  if (result.timedOut) throw failure(WORKSPACES_CODES.hook_timed_out, { hook, ms: timeoutMs });
  signal.throwIfAborted();
  if (result.exitCode === 0) return;
  const how =
    result.exitCode === null
      ? `was ended by ${result.signal ?? 'a signal'}`
      : `ended with exit code ${result.exitCode}`;
  // The last lines, which are all that is shown of it, may not tell.
  const full = saysDiskFull(said) ? ['No space left on device'] : [];
  const advice = hook === 'after_create' ? ['if a clone failed: check `gh auth status`'] : [];
  const hints = [...full, ...advice];
  throw failure(WORKSPACES_CODES.workflow_hook_failed, {
    hook,
    how,
    ...(hints.length === 0 ? {} : { hint: hints.join('; ') }),
    said: lastLines(said, 8) || 'it printed nothing',
  });
}
