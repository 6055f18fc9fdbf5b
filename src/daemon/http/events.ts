// Server-sent events: a snapshot, then what changed; of the state, or of the page's markup.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StateView } from '../view.ts';
import { Feed, type Frame } from './feed.ts';
import { issueParts, type ShownSource, shownIssue } from './issue-page.ts';
import { pageParts } from './page.ts';
import { numberIn } from './routes.ts';
import type { Source } from './source.ts';
import { stateFrame } from './state-frame.ts';

const MAX_CLIENTS = 64;
/** Changes that come together are sent together. */
const COALESCE_MS = 200;
const HEARTBEAT_MS = 15_000;

/** The state, the status page, or the page of an issue. */
type Kind = 'state' | 'page' | number;

type ChangingSource = ShownSource & Pick<Source, 'state' | 'onChange'>;

function markupFrame(parts: Readonly<Record<string, string>>): Frame {
  return new Map(Object.entries(parts).map(([id, markup]) => [id, JSON.stringify(markup)]));
}

type Client = {
  readonly response: ServerResponse;
  readonly kind: Kind;
  /** Up to where it has been sent everything; undefined: it has nothing. */
  at: string | undefined;
  /** It did not take the last change. */
  isBehind: boolean;
};

function kindOf(request: IncomingMessage): Kind {
  const query = new URL(request.url ?? '/', 'http://here').searchParams;
  if (query.get('view') !== 'page') return 'state';
  return numberIn(query.get('issue') ?? '') ?? 'page';
}

export class EventStream {
  readonly #source: ChangingSource;
  readonly #clients = new Set<Client>();
  /** Those of issues only while they have readers. */
  readonly #feeds = new Map<Kind, Feed>();
  readonly #name = randomBytes(6).toString('hex');
  #opened = 0;
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #pending: NodeJS.Timeout | undefined;

  constructor(source: ChangingSource) {
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
    response.once('close', () => this.#left(client));
    response.on('drain', () => {
      if (client.isBehind) this.#send(client);
    });
    this.#take();
    for (const one of this.#clients) this.#send(one);
  }

  #left(client: Client): void {
    this.#clients.delete(client);
    const { kind } = client;
    if (typeof kind === 'number' && ![...this.#clients].some((one) => one.kind === kind)) this.#feeds.delete(kind);
  }

  #feedOf(kind: Kind): Feed {
    const known = this.#feeds.get(kind);
    if (known !== undefined) return known;
    this.#opened += 1;
    const feed = new Feed(`${this.#name}-${this.#opened}`);
    this.#feeds.set(kind, feed);
    return feed;
  }

  /** Each feed takes the state once, whoever reads it; one without a reader takes it when somebody comes. */
  #take(): void {
    const view = this.#source.state();
    const kinds = new Set([...this.#clients].map(({ kind }) => kind));
    for (const kind of kinds) {
      const frame = this.#frameOf(kind, view);
      // An issue that nobody knows any more stays as it was.
      if (frame !== undefined) this.#feedOf(kind).take(frame, view.generated_at);
    }
  }

  #frameOf(kind: Kind, view: StateView): Frame | undefined {
    if (kind === 'state') return stateFrame(view);
    if (kind === 'page') return markupFrame(pageParts(view));
    const shown = shownIssue(this.#source, kind, view, Number.POSITIVE_INFINITY);
    return shown && markupFrame(issueParts(shown));
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
    const feed = this.#feedOf(client.kind);
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
