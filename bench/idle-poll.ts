// What an idle poll asks of the hosting service, with pull requests open and issues done and waiting.

import { agentRunning, COMMITS } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { FaultyProxy } from '../test/support/faulty-proxy.ts';
import { startForge } from '../test/support/forge.ts';
import { type Row, withCleanup } from './figures.ts';

const POLLS = 20;

export async function idlePoll(): Promise<Row> {
  return withCleanup(async (t) => {
    const forge = await startForge(t);
    for (let number = 1; number <= 2; number++) await forge.open(`Issue ${number}`);
    await forge.open('From outside', { author: 'stranger' });
    // The proxy plays no fault here: it counts.
    const proxy = await FaultyProxy.start(t, forge.forge.url);
    const daemon = await Daemon.create(t, forge, { apiUrl: proxy.url });
    daemon.write(agentRunning(COMMITS));
    daemon.start();
    await daemon.until('two pull requests', async () => (await daemon.state()).counts.completed === 2);
    const lastPoll = async () => (await daemon.state()).poll.last_at;
    // The polls that still see changes of the daemon's own are over when a whole one was answered 304.
    await daemon.until('an idle poll', () =>
      proxy.seen.slice(-1).some(({ path, status }) => path.includes('/issues?') && status === 304),
    );
    const from = proxy.seen.length;
    let polls = 0;
    for (let last = await lastPoll(); polls < POLLS; polls++) {
      const before = last;
      await daemon.until('the next poll', async () => {
        last = await lastPoll();
        return last !== before;
      });
    }
    const asked = proxy.seen.slice(from);
    const unchanged = asked.filter((request) => request.status === 304).length;
    const each = asked.length / polls;
    return {
      what: 'requests per idle poll, 2 pull requests open, 1 issue waiting',
      figure: `${each.toFixed(2)}, ${unchanged} of ${asked.length} answered 304`,
      floor: '1: the list of one label',
      target: '1, answered 304',
      // The last poll may have been asked for, but not yet be shown, when counting began or ended.
      met: Math.abs(asked.length - polls) <= 1 && unchanged === asked.length,
    };
  });
}
