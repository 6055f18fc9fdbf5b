// A week of two hundred issues, with faults all along, on a fake clock: each ends mergeable, failed with its reason, or waiting with its reason.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Check, Review } from '../../src/daemon/rules/pull-request-status.ts';
import type { Steer } from '../../src/daemon/rules/record.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { saying } from '../support/codes.ts';
import { hang, type Script, STRANGER, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ISSUES = 200;
const STEP = 20 * MINUTE;
const STEPS = (7 * 24 * HOUR) / STEP;
/** Another number is another week. */
const SEED = 1;
const WRITER = { login: 'writer', type: 'User' };

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The issue that a branch is for: further ones of the same issue have a number at their end. */
function issueOf(branch: string): number {
  return Number(/^tool\/issue-(\d+)/.exec(branch)?.[1]);
}

/** What is played around the daemon: agents, checks, reviewers, operators, and what fails. */
class Week {
  readonly world = new World(
    workflowWith({
      agent: { maxConcurrent: 4, maxAttempts: 2 },
      follow: { until: 'approved', maxRounds: 3 },
      gate: { mode: 'report' },
      tool: { stallTimeoutMs: 2 * HOUR, turnTimeoutMs: 3 * HOUR },
    }),
  );
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

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    const { world } = this;
    world.workflow = { ...world.workflow, polling: { intervalMs: 5 * MINUTE } };
    world.script = this.#agent;
    Object.assign(world.tracker.feed, { checks: async (sha: string) => this.#checksOf(sha) });
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
    this.world.workspaces.heads.set(issue, `sha-${this.#committed}`);
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

  async step(): Promise<void> {
    const { world } = this;
    if (this.#opened < ISSUES && this.#happens(0.8)) {
      this.#opened += 1;
      world.tracker.open(this.#opened);
    }
    if (this.#happens(0.01)) this.#outageUntil = world.clock.now() + this.#random() * 4 * HOUR;
    this.#reviewers();
    this.#answerers();
    this.#maintainers();
    for (let deed = 0; deed < 4; deed++) await this.#people();
    if (this.#happens(0.05)) {
      if (this.#happens(0.5)) await world.stop();
      else world.kill();
      await world.pass(this.#random() * HOUR);
      await world.restart();
    }
    await world.pass(STEP);
  }

  /** No more faults: agents and checks succeed, reviewers approve. */
  async calm(): Promise<void> {
    const { world } = this;
    this.isCalm = true;
    while (this.#opened < ISSUES) {
      this.#opened += 1;
      world.tracker.open(this.#opened);
    }
    for (const paused of world.journal.state.orders.keys()) await this.#steer('resume', paused);
    for (let hour = 0; hour < 96; hour++) {
      this.#reviewers();
      this.#answerers();
      await world.pass(HOUR);
    }
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

test(`a week of ${ISSUES} issues with faults all along: each ends mergeable, or with its reason`, async () => {
  const week = new Week(SEED);
  const { world } = week;
  // Whoever pushes to a pull request here rewrites its branch.
  world.workspaces.goesOn = async () => false;
  await world.start();
  for (let step = 0; step < STEPS; step++) await week.step();
  await week.calm();
  const ends = new Map<string, number[]>();
  for (let issue = 1; issue <= ISSUES; issue++) {
    const end = week.endOf(issue);
    ends.set(end, [...(ends.get(end) ?? []), issue]);
  }
  for (const [end, issues] of ends) assert.ok(GOOD.includes(end), `issues ${issues.join(', ')}: ${end}`);
  const handed = [...(ends.get('mergeable') ?? []), ...(ends.get('merged') ?? [])];
  assert.ok(handed.length > ISSUES / 2, JSON.stringify([...ends]));
  const { pulls, comments } = world.tracker;
  const branches = pulls.map(({ branch }) => branch);
  assert.deepEqual(branches, [...new Set(branches)], 'one pull request a branch');
  const marks = comments.flatMap(({ issue, marker }) => (marker === '' ? [] : [`${issue} ${marker}`]));
  assert.deepEqual(marks, [...new Set(marks)], 'no comment twice');
  await world.stop();
});
