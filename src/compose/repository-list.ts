// Asks the hosting service for the repositories of `<owner>/*`.

import { systemClock } from '../base/clock.ts';
import type { HostingClient } from '../daemon/github/client.ts';
import type { OwnerClient } from '../daemon/github/owner-repositories.ts';
import { isEvery } from '../daemon/rules/repositories.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import type { RepoSlug } from '../git/rules/repository.ts';
import { openHostingClient } from './hosting-client.ts';
import { openCredential } from './open-credential.ts';
import type { ProcessParts } from './repository.ts';

type Opened = OwnerClient & { readonly client: HostingClient };

/** So many pages of a list are kept. */
const KEPT_PAGES = 100;

export class RepositoryList {
  readonly #parts: ProcessParts;
  readonly #workflow: Workflow;
  /** By owner: an App has an installation for each. With a token, one serves all of them. */
  readonly #clients = new Map<string, Promise<Opened>>();

  constructor(parts: ProcessParts, workflow: Workflow) {
    this.#parts = parts;
    this.#workflow = workflow;
  }

  /** Throws a TrackerError, or a ToolError when there is no credential. */
  async read(signal: AbortSignal): Promise<readonly RepoSlug[]> {
    const { repositories, topic } = this.#workflow.tracker;
    const { ownerRepositories } = await import('../daemon/github/owner-repositories.ts');
    const owners = (repositories ?? []).filter(isEvery);
    const lists = await Promise.all(
      owners.map(async (every) => ownerRepositories(await this.#clientOf(every), every.owner, topic, signal)),
    );
    return lists.flat();
  }

  #clientOf(every: RepoSlug): Promise<Opened> {
    const key = this.#workflow.tracker.app === null ? '' : every.owner.toLowerCase();
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const opening = this.#open(every);
    this.#clients.set(key, opening);
    // The next reading tries again.
    opening.catch(() => this.#clients.delete(key));
    return opening;
  }

  async #open(every: RepoSlug): Promise<Opened> {
    const { authorities, env, log, secrets, tokens } = this.#parts;
    const { tracker } = this.#workflow;
    const workflow = { ...this.#workflow, tracker: { ...tracker, slug: every } };
    const credential = await openCredential(workflow, tokens, {
      authorities,
      env,
      clock: systemClock,
      warn: (what) => log.log('warn', 'serve', what),
    });
    secrets.add(() => credential.secrets);
    const { AnswerCache } = await import('../daemon/github/answer-cache.ts');
    const client = await openHostingClient({
      ...{ apiUrl: tracker.apiUrl, credential, authorities, env },
      clock: systemClock,
    });
    return { client, isApp: tracker.app !== null, pages: new AnswerCache(KEPT_PAGES) };
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#clients.values());
    await Promise.all(opened.map((one) => (one.status === 'fulfilled' ? one.value.client.close() : undefined)));
  }
}
