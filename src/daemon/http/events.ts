// Server-sent events: a snapshot, then what changed; of the state, or of the page's markup.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StateView } from '../view.ts';
import { Feed, type Frame } from './feed.ts';
import { pageParts } from './page.ts';
import type { Source } from './source.ts';
import { stateFrame } from './state-frame.ts';

const MAX_CLIENTS = 64;
/** Changes that come together are sent together. */
const COALESCE_MS = 200;
const HEARTBEAT_MS = 15_000;

type Kind = 'state' | 'page';

const FRAMES: Readonly<Record<Kind, (view: StateView) => Frame>> = {
  state: stateFrame,
  page: (view) => new Map(Object.entries(pageParts(view)).map(([id, markup]) => [id, JSON.stringify(markup)])),
};

type Client = {
  readonly response: ServerResponse;
  readonly kind: Kind;
  /** Up to where it has been sent everything; undefined: it has nothing. */
  at: string | undefined;
  /** It did not take the last change. */
  isBehind: boolean;
};

function kindOf(request: IncomingMessage): Kind {
  return new URL(request.url ?? '/', 'http://here').searchParams.get('view') === 'page' ? 'page' : 'state';
}

type ShownSource = Omit<Source, 'steer' | 'tell'>;

export class EventStream {
  readonly #source: ShownSource;
  readonly #clients = new Set<Client>();
  readonly #feeds: Readonly<Record<Kind, Feed>>;
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #pending: NodeJS.Timeout | undefined;

  constructor(source: ShownSource) {
    this.#source = source;
    const name = randomBytes(6).toString('hex');
    this.#feeds = { state: new Feed(`${name}-s`), page: new Feed(`${name}-p`) };
    this.#unsubscribe = source.onChange(() => this.#changed());
    this.#heartbeat = setInterval(() => {
      for (const { response } of this.#clients) if (!response.writableNeedDrain) response.write(': still here\n\n');
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  open(request: IncomingMessage, response: ServerResponse): void {
    if (this.#clients.size >= MAX_CLIENTS) {
      response.writeHead(503, { 'retry-after': '10', 'content-length': 0 });
      response.end();
      return;
    }
    const at = request.headers['last-event-id'];
    const client: Client = {
      response,
      kind: kindOf(request),
      at: typeof at === 'string' ? at : undefined,
      isBehind: false,
    };
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    response.write('retry: 2000\n\n');
    this.#clients.add(client);
    response.once('close', () => this.#clients.delete(client));
    response.on('drain', () => {
      if (client.isBehind) this.#send(client);
    });
    this.#take();
    for (const one of this.#clients) this.#send(one);
  }

  /** Each feed takes the state once, whoever reads it; one without a reader takes it when somebody comes. */
  #take(): void {
    const view = this.#source.state();
    const kinds = new Set([...this.#clients].map(({ kind }) => kind));
    for (const kind of kinds) this.#feeds[kind].take(FRAMES[kind](view), view.generated_at);
  }

  #changed(): void {
    if (this.#clients.size === 0 || this.#pending !== undefined) return;
    this.#pending = setTimeout(() => {
      this.#pending = undefined;
      if (this.#clients.size === 0) return;
      this.#take();
      for (const client of this.#clients) this.#send(client);
    }, COALESCE_MS);
    this.#pending.unref();
  }

  #send(client: Client): void {
    // Whoever does not read gets what it missed when there is room again, and no more than the snapshot.
    client.isBehind = client.response.writableNeedDrain;
    if (client.isBehind) return;
    const feed = this.#feeds[client.kind];
    const text = feed.since(client.at);
    client.at = feed.at;
    if (text !== '') client.response.write(text);
  }

  close(): void {
    this.#unsubscribe();
    clearInterval(this.#heartbeat);
    clearTimeout(this.#pending);
    for (const { response } of this.#clients) response.end();
  }
}
