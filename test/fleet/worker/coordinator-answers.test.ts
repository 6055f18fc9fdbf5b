// Answers of a coordinator, and of what stands before it, as a worker takes them.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { Clock } from '../../../src/base/ports.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { MOST_UPLOADS, NotBegun, Refused, refused, Unanswered } from '../../../src/fleet/worker/coordinator-answers.ts';
import { CoordinatorClient } from '../../../src/fleet/worker/coordinator-client.ts';
import { failsWith } from '../../support/codes.ts';
import { jobAt, SHARED_KEY, signed } from '../../support/fleet-coordinator.ts';
import { tempDir } from '../../support/temp.ts';

function clientOf(server: Server, onSilent: (words: string) => void, clock: Clock = systemClock): CoordinatorClient {
  const place = server.address();
  const address = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`;
  return new CoordinatorClient({
    ...{ job: signed(jobAt(address)), key: SHARED_KEY, worker: 'w', version: '1.0.0', token: 'token' },
    ...{ clock, signal: new AbortController().signal, onSilent },
  });
}

const said = (code: string) => JSON.stringify({ error: { code, message: 'no' } });

test('whoever hangs up is told of in words', async (t) => {
  let requests = 0;
  const silent: string[] = [];
  const server = createServer((request, response) => {
    requests += 1;
    if (requests === 1) request.socket.destroy();
    else response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const client = clientOf(server, (words) => silent.push(words));
  t.after(() => client.close());
  await client.started(7);
  assert.deepEqual(silent, ['the connection was closed']);
});

test('a request that a busy machine was too slow for is repeated', async (t) => {
  let requests = 0;
  const silent: string[] = [];
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    // As the server of the status page ends a request that takes too long, without a word of its own.
    if (requests === 1) response.writeHead(408, { connection: 'close' }).end();
    else response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const client = clientOf(server, (words) => silent.push(words));
  t.after(() => client.close());
  await client.started(7);
  assert.equal(requests, 2);
  assert.deepEqual(silent, ['status 408']);
});

test('a bundle that a machine never takes is not sent for ever, and its attempt ends with words', async (t) => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(520).end('<html>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const bundle = join(tempDir(t), 'bundle');
  writeFileSync(bundle, 'commits');
  const client = clientOf(server, () => undefined, { ...systemClock, sleep: async () => undefined });
  t.after(() => client.close());
  await failsWith(client.work(bundle, { head: 'a'.repeat(40), files: null }), FLEET_CODES.coordinator_refused, {
    said: 'It answers with status 520.',
  });
  assert.equal(requests, MOST_UPLOADS);
});

test('what a machine says is repeated, and what a coordinator says is not', () => {
  for (const status of [408, 425, 429, 500, 502, 503, 504, 520])
    assert.ok(refused(status, '<html>') instanceof Unanswered, `${status}`);
  for (const status of [400, 403, 404, 413]) assert.ok(refused(status, '') instanceof Refused, `${status}`);
  assert.ok(refused(500, said('internal')) instanceof Refused);
  assert.ok(refused(503, said('repository_lease_lost')) instanceof Unanswered);
  assert.ok(refused(503, said('attempt_not_begun')) instanceof NotBegun);
});
