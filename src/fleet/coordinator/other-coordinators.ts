// Other coordinators: what they act for in the place of this one, read while it waits for them; pages and commands are passed on.

import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import type { Look } from '../../daemon/rules/look.ts';
import type { Steer } from '../../daemon/rules/record.ts';
import type { Steered } from '../../daemon/steering.ts';
import type { PlacedView } from '../../daemon/view.ts';
import { FIRST_PAGE, type Page } from '../../daemon/view-page.ts';
import type { CoordinatorRow } from '../../daemon/view-queue.ts';
import { type SharedView, viewAnswerSchema, type Wanted } from '../coordinator-wire.ts';
import { addressFrom } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import type { Store } from '../store/store.ts';
import { decodeJson } from '../wire.ts';
import { PeerClient } from './peer-client.ts';

export type OtherCoordinatorsOptions = {
  readonly store: Pick<Store, 'problem' | 'addressOf'>;
  readonly key: string;
  readonly version: string;
  readonly clock: Clock;
  /** Where others reach this one. */
  readonly address: () => string;
};

/** What this one waits for; repositories are `<host>/<owner>/<repo>`. */
export type Waiting = {
  readonly isAlone: boolean;
  readonly waited: () => readonly Wanted[];
};

/** Pause between two looks while somebody reads what they show, and while nobody does. */
const LOOK_MS = 2_000;
const IDLE_MS = 15_000;
/** So long after they asked, people count as readers. */
const READ_MS = 30_000;
/** A page waits no longer for one of them. */
const PAGE_MS = 1_000;
/** Pages beside the first one that are at hand. */
const MOST_PAGES = 20;

const steered: z.ZodType<Steered> = z.object({
  issue: z.number(),
  command: z.custom<Steered['command']>((value) => typeof value === 'string'),
  standing: z.custom<Steered['standing']>((value) => typeof value === 'string'),
});

/** One of them, as it answered last. */
type Other = {
  readonly address: string;
  /** What this one waits for there. */
  readonly wanted: readonly Wanted[];
  readonly session: string;
  readonly shared: SharedView | null;
  readonly problem: string | null;
};

function pageKey({ limit, after }: Page): string {
  return JSON.stringify([limit, after]);
}

/** Without what changes with each look. */
function textOf(others: readonly Other[]): string {
  return JSON.stringify(others, (key, value: unknown) => (key === 'generated_at' ? undefined : value));
}

