// Takes deliveries of webhooks: checks signature, size and repository, and passes on what is to be read.

import type { IncomingMessage } from 'node:http';
import type { Clock, Logger } from '../base/ports.ts';
import { type Refusal, refusal, textOf } from '../base/rules/codes.ts';
import { got, oneLine } from '../base/rules/text.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';
import type { Delivery, DeliveryResult, WebhookStatus } from '../daemon/rules/delivery.ts';
import type { Look } from '../daemon/rules/look.ts';
import type { Refused } from './access-control.ts';
import { readBody, TooLarge } from './request-body.ts';

export type WebhookOptions = {
  readonly secret: string;
  /** What takes the deliveries of a repository, named `<owner>/<repo>`; undefined: it is none of ours. */
  readonly takes: (repository: string) => ((event: string, look: Look) => void) | undefined;
  /** Names ours. */
  readonly ours: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** @param text exactly what was sent */
  readonly isSigned: (secret: string, text: string, signature: string) => Promise<boolean>;
  /** Undefined when the text is no payload. */
  readonly decode: (event: string, text: string) => Delivery | undefined;
};

/** `work`: begun when the delivery was answered. */
export type Answered = {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
  readonly work?: () => void;
};

/** The service sends no more. */
const MOST_BYTES = 25 * 1024 * 1024;
/** Bodies that are being read may take so much memory together. */
const MOST_MEMORY = 64 * 1024 * 1024;
/** So many deliveries are remembered. */
const REMEMBERED = 10_000;
const LINES_PER_MINUTE = 10;
/** So many other repositories are known by name. */
const MOST_STRANGERS = 1_000;
const MINUTE_MS = 60_000;

const NOTHING = { accepted: 0, ping: 0, known: 0, ignored: 0, forged: 0, malformed: 0 };

