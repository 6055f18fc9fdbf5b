// Issues on a coordinator with three workers over Redis, beside the same slots of one daemon without a queue.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { agentRunning } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { RedisServer, startCoordinator, startWorker } from '../test/support/fleet.ts';
import { startForge, type TestForge } from '../test/support/forge.ts';
import { tempDir } from '../test/support/temp.ts';
import { type Row, withCleanup } from './figures.ts';

const ISSUES = 48;
const WORKERS = 3;
const SLOTS = 4;
const TARGET = 4;

async function openAll(forge: TestForge): Promise<void> {
  for (let number = 1; number <= ISSUES; number++) await forge.open(`Issue ${number}`);
}

/** A file's own time is the stamp. */
function workIn(place: string): string {
  return `: > ${place}/start-$TOOL_ISSUE; sleep 1 & echo "$TOOL_ISSUE" > done.txt; git add -A; git commit -qm Done; wait; : > ${place}/end-$TOOL_ISSUE`;
}

function tookIn(place: string): number {
  const times = (what: string) =>
    readdirSync(place)
      .filter((name) => name.startsWith(what))
      .map((name) => statSync(join(place, name)).mtimeMs);
  if (times('end').length !== ISSUES) throw new Error(`expected ${ISSUES} ends, got ${times('end').length}`);
  return Math.max(...times('end')) - Math.min(...times('start'));
}

const done = (daemon: Daemon) => daemon.log.split('state changed to tool-done').length - 1;

async function alone(): Promise<number> {
  return withCleanup(async (t) => {
    const [forge, place] = [await startForge(t), tempDir(t)];
    await openAll(forge);
    const agent = `agent: { max_concurrent_agents: ${WORKERS * SLOTS} }`;
    const daemon = await Daemon.start(t, forge, { yaml: `${agentRunning(workIn(place))}\n${agent}`, pollMs: 30_000 });
    await daemon.until('all are done', () => done(daemon) === ISSUES);
    return tookIn(place);
  });
}

export async function fleet(): Promise<readonly Row[]> {
  const floor = await alone();
  return withCleanup(async (t) => {
    const [forge, redis, place] = [await startForge(t), await RedisServer.start(t), tempDir(t)];
    await openAll(forge);
    const client = new Redis(redis.url);
    t.after(() => client.disconnect());
    const stats = async () => {
      const text = await client.info('stats');
      const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1]);
      return { commands: field('total_commands_processed'), bytes: field('total_net_input_bytes') };
    };
    for (let number = 1; number <= WORKERS; number++) {
      const worker = startWorker(t, `w${number}`, redis, ['--slots', String(SLOTS)]);
      await worker.printed('takes attempts');
    }
    const before = await stats();
    const daemon = await startCoordinator(t, forge, redis, {
      yaml: `${agentRunning(workIn(place))}\nagent: { max_concurrent_agents: ${WORKERS * SLOTS} }`,
    });
    await daemon.until('all are done', () => done(daemon) === ISSUES);
    const after = await stats();
    const took = tookIn(place);
    const perAttempt = (of: 'commands' | 'bytes') => Math.round((after[of] - before[of]) / ISSUES);
    return [
      {
        what: `${ISSUES} issues × 1 s agents on ${WORKERS} workers × ${SLOTS} slots: first agent's start → last agent's end`,
        figure: `${(took / floor).toFixed(2)} × (${(took / 1000).toFixed(1)} s); Redis, its idle looks included: ${perAttempt('commands')} commands and ${(perAttempt('bytes') / 1000).toFixed(1)} kB for each attempt`,
        floor: `${(floor / 1000).toFixed(1)} s: one daemon with ${WORKERS * SLOTS} slots`,
        target: `≤ ${TARGET} ×`,
        met: took <= TARGET * floor,
      },
    ];
  });
}