export class OtherCoordinators {
  readonly #options: OtherCoordinatorsOptions;
  readonly #peers: PeerClient;
  readonly #over = new AbortController();
  #wake = new AbortController();
  #others: readonly Other[] = [];
  /** Read since the last look. */
  readonly #pages = new Map<string, readonly Other[]>();
  #waiting: Waiting = { isAlone: true, waited: () => [] };
  #seen = '';
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: OtherCoordinatorsOptions) {
    this.#options = options;
    this.#peers = new PeerClient(options.key);
  }

  /** Begins to look. */
  watch(waiting: Waiting, onChange: () => void): void {
    this.#waiting = waiting;
    void this.#watch(onChange);
  }

  /** What is waited for may have changed. */
  readonly changed = (): void => {
    if (this.#names() !== this.#seen) this.#wake.abort();
  };

  #names(): string {
    return this.#waiting
      .waited()
      .map(({ name }) => name)
      .join('\n');
  }

  async #watch(onChange: () => void): Promise<void> {
    const { clock, store } = this.#options;
    while (!this.#over.signal.aborted) {
      this.#seen = this.#names();
      const wanted = this.#waiting.waited();
      const before = textOf(this.#others);
      const found = wanted.length === 0 ? [] : await this.#look(wanted).catch(() => this.#others);
      this.#others = found;
      this.#pages.clear();
      this.#peers.endMoved((repository) => this.#of(repository)?.address);
      if (textOf(found) !== before) onChange();
      const isRead = clock.elapsed() - this.#readAt < READ_MS;
      // Whoever asks meanwhile, or a repository that changes hands, ends the pause.
      if (this.#names() === this.#seen && !this.#over.signal.aborted)
        await clock.sleep(isRead || store.problem !== null ? LOOK_MS : IDLE_MS, this.#wake.signal);
      if (!this.#over.signal.aborted) this.#wake = new AbortController();
    }
  }

  /** Asks everybody who acts for one of these; where the store is away, those that were known. */
  async #look(wanted: readonly Wanted[]): Promise<readonly Other[]> {
    const { key, store, address: own } = this.#options;
    const byAddress = new Map<string, Wanted[]>();
    const known = await Promise.all(
      wanted.map(async (one) => {
        if (store.problem !== null) return this.#of(one.name)?.address;
        return addressFrom(key, one.name, (await store.addressOf(one.name)) ?? '') ?? undefined;
      }),
    );
    for (const [index, one] of wanted.entries()) {
      const address = known[index];
      if (address !== undefined && address !== own()) byAddress.set(address, [...(byAddress.get(address) ?? []), one]);
    }
    return Promise.all([...byAddress].map(([address, ones]) => this.#view(address, ones, FIRST_PAGE)));
  }

  async #view(address: string, wanted: readonly Wanted[], page: Page, ms?: number): Promise<Other> {
    const { version } = this.#options;
    const { isAlone } = this.#waiting;
    try {
      const text = await this.#peers.ask(address, { kind: 'view', repositories: wanted, page }, ms);
      const answer = decodeJson(viewAnswerSchema, text);
      if (answer.version !== version)
        throw failure(FLEET_CODES.coordinator_version_wrong, { expected: version, got: answer.version });
      if (answer.isAlone !== isAlone) throw failure(FLEET_CODES.coordinator_form_wrong, {});
      const { session, repositories } = answer;
      // The same program wrote it, with the key of the fleet.
      const shared = { repositories, isAlone, view: answer.view as PlacedView };
      return { address, wanted, session, shared, problem: null };
    } catch (error) {
      return { address, wanted, session: '', shared: null, problem: messageOf(error) };
    }
  }

  /** Those that still act for something that this one waits for. */
  get #now(): readonly Other[] {
    return this.#stillOf(this.#others);
  }

  #stillOf(others: readonly Other[]): readonly Other[] {
    const waited = new Set(this.#waiting.waited().map(({ name }) => name));
    return others.filter(({ wanted }) => wanted.some(({ name }) => waited.has(name)));
  }

  /** How each of them stands. */
  get rows(): readonly CoordinatorRow[] {
    return this.#now.map(({ address, wanted, problem }) => ({
      address,
      repositories: wanted.map(({ name }) => name.split('/').slice(-2).join('/')),
      problem,
    }));
  }

  /** Repositories that are shown from there. */
  get shown(): readonly string[] {
    return this.#now.flatMap(({ shared }) => shared?.repositories ?? []);
  }

  #read(): void {
    const { clock } = this.#options;
    const wasRead = clock.elapsed() - this.#readAt < READ_MS;
    this.#readAt = clock.elapsed();
    if (!wasRead) this.#wake.abort();
  }

  /** What they show of a page, as it was read last. */
  partsFor(page: Page): readonly PlacedView[] {
    this.#read();
    return this.#stillOf(this.#pages.get(pageKey(page)) ?? this.#others).flatMap(({ shared }) =>
      shared === null || shared.repositories.length === 0 ? [] : [shared.view],
    );
  }

  /** Reads a page anew, of those that answered last. */
  async read(page: Page): Promise<void> {
    this.#read();
    const [others, seen] = [this.#now, this.#others];
    if (others.length === 0 || !Number.isFinite(page.limit)) return;
    const found = await Promise.all(
      others.map(async (other) => {
        if (other.problem !== null) return other;
        const now = await this.#view(other.address, other.wanted, page, PAGE_MS);
        // It is the next look that says that one is gone.
        return now.shared === null ? other : now;
      }),
    );
    // A look that ended meanwhile knows better.
    if (this.#others !== seen) return;
    this.#pages.set(pageKey(page), found);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) break;
      this.#pages.delete(oldest);
    }
  }

  /** Who acts for the repository; undefined: this one, or nobody knows. */
  #of(repository: string): Other | undefined {
    const named = repository.toLowerCase();
    return this.#others.find(({ wanted }) => wanted.some(({ name }) => name.toLowerCase() === named));
  }

  has(repository: string): boolean {
    return this.#of(repository) !== undefined;
  }

  async steer(command: Steer, issue: number, repository: string): Promise<Steered> {
    return this.#order(repository, (session) => ({ kind: 'steer', repository, issue, command, session }));
  }

  async tell(issue: number, text: string, repository: string): Promise<Steered> {
    return this.#order(repository, (session) => ({ kind: 'tell', repository, issue, text, session }));
  }

  async #order(repository: string, saidIn: (session: string) => Parameters<PeerClient['ask']>[1]): Promise<Steered> {
    const { address = '', session = '' } = this.#of(repository) ?? {};
    try {
      return decodeJson(steered, await this.#peers.ask(address, saidIn(session)));
    } catch (error) {
      if (error instanceof ToolError && error.refusal.of === FLEET_CODES.coordinator_refused) throw error;
      throw failure(FLEET_CODES.coordinator_unasked, { address, repository, said: messageOf(error) });
    }
  }

  /** A delivery that is lost is made up for by a poll. */
  deliver(repository: string, event: string, look: Look): void {
    const address = this.#of(repository)?.address;
    if (address !== undefined)
      void this.#peers.ask(address, { kind: 'delivery', repository, event, look }).catch(() => undefined);
  }

  refresh(): void {
    for (const { address } of this.#now) void this.#peers.ask(address, { kind: 'refresh' }).catch(() => undefined);
  }

  /** Passes a request on; gives why nobody answers it. */
  async passOn(
    repository: string,
    from: IncomingMessage,
    to: ServerResponse,
    hasToken: boolean,
  ): Promise<Refusal | null> {
    const { address = '' } = this.#of(repository) ?? {};
    try {
      await this.#peers.passOn(address, repository, from, to, hasToken);
      return null;
    } catch (error) {
      return refusal(FLEET_CODES.coordinator_unasked, { address, repository, said: messageOf(error) });
    }
  }

  close(): void {
    this.#over.abort();
    this.#wake.abort();
    this.#peers.close();
  }
}
