// Server-sent events: a snapshot, then what changed; of the state, or of the page's markup.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { isFailure, messageOf } from '../base/rules/errors.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import type { StateView } from '../daemon/view.ts';
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
type Kind = 'state' | 'page' | `${string}#${number}`;

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
  const issue = numberIn(query.get('issue') ?? '');
  return issue === undefined ? 'page' : `${query.get('repository') ?? ''}#${issue}`;
}

export class EventStream {
  readonly #source: ChangingSource;
  readonly #log: Logger;
  readonly #clients = new Set<Client>();
  /** Those of issues only while they have readers. */
  readonly #feeds = new Map<Kind, Feed>();
  /** Issues that could not be read last. */
  readonly #unread = new Set<Kind>();
  readonly #name = randomBytes(6).toString('hex');
  #opened = 0;
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #pending: NodeJS.Timeout | undefined;
  /** Why the last change could not be shown; empty: it could. */
  #failed = '';

  constructor(source: ChangingSource, log: Logger) {
    this.#source = source;
    this.#log = log;
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
    this.#take([client.kind]);
    this.#send(client);
  }

  #left(client: Client): void {
    this.#clients.delete(client);
    const { kind } = client;
    if (kind === 'state' || kind === 'page' || [...this.#clients].some((one) => one.kind === kind)) return;
    this.#feeds.delete(kind);
    this.#unread.delete(kind);
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
  #take(kinds: Iterable<Kind>): void {
    const view = this.#source.state();
    for (const kind of kinds) {
      const frame = this.#frameOf(kind, view);
      // An issue that nobody knows any more, or that cannot be read now, stays as it was.
      if (frame !== undefined) this.#feedOf(kind).take(frame, view.generated_at);
    }
  }

  #frameOf(kind: Kind, view: StateView): Frame | undefined {
    if (kind === 'state') return stateFrame(view);
    if (kind === 'page') return markupFrame(pageParts(view));
    const [repository = '', issue] = kind.split('#');
    const asked = { issue: Number(issue), repository: repository === '' ? undefined : repository };
    try {
      const shown = shownIssue(this.#source, asked, view, Number.POSITIVE_INFINITY);
      this.#unread.delete(kind);
      return shown && markupFrame(issueParts(shown));
    } catch (error) {
      // One that is not watched any more, or not now: its page stays as it was.
      if (isFailure(error, WORK_CODES.repository_not_known) || isFailure(error, WORK_CODES.repository_not_open))
        return undefined;
      const isNew = !this.#unread.has(kind);
      this.#unread.add(kind);
      const what = { issue: asked.issue, said: messageOf(error) };
      if (isNew) this.#log.log('warn', 'http', refusal(HTTP_CODES.issue_page_unread, what), { issue: asked.issue });
      return undefined;
    }
  }

  #changed(): void {
    if (this.#clients.size === 0 || this.#pending !== undefined) return;
    this.#pending = setTimeout(() => {
      this.#pending = undefined;
      if (this.#clients.size === 0) return;
      this.#takeAll();
      for (const client of this.#clients) this.#send(client);
    }, COALESCE_MS);
    this.#pending.unref();
  }

  /** A state that cannot be shown, as of another build of a coordinator, changes nothing. */
  #takeAll(): void {
    let said = '';
    try {
      this.#take(new Set([...this.#clients].map(({ kind }) => kind)));
    } catch (error) {
      said = messageOf(error);
      const why = refusal(WORK_CODES.background_task_failed, { task: 'the event stream', said });
      if (said !== this.#failed) this.#log.log('error', 'http', why);
    }
    this.#failed = said;
  }

  #send(client: Client): void {
    // Whoever does not read gets what it missed when there is room again, and no more than the snapshot.
    client.isBehind = client.response.writableNeedDrain;
    if (client.isBehind) return;
    const feed = this.#feeds.get(client.kind);
    // Nothing is known of it: a snapshot would empty its page.
    if (feed === undefined) return;
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
