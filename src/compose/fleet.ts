// Wires a fleet into the daemon: queue, coordinator, and what a repository has in the place of its own agents.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Runner } from '../agents/ports.ts';
import { systemClock } from '../base/clock.ts';
import { packageVersion } from '../base/package-root.ts';
import type { Logger } from '../base/ports.ts';
import type { AgentSocket, WorkGate } from '../daemon/ports.ts';
import type { QueueSettings } from '../daemon/rules/queue-settings.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import type { RunnersOptions } from '../daemon/runners/runners.ts';
import type { QueueSight } from '../daemon/view-source.ts';
import { WorkspaceManifests } from '../daemon/workspaces/workspace-manifests.ts';
import { WorkspacePlaces } from '../daemon/workspaces/workspace-places.ts';
import { ROOT_DATA } from '../daemon/workspaces/workspace-root.ts';
import { AttemptQueue } from '../fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../fleet/coordinator/coordinator.ts';
import { FleetDoor } from '../fleet/coordinator/door.ts';
import { Leases } from '../fleet/coordinator/leases.ts';
import { RemoteRunner } from '../fleet/coordinator/remote-runner.ts';
import { WorkerEvidence } from '../fleet/coordinator/worker-evidence.ts';
import { Store } from '../fleet/store.ts';
import { type CarrierOptions, WorkCarrier } from '../fleet/work-carrier.ts';

export type Fleet = {
  /** The workflow as the coordinator itself follows it. */
  readonly followed: (workflow: () => Workflow) => () => Workflow;
  readonly partsOf: (parts: RepositoryParts) => RemoteParts;
  readonly door: FleetDoor;
  readonly leases: Leases;
  readonly sight: () => QueueSight;
  /** Begins to look at the queue. */
  readonly watch: (onChange: () => void) => void;
  /** Where the status server is. */
  readonly announce: (url: string | null) => void;
  readonly close: () => Promise<void>;
};

/** Throws a ToolError where the queue cannot be used. */
export async function openFleet(settings: QueueSettings, log: Logger): Promise<Fleet> {
  const { key, url, leaseMs, maxBundleBytes, insecure } = settings;
  const store = await Store.open(url, 'tool serve');
  const queue = new AttemptQueue(store, key, log);
  let server = '';
  const coordinator = new Coordinator({
    ...{ queue, key, leaseMs, maxBundleBytes, insecure, version: packageVersion() },
    address: () => settings.address ?? server,
  });
  const door = new FleetDoor(coordinator, log);
  const leases = new Leases(store, leaseMs, systemClock);
  return {
    followed: withoutHooks,
    partsOf: (parts) => remoteParts(coordinator, parts),
    door,
    leases,
    sight: () => queue.sight,
    watch: (onChange) => queue.watch(onChange),
    announce: (found) => {
      server = found ?? '';
    },
    close: async () => {
      door.close();
      leases.close();
      await queue.close();
    },
  };
}

/** The workflow as the coordinator itself follows it: workers run the hooks. */
function withoutHooks(workflow: () => Workflow): () => Workflow {
  let made: { readonly from: Workflow; readonly to: Workflow } | undefined;
  return () => {
    const from = workflow();
    if (made?.from === from) return made.to;
    const none = { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null };
    made = { from, to: Object.freeze({ ...from, hooks: { ...from.hooks, ...none } }) };
    return made.to;
  };
}

export type RepositoryParts = Omit<RunnersOptions, 'workflow'> &
  Pick<CarrierOptions, 'mirror' | 'workspaces'> & {
    /** With the hooks. */
    readonly workflow: () => Workflow;
    readonly root: string;
    readonly repository: string;
    /** Number of the lease on it. */
    readonly fence: number;
    readonly local: (name: string) => Runner;
  };

/** What a repository has in the place of runners, sockets and checks of its own. */
export type RemoteParts = {
  readonly runner: (name: string) => Runner;
  readonly agentSocket: AgentSocket;
  readonly gate: WorkGate;
};

function remoteParts(coordinator: Coordinator, parts: RepositoryParts): RemoteParts {
  const { root, isolation, author, mirror, workspaces, stateDir, local, repository, fence, workflow } = parts;
  const places = new WorkspacePlaces({ root, isolation, author }, new WorkspaceManifests(join(root, ROOT_DATA)));
  const carrier = new WorkCarrier({ mirror, places, workspaces });
  const directory = join(stateDir, 'fleet');
  // Bundles of an earlier process.
  rmSync(directory, { recursive: true, force: true });
  const gate = new WorkerEvidence();
  const more = { coordinator, carrier, workflow, repository, fence, directory, author, clock: systemClock };
  return {
    runner: (name) => new RemoteRunner({ ...more, local: local(name), onEvidence: (evidence) => gate.note(evidence) }),
    agentSocket: coordinator.socket,
    gate,
  };
}
