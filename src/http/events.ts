// Server-sent events: the state, whenever it changed; for the page, the parts of it that changed.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pageParts } from './page.ts';
import type { Source } from './source.ts';

const MAX_CLIENTS = 64;
/** Changes that come together are sent together. */
const COALESCE_MS = 200;
const HEARTBEAT_MS = 15_000;

type Client = { readonly response: ServerResponse; readonly asPage: boolean; sent: Readonly<Record<string, string>> };

export class EventStream {
  readonly #source: Source;
  readonly #clients = new Set<Client>();
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #pending: NodeJS.Timeout | undefined;
  #id = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#unsubscribe = source.onChange(() => this.#changed());
    this.#heartbeat = setInterval(() => {
      for (const { response } of this.#clients) response.write(': still here\n\n');
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
    this.#send(client);
  }

  #changed(): void {
    if (this.#clients.size === 0 || this.#pending !== undefined) return;
    this.#pending = setTimeout(() => {
      this.#pending = undefined;
      for (const client of this.#clients) this.#send(client);
    }, COALESCE_MS);
    this.#pending.unref();
  }

  #send(client: Client): void {
    // Whoever does not read gets the next state when there is room again.
    if (client.response.writableNeedDrain) return;
    const view = this.#source.state();
    this.#id += 1;
    if (!client.asPage) {
      client.response.write(`id: ${this.#id}\nevent: state\ndata: ${JSON.stringify(view)}\n\n`);
      return;
    }
    const parts = pageParts(view);
    const changed = Object.fromEntries(Object.entries(parts).filter(([id, markup]) => client.sent[id] !== markup));
    client.sent = parts;
    client.response.write(
      `id: ${this.#id}\nevent: page\ndata: ${JSON.stringify({ now: view.generated_at, parts: changed })}\n\n`,
    );
  }

  close(): void {
    this.#unsubscribe();
    clearInterval(this.#heartbeat);
    clearTimeout(this.#pending);
    for (const { response } of this.#clients) response.end();
  }
}