class Busy extends Error {}

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #counts: Record<DeliveryResult, number> = { ...NOTHING };
  /** Ids and signatures of valid deliveries, the newest last. An id is not signed: who repeats one may give it another. */
  readonly #known = new Set<string>();
  /** Other repositories that the log has named. */
  readonly #strangers = new Set<string>();
  #lastAt: number | null = null;
  #memory = 0;
  #lines = { since: Number.NEGATIVE_INFINITY, count: 0 };

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  get status(): WebhookStatus {
    return { lastAt: this.#lastAt, counts: { ...this.#counts } };
  }

  /** Answers one POST. */
  async receive(request: IncomingMessage): Promise<Answered | Refused> {
    const { headers } = request;
    const signature = String(headers['x-hub-signature-256'] ?? '');
    // Before anything is read: whoever has no secret is to cost nothing.
    if (!/^sha256=[0-9a-f]{64}$/.test(signature)) {
      request.resume();
      const what = signature === '' ? 'nothing' : 'another text';
      return this.#refuse(request, 'forged', 401, refusal(HTTP_CODES.webhook_unsigned, { got: what }));
    }
    const body = await this.#read(request);
    if ('why' in body) return this.#refuse(request, 'malformed', body.status, body.why);
    if (!(await this.#options.isSigned(this.#options.secret, body.text, signature)))
      return this.#refuse(request, 'forged', 401, refusal(HTTP_CODES.webhook_forged, {}));
    return this.#take(request, body.text, signature);
  }

  async #read(request: IncomingMessage): Promise<{ readonly text: string } | Refused> {
    let bytes = 0;
    try {
      const body = await readBody(request, MOST_BYTES, (more) => {
        if (this.#memory + more > MOST_MEMORY) throw new Busy();
        bytes += more;
        this.#memory += more;
      });
      // Exactly these bytes are signed.
      return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
    } catch (error) {
      // What is still on its way is read and dropped, so that the other end gets the answer.
      request.resume();
      if (error instanceof TooLarge) return { status: 413, why: refusal(HTTP_CODES.too_large, { limit: MOST_BYTES }) };
      if (error instanceof Busy) return { status: 503, why: refusal(HTTP_CODES.webhook_busy, {}) };
      if (!(error instanceof TypeError)) throw error;
      return { status: 400, why: malformed('body', 'text in UTF-8', 'other bytes') };
    } finally {
      this.#memory -= bytes;
    }
  }

  /** A delivery whose signature fits. */
  #take(request: IncomingMessage, text: string, signature: string): Answered | Refused {
    const { headers } = request;
    const refuse = (why: Refusal, status = 400) => this.#refuse(request, 'malformed', status, why);
    const event = String(headers['x-github-event'] ?? '');
    const id = String(headers['x-github-delivery'] ?? '');
    if (!/^[\w-]{1,100}$/.test(id)) return refuse(malformed('X-GitHub-Delivery', 'an id', got(id)));
    if (!/^\w{1,100}$/.test(event)) return refuse(malformed('X-GitHub-Event', 'the name of an event', got(event)));
    const payload = payloadOf(headers['content-type'] ?? 'no type', text);
    if (typeof payload !== 'string') return refuse(payload, 415);
    const delivery = this.#options.decode(event, payload);
    if (delivery === undefined) return refuse(malformed('payload', 'a JSON object', 'another text'));
    if (this.#known.has(id) || this.#known.has(signature)) {
      this.#say(refusal(HTTP_CODES.webhook_known, { id }));
      return this.#answer('known', 200, { delivery: id });
    }
    this.#remember(id, signature);
    const { repository, look } = delivery;
    const take = repository === null ? undefined : this.#options.takes(repository);
    if (repository !== null && take === undefined) {
      this.#sayStranger(oneLine(repository, 120));
      return this.#answer('ignored', 202, { delivery: id, reason: 'it is for another repository' });
    }
    this.#lastAt = this.#options.clock.now();
    if (event === 'ping') {
      this.#say('the webhook is set up: its ping has come');
      return this.#answer('ping', 200, { delivery: id });
    }
    if (look === null || take === undefined)
      return this.#answer('ignored', 202, { delivery: id, reason: `nothing is read for the event ${event}` });
    return {
      ...this.#answer('accepted', 202, { delivery: id }),
      work: () => take(event, look),
    };
  }

  /** A webhook of an organisation sends what happens in all its repositories: each is named once. */
  #sayStranger(name: string): void {
    if (this.#strangers.has(name.toLowerCase()) || this.#strangers.size >= MOST_STRANGERS) return;
    const isSaid = this.#say(refusal(HTTP_CODES.webhook_elsewhere, { repository: this.#options.ours, got: name }));
    if (isSaid) this.#strangers.add(name.toLowerCase());
  }

  #remember(...keys: readonly string[]): void {
    for (const key of keys) this.#known.add(key);
    for (const oldest of this.#known) {
      if (this.#known.size <= 2 * REMEMBERED) return;
      this.#known.delete(oldest);
    }
  }

  #answer(result: DeliveryResult, status: number, more: Readonly<Record<string, string>>): Answered {
    this.#counts[result] += 1;
    return { status, body: { result, ...more } };
  }

  #refuse(request: IncomingMessage, result: DeliveryResult, status: number, why: Refusal): Refused {
    this.#counts[result] += 1;
    const from = request.socket.remoteAddress ?? 'nobody known';
    this.#say(refusal(HTTP_CODES.webhook_refused, { from, said: textOf(why) }));
    return { status, why };
  }

  /** Whoever reaches the port can send as much as they want: the log gets some lines of it. Gives whether this is one. */
  #say(what: Refusal | string): boolean {
    const now = this.#options.clock.elapsed();
    if (now - this.#lines.since >= MINUTE_MS) this.#lines = { since: now, count: 0 };
    this.#lines.count += 1;
    const isSaid = this.#lines.count <= LINES_PER_MINUTE;
    if (isSaid) this.#options.log.log(typeof what === 'string' ? 'info' : 'warn', 'http', what);
    return isSaid;
  }
}

function malformed(parameter: string, expected: string, came: string): Refusal {
  return refusal(HTTP_CODES.bad_request, { parameter, expected, got: came });
}

/** The JSON text in a body of one of the two types that the service offers. */
function payloadOf(type: string, text: string): string | Refusal {
  if (/^application\/json\b/i.test(type)) return text;
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return new URLSearchParams(text).get('payload') ?? '';
  const expected = 'application/json or application/x-www-form-urlencoded';
  return refusal(HTTP_CODES.unsupported_media_type, { expected, got: oneLine(type, 80) });
}
