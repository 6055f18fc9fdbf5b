// One attempt that a worker makes: it answers the requests of that worker alone, and ends when the worker says how, or is lost.

import type { RunEnd, RunHooks } from '../../agents/ports.ts';
import type { Clock } from '../../base/ports.ts';
import { failure } from '../../base/rules/errors.ts';
import { SerialQueue } from '../../base/serial-queue.ts';
import type { AgentRequest, AgentRequestHandler } from '../../daemon/ports.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import { isSame, newToken } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptId, type FleetJob } from '../rules/job.ts';
import type { Beat, Order, WorkCommits, WorkerEnd } from '../wire.ts';

export type RemoteAttemptOptions = {
  readonly job: FleetJob;
  readonly order: Order;
  /** The bundle with which the worker begins. */
  readonly bundle: string;
  readonly hooks: RunHooks;
  /** Answers what the agent asks; null: nobody does. */
  readonly desk: AgentRequestHandler | null;
  /** Takes what the worker hands in. */
  readonly adopt: (path: string | null, work: WorkCommits) => Promise<void>;
  readonly onEvidence: (evidence: Evidence) => void;
  readonly clock: Clock;
};

/** Requests whose answers are kept for a worker that did not get them. */
const KEPT_CALLS = 100;

type Taken = { readonly worker: string; readonly nonce: string; readonly token: string };

export class RemoteAttempt {
  readonly options: RemoteAttemptOptions;
  readonly id: string;
  readonly ended: Promise<RunEnd>;
  readonly #calls = new Map<string, Promise<unknown>>();
  /** Work and the end come one after the other. */
  readonly #line = new SerialQueue();
  readonly #stopping = new AbortController();
  #taken: Taken | null = null;
  #heardAt: number;
  #resolve: (end: RunEnd) => void = () => undefined;
  #isOver = false;
  #said = '';

  constructor(options: RemoteAttemptOptions) {
    this.options = options;
    this.id = attemptId(options.job);
    this.#heardAt = options.clock.elapsed();
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Name of the worker; null: none has it yet. */
  get worker(): string | null {
    return this.#taken?.worker ?? null;
  }

  get token(): string | null {
    return this.#taken?.token ?? null;
  }

  get silentMs(): number {
    return this.options.clock.elapsed() - this.#heardAt;
  }

  /** Gives it to a worker; a second request of the same one gets the same answer. */
  take(worker: string, nonce: string): Taken {
    const known = this.#taken;
    if (known !== null && known.nonce !== nonce)
      throw failure(FLEET_CODES.attempt_taken, { attempt: this.id, worker: known.worker });
    this.#heardAt = this.options.clock.elapsed();
    if (known !== null) return known;
    const taken = { worker, nonce, token: newToken() };
    this.#taken = taken;
    const text = `attempt ${this.options.job.attempt} is with the worker ${worker}`;
    this.options.hooks.onEvent({ type: 'log', level: 'info', text });
    return taken;
  }

  /** Into the daemon's log, once for the same words in a row. */
  say(text: string): void {
    if (text !== this.#said) this.options.hooks.onEvent({ type: 'log', level: 'warn', text });
    this.#said = text;
  }

  /** Throws where the token is not that of the worker that has it. */
  admit(token: string): void {
    if (this.#isOver || this.#taken === null || !isSame(token, this.#taken.token))
      throw failure(FLEET_CODES.attempt_superseded, { attempt: this.id });
    this.#heardAt = this.options.clock.elapsed();
  }

  /** A request that comes again, since its answer was lost, gets that answer. @param call its own number */
  once<T>(call: string, answer: () => Promise<T>): Promise<T> {
    const known = this.#calls.get(call);
    // The same call has the same kind of answer.
    if (known !== undefined) return known as Promise<T>;
    const answered = answer();
    answered.catch(() => undefined);
    this.#calls.set(call, answered);
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= KEPT_CALLS) break;
      this.#calls.delete(oldest);
    }
    return answered;
  }

  beat({ events, output, heard, wants }: Beat) {
    const { hooks } = this.options;
    if (output !== '') hooks.output(output);
    for (const event of events) hooks.onEvent(event);
    if (heard.length > 0) hooks.heardWords?.(heard);
    const words = wants ? (hooks.takeWords?.() ?? null) : null;
    return { stop: this.#stopping.signal.aborted, words };
  }

  started(pid: number): Promise<void> {
    return this.options.hooks.onStarted(pid);
  }

  async turn(): Promise<{ readonly prompt: string | null }> {
    return { prompt: this.#stopping.signal.aborted ? null : await this.options.hooks.nextTurn() };
  }

  async ask(request: AgentRequest, signal: AbortSignal): Promise<unknown> {
    const { desk } = this.options;
    if (desk === null) throw failure(FLEET_CODES.attempt_superseded, { attempt: this.id });
    // No combined signal: Node 20 keeps each of them as long as the coordinator runs.
    const over = new AbortController();
    const end = () => over.abort();
    const sources = [signal, this.#stopping.signal];
    for (const source of sources) source.addEventListener('abort', end, { once: true });
    if (sources.some(({ aborted }) => aborted)) end();
    try {
      return await desk(request, over.signal);
    } finally {
      for (const source of sources) source.removeEventListener('abort', end);
    }
  }

  work(path: string | null, commits: WorkCommits): Promise<void> {
    return this.#line.run(() => {
      // It may have been ended while the bytes came.
      if (this.#isOver) throw failure(FLEET_CODES.attempt_superseded, { attempt: this.id });
      return this.options.adopt(path, commits);
    });
  }

  end({ end, returned, evidence }: WorkerEnd): Promise<void> {
    return this.#line.run(async () => {
      if (evidence !== null) this.options.onEvidence(evidence);
      const worker = this.worker ?? '';
      const cutOff = { kind: 'returned', worker } as const;
      this.#finish(returned ? { ok: false, words: '', fault: 'runtime', resumable: true, cutOff } : end);
    });
  }

  /** Asks the worker to end the agent. */
  stop(): void {
    this.#stopping.abort();
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Nothing of its worker counts any more. Resolves when what is being taken is. */
  async lose(): Promise<void> {
    const cutOff = { kind: 'lost', worker: this.worker ?? 'none' } as const;
    const end: RunEnd = { ok: false, words: '', fault: 'runtime', resumable: true, cutOff };
    this.#isOver = true;
    await this.#line.run(async () => this.#resolve(end));
  }

  #finish(end: RunEnd): void {
    this.#isOver = true;
    this.#resolve(end);
  }
}
