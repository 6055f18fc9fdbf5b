// Followed pull requests: quota of quiet ones, and the time from a red check to the agent that has its log.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentRunning, COMMITS } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { FaultyProxy } from '../test/support/faulty-proxy.ts';
import { BASE, fields, startForge, type TestForge } from '../test/support/forge.ts';
import { median, type Row, ratioOf, spread, withCleanup } from './figures.ts';

const FOLLOWED = 50;
const POLLS = 10;
const ROUNDS = 10;
const POLL_MS = 1_000;
const HOURS = 10 * 60 * 60_000;
const SPARE_MS = 5_000;

async function headOf({ forge }: TestForge, pull: number): Promise<string> {
  const { data } = await forge.call('maintainer', 'GET', `${BASE}/pulls/${pull}`);
  return String(fields(fields(data).head).sha);
}

async function quiet(): Promise<Row> {
  return withCleanup(async (t) => {
    const service = await startForge(t);
    for (let number = 1; number <= FOLLOWED; number++) await service.open(`Issue ${number}`);
    // The proxy injects no fault here: it only counts requests.
    const proxy = await FaultyProxy.start(t, service.forge.url);
    const daemon = await Daemon.create(t, service, { apiUrl: proxy.url, pollMs: POLL_MS });
    const more = ['follow: { until: approved }', 'gate: { mode: off }', 'agent: { max_concurrent_agents: 5 }'];
    daemon.write([agentRunning(COMMITS), ...more].join('\n'));
    daemon.start();
    await daemon.until(
      `${FOLLOWED} pull requests are followed`,
      async () => (await daemon.state()).counts.following === FOLLOWED,
      600_000,
    );
    const poll = async () => (await daemon.state()).poll.last_at;
    const next = async () => {
      const before = await poll();
      await daemon.until('the next poll', async () => (await poll()) !== before);
    };
    // What the daemon itself did is news of the first readings: each pull request is read three times without any.
    const rounds = 3 * 3 * FOLLOWED;
    // On a slow machine the last ones are read first when others have long been quiet.
    const unchanged = () =>
      new Set(
        proxy.seen.filter(({ path, status }) => status === 304 && /\/pulls\/\d+$/.test(path)).map((one) => one.path),
      );
    await daemon.until(
      'quiet readings',
      () => unchanged().size === FOLLOWED && proxy.seen.slice(-rounds).every(({ status }) => status === 304),
      300_000,
    );
    const from = proxy.seen.length;
    for (let polls = 0; polls < POLLS; polls++) await next();
    const asked = proxy.seen.slice(from);
    const paid = asked.filter(({ status }) => status !== 304).length;
    await daemon.stop();
    return {
      what: `quota of ${POLLS} polls with ${FOLLOWED} quiet followed pull requests`,
      figure: `${paid} (${asked.length} requests)`,
      floor: '0: every answer is 304',
      target: '0',
      met: paid === 0 && asked.length >= POLLS,
    };
  });
}

/** @param isTold whether a webhook tells of it; the polls are hours apart then */
async function redCheck(isTold: boolean): Promise<Row> {
  return withCleanup(async (t) => {
    const service = await startForge(t);
    const daemon = await Daemon.create(
      t,
      service,
      isTold ? { pollMs: HOURS, server: 'webhook_secret: secret' } : { pollMs: POLL_MS },
    );
    const poll = isTold ? 0 : POLL_MS;
    const script = [
      `cat > ${daemon.directory}/prompt-$TOOL_ATTEMPT.part`,
      `echo "$TOOL_ATTEMPT" >> work.txt; git add work.txt; git commit -qm "Part $TOOL_ATTEMPT"`,
      `date +%s%3N > ${daemon.directory}/at-$TOOL_ATTEMPT.part`,
      `for one in prompt at; do mv ${daemon.directory}/$one-$TOOL_ATTEMPT.part ${daemon.directory}/$one-$TOOL_ATTEMPT; done`,
    ].join('\n');
    const more = [`follow: { until: green, max_rounds: ${ROUNDS + 1} }`, 'gate: { mode: off }'];
    daemon.write([agentRunning(script), ...more].join('\n'));
    daemon.start();
    await daemon.until('the first poll', async () => (await daemon.state()).poll.last_at !== null);
    if (isTold) {
      const config = { url: `http://127.0.0.1:${daemon.port}/webhooks/github`, content_type: 'json', secret: 'secret' };
      const hook = { config, events: ['issues', 'pull_request', 'check_run'] };
      await service.forge.call('maintainer', 'POST', `${BASE}/hooks`, hook);
    }
    await service.open('Do it');
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const isFollowed = async () => fields((await daemon.state()).following[0]).rounds === round;
      await daemon.until(`round ${round} is over`, isFollowed);
      const [pull] = await service.pulls();
      if (pull === undefined) throw new Error('no pull request is open');
      const run = service.forge.checks.start(await headOf(service, pull.number), 'build');
      const seenAt = Date.now();
      service.forge.checks.finish(run, 'failure', { step: 'npm test', log: `the reason of round ${round}\n` });
      const [prompt, at] = ['prompt', 'at'].map((name) => join(daemon.directory, `${name}-${round + 2}`));
      if (prompt === undefined || at === undefined) throw new Error('unreachable');
      await daemon.until('the agent', () => existsSync(prompt) && existsSync(at));
      if (!readFileSync(prompt, 'utf8').includes(`the reason of round ${round}`))
        throw new Error(`the agent was not told the log of round ${round}`);
      took.push(Number(readFileSync(at, 'utf8')) - seenAt);
    }
    await daemon.stop();
    const ratios = took.map((ms) => ms / (poll + SPARE_MS));
    const ratio = median(ratios);
    return {
      what: `red check → the agent has read its log, by ${isTold ? 'webhook' : 'poll'}`,
      figure: ratioOf(ratio, spread(took, 'ms')),
      floor: `${poll + SPARE_MS} ms: ${isTold ? '' : 'one poll and '}5 s`,
      target: '≤ 1 ×',
      met: Math.max(...ratios) <= 1,
    };
  });
}

export async function follow(): Promise<readonly Row[]> {
  return [await quiet(), await redCheck(false), await redCheck(true)];
}
