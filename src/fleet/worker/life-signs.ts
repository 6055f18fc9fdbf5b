// Signs of life of all attempts that a worker has from a coordinator: one request a second tells that they are at work.

import type { Clock } from '../../base/ports.ts';
import { failure } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { type CoordinatorClient, Superseded } from './coordinator-client.ts';

/** An attempt at work. */
export type Sign = {
  readonly client: Pick<CoordinatorClient, 'address' | 'id' | 'token' | 'beat'>;
  /** The coordinator wants the agent to end. */
  readonly onStop: () => void;
  /** It takes nothing more of the attempt. */
  readonly onFailure: (error: unknown) => void;
};

export type Signs = Pick<LifeSigns, 'add'>;

const BEAT_MS = 1_000;

/** `carrier`: its request tells of all of them. */
type Group = { readonly signs: Set<Sign>; readonly over: AbortController; carrier: Sign | null; round: Promise<void> };

export class LifeSigns {
  readonly #clock: Clock;
  /** By the addresses of coordinators. */
  readonly #groups = new Map<string, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns ends it, and resolves when no request of the attempt is under way */
  add(sign: Sign): () => Promise<void> {
    const { address } = sign.client;
    const known = this.#groups.get(address);
    const made = { signs: new Set<Sign>(), over: new AbortController(), carrier: null, round: Promise.resolve() };
    const group: Group = known ?? made;
    group.signs.add(sign);
    if (known === undefined) {
      this.#groups.set(address, group);
      void this.#run(group);
    }
    return async () => {
      group.signs.delete(sign);
      if (group.signs.size === 0) {
        group.over.abort();
        if (this.#groups.get(address) === group) this.#groups.delete(address);
      }
      if (group.carrier === sign) await group.round;
    };
  }

  async #run(group: Group): Promise<void> {
    const { signal } = group.over;
    while (!signal.aborted) {
      await this.#clock.sleep(BEAT_MS, signal);
      group.round = this.#round(group);
      await group.round;
    }
  }

  /** Never rejects. */
  async #round(group: Group): Promise<void> {
    const [carrier, ...others] = group.signs;
    if (carrier === undefined) return;
    group.carrier = carrier;
    try {
      const told = others.map(({ client: { id, token } }) => ({ id, token }));
      const beat = { events: [], output: '', heard: [], wants: false, others: told };
      const answer = await carrier.client.beat(beat);
      if (answer.stop) carrier.onStop();
      const [stop, over] = [new Set(answer.others?.stop), new Set(answer.others?.over)];
      for (const one of others) {
        const { id } = one.client;
        if (stop.has(id)) one.onStop();
        if (over.has(id))
          this.#end(group, one, new Superseded(failure(FLEET_CODES.attempt_superseded, { attempt: id })));
      }
    } catch (error) {
      this.#end(group, carrier, error);
    } finally {
      group.carrier = null;
    }
  }

  /** One that is refused says nothing more. */
  #end(group: Group, sign: Sign, error: unknown): void {
    if (group.signs.delete(sign)) sign.onFailure(error);
  }
}
