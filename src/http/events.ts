// Server-sent events: the state, whenever it changed; for the page, the parts of it that changed.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StateView } from '../engine/daemon/view.ts';
import { pageParts } from './page.ts';
import type { Source } from './source.ts';

const MAX_CLIENTS = 64;
/** Changes that come together are sent together. */
const COALESCE_MS = 200;
const HEARTBEAT_MS = 15_000;

type Parts = Readonly<Record<string, string>>;

/** One state, rendered once for everybody, and only in the forms that somebody asks for. */
class Frame {
  readonly id: number;
  readonly #view: StateView;
  #state: string | undefined;
  #parts: Parts | undefined;

  constructor(id: number, view: StateView) {
    this.id = id;
    this.#view = view;
  }

  get state(): string {
    this.#state ??= `id: ${this.id}\nevent: state\ndata: ${JSON.stringify(this.#view)}\n\n`;
    return this.#state;
  }

  get parts(): Parts {
    this.#parts ??= pageParts(this.#view);
    return this.#parts;
  }

  /** The parts that differ from those that were sent before. */
  page(sent: Parts): string {
    const parts = Object.fromEntries(Object.entries(this.parts).filter(([id, markup]) => sent[id] !== markup));
    return `id: ${this.id}\nevent: page\ndata: ${JSON.stringify({ now: this.#view.generated_at, parts })}\n\n`;
  }
}

type Client = {
  readonly response: ServerResponse;
  readonly asPage: boolean;
  sent: Parts;
  /** It did not take the last frame. */
  behind: boolean;
};

export class EventStream {
  readonly #source: Source;
  readonly #clients = new Set<Client>();
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #pending: NodeJS.Timeout | undefined;
  #latest: Frame | undefined;
  #id = 0;

  constructor(source: Source) {
    this.#source = source;
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
    const client: Client = {
      response,
      asPage: new URL(request.url ?? '/', 'http://here').searchParams.get('view') === 'page',
      sent: {},
      behind: false,
    };
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    response.write('retry: 2000\n\n');
    this.#clients.add(client);
    response.once('close', () => {
      this.#clients.delete(client);
      if (this.#clients.size === 0) this.#latest = undefined;
    });
    response.on('drain', () => {
      if (client.behind && this.#latest !== undefined) this.#send(client, this.#latest);
    });
    this.#send(client, this.#render());
  }

  #render(): Frame {
    this.#id += 1;
    this.#latest = new Frame(this.#id, this.#source.state());
    return this.#latest;
  }

  #changed(): void {
    if (this.#clients.size === 0 || this.#pending !== undefined) return;
    this.#pending = setTimeout(() => {
      this.#pending = undefined;
      if (this.#clients.size === 0) return;
      const frame = this.#render();
      for (const client of this.#clients) this.#send(client, frame);
    }, COALESCE_MS);
    this.#pending.unref();
  }

  #send(client: Client, frame: Frame): void {
    // Whoever does not read gets the newest state when there is room again, not all that were in between.
    client.behind = client.response.writableNeedDrain;
    if (client.behind) return;
    if (!client.asPage) {
      client.response.write(frame.state);
      return;
    }
    client.response.write(frame.page(client.sent));
    client.sent = frame.parts;
  }

  close(): void {
    this.#unsubscribe();
    clearInterval(this.#heartbeat);
    clearTimeout(this.#pending);
    for (const { response } of this.#clients) response.end();
  }
}
