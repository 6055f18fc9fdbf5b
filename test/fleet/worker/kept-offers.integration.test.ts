// Kept work and the coordinator that acts for its repository, over HTTP: it is brought or removed, and a forged address learns nothing.

import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { failure, type ToolError } from '../../../src/base/rules/errors.ts';
import type { KeptCommits } from '../../../src/fleet/coordinator/kept-commits.ts';
import { provenAddress } from '../../../src/fleet/proofs.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import type { Kept } from '../../../src/fleet/wire.ts';
import { KeptOffers } from '../../../src/fleet/worker/kept-offers.ts';
import { KeptWork } from '../../../src/fleet/worker/kept-work.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { jobAt, ORDER, openCoordinator, SHARED_KEY, signed } from '../../support/fleet-coordinator.ts';
import { freePort } from '../../support/free-port.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const REPOSITORY = 'h/o/r';
const HEAD = 'c'.repeat(40);
const NEVER = new AbortController().signal;

async function setUp(t: Cleanup) {
  const directory = tempDir(t);
  const kept = new KeptWork(join(directory, 'kept'));
  const logged: string[] = [];
  const heard: (() => void)[] = [];
  const log = {
    log: (_: unknown, __: unknown, what: string | Refusal) => {
      logged.push(typeof what === 'string' ? what : what.of.code);
      for (const one of heard) one();
    },
  };
  /** Resolves when it has said so. */
  const says = (words: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (logged.some((one) => words.test(one))) resolve();
      };
      heard.push(look);
      look();
    });
  const addresses = new Map<string, string>();
  const clock = new FakeClock(Date.now());
  const offers = new KeptOffers({
    ...{ kept, key: SHARED_KEY, name: 'w', clock, log, places: [join(directory, 'attempts')] },
    store: { problem: null, addressOf: async (repository) => addresses.get(repository) ?? null },
  });
  const keep = async (id: string, repository = REPOSITORY, more: { readonly handed?: true } = { handed: true }) => {
    const bundle = join(directory, 'bundle');
    writeFileSync(bundle, `commits of ${id}`);
    const job = signed(jobAt('http://127.0.0.1:1'));
    const work = { head: HEAD, files: null };
    await kept.keep(id, { job: { ...job, repository, labels: [] }, token: 't', order: ORDER, work, ...more }, bundle);
  };
  const lead = (to: string, key = SHARED_KEY, repository = REPOSITORY) => {
    addresses.set(REPOSITORY, provenAddress(key, repository, to));
  };
  const leadOther = (repository: string, to: string) =>
    addresses.set(repository, provenAddress(SHARED_KEY, repository, to));
  return {
    kept,
    keep,
    offers,
    lead,
    leadOther,
    logged,
    says,
    clock,
    write: (text: string) => addresses.set(REPOSITORY, text),
  };
}

test('what nobody needs is removed; what is missed is brought, and stays until it is published', async (t) => {
  const { kept, keep, offers, lead, logged } = await setUp(t);
  const { coordinator, address } = await openCoordinator(t);
  for (const id of ['settled', 'missed', 'waiting']) await keep(id);
  await keep('refused', REPOSITORY, {});
  const taken: string[] = [];
  const offered: Kept[] = [];
  const place = join(tempDir(t), 'received');
  let missed = ['missed'];
  coordinator.keeps(REPOSITORY.toUpperCase(), {
    fates: (all: readonly Kept[]) => {
      offered.push(...all);
      return { forget: ['settled', 'refused', 'unheard-of'], bring: missed.map((id) => ({ id, token: 'a-token' })) };
    },
    admits: (id: string, token: string) => id === 'missed' && token === 'a-token',
    take: async (id: string, _: string, receive: (path: string) => Promise<unknown>) => {
      await receive(place);
      taken.push(`${id}: ${readFileSync(place, 'utf8')}`);
      missed = [];
    },
  } as unknown as KeptCommits);
  // Nobody acts for the repository.
  await offers.look(NEVER);
  assert.equal((await kept.ids()).length, 4);
  lead(address);
  await offers.look(NEVER);
  assert.deepEqual(taken, ['missed: commits of missed']);
  assert.deepEqual(await kept.ids(), ['missed', 'waiting']);
  const { issue, life, attempt, base } = ORDER;
  assert.deepEqual(offered[0], { id: 'missed', issue, life, attempt, base, head: HEAD, files: null, handed: true });
  assert.deepEqual(logged, [
    'what was kept of the attempt refused is needed no more, and removed',
    `what was kept of the attempt missed is with the coordinator ${address}`,
  ]);
});

