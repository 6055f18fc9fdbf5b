// One attempt that a worker makes: it answers the requests of that worker alone, and ends when the worker says how, or is lost.

import type { AgentEvent, RunEnd, RunHooks } from '../../agents/ports.ts';
import { NO_USAGE } from '../../agents/rules/usage.ts';
import type { Clock } from '../../base/ports.ts';
import { failure } from '../../base/rules/errors.ts';
import { SerialQueue } from '../../base/serial-queue.ts';
import type { AgentRequest, AgentRequestHandler, RequestPlace } from '../../daemon/ports.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import { isSame, newToken } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptId, attemptName, type FleetJob } from '../rules/job.ts';
import type { AgentUsage, Beat, GoneOn, GoOnRequest, Order, WorkCommits, WorkerEnd } from '../wire.ts';

export type RemoteAttemptOptions = {
  readonly job: FleetJob;
  readonly order: Order;
  /** The bundle with which the worker begins. */
  readonly bundle: string;
  readonly hooks: RunHooks;
  /** Makes a bundle for a worker that has a commit; false: that is of no use, and it needs the whole one. */
  readonly packSince?: (have: string, path: string) => Promise<boolean>;
  /** Answers what the agent asks; null: nobody does. */
  readonly handler: AgentRequestHandler | null;
  /** Takes what the worker hands in. */
  readonly adopt: (path: string | null, work: WorkCommits, base: string) => Promise<void>;
  readonly onEvidence: (evidence: Evidence) => Promise<void>;
  /** A worker has it. */
  readonly onTaken?: (worker: string) => void;
  /** Counted for the attempt before, whose agent may go on with it; null: no agent may. */
  readonly usedBefore?: AgentUsage | null;
  readonly clock: Clock;
};

const BEAT = 'beat';
/** Requests whose answers are kept for a worker that did not get them. Of beats the last one is enough. */
const KEPT_CALLS = 100;

/** Never less than nothing. */
function summed(one: AgentUsage, other: AgentUsage, sign: 1 | -1): AgentUsage {
  return {
    input_tokens: Math.max(0, one.input_tokens + sign * other.input_tokens),
    output_tokens: Math.max(0, one.output_tokens + sign * other.output_tokens),
    cost_usd: Math.max(0, one.cost_usd + sign * other.cost_usd),
    turns: Math.max(0, one.turns + sign * other.turns),
  };
}

type Call = { readonly verb: string; readonly answer: Promise<unknown>; isPending: boolean };

type Taken = { readonly worker: string; readonly nonce: string; readonly token: string };

export class RemoteAttempt {
  readonly options: RemoteAttemptOptions;
  readonly id: string;
  readonly ended: Promise<RunEnd>;
  readonly #calls = new Map<string, Call>();
  /** Work and the end come one after the other. */
  readonly #line = new SerialQueue();
  readonly #stopping = new AbortController();
  #receiving = new AbortController();
  #taken: Taken | null = null;
  #heardAt: number;
  #resolve: (end: RunEnd) => void = () => undefined;
  #isOver = false;
  #said = '';
  /** The agent was at work before it began. */
  #goesOn = false;
  #base: string;
  #started: Promise<void> | undefined;
  /** All that its agent used before it began: the agent counts from its own beginning. */
  #usedBefore: AgentUsage | null = null;

