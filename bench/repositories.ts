// Many repositories of one daemon: fair shares of the slots, and the memory of fifty that are idle.

import { WAITS_FOR_SLOT_TEXT } from '../src/daemon/intake.ts';
import type { StateView } from '../src/daemon/view.ts';
import { agentRunning, COMMITS } from '../test/support/agents.ts';
import type { Daemon } from '../test/support/daemon.ts';
import { daemonFor, startForges } from '../test/support/two-forges.ts';
import { type Row, withCleanup } from './figures.ts';
import { peakOf } from './memory.ts';

const LARGE = 100;
const SMALL = 4;
const NAMES = ['large', 'small-1', 'small-2', 'small-3'];
const SLOTS = 4;
/** So often several repositories have to be seen that wait, or nothing was proven. */
const LEAST_READINGS = 30;

const MANY = 50;
const TARGET_MB_EACH = 0.5;

/** Phases of a row that holds no slot any more. */
const SETTLING = ['collect', 'publishing', 'gate', 'gate_waits', 'giving_up'];

type Shares = { readonly waiting: ReadonlySet<string>; readonly held: ReadonlyMap<string, number> };

function repositoryOf({ issue_identifier: name }: { readonly issue_identifier: string }): string {
  return name.split('#')[0] ?? '';
}

/** Which repositories wait for a slot, and how many each holds, in one reading of the state. */
function sharesIn(view: StateView): Shares {
  const waiting = view.queued.filter(({ reason }) => reason === WAITS_FOR_SLOT_TEXT).map(repositoryOf);
  const held = new Map<string, number>();
  for (const row of view.running)
    if (!SETTLING.includes(row.phase)) held.set(repositoryOf(row), (held.get(repositoryOf(row)) ?? 0) + 1);
  return { waiting: new Set(waiting), held };
}

/** Whether one waits without any slot while another holds two. */
function isUnfair({ waiting, held }: Shares): boolean {
  return [...waiting].some(
    (one) => (held.get(one) ?? 0) === 0 && [...held].some(([other, count]) => other !== one && count > 1),
  );
}

async function arePolled(daemon: Daemon, count: number): Promise<boolean> {
  const { repositories = [] } = await daemon.state();
  return repositories.length === count && repositories.every(({ last_poll_at: at }) => at !== null);
}

async function fairShares(): Promise<Row> {
  return withCleanup(async (t) => {
    const all = await startForges(t, NAMES);
    const forges = [...all.forges.values()];
    for (const [index, forge] of forges.entries())
      for (let number = 0; number < (index === 0 ? LARGE : SMALL); number++) await forge.open(`Issue ${number}`);
    const names = NAMES.map((name) => `maintainer/${name}`).join(', ');
    const yaml = `${agentRunning(`${COMMITS}; sleep 0.2`)}\nagent: { max_concurrent_agents: ${SLOTS} }`;
    const daemon = await daemonFor(t, all, `repositories: [${names}]`, yaml, { pollMs: 30_000 });
    daemon.start();
    let [readings, unfair, waited, most] = [0, 0, 0, 0];
    const issues = LARGE + SMALL * (NAMES.length - 1);
    const isDone = async () => {
      // One reading after the other, as fast as the daemon answers: each is what it knows at one moment.
      const view = await daemon.state();
      const shares = sharesIn(view);
      readings += 1;
      if (shares.waiting.size > 1) waited += 1;
      if (isUnfair(shares)) unfair += 1;
      most = Math.max(most, ...shares.held.values());
      return view.counts.completed === issues;
    };
    const deadline = Date.now() + 600_000;
    while (!(await isDone())) if (daemon.ended || Date.now() > deadline) throw new Error(`not done:\n${daemon.log}`);
    const pulls = (await Promise.all(forges.map((forge) => forge.pulls()))).flat().length;
    await daemon.stop();
    return {
      what: `a repository with ${LARGE} issues beside three with ${SMALL}, ${SLOTS} slots: one waits without a slot while another holds two`,
      figure: `${unfair} of ${readings} readings of the state (${waited} with several that wait); ${pulls} pull requests`,
      floor: `the large one alone: ${most} slots`,
      target: '0',
      met: unfair === 0 && waited >= LEAST_READINGS && most === SLOTS && pulls === issues,
    };
  });
}

async function idlePeak(count: number): Promise<number> {
  return withCleanup(async (t) => {
    const names = Array.from({ length: count }, (_, index) => `shop-${index}`);
    const all = await startForges(t, names);
    const list = names.map((name) => `maintainer/${name}`).join(', ');
    const daemon = await daemonFor(t, all, `repositories: [${list}]`, agentRunning('true'), { pollMs: 1_000 });
    daemon.start();
    await daemon.until('all are polled', () => arePolled(daemon, count), 300_000);
    const requests = async () => (await daemon.state()).poll.requests;
    const from = await requests();
    await daemon.until('five polls more', async () => (await requests()) >= from + 5 * count, 300_000);
    const peak = peakOf(daemon.pid);
    await daemon.stop();
    return peak;
  });
}

async function manyIdle(): Promise<Row> {
  const [one, many] = [await idlePeak(1), await idlePeak(MANY)];
  const each = (many - one) / (MANY - 1);
  return {
    what: `peak memory, ${MANY} idle repositories`,
    figure: `${many.toFixed(0)} MB: ${each.toFixed(2)} MB for each further one`,
    floor: `${one.toFixed(0)} MB: one repository`,
    target: `≤ ${TARGET_MB_EACH} MB for each further one`,
    met: each <= TARGET_MB_EACH,
  };
}

export async function repositories(): Promise<readonly Row[]> {
  return [await fairShares(), await manyIdle()];
}
