// Cost of 10,000 open issues against 100: requests and CPU of an idle poll, first agent, peak memory, page size.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { agentRunning } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { startForge } from '../test/support/forge.ts';
import { type Cleanup, finallyDo } from '../test/support/temp.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';
import { peakOf } from './memory.ts';

const FEW = 100;
const MANY = 10_000;
const ROUNDS = 3;
/** More than `ROUNDS`: each start gives one sample, a round gives the mean of many polls. */
const STARTS = 12;
const LATER_AT_MOST = 1.3;
const POLLS = 30;
const PER_PAGE = 100;

type Seen = { readonly path: string; readonly status: number };

/** Server with the given number of labelled issues, which never change; forwards all other requests to the forge. */
async function crowded(t: Cleanup, forgeUrl: string, issues: number) {
  const base = '/repos/maintainer/project/issues';
  const seen: Seen[] = [];
  const rowOf = (number: number) => {
    const at = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace('.000Z', 'Z');
    return {
      number,
      title: `Issue ${number}`,
      body: `What is to be done in ${number}. `.repeat(20),
      html_url: `${forgeUrl}/maintainer/project/issues/${number}`,
      state: 'open',
      labels: [{ name: 'tool-todo' }],
      user: { login: 'maintainer', type: 'User' },
      created_at: at,
      updated_at: at,
    };
  };
  const answerTo = (url: URL): { readonly data: unknown; readonly link?: string } | undefined => {
    if (url.pathname === base) {
      const page = Number(url.searchParams.get('page') ?? 1);
      const isNewestFirst = url.searchParams.get('direction') === 'desc';
      const last = Math.ceil(issues / PER_PAGE);
      const places = Array.from({ length: PER_PAGE }, (_, index) => (page - 1) * PER_PAGE + index);
      const data = places
        .filter((place) => place < issues)
        .map((place) => rowOf(isNewestFirst ? issues - place : place + 1));
      const to = (number: number, rel: string) => {
        const address = new URL(url);
        address.searchParams.set('page', String(number));
        return `<${address}>; rel="${rel}"`;
      };
      return page < last ? { data, link: `${to(page + 1, 'next')}, ${to(last, 'last')}` } : { data };
    }
    const single = new RegExp(`^${base}/(\\d+)(/events)?$`).exec(url.pathname);
    if (single === null) return undefined;
    const number = Number(single[1]);
    const event = { id: number, event: 'labeled', actor: { login: 'maintainer' }, label: { name: 'tool-todo' } };
    return { data: single[2] === undefined ? rowOf(number) : [event] };
  };
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const { method, headers } = request;
    const sent = httpRequest(new URL(request.url ?? '/', forgeUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.once('error', () => response.destroy());
    request.pipe(sent);
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const answer = request.method === 'GET' ? answerTo(url) : undefined;
    if (answer === undefined) {
      pass(request, response);
      return;
    }
    const body = JSON.stringify(answer.data);
    const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
    const status = request.headers['if-none-match'] === etag ? 304 : 200;
    seen.push({ path: url.pathname, status });
    response.writeHead(status, {
      etag,
      'content-type': 'application/json',
      ...(answer.link === undefined ? {} : { link: answer.link }),
    });
    response.end(status === 200 ? body : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const lists = () => seen.filter(({ path }) => path === base);
  return { url: `http://127.0.0.1:${port}`, seen, lists };
}

/** CPU time of a process so far, ms. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Bytes of the longest event of a snapshot. */
async function longestEvent(url: string): Promise<number> {
  const stop = new AbortController();
  const { body } = await fetch(url, { signal: stop.signal });
  if (body === null) throw new Error(`expected events at ${url}, got no body`);
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (/"last":true\}\n\n$/.test(text)) break;
  }
  stop.abort();
  return Math.max(...text.split('\n\n').map((event) => Buffer.byteLength(event)));
}

type Round = {
  readonly cpu: number;
  readonly lists: number;
  readonly others: number;
  readonly peak: number;
  readonly event: number;
  readonly page: number;
};

/** Starts a daemon and waits for its first agent; `first` is the time from process start to agent start, ms. */
async function started(t: Cleanup, issues: number) {
  const forge = await startForge(t);
  const service = await crowded(t, forge.forge.url, issues);
  const daemon = await Daemon.create(t, forge, { apiUrl: service.url, pollMs: 200 });
  const stamp = join(daemon.directory, 'started');
  daemon.write(`${agentRunning(`date +%s%3N > ${stamp}; sleep 600`)}\nagent: { max_concurrent_agents: 1 }`);
  const startedAt = Date.now();
  daemon.start();
  await daemon.until('the first agent', () => existsSync(stamp) && readFileSync(stamp, 'utf8').endsWith('\n'));
  return { daemon, ...service, first: Number(readFileSync(stamp, 'utf8')) - startedAt };
}

async function oneStart(issues: number): Promise<number> {
  return withCleanup(async (t) => {
    const { daemon, first } = await started(t, issues);
    await daemon.stop();
    return first;
  });
}

async function oneRound(issues: number): Promise<Round> {
  return withCleanup(async (t) => {
    const { daemon, seen, lists } = await started(t, issues);
    // Counted at the server: reading the daemon's state would add CPU time to the measured polls.
    const pages = Math.ceil(issues / PER_PAGE);
    await daemon.until('the whole list', () => lists().filter(({ status }) => status === 200).length >= pages, 120_000);
    const unchanged = () => lists().filter(({ status }) => status === 304).length;
    const begun = unchanged();
    await daemon.until('idle polls', () => unchanged() >= begun + 3);
    const [from, cpuFrom, allFrom] = [lists().length, cpuOf(daemon.pid), seen.length];
    await daemon.until('more idle polls', () => lists().length >= from + POLLS, 120_000);
    const [polls, cpu, all] = [lists().length - from, cpuOf(daemon.pid) - cpuFrom, seen.length - allFrom];
    const peak = peakOf(daemon.pid);
    const status = `http://127.0.0.1:${daemon.port}`;
    const event = Math.max(
      await longestEvent(`${status}/api/v1/events`),
      await longestEvent(`${status}/api/v1/events?view=page`),
    );
    const page = (await (await fetch(status, { headers: { accept: 'text/html' } })).text()).length;
    await daemon.stop();
    return { cpu: cpu / POLLS, lists: polls / POLLS, others: (all - polls) / POLLS, peak, event, page };
  });
}

export async function backlog(): Promise<Row[]> {
  const few: Round[] = [];
  const many: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    few.push(await oneRound(FEW));
    many.push(await oneRound(MANY));
  }
  const of = (rounds: readonly Round[], key: keyof Round) => median(rounds.map((round) => round[key]));
  const starts: { readonly few: number; readonly many: number }[] = [];
  // Alternate the order: each size goes first in half of the rounds.
  for (let round = 0; round < STARTS; round++) {
    if (round % 2 === 0) {
      const few = await oneStart(FEW);
      starts.push({ few, many: await oneStart(MANY) });
    } else {
      const many = await oneStart(MANY);
      starts.push({ few: await oneStart(FEW), many });
    }
  }
  const [firstOfFew, firstOfMany] = [starts.map((start) => start.few), starts.map((start) => start.many)];
  const later = median(ratiosOf(firstOfMany, firstOfFew));
  const [cpuOfFew, cpuOfMany] = [of(few, 'cpu'), of(many, 'cpu')];
  return [
    {
      what: `requests for the list per idle poll, ${MANY} open issues, 1 agent at work`,
      figure: `${of(many, 'lists').toFixed(2)}, and ${of(many, 'others').toFixed(2)} for the issue at work`,
      floor: `${of(few, 'lists').toFixed(2)} and ${of(few, 'others').toFixed(2)}: the same with ${FEW} issues`,
      target: '1, and 1',
      met: Math.abs(of(many, 'lists') - 1) < 0.1 && Math.abs(of(many, 'others') - 1) < 0.1,
    },
    {
      what: `CPU per idle poll, ${MANY} open issues`,
      figure: `${cpuOfMany.toFixed(1)} ms = ${(cpuOfMany / cpuOfFew).toFixed(2)} ×`,
      floor: `${cpuOfFew.toFixed(1)} ms: the same with ${FEW} issues`,
      target: '≤ 2 ×',
      met: cpuOfMany <= 2 * cpuOfFew,
    },
    {
      what: `process start → first agent, ${MANY} open issues`,
      figure: ratioOf(later, spread(firstOfMany, 'ms')),
      floor: `${spread(firstOfFew, 'ms')}: the same with ${FEW} issues`,
      target: `≤ ${LATER_AT_MOST} ×`,
      met: later <= LATER_AT_MOST,
    },
    {
      what: `peak memory, ${MANY} open issues`,
      figure: `${of(many, 'peak').toFixed(0)} MB`,
      floor: `${of(few, 'peak').toFixed(0)} MB: the same with ${FEW} issues`,
      target: '≤ 100 MB',
      met: of(many, 'peak') <= 100,
    },
    {
      what: `the longest event of state and page, ${MANY} open issues`,
      figure: `${(of(many, 'event') / 1024).toFixed(1)} KB`,
      floor: `${(of(few, 'event') / 1024).toFixed(1)} KB: the same with ${FEW} issues`,
      target: '≤ 10 KB',
      met: of(many, 'event') <= 10 * 1024,
    },
    {
      what: `the page, ${MANY} open issues`,
      figure: `${(of(many, 'page') / 1024).toFixed(0)} KB`,
      floor: `${(of(few, 'page') / 1024).toFixed(0)} KB: the same with ${FEW} issues`,
      target: '≤ 1.1 ×',
      met: of(many, 'page') <= 1.1 * of(few, 'page'),
    },
  ];
}
