// Two hundred issues on four workers with faults all along, over real Redis and real HTTP: each ends done, or failed with its reason.
// The agents, the hosting service and the workspaces are played; test/slow/fleet-many.test.ts has real ones.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { CutProxy } from '../support/cut-proxy.ts';
import { RedisServer } from '../support/fleet.ts';
import { PlayedCoordinator, PlayedWorker, wayTo } from '../support/played-fleet.ts';
import { randomFrom } from '../support/random.ts';
import { within } from '../support/within.ts';

const ISSUES = 200;
const WORKERS = 4;
const SLOTS = 2;
/** Another number is another story. */
const SEED = 1;
const LEASE_MS = 2_000;
/** A fault begins each time that so many more issues have ended. */
const STEP = 12;
/** Each of these issues fails by itself, and no other one may: there is one try. */
const FAILS_EACH = 23;
const AGENT_MS = 300;
const LOOK_MS = 20;
const FAULTS = ['kill', 'restart', 'replace', 'cut_worker', 'cut_workers', 'cut_coordinator'] as const;

test('two hundred issues on four workers, with faults all along', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  // Agents draw from numbers of their own: the faults of a seed are the same ones.
  const [random, ofAgents] = [randomFrom(SEED), randomFrom(SEED)];
  const redis = await RedisServer.start(t);
  const toStore = await wayTo(t, redis);
  const { made: coordinator, toCoordinator } = await PlayedCoordinator.create(t, toStore, {
    leaseMs: LEASE_MS,
    slots: WORKERS * SLOTS,
  });
  const { world } = coordinator;
  const { tracker } = world;
  for (let number = 1; number <= ISSUES; number++) tracker.open(number);

  const isBad = (issue: number) => issue % FAILS_EACH === 0;
  const play = async (issue: number, signal: AbortSignal) => {
    await delay(ofAgents() * AGENT_MS, undefined, { signal }).catch(() => undefined);
    return !isBad(issue);
  };
  let started = 0;
  const start = (way: CutProxy) => PlayedWorker.start(t, `w${++started}`, way, SLOTS, play);
  const seats: { worker: PlayedWorker; readonly way: CutProxy }[] = [];
  for (let number = 0; number < WORKERS; number++) {
    const way = await wayTo(t, redis);
    seats.push({ worker: await start(way), way });
  }
  await coordinator.begin();

  const labelsOf = (issue: number) => tracker.issues.get(issue)?.labels ?? [];
  const ended = () => [...tracker.issues.keys()].filter((issue) => !labelsOf(issue).includes('tool-todo')).length;
  const until = async (what: string, isSo: () => boolean) => {
    const over = new AbortController();
    const looking = async () => {
      while (!isSo() && ended() < ISSUES && !over.signal.aborted) await delay(LOOK_MS);
    };
    await within(what, looking(), () => world.lines.slice(-30).join('\n')).finally(() => over.abort());
  };
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] ?? assert.fail();
  const played: string[] = [];
  let left: (typeof FAULTS)[number][] = [];
  const fault = async () => {
    if (left.length === 0) left = [...FAULTS];
    const kind = pick(left);
    left = left.filter((one) => one !== kind);
    const seat = pick(seats);
    const forgets = random() < 0.5;
    played.push(`${kind} ${seat.worker.name}${forgets ? ' forgets' : ''}`);
    const before = seats.map(({ worker }) => [worker, worker.lines] as const);
    const says = (code: RegExp, some = before) =>
      until(String(code), () => some.some(([worker, lines]) => worker.said(lines).some((one) => code.test(one))));
    if (kind === 'kill') {
      await seat.worker.kill();
      seat.worker = await start(seat.way);
    } else if (kind === 'restart') {
      await redis.stop();
      await redis.begin();
    } else if (kind === 'replace') await coordinator.replace();
    else if (kind === 'cut_worker') {
      seat.way.cut();
      await says(
        /queue_interrupted/,
        before.filter(([worker]) => worker === seat.worker),
      );
      seat.way.mend({ forgets });
    } else if (kind === 'cut_workers') {
      toCoordinator.cut();
      // Whoever has an agent at work tells; some have none.
      await says(/coordinator_(?:silent|unreachable)/);
      toCoordinator.mend({ forgets });
    } else {
      const { lost } = coordinator;
      toStore.cut();
      await until('the lease is lost', () => coordinator.lost > lost);
      toStore.mend({ forgets });
    }
  };
  const startedAt = Date.now();
  while (ended() < ISSUES) {
    const next = ended() + STEP;
    await until('more have ended', () => ended() >= next);
    if (ended() < ISSUES) await fault();
  }
  t.diagnostic(`${played.length} faults in ${Date.now() - startedAt} ms: ${played.join(', ')}`);

  for (const issue of tracker.issues.keys()) {
    const labels = labelsOf(issue).filter((label) => label.startsWith('tool-'));
    const pulls = tracker.pulls.filter(({ branch }) => branch === `tool/issue-${issue}`);
    const said = tracker.comments.filter((comment) => comment.issue === issue).map(({ body }) => body);
    assert.deepEqual(labels, [isBad(issue) ? 'tool-failed' : 'tool-done'], `#${issue}: ${said.join('\n')}`);
    assert.equal(pulls.length, isBad(issue) ? 0 : 1, `#${issue}`);
    if (isBad(issue)) assert.match(said.join('\n'), /out of ideas/);
  }
});
