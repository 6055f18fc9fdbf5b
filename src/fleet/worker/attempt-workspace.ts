// Workspace of one attempt on a worker, with the copy of the repository that it is cloned from.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hookEnvironment } from '../../agents/agent-home.ts';
import type { Isolation } from '../../agents/isolation.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import type { Environment } from '../../base/rules/environment.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { Mirror } from '../../daemon/workspaces/mirror/mirror.ts';
import { ModuleCopies } from '../../daemon/workspaces/mirror/module-copies.ts';
import { WorkspaceManifests } from '../../daemon/workspaces/workspace-manifests.ts';
import { WorkspacePlaces } from '../../daemon/workspaces/workspace-places.ts';
import { ROOT_DATA } from '../../daemon/workspaces/workspace-root.ts';
import { DiskWorkspaces } from '../../daemon/workspaces/workspaces.ts';
import type { Order } from '../wire.ts';
import { WorkCarrier } from '../work-carrier.ts';

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
export function originOf({ stateDir }: Pick<WorkspaceParts, 'stateDir'>): string {
  return join(stateDir, 'origin.git');
}

export async function openWorkspace(parts: WorkspaceParts, workflow: () => Workflow) {
  const { order, stateDir, root, runtime, env, clock, log } = parts;
  const isolation = await parts.isolation(order.tool.isolation);
  const remote = {
    ...{ remoteUrl: pathToFileURL(originOf(parts)).href, secret: async () => null, env: { ...env }, clock },
    silenceMs: () => workflow().workspace.cloneTimeoutMs,
  };
  const mirror = new Mirror({ path: join(stateDir, 'repo.git'), ...remote });
  const author = order.author ?? undefined;
  const workspaces = new DiskWorkspaces({
    ...{ root, mirror, isolation, workflow, clock, log, author },
    claimRoot: () => undefined,
    modules: new ModuleCopies({ directory: join(stateDir, 'submodules'), ...remote }),
    hookEnv: () => hookEnvironment(env),
  });
  const places = new WorkspacePlaces({ root, isolation, author }, new WorkspaceManifests(join(root, ROOT_DATA)));
  const carrier = new WorkCarrier({ mirror, places, workspaces });
  const agents = { workflow, stateDir, runtime, isolation, env, author };
  return { mirror, workspaces, places, carrier, agents };
}
