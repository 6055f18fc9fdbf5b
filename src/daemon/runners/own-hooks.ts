// Runs hooks of a repository's own WORKFLOW.md as an agent runs: in its namespaces, with a home of their own, without a credential.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createAgentHome } from '../../agents/agent-home.ts';
import type { Isolation } from '../../agents/isolation.ts';
import { issueDirectory } from '../../agents/issue-directory.ts';
import { runtimeLogins } from '../../agents/runtime-logins.ts';
import { removeTree } from '../../base/files/remove-tree.ts';
import { RUN_VARIABLE } from '../../base/processes/processes.ts';
import { runProgram } from '../../base/processes/program.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { formatSlug } from '../../git/rules/repository.ts';
import type { HookName, OwnHookRunner, WorkspaceTask } from '../ports.ts';
import type { Workflow } from '../rules/workflow.ts';
import { concludeHook, MAX_HOOK_OUTPUT } from '../workspaces/hook-scripts.ts';

export type OwnHooksOptions = {
  readonly workflow: () => Workflow;
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Environment;
  /** A new mark for the processes of a hook that runs outside of an attempt. */
  readonly newRun: () => string;
  readonly defaultBranch: (signal: AbortSignal) => Promise<string>;
};

const STAY = 'hook-';

export class OwnHooks implements OwnHookRunner {
  readonly #options: OwnHooksOptions;

  constructor(options: OwnHooksOptions) {
    this.#options = options;
  }

  /** There once `after_create` has ended well. */
  #markOf(issue: number): string {
    return join(issueDirectory(this.#options.stateDir, issue), 'prepared');
  }

  isPrepared(issue: number): boolean {
    return existsSync(this.#markOf(issue));
  }

  forget(issue: number): void {
    rmSync(this.#markOf(issue), { force: true });
  }

  async run(hook: HookName, script: string, task: WorkspaceTask, path: string, signal: AbortSignal): Promise<void> {
    if (!existsSync(path)) return;
    await this.#runIn(hook, script, task, path, signal);
    if (hook !== 'after_create') return;
    const mark = this.#markOf(task.issue);
    mkdirSync(dirname(mark), { recursive: true, mode: 0o700 });
    writeFileSync(mark, '', { mode: 0o600 });
  }

  async #runIn(hook: HookName, script: string, task: WorkspaceTask, path: string, signal: AbortSignal): Promise<void> {
    const { workflow, stateDir, runtime, isolation, env, newRun, defaultBranch } = this.#options;
    const { hooks, tool, tracker } = workflow();
    const { issue, attempt } = task;
    const place = join(stateDir, 'hooks');
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const stay = mkdtempSync(join(place, STAY));
    const tmp = runtime.make(basename(stay));
    const run = task.env[RUN_VARIABLE] ?? newRun();
    try {
      const passed = tool.env;
      const home = await createAgentHome({ stateDir: stay, issue, attempt: 1, run, tmp, env, passed, carry: null });
      const bounded = isolation.hiding(runtimeLogins(env));
      const [file, args] = bounded.wrap('/bin/sh', ['-e', '-c', script], [path, home.path, tmp]);
      const result = await runProgram(file, args, {
        cwd: path,
        // Nothing of `task.env`: a hook has no way to ask the daemon for anything.
        env: {
          ...home.env,
          TOOL_ISSUE: String(issue),
          TOOL_ATTEMPT: String(attempt),
          TOOL_BRANCH: task.branch,
          TOOL_WORKSPACE: path,
          TOOL_REPO: formatSlug(tracker.slug),
          TOOL_DEFAULT_BRANCH: await defaultBranch(signal),
        },
        signal,
        timeoutMs: hooks.timeoutMs,
        graceMs: 2_000,
        maxBytes: MAX_HOOK_OUTPUT,
      });
      concludeHook(`${hook} of the repository`, result, { task, timeoutMs: hooks.timeoutMs, signal });
    } finally {
      runtime.remove(tmp);
      await removeTree(stay).catch(() => undefined);
    }
  }
}
