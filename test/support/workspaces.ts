// Workspaces on disk, for tests that take the place of the daemon and of the agent.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Isolation } from '../../src/agents/isolation.ts';
import { systemClock } from '../../src/base/clock.ts';
import { lineWithCode } from '../../src/base/rules/codes.ts';
import type { ForgeOptions } from '../../src/cli/demo/forge/forge.ts';
import type { WorkspaceTask } from '../../src/daemon/ports.ts';
import type { Workflow } from '../../src/daemon/rules/workflow.ts';
import { Mirror } from '../../src/daemon/workspaces/mirror/mirror.ts';
import { ModuleCopies } from '../../src/daemon/workspaces/mirror/module-copies.ts';
import { claimRoot } from '../../src/daemon/workspaces/workspace-root.ts';
import { DiskWorkspaces, type WorkspacesOptions } from '../../src/daemon/workspaces/workspaces.ts';
import { DAEMON_TOKEN, startForge } from './forge.ts';
import { type Cleanup, tempDir } from './temp.ts';
import { workflowWith } from './world.ts';

const { signal } = new AbortController();

/** As the daemon's own: what agents must not write to lies in `directory`. */
function isolationOf(directory: string): Promise<Isolation> {
  return Isolation.probe('auto', { readOnly: [directory], hidden: [], tables: join(directory, 'mounts') });
}

type Repositories = {
  readonly submodules?: boolean;
  /** Of the repository, by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly others?: ForgeOptions['others'];
  readonly depth?: () => number | null;
  /** As with a queue. */
  readonly branchPrefix?: () => string;
  /** As with a queue. */
  readonly agentsElsewhere?: boolean;
  readonly keep?: boolean;
  /** In the place of the namespaces of the machine. */
  readonly isolation?: Pick<Isolation, 'active' | 'wrap'>;
};

/** Workspaces with their mirror of a small repository on the embedded forge. */
export async function setUpWorkspaces(
  t: Cleanup,
  hooks: Partial<Workflow['hooks']> = {},
  gitTimeoutMs = 20_000,
  remove?: (path: string) => Promise<void>,
  {
    submodules = true,
    keep = false,
    files,
    others = {},
    depth = () => null,
    branchPrefix,
    ...given
  }: Repositories = {},
) {
  const forge = await startForge(t, files, { others });
  const directory = tempDir(t);
  const remote = {
    remoteUrl: forge.forge.cloneUrl,
    secret: async () => `username=x-access-token\npassword=${DAEMON_TOKEN}\n`,
    env: process.env,
    silenceMs: () => 600_000,
    clock: { now: () => performance.now() * 1e6, elapsed: () => performance.now() * 1e6, sleep: systemClock.sleep },
  };
  const mirror = new Mirror({ path: join(directory, 'state', 'repo.git'), ...remote, depth, branchPrefix });
  mkdirSync(join(directory, 'state'));
  const claim = () => claimRoot(join(directory, 'workspaces'), 'host/o/r', join(directory, 'state'));
  const root = claim();
  const workflow = { ...workflowWith({ hooks, workspace: { submodules, keep } }) };
  const isolation = given.isolation ?? (await isolationOf(directory));
  const logged: string[] = [];
  const options: WorkspacesOptions = {
    log: {
      log: (level, _, message) =>
        logged.push(`${level}: ${typeof message === 'string' ? message : lineWithCode(message)}`),
    },
    ...(remove === undefined ? {} : { remove }),
    clock: systemClock,
    root,
    claimRoot: claim,
    mirror,
    modules: new ModuleCopies({ directory: join(directory, 'state', 'submodules'), ...remote }),
    isolation,
    agentsElsewhere: given.agentsElsewhere === true,
    gitTimeoutMs,
    workflow: () => workflow,
    hookEnv: () => ({ PATH: process.env.PATH ?? '', HOME: directory, HOOK: 'env' }),
  };
  const workspaces = new DiskWorkspaces(options);
  /** As in the next process. */
  const again = (change: Partial<WorkspacesOptions> = {}) => new DiskWorkspaces({ ...options, ...change });
  const said: string[] = [];
  const task = (attempt = 1, life = 1, issue = 1): WorkspaceTask => ({
    issue,
    life,
    attempt,
    branch: life === 1 ? `tool/issue-${issue}` : `tool/issue-${issue}-${life}`,
    env: { TOOL_SOCKET: '/socket' },
    output: (text) => said.push(text),
  });
  /** All that happens before an agent is started. */
  const ready = async (one: WorkspaceTask, by = workspaces) => {
    const place = await by.prepare(one, signal);
    if (place.created) {
      await by.afterCreate(one, signal);
      await by.complete(one, signal);
    }
    await by.beforeRun(one, signal);
    return place;
  };
  return { ...forge, directory, mirror, root, workspaces, again, task, ready, said, logged };
}
