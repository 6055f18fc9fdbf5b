// Workspace of one attempt on a worker, with the copy of the repository that it is cloned from.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hookEnvironment } from '../../agents/agent-home.ts';
import type { Isolation } from '../../agents/isolation.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import type { Environment } from '../../base/rules/environment.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import type { FixedCopy } from '../../daemon/workspaces/mirror/linked-copy.ts';
import { Mirror } from '../../daemon/workspaces/mirror/mirror.ts';
import { ModuleCopies } from '../../daemon/workspaces/mirror/module-copies.ts';
import { WorkspaceManifests } from '../../daemon/workspaces/workspace-manifests.ts';
import { WorkspacePlaces } from '../../daemon/workspaces/workspace-places.ts';
import { ROOT_DATA } from '../../daemon/workspaces/workspace-root.ts';
import { DiskWorkspaces } from '../../daemon/workspaces/workspaces.ts';
import { cloneEnvironment, tryGit } from '../../git/git.ts';
import type { FleetJob } from '../rules/job.ts';
import type { Order } from '../wire.ts';
import { unpackDefault, unpackOrigin, WorkCarrier } from '../work-carrier.ts';
import type { CodeCache } from './code-cache.ts';
import type { CoordinatorClient } from './coordinator-client.ts';

export type WorkspaceParts = {
  readonly order: Order;
  /** Of the attempt alone. */
  readonly stateDir: string;
  /** Its workspace is made in it. */
  readonly root: string;
  /** The settings of a worker, into which those of the order go. */
  readonly defaults: Workflow;
  readonly runtime: RuntimeDir;
  readonly env: Environment;
  readonly isolation: (mode: Workflow['tool']['isolation']) => Promise<Isolation>;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Settings that the coordinator sends, in the place of those of a file. */
export function workflowOf({ defaults, order }: Pick<WorkspaceParts, 'defaults' | 'order'>): Workflow {
  return {
    ...defaults,
    tracker: { ...defaults.tracker, slug: order.slug },
    workspace: { ...defaults.workspace, submodules: false },
    hooks: order.hooks,
    tool: order.tool,
    gate: order.gate,
  };
}

/** Bare repository that holds what the coordinator handed out. */
function originOf({ stateDir }: Pick<WorkspaceParts, 'stateDir'>): string {
  return join(stateDir, 'origin.git');
}

/** What the work begins with: a repository, which is `fixed` where attempts share it, and what gives it back. */
export type Code = {
  readonly origin: string;
  readonly fixed: FixedCopy | undefined;
  readonly release: () => Promise<void>;
  /** Whether what it gave is damaged; then the next one gives another. */
  readonly isDamaged: () => Promise<boolean>;
};

/**
 * Gives a repository with what the work begins with, and what gives it back.
 * @param parts `client`: of the coordinator that has it
 */
export async function fetchCode(
  parts: WorkspaceParts & {
    readonly client: Pick<CoordinatorClient, 'code'>;
    readonly job: FleetJob;
    readonly cache: CodeCache;
  },
  signal: AbortSignal,
): Promise<Code> {
  const { order, job, stateDir, client, cache, isolation } = parts;
  const bundle = join(stateDir, 'handed-out.bundle');
  const { default_head: sha, default_branch: branch } = order;
  // An agent without namespaces could write to what others begin with.
  if (sha === undefined || !(await isolation(order.tool.isolation)).active) {
    const origin = originOf(parts);
    await mkdir(origin, { recursive: true, mode: 0o700 });
    await client.code(bundle);
    await unpackOrigin(origin, bundle, order, signal);
    return { origin, fixed: undefined, release: async () => undefined, isDamaged: async () => false };
  }
  const { path, release, replace } = await cache.take(job.repository, { branch, sha }, async (directory, earlier) => {
    await client.code(bundle, earlier?.sha);
    await unpackDefault(directory, bundle, { branch, sha, earlier: earlier?.path ?? null }, signal);
  });
  const isDamaged = async () => {
    const look = ['fsck', '--no-dangling', '--no-progress'];
    const { exitCode } = await tryGit(look, { cwd: path, env: cloneEnvironment(process.env), signal });
    // Null: it was ended.
    const damaged = exitCode !== null && exitCode !== 0;
    if (damaged) replace();
    return damaged;
  };
  return { origin: path, fixed: { path, branch, sha }, release, isDamaged };
}

/** @param code what it is cloned from; left out: what the coordinator handed out for this attempt alone */
export async function openWorkspace(parts: WorkspaceParts, workflow: () => Workflow, code?: Code) {
  const { origin, fixed } = code ?? { origin: originOf(parts), fixed: undefined };
  const { order, stateDir, root, runtime, env, clock, log } = parts;
  const isolation = await parts.isolation(order.tool.isolation);
  const remote = {
    ...{ remoteUrl: origin, secret: async () => null, env: { ...env }, clock },
    silenceMs: () => workflow().workspace.cloneTimeoutMs,
  };
  const mirror = new Mirror({ path: join(stateDir, 'repo.git'), ...remote, fixed });
  // The coordinator hands out nothing that needs it.
  mirror.lfs.leaveOut(order.head);
  const author = order.author ?? undefined;
  const workspaces = new DiskWorkspaces({
    ...{ root, mirror, isolation, workflow, clock, log, author },
    claimRoot: () => undefined,
    modules: new ModuleCopies({ directory: join(stateDir, 'submodules'), ...remote }),
    hookEnv: () => hookEnvironment(env),
  });
  const places = new WorkspacePlaces({ root, isolation, author }, new WorkspaceManifests(join(root, ROOT_DATA)));
  const carrier = new WorkCarrier({ mirror, places });
  const agents = { workflow, stateDir, runtime, isolation, env, author };
  return { mirror, workspaces, places, carrier, agents };
}
