// Trackers by `tracker.kind`: each opens the API of its hosting service.

import { join } from 'node:path';
import { packageVersion } from '../base/package-root.ts';
import type { Clock } from '../base/ports.ts';
import type { Environment } from '../base/rules/environment.ts';
import { type AuthorityFile, apiAuthorities } from '../daemon/github/authority.ts';
import type { Credential } from '../daemon/github/credential.ts';
import type { Tracker } from '../daemon/ports.ts';
import type { TrackerKind } from '../daemon/rules/tracker-kind.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';

type TrackerOptions = {
  readonly workflow: Workflow;
  readonly credential: Credential;
  readonly authorities: readonly AuthorityFile[];
  readonly stateDir: string;
  readonly env: Environment;
  readonly clock: Clock;
};

type OpenedTracker = {
  readonly tracker: Tracker;
  /** A branch of the remote that makes branches with the prefix impossible; undefined: none. */
  readonly takenPrefix: (signal: AbortSignal) => Promise<string | undefined>;
  close(): Promise<void>;
};

async function openGitHub(options: TrackerOptions): Promise<OpenedTracker> {
  const { workflow, credential, authorities, stateDir, env, clock } = options;
  const { apiUrl, slug } = workflow.tracker;
  const { HostingClient } = await import('../daemon/github/client.ts');
  const { takenPrefix } = await import('../daemon/github/repository.ts');
  const { GitHubTracker } = await import('../daemon/github/tracker.ts');
  const client = new HostingClient({
    apiUrl,
    token: () => credential.token(),
    onUnauthorized: () => credential.reject(),
    userAgent: `toolcrew/${packageVersion()}`,
    authorities: apiAuthorities(authorities),
    env,
    clock,
  });
  const tracker = new GitHubTracker({ client, slug, clock, eventsFile: join(stateDir, 'label-events.json') });
  return {
    tracker,
    takenPrefix: (signal) => takenPrefix(client, slug, workflow.workspace.branchPrefix, signal),
    close: async () => {
      await tracker.close();
      await client.close();
    },
  };
}

export const TRACKERS: Readonly<Record<TrackerKind, (options: TrackerOptions) => Promise<OpenedTracker>>> = {
  github: openGitHub,
};
