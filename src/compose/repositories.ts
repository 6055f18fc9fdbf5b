// The repositories of one daemon: those of the workflow file, opened, run and closed, and shown together.

import type { Isolation } from '../agents/isolation.ts';
import { systemClock } from '../base/clock.ts';
import { Listeners } from '../base/listeners.ts';
import { textOf } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { hostOf } from '../daemon/github/clone-url.ts';
import type { Look } from '../daemon/rules/look.ts';
import { isEvery, slugKey } from '../daemon/rules/repositories.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { SlotShares } from '../daemon/slot-shares.ts';
import type { ProcessView } from '../daemon/view-source.ts';
import { WaitingLine } from '../daemon/waiting-line.ts';
import { formatSlug, type RepoSlug } from '../git/rules/repository.ts';
import { rememberCosts } from './day-costs.ts';
import { closeMember, derived, isHeld, logOf, type Member, memberOf, runMember, sayUnusable } from './member.ts';
import { fullName, sourceOf } from './own-source.ts';
import { placesBelow } from './places.ts';
import { ProcessMark } from './process-mark.ts';
import { openRepository } from './repository.ts';
import { RepositoryList } from './repository-list.ts';
import type { OpenRepository, ProcessParts } from './repository-parts.ts';
import type { Deliver, OwnSource } from './shared-source.ts';

/** So many are opened at a time, and so many get their first clone. */
const AT_A_TIME = 4;
/** An opening that takes longer makes room for another. */
const SLOW_MS = 5_000;
/** So long a slot is kept for one that is being opened: it has issues, perhaps. */
const KEPT_MS = 30_000;
/** How often it is looked for new repositories, and tried again to open those that could not be. */
const LOOK_MS = 300_000;
/** The same while there is none. */
const FIRST_LOOK_MS = 30_000;

const LOST = 'its lease was lost';

/** Resolves as soon as one has no failure, else with the failures of all. */
async function firstOf(starts: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  if (starts.length === 0) return [];
  const good = starts.map(async (start) => {
    const failed = await start;
    if (failed !== null) throw failed;
  });
  return Promise.any(good).then(
    () => [],
    () => Promise.all(starts),
  );
}

export class Repositories {
  readonly #parts: ProcessParts;
  readonly #workflow: () => Workflow;
  readonly #members = new Map<string, Member>();
  /** Null: there is one repository. */
  readonly #shares: SlotShares | null;
  readonly #gateShares: SlotShares;
  /** Where credentials were found that have been checked. */
  readonly #checked = new Set<string>();
  readonly #mark: ProcessMark;
  readonly #openings = new WaitingLine<string>({ most: () => AT_A_TIME });
  readonly #fetches = new WaitingLine<string>({ most: () => AT_A_TIME });
  readonly #list: RepositoryList | null;
  readonly #listeners = new Listeners();
  readonly #standings = new Listeners();
  readonly #ending = new AbortController();
  #wake = new AbortController();
  /** Of the status page. */
  #url: string | null = null;
  #hasBegun = false;
  #isRunning = false;
  /** Why the service gives no list of an owner's repositories, or an empty one. */
  #listProblem: string | null = null;

