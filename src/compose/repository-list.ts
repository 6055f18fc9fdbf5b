// Asks the hosting service for the repositories of `<owner>/*`.

import { systemClock } from '../base/clock.ts';
import type { HostingClient } from '../daemon/github/client.ts';
import { isEvery } from '../daemon/rules/repositories.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import type { RepoSlug } from '../git/rules/repository.ts';
import { openHostingClient } from './hosting-client.ts';
import { openCredential } from './open-credential.ts';
import type { ProcessParts } from './repository.ts';

export class RepositoryList {
  readonly #parts: ProcessParts;
  readonly #workflow: Workflow;
  #client: HostingClient | undefined;

  constructor(parts: ProcessParts, workflow: Workflow) {
    this.#parts = parts;
    this.#workflow = workflow;
  }

  /** Throws a TrackerError, or a ToolError when there is no credential. */
  async read(signal: AbortSignal): Promise<readonly RepoSlug[]> {
    const { repositories, topic } = this.#workflow.tracker;
    const { ownerRepositories } = await import('../daemon/github/owner-repositories.ts');
    const client = await this.#open();
    const owners = (repositories ?? []).filter(isEvery);
    const lists = await Promise.all(owners.map(({ owner }) => ownerRepositories(client, owner, topic, signal)));
    return lists.flat();
  }

  async #open(): Promise<HostingClient> {
    if (this.#client !== undefined) return this.#client;
    const { authorities, env, log, secrets, tokens } = this.#parts;
    const credential = await openCredential(this.#workflow, tokens, {
      authorities,
      env,
      clock: systemClock,
      warn: (what) => log.log('warn', 'serve', what),
    });
    secrets.add(() => credential.secrets);
    const { apiUrl } = this.#workflow.tracker;
    this.#client = await openHostingClient({ apiUrl, credential, authorities, env, clock: systemClock });
    return this.#client;
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }
}
