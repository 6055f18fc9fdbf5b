// From a label to the agent at work, by a webhook: the polls are hours apart.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentRunning } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { BASE, startForge } from '../test/support/forge.ts';
import { tempDir } from '../test/support/temp.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';

const ROUNDS = 15;
const HOURS = 10 * 60 * 60_000;
/** Beside the hooks' own time, which is the clone. */
const TARGET_MS = 250;
/** Right after another delivery: its reading may be under way. With a pause between the two it would be a second. */
const CROWDED_MS = 500;

/** @param isCrowded whether another delivery came right before the label */
async function label(isCrowded: boolean): Promise<{ readonly took: number[]; readonly floors: number[] }> {
  return withCleanup(async (t) => {
    const service = await startForge(t);
    const daemon = await Daemon.create(t, service, { pollMs: HOURS, server: 'webhook_secret: secret' });
    daemon.write(agentRunning(`date +%s%3N > ${daemon.directory}/started-$TOOL_ISSUE; exit 3`));
    daemon.start();
    await daemon.until('the first poll', async () => (await daemon.state()).poll.last_at !== null);
    const config = { url: `http://127.0.0.1:${daemon.port}/webhooks/github`, content_type: 'json', secret: 'secret' };
    await service.forge.call('maintainer', 'POST', `${BASE}/hooks`, { config, events: ['issues'] });
    const took: number[] = [];
    const floors: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const issue = await service.open(`Issue ${round}`, { label: null });
      await service.forge.webhooks.settled();
      await quiet(daemon);
      if (isCrowded) {
        await service.write(issue, 'another text');
        await service.forge.webhooks.settled();
      }
      const labelledAt = Date.now();
      await service.label(issue, 'tool-todo');
      const stamp = join(daemon.directory, `started-${issue}`);
      await daemon.until('the agent', () => existsSync(stamp) && readFileSync(stamp, 'utf8').endsWith('\n'));
      took.push(Number(readFileSync(stamp, 'utf8')) - labelledAt);
      await service.close(issue);
      const directory = tempDir(t);
      const cloneAt = performance.now();
      execFileSync('git', ['clone', '--quiet', service.bare, join(directory, 'clone')]);
      floors.push(performance.now() - cloneAt);
    }
    await daemon.stop();
    return { took, floors };
  });
}

/** Until the second reading after a delivery, too, is over. */
async function quiet(daemon: Daemon): Promise<void> {
  await daemon.until('nothing is read', async () => {
    const { requests } = (await daemon.state()).poll;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return (await daemon.state()).poll.requests === requests;
  });
}

function rowOf(what: string, most: number, { took, floors }: Awaited<ReturnType<typeof label>>): Row {
  const beside = took.map((ms, index) => ms - (floors[index] ?? 0));
  const ratio = median(ratiosOf(took, floors));
  return {
    what,
    figure: `${spread(beside, 'ms')} beside the clone; ${ratioOf(ratio, spread(took, 'ms'))}`,
    floor: `${spread(floors, 'ms')}: bare clone`,
    target: `≤ ${most} ms beside the clone`,
    met: median(beside) <= most,
  };
}

export async function webhook(): Promise<readonly Row[]> {
  return [
    rowOf('label → agent started, by webhook', TARGET_MS, await label(false)),
    rowOf('the same, right after another delivery', CROWDED_MS, await label(true)),
  ];
}
