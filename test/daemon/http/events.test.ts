import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { EventStream } from '../../../src/daemon/http/events.ts';
import { NO_HISTORY, viewWith } from '../../support/view.ts';

/** A connection of which the test says when it is full. */
class Connection extends ServerResponse {
  readonly taken: string[] = [];
  override writableNeedDrain = false;

  override write(text: unknown): boolean {
    this.taken.push(String(text));
    return !this.writableNeedDrain;
  }

  get slots(): number[] {
    return [...this.taken.join('').matchAll(/"slots":(\d+)/g)].map(([, slots]) => Number(slots));
  }

  get lastId(): string {
    return [...this.taken.join('').matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  }
}

function stream(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const changes = new EventEmitter();
  const world = { slots: 0, rendered: 0 };
  const events = new EventStream({
    state: () => {
      world.rendered += 1;
      return viewWith({ slots: world.slots });
    },
    issue: () => undefined,
    history: () => NO_HISTORY,
    output: () => undefined,
    onChange: (listener) => {
      changes.on('change', listener);
      return () => changes.off('change', listener);
    },
  });
  const connect = (url: string, lastId?: string) => {
    const request = new IncomingMessage(new Socket());
    request.url = url;
    if (lastId !== undefined) request.headers['last-event-id'] = lastId;
    const connection = new Connection(request);
    events.open(request, connection);
    return connection;
  };
  const change = (slots: number) => {
    world.slots = slots;
    changes.emit('change');
    t.mock.timers.tick(200);
  };
  return { events, world, connect, change };
}

test('a change is rendered once for all clients, and sent in the same words', (t) => {
  const { events, world, connect, change } = stream(t);
  const pages = [1, 2, 3].map(() => connect('/api/v1/events?view=page'));
  const states = [1, 2].map(() => connect('/api/v1/events'));
  world.rendered = 0;
  change(7);
  assert.equal(world.rendered, 1);
  for (const { taken } of pages) {
    assert.match(taken.at(-1) ?? '', /"set":\{"facts":"[^{}]*"\}/);
    assert.equal(taken.at(-1), pages[0]?.taken.at(-1));
  }
  for (const { slots } of states) assert.deepEqual(slots, [0, 7]);
  events.close();
});

test('a client that did not read gets what it missed when there is room, once', (t) => {
  const { events, connect, change } = stream(t);
  const slow = connect('/api/v1/events');
  const page = connect('/api/v1/events?view=page');
  slow.writableNeedDrain = true;
  page.writableNeedDrain = true;
  change(1);
  change(2);
  t.mock.timers.tick(60_000);
  assert.deepEqual(slow.slots, [0]);
  assert.doesNotMatch(slow.taken.join(''), /still here/, 'nothing is piled up');
  for (const connection of [slow, page]) {
    connection.writableNeedDrain = false;
    connection.emit('drain');
    connection.emit('drain');
  }
  assert.deepEqual(slow.slots, [0, 1, 2]);
  assert.match(page.taken.at(-1) ?? '', /running \(slots: 2\)/);
  assert.equal(page.taken.length, 3);
  events.close();
});

test('a change while nobody was connected reaches who comes back; nothing comes where nothing changed', (t) => {
  const { events, connect, change } = stream(t);
  const first = connect('/api/v1/events');
  const id = first.lastId;
  first.emit('close');
  assert.deepEqual(connect('/api/v1/events', id).slots, []);
  change(5);
  const back = connect('/api/v1/events', id);
  assert.match(back.taken.at(-1) ?? '', /event: change\ndata: \{"now":"[^"]+","set":\{"slots":5\}/);
  events.close();
});
