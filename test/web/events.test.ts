import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { Logger } from '../../src/base/ports.ts';
import { EventStream } from '../../src/web/events.ts';
import { issueWith, NO_HISTORY, viewWith } from '../support/view.ts';

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
  const world = { slots: 0, rendered: 0, read: 0, isUnreadable: false, isShapeless: false, warned: [] as string[] };
  const source = {
    state: () => {
      world.rendered += 1;
      if (world.isShapeless) throw new TypeError('no rows');
      return viewWith({ slots: world.slots });
    },
    issue: (issue: number) => issueWith({ issue_number: issue }),
    history: () => {
      world.read += 1;
      if (world.isUnreadable) throw new Error('EIO');
      return NO_HISTORY;
    },
    output: () => undefined,
    onChange: (listener: () => void) => {
      changes.on('change', listener);
      return () => changes.off('change', listener);
    },
  };
  const log: Logger = { log: (_, __, what) => world.warned.push(typeof what === 'string' ? what : what.of.code) };
  const events = new EventStream(source, log);
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

test('whoever comes has only its own page rendered, and nobody else is sent anything', (t) => {
  const { events, world, connect } = stream(t);
  const first = connect('/api/v1/events?view=page&issue=1');
  world.slots = 7;
  world.read = 0;
  connect('/api/v1/events');
  connect('/api/v1/events?view=page');
  assert.deepEqual([world.read, first.taken.length], [0, 2]);
  events.close();
});

test('a page of an issue that cannot be read stays as it was, with one warning until it can', (t) => {
  const { events, world, connect, change } = stream(t);
  const page = connect('/api/v1/events?view=page&issue=1');
  const others = connect('/api/v1/events');
  const before = page.taken.length;
  world.isUnreadable = true;
  change(1);
  change(2);
  const late = connect('/api/v1/events?view=page&issue=2');
  assert.deepEqual([page.taken.length, late.taken.length], [before, 1]);
  assert.deepEqual(others.slots, [0, 1, 2]);
  assert.deepEqual(world.warned, ['issue_page_unread', 'issue_page_unread'], 'one for each issue');
  world.isUnreadable = false;
  change(3);
  assert.match(late.taken.at(-1) ?? '', /^id: .*\nevent: snapshot\n/);
  world.isUnreadable = true;
  change(4);
  assert.equal(world.warned.length, 4);
  events.close();
});

test('a state that cannot be shown changes nothing, with one line of the log until it can', (t) => {
  const { events, world, connect, change } = stream(t);
  const state = connect('/api/v1/events');
  world.isShapeless = true;
  change(1);
  change(2);
  assert.deepEqual([state.slots, world.warned], [[0], ['background_task_failed']]);
  world.isShapeless = false;
  change(3);
  assert.deepEqual(state.slots, [0, 3]);
  world.isShapeless = true;
  change(4);
  assert.equal(world.warned.length, 2);
  events.close();
});