test('an address that nobody with the key wrote gets no request; an answer without the key changes nothing', async (t) => {
  const { kept, keep, offers, lead, logged, write } = await setUp(t);
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      seen.push(Buffer.concat(parts).toString());
      response.end(JSON.stringify({ answer: '{"forget":["one"],"bring":[]}', proof: 'forged' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const place = server.address();
  const forged = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`;
  await keep('one');
  for (const written of [forged, `proof ${forged}`, ` ${forged}`, '']) {
    write(written);
    await offers.look(NEVER);
  }
  lead(forged, 'another-key-0123456789');
  await offers.look(NEVER);
  // That of another repository.
  lead(forged, SHARED_KEY, 'h/o/other');
  await offers.look(NEVER);
  assert.equal(seen.length, 0);
  lead(forged);
  await offers.look(NEVER);
  await offers.look(NEVER);
  assert.deepEqual(logged, ['fleet_key_wrong']);
  assert.equal(seen.length, 2);
  assert.ok(!seen[0]?.includes(SHARED_KEY));
  assert.ok(kept.hasBundle('one'));
});

test('a coordinator that is away or gives no answer holds up no other, and a bundle that is refused no other bundle', async (t) => {
  const { kept, keep, offers, lead, leadOther, logged, says } = await setUp(t);
  const { coordinator, address } = await openCoordinator(t);
  const silent = createServer();
  finallyDo(t, () => {
    silent.closeAllConnections();
    silent.close();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const place = silent.address();
  leadOther('h/a/silent', `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`);
  const asked = new Promise<void>((resolve) => silent.once('request', () => resolve()));
  leadOther('h/b/away', `http://127.0.0.1:${await freePort()}`);
  await keep('1-silent', 'h/a/silent');
  await keep('2-away', 'h/b/away');
  for (const id of ['3-refused', '4-late', '5-taken']) await keep(id);
  lead(address);
  const taken: string[] = [];
  const refusals: Readonly<Record<string, ToolError>> = {
    '3-refused': failure(FLEET_CODES.bundle_unreadable, { said: 'no bundle' }),
    '4-late': failure(FLEET_CODES.attempt_superseded, { attempt: '4-late' }),
  };
  const received = join(tempDir(t), 'received');
  let round = 0;
  coordinator.keeps(REPOSITORY, {
    fates: (all: readonly Kept[]) => {
      round += 1;
      return { forget: [], bring: all.map(({ id }) => ({ id, token: 'a-token' })) };
    },
    admits: () => true,
    take: async (id: string, _: string, receive: (path: string) => Promise<unknown>) => {
      await receive(received);
      taken.push(id);
      const refused = round === 1 ? refusals[id] : undefined;
      if (refused !== undefined) throw refused;
    },
  } as unknown as KeptCommits);
  const over = new AbortController();
  const first = offers.look(over.signal);
  await asked;
  await says(/^what was kept of the attempt 5-taken/);
  // The silent one is still asked.
  await offers.look(NEVER);
  assert.deepEqual(taken, ['3-refused', '4-late', '5-taken', '4-late', '5-taken']);
  assert.ok(kept.hasBundle('3-refused'));
  // Each reason once: of the one that is away, and of the two that were refused.
  assert.deepEqual(logged.filter((one) => /^coordinator_/.test(one)).sort(), [
    'coordinator_refused',
    'coordinator_refused',
    'coordinator_silent',
  ]);
  over.abort();
  await first;
});

test('a coordinator tells nothing to whoever lacks the key', async (t) => {
  const { address, coordinator } = await openCoordinator(t, { key: 'another-key-0123456789' });
  const { kept, keep, offers, lead, logged } = await setUp(t);
  await keep('one');
  lead(address);
  await offers.look(NEVER);
  assert.deepEqual(logged, ['coordinator_refused']);
  assert.ok(kept.hasBundle('one'));
  assert.deepEqual(coordinator.fates(REPOSITORY, [], 'w'), { forget: [], bring: [] });
  const stranger = await fetch(`${address}/fleet/v1/attempts/one/kept`, { method: 'POST', body: 'x' });
  assert.equal(stranger.status, 409);
});

test('work that is kept for a week is removed, and named', async (t) => {
  const { kept, keep, offers, logged } = await setUp(t);
  await keep('old');
  await keep('new');
  const week = 7 * 24 * 3_600 + 60;
  utimesSync(kept.bundleOf('old'), Date.now() / 1_000 - week, Date.now() / 1_000 - week);
  await offers.look(NEVER);
  assert.deepEqual(await kept.ids(), ['new']);
  assert.deepEqual(logged, ['kept_work_dropped']);
});
