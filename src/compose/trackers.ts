// Hosting services by `tracker.kind`: the addresses of each, and its API.

import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../base/ports.ts';
import type { Environment } from '../base/rules/environment.ts';
import type { AuthorityFile } from '../daemon/github/authority.ts';
import { apiUrlOf } from '../daemon/github/clone-url.ts';
import type { HostingCredential } from '../daemon/github/credential.ts';
import type { Tracker } from '../daemon/ports.ts';
import type { TrackerKind } from '../daemon/rules/tracker-kind.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import type { RemoteRepository } from '../git/rules/repository.ts';
import { openHostingClient } from './hosting-client.ts';

type TrackerOptions = {
  readonly workflow: Workflow;
  readonly credential: Pick<HostingCredential, 'token' | 'reject' | 'login'>;
  readonly authorities: readonly AuthorityFile[];
  readonly stateDir: string;
  readonly env: Environment;
  readonly clock: Clock;
};

export type OpenedTracker = {
  readonly tracker: Tracker;
  /** One request. Throws a TrackerError; of the failure `unavailable` if the service gave no usable answer. */
  readonly reach: (signal: AbortSignal) => Promise<void>;
  /** What the credential may do with the repository. Throws a TrackerError. */
  readonly repository: (signal: AbortSignal) => Promise<{ readonly mayPush: boolean; readonly archived: boolean }>;
  /** A branch of the remote that makes branches with the prefix impossible; undefined: none. */
  readonly takenPrefix: (signal: AbortSignal) => Promise<string | undefined>;
  close(): Promise<void>;
};

type HostingService = {
  /** Its own host, of which `tracker.api_url` need not be written. */
  readonly host: string;
  /** What every other host is taken for. */
  readonly server: string;
  readonly apiUrlOf: (remote: RemoteRepository) => string;
  readonly open: (options: TrackerOptions) => Promise<OpenedTracker>;
};

async function openGitHub(options: TrackerOptions): Promise<OpenedTracker> {
  const { workflow, credential, authorities, stateDir, env, clock } = options;
  const { apiUrl, slug } = workflow.tracker;
  const { readRepository, takenPrefix } = await import('../daemon/github/repository.ts');
  const { GitHubTracker } = await import('../daemon/github/tracker.ts');
  const client = await openHostingClient({ apiUrl, credential, authorities, env, clock });
  const eventsFile = join(stateDir, 'label-events.json');
  const tracker = new GitHubTracker({ client, slug, clock, eventsFile, account: credential.login });
  return {
    tracker,
    reach: async (signal) => {
      await client.request('GET /rate_limit', {}, z.unknown(), signal);
    },
    repository: (signal) => readRepository(client, slug, signal),
    takenPrefix: (signal) => takenPrefix(client, slug, workflow.workspace.branchPrefix, signal),
    close: async () => {
      await tracker.close();
      await client.close();
    },
  };
}

export const TRACKERS: Readonly<Record<TrackerKind, HostingService>> = {
  github: { host: 'github.com', server: 'a GitHub Enterprise server', apiUrlOf, open: openGitHub },
};
