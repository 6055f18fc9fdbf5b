// Number of API requests per idle poll, with open pull requests, finished issues and a waiting issue.

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
    // The proxy injects no fault here: it only counts requests.
    const proxy = await FaultyProxy.start(t, forge.forge.url);
    const daemon = await Daemon.create(t, forge, { apiUrl: proxy.url });
    daemon.write(agentRunning(COMMITS));
    daemon.start();
    await daemon.until('two pull requests', async () => (await daemon.state()).counts.completed === 2);
    const lastPoll = async () => (await daemon.state()).poll.last_at;
    // Earlier polls still see the daemon's own changes; the first idle one is answered 304.
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
      // Tolerance of one: a poll may be sent, but not yet shown, when counting begins or ends.
      met: Math.abs(asked.length - polls) <= 1 && unchanged === asked.length,
    };
  });
}