  constructor(options: RemoteAttemptOptions) {
    this.options = options;
    this.id = attemptId(options.job);
    this.#heardAt = options.clock.elapsed();
    this.#base = options.order.base;
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

  /** Whether the queue has a lock for it: an agent that goes on was taken from a queue that is gone. */
  get isInQueue(): boolean {
    return !this.#goesOn;
  }

  get silentMs(): number {
    return this.options.clock.elapsed() - this.#heardAt;
  }

  /** Gives it to a worker; a second request of the same one gets the same answer. */
  take(worker: string, nonce: string): Taken {
    const known = this.#taken;
    if (known !== null && known.nonce !== nonce)
      throw failure(FLEET_CODES.attempt_taken, { attempt: attemptName(this.id), worker: known.worker });
    this.#heardAt = this.options.clock.elapsed();
    if (known !== null) return known;
    const taken = { worker, nonce, token: newToken() };
    this.#taken = taken;
    this.options.onTaken?.(worker);
    const text = `attempt ${this.options.job.attempt} is with the worker ${worker}`;
    this.options.hooks.onEvent({ type: 'log', level: 'info', text });
    this.options.hooks.onEvent({ type: 'message', text: `the worker ${worker} has it` });
    return taken;
  }

  /** Whether the agent of that attempt may go on with this one. */
  follows({ repository, issue, life, attempt }: GoOnRequest): boolean {
    const { job, usedBefore } = this.options;
    const isSameIssue = job.repository.toLowerCase() === repository.toLowerCase() && job.issue === issue;
    return (usedBefore ?? null) !== null && isSameIssue && job.life === life && job.attempt === attempt + 1;
  }

  /** Gives it to a worker with its agent at work. */
  goOn({ worker, nonce, attempt, base, pid, used: earlier }: GoOnRequest): GoneOn {
    const { job, usedBefore } = this.options;
    const { token } = this.take(worker, nonce);
    const used = this.#usedBefore ?? summed(earlier, usedBefore ?? NO_USAGE, 1);
    const gone = { token, attempt: job.attempt, fence: job.fence, used };
    if (this.#usedBefore !== null) return gone;
    this.#usedBefore = used;
    this.#goesOn = true;
    this.#base = base;
    this.options.hooks.onGoesOn?.();
    const text = `its agent of attempt ${attempt} goes on`;
    this.options.hooks.onEvent({ type: 'log', level: 'info', text });
    this.started(pid).catch(() => undefined);
    return gone;
  }

  /** Into the daemon's log, once for the same words in a row. */
  say(text: string): void {
    if (text !== this.#said) this.options.hooks.onEvent({ type: 'log', level: 'warn', text });
    this.#said = text;
  }

  admits(token: string): boolean {
    return !this.#isOver && this.#taken !== null && isSame(token, this.#taken.token);
  }

  /** Throws where the token is not that of the worker that has it. */
  admit(token: string): void {
    if (!this.admits(token)) throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(this.id) });
    this.#heardAt = this.options.clock.elapsed();
  }

  /** A request that comes again, since its answer was lost, gets that answer. @param call its own number */
  once<T>(verb: string, call: string, answer: () => Promise<T>): Promise<T> {
    const known = this.#calls.get(`${verb} ${call}`);
    // The same call has the same kind of answer.
    if (known !== undefined) return known.answer as Promise<T>;
    const answered = answer();
    const made: Call = { verb, answer: answered, isPending: true };
    const settle = () => {
      made.isPending = false;
    };
    answered.then(settle, settle);
    this.#forgetCalls(verb);
    this.#calls.set(`${verb} ${call}`, made);
    return answered;
  }

  /** Before one more of the verb. A call without an answer yet stays: it would be made twice. */
  #forgetCalls(verb: string): void {
    const answered = [...this.#calls].filter(([, one]) => !one.isPending);
    const beats = answered.filter(([, one]) => one.verb === BEAT);
    const others = answered.filter(([, one]) => one.verb !== BEAT);
    const dropped = [...(verb === BEAT ? beats : []), ...others.slice(0, Math.max(0, others.length - KEPT_CALLS))];
    for (const [key] of dropped) this.#calls.delete(key);
  }

  beat({ events, output, heard, wants }: Beat) {
    const { hooks } = this.options;
    if (output !== '') hooks.output(output);
    for (const event of events) hooks.onEvent(event.type === 'usage' ? this.#since(event) : event);
    if (heard.length > 0) hooks.heardWords?.(heard);
    const words = wants ? (hooks.takeWords?.() ?? null) : null;
    return { stop: this.#stopping.signal.aborted, words };
  }

  #since(event: Extract<AgentEvent, { type: 'usage' }>): AgentEvent {
    return this.#usedBefore === null ? event : { ...event, usage: summed(event.usage, this.#usedBefore, -1) };
  }

  started(pid: number): Promise<void> {
    this.#started ??= this.options.hooks.onStarted(pid);
    return this.#started;
  }

  async turn(): Promise<{ readonly prompt: string | null }> {
    return { prompt: this.#stopping.signal.aborted ? null : await this.options.hooks.nextTurn() };
  }

  async ask(request: AgentRequest, signal: AbortSignal, place: RequestPlace): Promise<unknown> {
    const { handler } = this.options;
    if (handler === null) throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(this.id) });
    // No combined signal: Node 20 keeps each of them as long as the coordinator runs.
    const over = new AbortController();
    const end = () => over.abort();
    const sources = [signal, this.#stopping.signal];
    for (const source of sources) source.addEventListener('abort', end, { once: true });
    if (sources.some(({ aborted }) => aborted)) end();
    try {
      return await handler(request, over.signal, place);
    } finally {
      for (const source of sources) source.removeEventListener('abort', end);
    }
  }

  /** Ends what is being received until now: a worker has one bundle on its way, and this machine one file of it. */
  receive(): AbortSignal {
    this.#receiving.abort();
    this.#receiving = new AbortController();
    if (this.#isOver) this.#receiving.abort();
    return this.#receiving.signal;
  }

  work(path: string | null, commits: WorkCommits): Promise<void> {
    return this.#line.run(() => {
      // It may have been ended while the bytes came.
      if (this.#isOver) throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(this.id) });
      return this.options.adopt(path, commits, this.#base);
    });
  }

  end({ end, returned, evidence }: WorkerEnd): Promise<void> {
    return this.#line.run(async () => {
      if (this.#isOver) throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(this.id) });
      // Written down by the time that the attempt has ended: whatever happens then, the commit is not measured again.
      if (evidence !== null) await this.options.onEvidence(evidence);
      const worker = this.worker ?? '';
      const cutOff = { kind: 'returned', worker } as const;
      // Somebody has to find the machine.
      const isItsOwn = !end.ok && end.fault === 'runtime';
      const told = isItsOwn ? { ...end, words: `on the worker ${worker}: ${end.words}` } : end;
      this.#finish(returned ? { ok: false, words: '', fault: 'runtime', resumable: true, cutOff } : told);
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
    const words = this.worker === null ? 'no worker had it' : '';
    const end: RunEnd = { ok: false, words, fault: 'runtime', resumable: true, cutOff };
    this.#isOver = true;
    this.#receiving.abort();
    await this.#line.run(async () => this.#resolve(end));
  }

  #finish(end: RunEnd): void {
    this.#isOver = true;
    this.#resolve(end);
  }
}
