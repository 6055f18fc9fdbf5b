// Other coordinators: what they act for in the place of this one, read while it waits for them; pages and commands are passed on.

import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, isFailure, messageOf } from '../../base/rules/errors.ts';
import { WORK_CODES } from '../../daemon/rules/codes/work-codes.ts';
import type { Look } from '../../daemon/rules/look.ts';
import type { Steer } from '../../daemon/rules/record.ts';
import type { Steered } from '../../daemon/steering.ts';
import type { PlacedView } from '../../daemon/view.ts';
import { mergedView } from '../../daemon/view-merge.ts';
import { FIRST_PAGE, type Page } from '../../daemon/view-page.ts';
import type { CoordinatorRow } from '../../daemon/view-queue.ts';
import { type SharedView, versionSchema, viewAnswerSchema, type Wanted } from '../coordinator-wire.ts';
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
  /** Whether its readers need a token. */
  readonly hasToken: boolean;
  readonly waited: () => readonly Wanted[];
};

/** Pause between two looks while somebody reads what they show, and while nobody does. */
const LOOK_MS = 2_000;
const IDLE_MS = 15_000;
/** So long after they asked, people count as readers. */
const READ_MS = 30_000;
/** The first page waits no longer for one of them, and shows what it knows. */
const PAGE_MS = 1_000;
/** An order was meant for an earlier process, or for one that acts no more: it was not carried out. */
const NOT_HERE: readonly unknown[] = [FLEET_CODES.fleet_request_invalid.code, WORK_CODES.repository_not_open.code];

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

/** What they show of a page: a row for each, the repositories that are shown from there, and the views of those. */
export type ShownOthers = {
  readonly rows: readonly CoordinatorRow[];
  readonly repositories: readonly string[];
  readonly views: readonly PlacedView[];
};

function rowOf({ address, wanted, problem }: Other): CoordinatorRow {
  const repositories = wanted.map(({ name }) => name.split('/').slice(-2).join('/'));
  return { address, repositories, problem };
}

function isFirst({ limit, after }: Page): boolean {
  return limit === FIRST_PAGE.limit && after === null;
}

function isOfBefore(error: unknown): boolean {
  return !isFailure(error, FLEET_CODES.coordinator_refused) || NOT_HERE.includes(error.values.reason);
}

/** Without what changes with each look. */
function textOf(others: readonly Other[]): string {
  return JSON.stringify(others, (key, value: unknown) => (key === 'generated_at' ? undefined : value));
}

/** Two builds may have the same version, and views of other shapes. */
function requireMergeable(other: Other, view: PlacedView): void {
  try {
    mergedView(view, [view], [rowOf(other)], FIRST_PAGE, { isAlone: false, actsFor: 1 });
  } catch (cause) {
    throw failure(FLEET_CODES.coordinator_answer_unread, { status: 200 }, { cause });
  }
}

type SaidIn = (session: string) => Parameters<PeerClient['ask']>[1];

export class OtherCoordinators {
  readonly #options: OtherCoordinatorsOptions;
  readonly #peers: PeerClient;
  readonly #over = new AbortController();
  #wake = new AbortController();
  #others: readonly Other[] = [];
  /** The first page, where somebody read it since the last look. */
  #first: readonly Other[] | null = null;
  #waiting: Waiting = { isAlone: true, hasToken: true, waited: () => [] };
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
      this.#first = null;
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
    const { isAlone, hasToken } = this.#waiting;
    try {
      const text = await this.#peers.ask(address, { kind: 'view', repositories: wanted, page }, ms);
      const { version: got } = decodeJson(versionSchema, text);
      if (got !== version) throw failure(FLEET_CODES.coordinator_version_wrong, { expected: version, got });
      const answer = decodeJson(viewAnswerSchema, text);
      if (answer.isAlone !== isAlone) throw failure(FLEET_CODES.coordinator_form_wrong, {});
      if (answer.needsToken && !hasToken) throw failure(FLEET_CODES.coordinator_token_missing, {});
      const { session, repositories } = answer;
      // The same program wrote it, with the key of the fleet.
      const shared = { repositories, isAlone, view: answer.view as PlacedView };
      const other = { address, wanted, session, shared, problem: null };
      requireMergeable(other, shared.view);
      return other;
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

  #read(): void {
    const { clock } = this.#options;
    const wasRead = clock.elapsed() - this.#readAt < READ_MS;
    this.#readAt = clock.elapsed();
    if (!wasRead) this.#wake.abort();
  }

  #shownOf(others: readonly Other[]): ShownOthers {
    const still = this.#stillOf(others);
    const given = still.flatMap(({ shared }) => shared ?? []);
    return {
      rows: still.map(rowOf),
      repositories: given.flatMap(({ repositories }) => repositories),
      views: given.filter(({ repositories }) => repositories.length > 0).map(({ view }) => view),
    };
  }

  /** The first page, as it was read last. */
  shown(): ShownOthers {
    this.#read();
    return this.#shownOf(this.#first ?? this.#others);
  }

  /** Reads a page anew. Whoever does not answer shows what it showed last; behind a cursor, nothing. */
  async read(page: Page): Promise<ShownOthers> {
    this.#read();
    const [others, seen] = [this.#now, this.#others];
    // The rows that it showed last are those of this page too.
    const isKept = page.after === null && page.limit <= FIRST_PAGE.limit;
    if (others.length === 0 || !Number.isFinite(page.limit)) return this.shown();
    const found = await Promise.all(
      others.map(async (other) => {
        if (other.problem !== null) return other;
        const now = await this.#view(other.address, other.wanted, page, isKept ? PAGE_MS : undefined);
        // It is the next look that says that one is gone.
        return now.shared === null && isKept ? other : now;
      }),
    );
    if (!isFirst(page)) return this.#shownOf(found);
    // A look that ended meanwhile knows better.
    if (this.#others === seen) this.#first = found;
    return this.shown();
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

  async #order(repository: string, saidIn: SaidIn): Promise<Steered> {
    this.#read();
    const before = this.#of(repository);
    try {
      return await this.#ordered(before, repository, saidIn);
    } catch (error) {
      const now = isOfBefore(error) ? await this.#anew(repository) : undefined;
      // Only a process that was not asked before. The one before may have died between the order and its answer.
      if (now === undefined || (now.session === before?.session && now.address === before.address)) throw error;
      return this.#ordered(now, repository, saidIn);
    }
  }

  async #ordered(to: Other | undefined, repository: string, saidIn: SaidIn): Promise<Steered> {
    const { address = '', session = '', problem = null } = to ?? {};
    const away = (said: string) => failure(FLEET_CODES.coordinator_unasked, { address, repository, said });
    if (problem !== null) throw away(problem);
    try {
      return decodeJson(steered, await this.#peers.ask(address, saidIn(session)));
    } catch (error) {
      if (isFailure(error, FLEET_CODES.coordinator_refused)) throw error;
      throw away(messageOf(error));
    }
  }

  /** Who acts for the repository now; undefined: nobody is known. */
  async #anew(repository: string): Promise<Other | undefined> {
    const named = repository.toLowerCase();
    const wanted = this.#waiting.waited().filter(({ name }) => name.toLowerCase() === named);
    const [now] = await this.#look(wanted).catch(() => []);
    this.#wake.abort();
    return now;
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
