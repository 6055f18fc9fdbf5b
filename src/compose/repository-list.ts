// Asks the hosting service for the repositories of `<owner>/*`.

import { systemClock } from '../base/clock.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { HostingClient } from '../daemon/github/client.ts';
import type { OwnerClient } from '../daemon/github/owner-repositories.ts';
import { GITHUB_CODES } from '../daemon/rules/codes/github-codes.ts';
import { isEvery } from '../daemon/rules/repositories.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import type { RepoSlug } from '../git/rules/repository.ts';
import { openHostingClient } from './hosting-client.ts';
import { openCredential } from './open-credential.ts';
import type { ProcessParts } from './repository-parts.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';

type Opened = OwnerClient & { readonly client: HostingClient };

/** So many pages of a list are kept. */
const KEPT_PAGES = 100;

/** `problems`: of owners without a list, or with an empty one. */
export type Listed = { readonly slugs: readonly RepoSlug[]; readonly problems: readonly Refusal[] };

export type ListParts = Pick<ProcessParts, 'authorities' | 'env' | 'log' | 'secrets' | 'tokens'>;

export class RepositoryList {
  readonly #parts: ListParts;
  readonly #workflow: Workflow;
  /** By owner: an App has an installation for each. With a token, one serves all of them. */
  readonly #clients = new Map<string, Promise<Opened>>();

  /** The last list of each owner. */
  readonly #lists = new Map<string, readonly RepoSlug[]>();

  constructor(parts: ListParts, workflow: Workflow) {
    this.#parts = parts;
    this.#workflow = workflow;
  }

  /** An owner that gives no list now keeps its last one, and holds up no other. Rejects when it is aborted. */
  async read(signal: AbortSignal): Promise<Listed> {
    const { repositories, topic } = this.#workflow.tracker;
    const { ownerRepositories } = await import('../daemon/github/owner-repositories.ts');
    const owners = (repositories ?? []).filter(isEvery);
    const problems = await Promise.all(
      owners.map(async (every): Promise<readonly Refusal[]> => {
        const { owner } = every;
        try {
          const found = await ownerRepositories(await this.#clientOf(every), owner, topic, signal);
          this.#lists.set(owner, found);
          const what = { owner, ...(topic !== null && { topic }) };
          return found.length > 0 ? [] : [refusal(GITHUB_CODES.owner_without_repositories, what)];
        } catch (error) {
          return [refusal(COMPOSE_CODES.repositories_unlisted, { owner, said: messageOf(error) })];
        }
      }),
    );
    signal.throwIfAborted();
    return { slugs: owners.flatMap(({ owner }) => this.#lists.get(owner) ?? []), problems: problems.flat() };
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
