// Limits of the status server beside a fleet: long times are for a bundle alone, and strangers do not shut workers out.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { request as ask, type ClientRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { type FleetRoutes, serverWith } from '../../src/web/fleet-routes.ts';
import { finallyDo } from '../support/temp.ts';

const ORDINARY_MS = 15_000;

async function listening(t: TestContext, server: Server): Promise<AddressInfo> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  finallyDo(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return server.address() as AddressInfo;
}

/** A server whose handlers answer when the whole body is there. */
async function setUp(t: TestContext, mostOthers?: number) {
  const begun: { readonly path: string; readonly wake: (request: IncomingMessage) => void }[] = [];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new EventEmitter();
  const answer: FleetRoutes['serve'] = async (path, request, response) => {
    for (const one of begun.filter((waiting) => waiting.path === path)) one.wake(request);
    request.resume();
    request.once('end', () => {
      if (path.endsWith('/ask')) asked.emit('whole');
      void (path.endsWith('/ask') ? released : Promise.resolve()).then(() => response.end('whole'));
    });
  };
  const fleet: FleetRoutes = {
    handles: (path) => path.startsWith('/fleet/'),
    standingOf: (_, { headers }) =>
      headers.standing === 'bundle' || headers.standing === 'known' ? headers.standing : 'unknown',
    serve: answer,
  };
  const server = serverWith(
    fleet,
    (request, response) => void answer(request.url ?? '', request, response),
    mostOthers,
  );
  const { port } = await listening(t, server);
  const send = (path: string, standing = 'unknown') => {
    const sent = ask({ host: '127.0.0.1', port, path, method: 'POST', headers: { standing, 'content-length': 2 } });
    sent.on('error', () => undefined);
    return sent;
  };
  /** One that has sent the first half of its body, as the server knows. */
  const half = async (path: string, standing?: string) => {
    const arrived = new Promise<IncomingMessage>((wake) => begun.push({ path, wake }));
    const sent = send(path, standing);
    sent.write('a');
    await arrived;
    return sent;
  };
  return { send, half, release, asked };
}

async function statusOf(sent: ClientRequest): Promise<number> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

test('a slow body ends after 15 s, on every path but that of a bundle from a worker that is known', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { half } = await setUp(t);
  const slow = await Promise.all([half('/fleet/v1/take'), half('/api/v1/refresh'), half('/fleet/v1/beat', 'known')]);
  const bundle = await half('/fleet/v1/work', 'bundle');
  const statuses = slow.map(statusOf);
  t.mock.timers.tick(ORDINARY_MS);
  assert.deepEqual(await Promise.all(statuses), [408, 408, 408]);
  bundle.end('b');
  assert.equal(await statusOf(bundle), 200);
});

test('a body that came whole has no limit for its answer', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { half, release, asked } = await setUp(t);
  const sent = await half('/fleet/v1/ask', 'known');
  const whole = once(asked, 'whole');
  sent.end('b');
  await whole;
  t.mock.timers.tick(2 * ORDINARY_MS);
  release();
  assert.equal(await statusOf(sent), 200);
});

test('an answer to a request without a body lasts as long as it needs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const begun = new EventEmitter<{ answer: [ServerResponse] }>();
  const fleet: FleetRoutes = { handles: () => false, standingOf: () => 'unknown', serve: async () => undefined };
  const { port } = await listening(
    t,
    serverWith(fleet, (_, response) => begun.emit('answer', response.writeHead(200))),
  );
  const asked = once(begun, 'answer');
  const sent = ask({ host: '127.0.0.1', port, path: '/api/v1/events' }).end();
  const [response] = (await asked) as [ServerResponse];
  response.write('first');
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  t.mock.timers.tick(2 * ORDINARY_MS);
  response.end(' last');
  assert.equal((await answer.toArray()).join(''), 'first last');
});

test('requests at a time without a token are bounded; those of workers at work come through', async (t) => {
  const { half, send } = await setUp(t, 2);
  const held = await Promise.all([half('/fleet/v1/take'), half('/')]);
  const more = [send('/fleet/v1/take'), send('/healthz')];
  for (const one of more) one.end('ab');
  assert.deepEqual(await Promise.all(more.map(statusOf)), [503, 503]);
  const known = send('/fleet/v1/beat', 'known');
  known.end('ab');
  assert.equal(await statusOf(known), 200);
  const over = held.map(statusOf);
  for (const one of held) one.end('b');
  assert.deepEqual(await Promise.all(over), [200, 200]);
  const again = send('/fleet/v1/take');
  again.end('ab');
  assert.equal(await statusOf(again), 200);
});
