// A week of two hundred issues in two repositories, with faults all along, on a fake clock: each ends mergeable, failed with its reason, or
// waiting with its reason. Issues block each other, and changes of the same paths wait for each other.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SERIAL_CODES } from '../../src/daemon/rules/codes/serial-codes.ts';
import type { Check, Review } from '../../src/daemon/rules/pull-request-status.ts';
import type { Steer } from '../../src/daemon/rules/record.ts';
import { heldBackBy } from '../../src/daemon/rules/serialize.ts';
import type { Phase } from '../../src/daemon/rules/state.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { SlotShares } from '../../src/daemon/slot-shares.ts';
import { saying } from '../support/codes.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { randomFrom } from '../support/random.ts';
import { hang, type Script, STRANGER, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Of the repositories; they share the slots. */
const ISSUES = [150, 50] as const;
const SLOTS = 4;
const STEP = 20 * MINUTE;
const STEPS = (7 * 24 * HOUR) / STEP;
/** Another number is another week. */
const SEED = 1;
const WRITER = { login: 'writer', type: 'User' };

/** The issue that a branch is for: further ones of the same issue have a number at their end. */
function issueOf(branch: string): number {
  return Number(/^tool\/issue-(\d+)/.exec(branch)?.[1]);
}

/** What is played around the daemon: agents, checks, reviewers, operators, and what fails. */
class Week {
  readonly world: World;
  readonly #issues: number;
  readonly #random: () => number;
  /** Checks by commit: when they end, and how. */
  readonly #checks = new Map<string, { readonly endsAt: number; readonly state: Check['state'] } | null>();
  readonly #reviews = new Map<number, Review[]>();
  readonly #merged = new Set<number>();
  readonly #reopened = new Set<number>();
  #opened = 0;
  #reviewed = 0;
  #committed = 0;
  #outageUntil = 0;
  isCalm = false;
  mostHeldBack = 0;
  mostAsking = 0;

  constructor(seed: number, issues: number, fleet: Fleet) {
    this.#random = randomFrom(seed);
    this.#issues = issues;
    const workflow = workflowWith({
      agent: { maxConcurrent: SLOTS, maxAttempts: 2, serializePaths: ['db/**'] },
      follow: { until: 'approved', maxRounds: 3 },
      gate: { mode: 'report' },
      tool: { stallTimeoutMs: 2 * HOUR, turnTimeoutMs: 3 * HOUR },
    });
    const options = {
      // Of the process that is at work.
      get shares() {
        return fleet.shares;
      },
    };
    const world = new World({ ...workflow, polling: { intervalMs: 5 * MINUTE } }, options, fleet.clock);
    this.world = world;
    world.script = this.#agent;
    Object.assign(world.tracker.feed, { checks: async (sha: string) => ({ checks: this.#checksOf(sha), unread: [] }) });
    world.tracker.fault = (call) => {
      if (this.isCalm) return;
      if (world.clock.now() < this.#outageUntil || this.#happens(0.01))
        throw new TrackerError('unavailable', saying('tracker', `${call}: no answer`));
    };
    world.workspaces.fault = (call) => {
      if (!this.isCalm && this.#happens(0.01)) throw new Error(`${call}: no space left on device`);
    };
  }

  #happens(chance: number): boolean {
    return this.#random() < chance;
  }

  /** One of these. */
  #pick<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }

  #commit(issue: number): { readonly ok: true; readonly words: string } {
    this.#committed += 1;
    this.world.workspaces.heads.set(issue, `sha-${issue}-${this.#committed}`);
    return { ok: true, words: 'done' };
  }

  readonly #agent: Script = async (agent) => {
    const { request, hooks, world } = agent;
    hooks.onEvent({ type: 'session', sessionId: `session of ${request.issue}` });
    const ended = { ok: false, words: 'ended', fault: 'agent', resumable: true } as const;
    await world.clock.sleep(MINUTE + this.#random() * 30 * MINUTE, hooks.signal);
    if (hooks.signal.aborted) return ended;
    if (this.isCalm || this.#happens(0.65)) return this.#commit(request.issue);
    if (this.#happens(0.3)) {
      const question = { type: 'ask', issue: request.issue, body: 'Which one?' } as const;
      await agent.ask(question, new AbortController().signal).catch(() => undefined);
      return { ok: true, words: 'asked' };
    }
    if (this.#happens(0.3)) return { ...ended, words: 'out of ideas' };
    if (this.#happens(0.3)) return { ...ended, words: 'the model does not answer', fault: 'runtime' };
    if (this.#happens(0.1)) return { ...ended, fault: 'runtime', quotaAt: world.clock.now() + 2 * HOUR };
    if (this.#happens(0.3)) return { ok: true, words: 'nothing to do' };
    if (this.#happens(0.5)) return hang(agent);
    this.#commit(request.issue);
    await agent.ask({ type: 'done', issue: request.issue }, new AbortController().signal).catch(() => undefined);
    return hang(agent);
  };

  #checksOf(sha: string): readonly Check[] {
    const now = this.world.clock.now();
    const chance = this.isCalm ? 1 : 0.7;
    const known = this.#checks.get(sha);
    const seen =
      known !== undefined || sha === ''
        ? known
        : this.#happens(0.1)
          ? null
          : {
              endsAt: now + this.#random() * HOUR,
              state: this.#happens(chance) ? ('passed' as const) : ('failed' as const),
            };
    if (seen === undefined || seen === null) {
      this.#checks.set(sha, null);
      return [];
    }
    this.#checks.set(sha, seen);
    return [{ name: 'build', state: now < seen.endsAt ? 'pending' : seen.state, url: null, run: 1, summary: '' }];
  }

  #headOf(branch: string): string {
    return this.world.tracker.headOf(branch);
  }

  /** Pull requests that people may still do something with. */
  get #openPulls() {
    const { pulls, closedPulls } = this.world.tracker;
    return pulls.filter(({ number }) => !closedPulls.has(number));
  }

  isGreen(branch: string): boolean {
    const check = this.#checks.get(this.#headOf(branch));
    return check === null || (check?.state === 'passed' && check.endsAt <= this.world.clock.now());
  }

  isApproved(pull: number): boolean {
    return this.#reviews.get(pull)?.at(-1)?.verdict === 'approved';
  }

  #review(pull: number, verdict: Review['verdict']): void {
    this.#reviewed += 1;
    const review = { id: this.#reviewed, author: WRITER, verdict, body: `review ${this.#reviewed}` };
    this.#reviews.set(pull, [...(this.#reviews.get(pull) ?? []), review]);
    const reviews = this.#reviews.get(pull) ?? [];
    this.world.tracker.seen.set(pull, { ...this.world.tracker.seen.get(pull), reviews });
  }

  #reviewers(): void {
    for (const { number, branch } of this.#openPulls) {
      if (!this.isGreen(branch) || this.isApproved(number)) continue;
      if (this.isCalm || this.#happens(0.05)) this.#review(number, 'approved');
      else if (this.#happens(0.02)) this.#review(number, 'changes_requested');
    }
  }

  /** Somebody merges or closes a pull request, or pushes to it. */
  #maintainers(): void {
    const { tracker } = this.world;
    for (const { number, branch } of this.#openPulls) {
      const issue = issueOf(branch);
      const close = (state: 'merged' | 'closed') => {
        tracker.seen.set(number, { ...tracker.seen.get(number), state });
        tracker.closedPulls.add(number);
      };
      if (this.isApproved(number) && this.#happens(0.02)) {
        close('merged');
        this.#merged.add(issue);
        tracker.setState(issue, 'closed');
      } else if (this.#happens(0.001)) {
        if (this.#happens(0.5)) close('closed');
        else tracker.seen.set(number, { ...tracker.seen.get(number), head: 'theirs' });
      }
    }
  }

  /** Somebody who may write answers a question, or a stranger does. */
  #answerers(): void {
    for (const { number, phase } of this.world.journal.state.entries.values())
      if (phase === 'asking' && (this.isCalm || this.#happens(0.03)))
        this.world.tracker.say(number, 'This one.', this.isCalm || this.#happens(0.7) ? WRITER : STRANGER);
  }

  async #people(): Promise<void> {
    const { tracker } = this.world;
    const issue = this.#pick([...tracker.issues.values()]);
    if (issue === undefined) return;
    const { number, labels } = issue;
    if (this.#happens(0.02)) tracker.setState(number, 'closed');
    if (issue.state === 'closed' && this.#happens(0.04)) {
      tracker.setState(number, 'open');
      this.#reopened.add(number);
    }
    if (this.#happens(0.03)) tracker.unlabel(number, 'tool-todo');
    if (this.#happens(0.05) && labels.includes('tool-failed')) tracker.label(number, 'tool-todo');
    if (this.#happens(0.02) && labels.includes('tool-done')) tracker.label(number, 'tool-todo');
    if (this.#happens(0.02)) tracker.touch(number);
    const command = this.#pick<Steer>(['pause', 'resume', 'cancel', 'retry']) ?? 'resume';
    if (this.#happens(0.1)) await this.#steer(command, number);
    // Nobody is paused for good.
    for (const paused of this.world.journal.state.orders.keys())
      if (this.#happens(0.05)) await this.#steer('resume', paused);
  }

  /** A command may be refused. */
  async #steer(command: Steer, issue: number): Promise<void> {
    const steering = this.world.orchestrator.steering.steer(command, issue).catch(() => undefined);
    await this.world.clock.settle();
    await steering;
  }

  /** Some issues name others in their text, some change a path that only one may change at a time. */
  #open(): void {
    const { tracker, workspaces } = this.world;
    this.#opened += 1;
    const number = this.#opened;
    tracker.open(number);
    // Among others an earlier one names a later one: a cycle may come of it.
    const other = Math.max(1, number + Math.ceil(this.#random() * 8) - 6);
    if (this.#happens(0.15)) tracker.write(number, `blocked by #${other}`);
    if (this.#happens(0.2)) workspaces.touches.set(number, [`db/${number}.sql`]);
  }

  /** All that happens around the daemon within a step. */
  async deeds(): Promise<void> {
    const { world } = this;
    if (this.#opened < this.#issues && this.#happens(0.8)) this.#open();
    if (this.#happens(0.01)) this.#outageUntil = world.clock.now() + this.#random() * 4 * HOUR;
    this.#reviewers();
    this.#answerers();
    this.#maintainers();
    for (let deed = 0; deed < 4; deed++) await this.#people();
    this.mostHeldBack = Math.max(this.mostHeldBack, this.#inPhase('held_back'));
    this.mostAsking = Math.max(this.mostAsking, this.#inPhase('asking'));
  }

  #inPhase(phase: Phase): number {
    return [...this.world.journal.state.entries.values()].filter((entry) => entry.phase === phase).length;
  }

  /** No more faults from now on: agents and checks succeed. */
  async beCalm(): Promise<void> {
    this.isCalm = true;
    while (this.#opened < this.#issues) this.#open();
    for (const paused of this.world.journal.state.orders.keys()) await this.#steer('resume', paused);
  }

  /** Reviewers approve, questions are answered. */
  calmDeeds(): void {
    this.#reviewers();
    this.#answerers();
  }

  /** How an issue stands, for a person who looks at the service and the page. */
  endOf(number: number): string {
    const { tracker, journal, orchestrator } = this.world;
    const issue = tracker.issues.get(number);
    const entry = journal.state.entries.get(number);
    if (issue === undefined) return 'never opened';
    const isAtWork = entry !== undefined && entry.phase !== 'parked';
    if (issue.state === 'closed' && isAtWork) return `closed, and ${entry.phase}`;
    if (issue.state === 'closed') return this.#merged.has(number) ? 'merged' : 'closed';
    const said = (on: number) => tracker.comments.some((comment) => comment.issue === on && comment.body !== '');
    const waits = orchestrator.waiting.find((one) => one.issue.number === number);
    if (waits !== undefined) return waits.why.length > 0 ? 'waits with its reason' : 'waits without a reason';
    if (isAtWork && entry.phase === 'held_back')
      return heldBackBy(journal.state, entry).of === SERIAL_CODES.change_released
        ? 'held back by nothing'
        : 'waits with its reason';
    if (isAtWork) {
      const { pullRequest, branch } = entry;
      const isReady = entry.follow?.noticed === 'merge' && pullRequest !== null;
      if (isReady && this.isGreen(branch) && this.isApproved(pullRequest.number)) return 'mergeable';
      const reason = entry.phase === 'following' ? orchestrator.follower.waits.get(number) : entry.lastError;
      return `${entry.phase}: ${reason ?? 'no reason'}`;
    }
    if (issue.labels.includes('tool-todo')) return 'labelled, and forgotten';
    if (issue.labels.includes('tool-failed')) {
      const handed = entry?.pullRequest?.number;
      if (handed !== undefined && !tracker.closedPulls.has(handed)) return 'failed beside its open pull request';
      return said(number) ? 'failed with its reason' : 'failed without a word';
    }
    if (!issue.labels.includes('tool-done')) return 'its label was taken off';
    const pull = tracker.pulls.findLast(({ branch }) => issueOf(branch) === number);
    if (pull === undefined) return 'done without a pull request';
    const seen = tracker.seen.get(pull.number);
    if (tracker.closedPulls.has(pull.number) || this.#reopened.has(number)) return 'taken over by people';
    if (seen?.head === 'theirs') return 'taken over by people';
    if (this.isGreen(pull.branch) && this.isApproved(pull.number)) return 'mergeable';
    return said(pull.number) ? 'stopped with its reason' : 'done, neither mergeable nor told why not';
  }
}

/** One process on two repositories: they share a clock and the slots, and end together. */
class Fleet {
  readonly clock = new FakeClock();
  shares = this.#newShares();
  readonly weeks: readonly Week[];
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    this.weeks = ISSUES.map((issues, index) => new Week(seed + index, issues, this));
  }

  #newShares(): SlotShares {
    return new SlotShares({ limits: () => ({ slots: SLOTS, costPerDayUsd: null }), clock: this.clock });
  }

  async start(): Promise<void> {
    for (const { world } of this.weeks) await world.start();
  }

  async stop(): Promise<void> {
    for (const { world } of this.weeks) await world.stop();
  }

  async step(): Promise<void> {
    for (const week of this.weeks) await week.deeds();
    if (this.#random() < 0.05) {
      if (this.#random() < 0.5) await this.stop();
      else for (const { world } of this.weeks) world.kill();
      await this.clock.pass(this.#random() * HOUR);
      this.shares = this.#newShares();
      for (const { world } of this.weeks) await world.restart();
    }
    await this.clock.pass(STEP);
  }

  async calm(): Promise<void> {
    for (const week of this.weeks) await week.beCalm();
    for (let hour = 0; hour < 96; hour++) {
      for (const week of this.weeks) week.calmDeeds();
      await this.clock.pass(HOUR);
    }
  }
}

const GOOD = [
  'merged',
  'mergeable',
  'closed',
  'taken over by people',
  'failed with its reason',
  'stopped with its reason',
  'waits with its reason',
  'its label was taken off',
];

test('a week of two hundred issues with faults all along: each ends mergeable, or with its reason', async () => {
  const fleet = new Fleet(SEED);
  // Whoever pushes to a pull request here rewrites its branch.
  for (const { world } of fleet.weeks) world.workspaces.goesOn = async () => false;
  await fleet.start();
  for (let step = 0; step < STEPS; step++) await fleet.step();
  await fleet.calm();
  for (const [index, week] of fleet.weeks.entries()) {
    const issues = ISSUES[index] ?? 0;
    const ends = new Map<string, number[]>();
    for (let issue = 1; issue <= issues; issue++) {
      const end = week.endOf(issue);
      ends.set(end, [...(ends.get(end) ?? []), issue]);
    }
    for (const [end, all] of ends) assert.ok(GOOD.includes(end), `issues ${all.join(', ')}: ${end}`);
    const handed = [...(ends.get('mergeable') ?? []), ...(ends.get('merged') ?? [])];
    assert.ok(handed.length > issues / 3, JSON.stringify([...ends]));
    // Else the week shows nothing of these.
    assert.ok(week.mostHeldBack > 0 && week.mostAsking > 0);
    const { pulls, comments } = week.world.tracker;
    const branches = pulls.map(({ branch }) => branch);
    assert.deepEqual(branches, [...new Set(branches)], 'one pull request a branch');
    const marks = comments.flatMap(({ issue, marker }) => (marker === '' ? [] : [`${issue} ${marker}`]));
    assert.deepEqual(marks, [...new Set(marks)], 'no comment twice');
  }
  await fleet.stop();
});