  private constructor(parts: ProcessParts, workflow: () => Workflow) {
    this.#parts = parts;
    this.#workflow = workflow;
    const { repositories } = workflow().tracker;
    this.#list = repositories?.some(isEvery) === true ? new RepositoryList(parts, workflow()) : null;
    const sharesOf = (budget: () => number | null) =>
      new SlotShares({
        limits: () => ({ slots: workflow().agent.maxConcurrent, costPerDayUsd: budget() }),
        clock: systemClock,
      });
    this.#shares = repositories === null ? null : sharesOf(() => workflow().agent.maxCostPerDayUsd);
    if (this.#shares !== null) rememberCosts(this.#shares, workflow().stateDir, parts.log);
    this.#gateShares = sharesOf(() => null);
    this.#mark = new ProcessMark(parts.processEnv, workflow().path, parts.log);
    parts.fleet?.leases.onFree(() => this.#wake.abort());
  }

  /** Opens one, and goes on to open the others; throws a ToolError when there is none that can be opened. */
  static async open(parts: ProcessParts, workflow: () => Workflow): Promise<Repositories> {
    const made = new Repositories(parts, workflow);
    const { slug, repositories } = workflow().tracker;
    try {
      if (repositories === null && parts.fleet === undefined) {
        const opened = await openRepository(parts, workflow);
        opened.orchestrator.onChange(() => made.#listeners.tell());
        made.#members.set(slugKey(slug), memberOf(slug, workflow, parts.log, opened));
      } else {
        const [first = null] = await firstOf(await made.#look());
        if (first !== null && !isHeld(first)) throw first;
      }
      return made;
    } catch (error) {
      await made.close();
      throw error;
    }
  }

  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  get #opened(): readonly (Member & { readonly opened: OpenRepository })[] {
    return [...this.#members.values()].flatMap((member) => {
      const { opened } = member;
      return opened === null ? [] : [Object.assign(member, { opened })];
    });
  }

  /** Of one repository, which is that of all; null: none is open. */
  get isolation(): Isolation | null {
    return this.#opened[0]?.opened.isolation ?? null;
  }

  /** Why the last look at a repository came to nothing; null when it did not. */
  get trouble(): string | null {
    const troubles = [...this.#members.values()].flatMap(({ name, opened, problem }) => {
      const words = opened === null ? problem : opened.orchestrator.poll.lastError;
      return words === null ? [] : [this.#shares === null ? words : `${name}: ${words}`];
    });
    return [...(this.#listProblem === null ? [] : [this.#listProblem]), ...troubles].join('; ') || null;
  }

  /** Finds what is to be worked on, begins to open what is new or could not be opened, and closes what is gone. */
  async #look(): Promise<readonly Promise<unknown>[]> {
    const slugs = await this.#slugs();
    if (slugs === null) return [];
    const wanted = new Map(slugs.map((slug) => [slugKey(slug), slug]));
    for (const [key, member] of this.#members) if (!wanted.has(key)) await this.#drop(key, member);
    for (const [key, slug] of wanted)
      if (!this.#members.has(key)) {
        const log = logOf(this.#parts.log, formatSlug(slug));
        const isAlone = this.#shares === null;
        const workflow = isAlone ? this.#workflow : derived(this.#workflow, slug);
        this.#members.set(key, memberOf(slug, workflow, isAlone ? this.#parts.log : log, null));
      }
    const closed = [...this.#members.values()].filter(({ opened, starting }) => opened === null && starting === null);
    return closed.map((member) => this.#start(member, () => this.#openMember(member)));
  }

  /** One that cannot start is tried again later. */
  #start(member: Member, start: () => Promise<void>): Promise<unknown> {
    const kept = this.#shares?.join({ held: () => 0, spentOn: () => 0, wake: () => undefined });
    kept?.wants(1);
    const over = new AbortController();
    const { signal } = this.#ending;
    void systemClock.sleep(KEPT_MS, AbortSignal.any([signal, over.signal])).then(() => kept?.leave());
    const starting = start()
      .then(
        () => {
          member.problem = null;
          return null;
        },
        (error: unknown) => {
          if (signal.aborted) member.problem = messageOf(error);
          else sayUnusable(member, error);
          return error;
        },
      )
      .finally(() => {
        over.abort();
        if (member.starting === starting) member.starting = null;
        this.#stands();
      });
    member.starting = starting;
    return starting;
  }

  /** The repositories of the file; null: the daemon ends. */
  async #slugs(): Promise<readonly RepoSlug[] | null> {
    const { repositories, slug: alone } = this.#workflow().tracker;
    const named = (repositories ?? [alone]).filter((slug) => !isEvery(slug));
    if (this.#list === null) return named;
    const listed = await this.#list.read(this.#ending.signal).catch(() => null);
    if (listed === null) return null;
    const words = listed.problems.map(textOf).join('; ') || null;
    if (words !== this.#listProblem)
      for (const problem of listed.problems) this.#parts.log.log('warn', 'poller', problem);
    this.#listProblem = words;
    return [...named, ...listed.slugs];
  }

  async #openMember(member: Member): Promise<void> {
    const { signal } = this.#ending;
    const leave = await this.#openings.enter(member.name, signal);
    const over = new AbortController();
    void systemClock.sleep(SLOW_MS, AbortSignal.any([signal, over.signal])).then(leave);
    let opened: OpenRepository;
    try {
      opened = await this.#open(member);
    } finally {
      over.abort();
      leave();
    }
    // Nobody may want it any more.
    if (signal.aborted || this.#members.get(slugKey(member.slug)) !== member) return opened.close();
    Object.assign(member, { opened, isAnnounced: false, hasBegun: false });
    opened.orchestrator.onChange(() => this.#listeners.tell());
    const { lost } = opened;
    lost?.addEventListener('abort', () => this.#lose(member, opened), { once: true });
    if (lost?.aborted === true) return this.#lose(member, opened);
    if (this.#hasBegun) await this.#begin(member, opened);
  }

  /** Closes one that another coordinator may act for, and waits for it as at the start. */
  #lose(member: Member, opened: OpenRepository): void {
    if (member.opened !== opened || this.#ending.signal.aborted) return;
    member.opened = null;
    member.problem = LOST;
    const before = member.starting;
    const closing = Promise.resolve(before)
      .then(() => closeMember(member, opened))
      .finally(() => {
        if (member.starting === closing) member.starting = null;
        this.#wake.abort();
      });
    member.starting = closing;
    this.#stands();
  }

  async #open(member: Member): Promise<OpenRepository> {
    const { workspace, stateDir } = this.#workflow();
    const own = [member.workflow().workspace.root, member.workflow().stateDir];
    const others = () => {
      const named = [...this.#members.values()].flatMap((one) => [
        one.workflow().workspace.root,
        one.workflow().stateDir,
      ]);
      const all = new Set([...named, ...placesBelow(workspace.root), ...placesBelow(stateDir)]);
      return [...all].filter((place) => !own.includes(place));
    };
    const shares = this.#shares;
    return openRepository(
      { ...this.#parts, log: member.log },
      member.workflow,
      shares === null
        ? undefined
        : {
            ...{
              mark: this.#mark,
              shares,
              gateShares: this.#gateShares,
              checked: this.#checked,
              fetches: this.#fetches,
            },
            ...{ directories: [workspace.root, stateDir], others },
          },
    );
  }

  #announceMember(member: Member, opened: OpenRepository): void {
    if (member.isAnnounced) return;
    member.isAnnounced = true;
    const { log, name, workflow } = member;
    const { labels, tracker } = workflow();
    const active = labels.active.map((label) => `[${label}]`).join(' ');
    opened.announce(this.#url);
    const from = `token from ${opened.credentialSource}`;
    log.log('info', 'serve', `watching ${hostOf(tracker.apiUrl)}/${name} for ${active}, ${from}`);
  }

  async #begin(member: Member, opened: OpenRepository): Promise<void> {
    this.#announceMember(member, opened);
    try {
      await opened.begin();
      member.hasBegun = true;
      if (this.#isRunning) this.#run(member, opened);
    } catch (error) {
      member.opened = null;
      await opened.close();
      throw error;
    }
  }

  /** An issue that is worked on ends as at the end of the daemon: the next start goes on with it. */
  async #drop(key: string, member: Member): Promise<void> {
    member.log.log('info', 'serve', 'it is not watched any more');
    this.#members.delete(key);
    if (member.opened !== null) await closeMember(member, member.opened);
    this.#stands();
  }

  /** @param url of the status page */
  announce(url: string | null): void {
    this.#url = url;
    for (const member of this.#opened) this.#announceMember(member, member.opened);
  }

  /** Takes up what an earlier process left. What cannot work is a ToolError. */
  async begin(): Promise<void> {
    this.#hasBegun = true;
    const [alone] = this.#opened;
    if (this.#shares === null && alone !== undefined) return this.#begin(alone, alone.opened);
    for (const member of this.#opened) void this.#start(member, () => this.#begin(member, member.opened));
    const starts = [...this.#members.values()].flatMap(({ starting }) => starting ?? []);
    const [first = null] = await firstOf(starts);
    if (first !== null) throw first;
  }

  /** Runs until `close`, or with `once` until what one poll of each started is finished. */
  async run(): Promise<void> {
    const [alone] = this.#opened;
    if (this.#shares === null && alone !== undefined && this.#parts.fleet === undefined)
      return alone.opened.orchestrator.run();
    this.#isRunning = true;
    for (const member of this.#opened) if (member.hasBegun) this.#run(member, member.opened);
    if (this.#parts.once) {
      await Promise.all([...this.#members.values()].map(({ starting }) => starting));
      await Promise.all([...this.#members.values()].map(({ running }) => running));
      return;
    }
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const pause = this.#opened.length === 0 ? FIRST_LOOK_MS : LOOK_MS;
      await systemClock.sleep(pause, AbortSignal.any([signal, this.#wake.signal]));
      // Before the look: whoever asks for one meanwhile gets another.
      this.#wake = new AbortController();
      if (!signal.aborted) await this.#look();
    }
  }

  /** One that cannot go on does not end the others: it is closed, and opened again later. */
  #run(member: Member, opened: OpenRepository): void {
    member.running = runMember(member, opened).finally(() => this.#stands());
  }

  refresh(): { readonly coalesced: boolean } {
    this.#wake.abort();
    const all = this.#opened.map(({ opened }) => opened.orchestrator.refresh().coalesced);
    return { coalesced: all.length > 0 && all.every((one) => one) };
  }

  #stands(): void {
    this.#standings.tell();
    this.#listeners.tell();
  }

  /** Tells when one was opened, could not be, was closed, or is gone. */
  readonly onStanding: Listeners['add'] = (listener) => this.#standings.add(listener);

  /** Something changed that all of them show. */
  tell(): void {
    this.#listeners.tell();
  }

  /**
   * What takes the deliveries of a repository; undefined: it is none of ours.
   * @param name `<owner>/<repo>`
   * @param elsewhere takes those of one that another coordinator acts for
   */
  deliveriesOf(name: string, elsewhere?: Deliver): ((event: string, look: Look) => void) | undefined {
    const member = this.#members.get(name.toLowerCase());
    const { opened } = member ?? {};
    if (opened) return (event, look) => opened.orchestrator.looks.deliver(event, look);
    return member && elsewhere && ((event, look) => elsewhere(fullName(member), event, look));
  }

  /** For the status server. */
  source(common: () => ProcessView): OwnSource {
    return sourceOf({
      ...{ common, workflow: this.#workflow, shares: this.#shares },
      members: () => this.members,
      memberOf: (name) => this.#members.get(name.toLowerCase()),
      refresh: () => this.refresh(),
      onChange: this.#listeners.add,
    });
  }

  /** Ends everything in order. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#wake.abort();
    await Promise.all([...this.#members.values()].map(({ opened }) => opened?.close()));
    await Promise.all([...this.#members.values()].map(({ starting }) => starting));
    await this.#list?.close();
  }
}
