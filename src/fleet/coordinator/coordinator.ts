// The coordinator: it knows the attempts that are with the queue or a worker, and lets nobody else act for their issues.

import { failure } from '../../base/rules/errors.ts';
import type { AgentRequestHandler, AgentSocket } from '../../daemon/ports.ts';
import { goOnProof, isSame, newToken, takeProof } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName, isOfRepository } from '../rules/job.ts';
import type { Fates, GoneOn, GoOnRequest, Kept } from '../wire.ts';
import type { AttemptQueue } from './attempt-queue.ts';
import type { KeptCommits } from './kept-commits.ts';
import type { RemoteAttempt } from './remote-attempt.ts';

export type CoordinatorOptions = {
  readonly queue: AttemptQueue;
  readonly key: string;
  readonly version: string;
  readonly leaseMs: number;
  readonly maxBundleBytes: number;
  readonly insecure: boolean;
  /** Where workers reach it. */
  readonly address: () => string;
};

/** Attempts whose end a worker may still report again. */
const KEPT_ENDS = 1_000;
/** Name of the variable by which the runner finds what answers the agent. */
const HANDLER_VARIABLE = 'TOOL_FLEET_HANDLER';

export type TakeRequest = {
  readonly id: string;
  readonly nonce: string;
  readonly worker: string;
  readonly version: string;
  readonly proof: string;
};

export class Coordinator {
  readonly options: CoordinatorOptions;
  readonly #attempts = new Map<string, RemoteAttempt>();
  readonly #handlers = new Map<string, AgentRequestHandler>();
  readonly #keepers = new Map<string, KeptCommits>();
  /** Tokens of attempts that have ended, by their ids. */
  readonly #ended = new Map<string, string>();

  constructor(options: CoordinatorOptions) {
    this.options = options;
  }

  add(attempt: RemoteAttempt): void {
    this.#attempts.set(attempt.id, attempt);
  }

  remove(attempt: RemoteAttempt): void {
    this.#attempts.delete(attempt.id);
    if (attempt.token !== null) this.#ended.set(attempt.id, attempt.token);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= KEPT_ENDS) break;
      this.#ended.delete(oldest);
    }
  }

  /**
   * The attempt of this id, for the worker that has its token. The id holds the fence and the number of the attempt.
   * Throws `attempt_not_begun` for repositories that this coordinator does not act for yet, `attempt_superseded` for all others.
   */
  admit(id: string, token: string): RemoteAttempt {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined)
      throw failure(this.#isOfOpen(id) ? FLEET_CODES.attempt_superseded : FLEET_CODES.attempt_not_begun, {
        attempt: attemptName(id),
      });
    attempt.admit(token);
    return attempt;
  }

  /** As `admit`, without a word. */
  admits(id: string, token: string): boolean {
    return this.#attempts.get(id)?.admits(token) === true;
  }

  #isOfOpen(id: string): boolean {
    return [...this.#keepers.keys()].some((repository) => isOfRepository(id, repository));
  }

  /** Signs of life: which of the agents are to be ended, and which attempts are not the worker's any more. */
  hear(signs: readonly { readonly id: string; readonly token: string }[]) {
    const [stop, over]: [string[], string[]] = [[], []];
    for (const { id, token } of signs) {
      if (!this.admits(id, token)) {
        if (this.#isOfOpen(id)) over.push(id);
      } else if (this.admit(id, token).isStopping) stop.push(id);
    }
    return { stop, over };
  }

  /** Whether the end of the attempt was taken already: a worker that got no answer reports it once more. */
  hasEnded(id: string, token: string): boolean {
    const known = this.#ended.get(id);
    return known !== undefined && isSame(token, known);
  }

  /** @returns ends it, when another coordinator may act for the repository */
  keeps(repository: string, kept: KeptCommits): () => void {
    const name = repository.toLowerCase();
    this.#keepers.set(name, kept);
    return () => {
      if (this.#keepers.get(name) === kept) this.#keepers.delete(name);
    };
  }

  /** What becomes of what a worker keeps of a repository. Nothing, where another coordinator acts for it. */
  fates(repository: string, kept: readonly Kept[], worker: string): Fates {
    return this.#keepers.get(repository.toLowerCase())?.fates(kept, worker) ?? { forget: [], bring: [] };
  }

  /** The repository whose kept work has this token. */
  keeperOf(id: string, token: string): KeptCommits | undefined {
    return [...this.#keepers.values()].find((one) => one.admits(id, token));
  }

  /** Gives an attempt to a worker that has the key and the version. */
  take({ id, nonce, worker, version, proof }: TakeRequest): {
    readonly attempt: RemoteAttempt;
    readonly token: string;
  } {
    const { key, version: expected } = this.options;
    if (!isSame(proof, takeProof(key, id, nonce, worker))) throw failure(FLEET_CODES.fleet_key_wrong, {});
    if (version !== expected) throw failure(FLEET_CODES.worker_version_wrong, { expected, got: version });
    const attempt = this.#attempts.get(id);
    if (attempt === undefined || attempt.isStopping)
      throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(id) });
    return { attempt, token: attempt.take(worker, nonce).token };
  }

  /**
   * Gives the attempt after one of an earlier coordinator to the worker whose agent is still at work on that one. Throws
   * `attempt_not_begun` while it may yet come, and `attempt_superseded` where another worker makes it.
   */
  goOn(asked: GoOnRequest): GoneOn {
    const { key, version: expected } = this.options;
    const { id, nonce, worker, version } = asked;
    if (!isSame(asked.proof, goOnProof(key, id, nonce, worker))) throw failure(FLEET_CODES.fleet_key_wrong, {});
    if (version !== expected) throw failure(FLEET_CODES.worker_version_wrong, { expected, got: version });
    const next = [...this.#attempts.values()].find((one) => !one.isStopping && one.follows(asked));
    if (next !== undefined) return next.goOn(asked);
    const isAwaited = this.#keepers.get(asked.repository.toLowerCase())?.awaits(asked);
    // The repository may not be open yet. The worker does not ask for ever.
    throw failure(isAwaited !== false ? FLEET_CODES.attempt_not_begun : FLEET_CODES.attempt_superseded, {
      attempt: attemptName(id),
    });
  }

  /** In the place of a socket on this machine. */
  readonly socket: AgentSocket = {
    open: async (handler) => {
      const key = newToken();
      this.#handlers.set(key, handler);
      return { env: { [HANDLER_VARIABLE]: key }, close: async () => void this.#handlers.delete(key) };
    },
  };

  handlerOf(env: Readonly<Record<string, string>>): AgentRequestHandler | null {
    return this.#handlers.get(env[HANDLER_VARIABLE] ?? '') ?? null;
  }
}
