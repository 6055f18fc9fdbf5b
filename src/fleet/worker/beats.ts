// Reports of a worker on its agent, gathered into few requests: events and output, beside the signs of life.

import type { AgentEvent, Words } from '../../agents/ports.ts';
import type { Clock } from '../../base/ports.ts';
import { clip } from '../../base/rules/text.ts';
import type { Sign, Signs } from './life-signs.ts';

export type BeatsOptions = {
  readonly client: Sign['client'];
  /** Tells that the attempt is at work, while nothing else is said. */
  readonly signs: Signs;
  readonly clock: Clock;
  /** A team at work takes what people write meanwhile: each of its requests asks for that. */
  readonly wantsWords: boolean;
  /** The coordinator wants the agent to end. */
  readonly onStop: () => void;
  /** It takes nothing more. */
  readonly onFailure: (error: unknown) => void;
};

const BEAT_MS = 1_000;
/** The signs of life are enough. */
const LONG_MS = 3_600_000;
/** What comes soon after one another goes together. */
const GATHER_MS = 100;
/** A request of these stays below what the coordinator reads. */
const MOST_EVENTS = 200;
const MOST_OUTPUT = 256 * 1024;
/** Of a coordinator that is away for long, the first output and the last events are kept. */
const MOST_KEPT = 8 * 1024 * 1024;

export class Beats {
  readonly #options: BeatsOptions;
  readonly #over = new AbortController();
  #events: AgentEvent[] = [];
  #output = '';
  #heard: string[] = [];
  #words: Words[] = [];
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isRefused = false;

  constructor(options: BeatsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  event(event: AgentEvent): void {
    if (this.#events.length < 50 * MOST_EVENTS) this.#events.push(bounded(event));
    this.#wake.abort();
  }

  write(text: string): void {
    if (this.#output.length < MOST_KEPT) this.#output += text;
    this.#wake.abort();
  }

  /** A new step of the attempt. */
  enter(step: string): void {
    this.write(`--- ${step}\n`);
    this.event({ type: 'activity', name: step });
  }

  heard(keys: readonly string[]): void {
    this.#heard.push(...keys);
    this.#wake.abort();
  }

  takeWords(): Words | null {
    return this.#words.shift() ?? null;
  }

  /** Resolves when all that was said before is with the coordinator. */
  async flush(): Promise<void> {
    await this.#send();
    while (!this.#isRefused && (this.#events.length > 0 || this.#output !== '')) await this.#send();
  }

  async close(): Promise<void> {
    this.#over.abort();
    this.#wake.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { client, signs, wantsWords, onStop } = this.#options;
    const leave = wantsWords ? undefined : signs.add({ client, onStop, onFailure: (error) => this.#refuse(error) });
    await this.#report(wantsWords ? BEAT_MS : LONG_MS);
    await leave?.();
  }

  /** @param beatMs it reports that nothing is to be said so often */
  async #report(beatMs: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#over;
    while (!signal.aborted && !this.#isRefused) {
      await clock.sleep(beatMs, this.#wake.signal);
      await clock.sleep(GATHER_MS, signal);
      this.#wake = new AbortController();
      if (!signal.aborted) await this.#send();
    }
  }

  /** One after the other, so that events come in their order. */
  #send(): Promise<void> {
    this.#sending = this.#sending.then(() => this.#beat());
    return this.#sending;
  }

  async #beat(): Promise<void> {
    if (this.#isRefused) return;
    const { client, wantsWords, onStop } = this.#options;
    const events = this.#events.splice(0, MOST_EVENTS);
    const output = this.#output.slice(0, MOST_OUTPUT);
    this.#output = this.#output.slice(output.length);
    const heard = this.#heard.splice(0);
    try {
      const { stop, words } = await client.beat({ events, output, heard, wants: wantsWords });
      if (words !== null) this.#words.push(words);
      if (stop) onStop();
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#wake.abort();
    this.#options.onFailure(error);
  }
}

const MOST_WORD = 400;
const MOST_TEXT = 8_000;

/** As long as the coordinator takes. */
function bounded(event: AgentEvent): AgentEvent {
  if (event.type === 'message' || event.type === 'log') return { ...event, text: clip(event.text, MOST_TEXT) };
  if (event.type === 'activity') return { ...event, name: clip(event.name, MOST_WORD) };
  if (event.type !== 'tool_started') return event;
  return { ...event, name: clip(event.name, MOST_WORD) };
}
