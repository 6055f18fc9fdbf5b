// Signs of life of all attempts that a worker has from a coordinator: one request a second tells that they are at work.

import type { Clock } from '../../base/ports.ts';
import { failure } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName } from '../rules/job.ts';
import { Moved, Superseded } from './coordinator-answers.ts';
import type { CoordinatorClient } from './coordinator-client.ts';

/** An attempt at work. */
export type Sign = {
  readonly client: Pick<CoordinatorClient, 'address' | 'id' | 'token' | 'beat' | 'sign' | 'goOn'>;
  /** The coordinator wants the agent to end. */
  readonly onStop: () => void;
  /** No coordinator takes anything more of the attempt. */
  readonly onFailure: (error: unknown) => void;
};

export type Signs = Pick<LifeSigns, 'add'>;

const BEAT_MS = 1_000;

/** Attempts of the coordinator at one address. `carrier`: its request tells of all of them. */
type Group = {
  readonly address: string;
  readonly signs: Set<Sign>;
  readonly over: AbortController;
  carrier: Sign | null;
  round: Promise<void>;
};

export class LifeSigns {
  readonly #clock: Clock;
  /** By the addresses of coordinators. */
  readonly #groups = new Map<string, Group>();
  /** Null while another coordinator is asked to go on with the attempt. */
  readonly #groupOf = new Map<Sign, Group | null>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns ends it, and resolves when no request of the attempt is under way */
  add(sign: Sign): () => Promise<void> {
    this.#join(sign);
    return async () => {
      const group = this.#groupOf.get(sign);
      this.#leave(sign);
      this.#groupOf.delete(sign);
      if (group?.carrier === sign) await group.round;
    };
  }

  #join(sign: Sign): void {
    const { address } = sign.client;
    const known = this.#groups.get(address);
    const made = {
      address,
      signs: new Set<Sign>(),
      over: new AbortController(),
      carrier: null,
      round: Promise.resolve(),
    };
    const group: Group = known ?? made;
    group.signs.add(sign);
    this.#groupOf.set(sign, group);
    if (known !== undefined) return;
    this.#groups.set(address, group);
    void this.#run(group);
  }

  #leave(sign: Sign): void {
    const group = this.#groupOf.get(sign);
    this.#groupOf.set(sign, null);
    group?.signs.delete(sign);
    if (group?.signs.size !== 0) return;
    group.over.abort();
    if (this.#groups.get(group.address) === group) this.#groups.delete(group.address);
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
    const moved = [...group.signs].filter(({ client }) => client.address !== group.address);
    for (const sign of moved) {
      this.#leave(sign);
      this.#join(sign);
    }
    const [carrier, ...others] = group.signs;
    if (carrier === undefined) return;
    group.carrier = carrier;
    try {
      const told = others.map((sign) => ({ sign, id: sign.client.id, token: sign.client.token }));
      const beat = {
        events: [],
        output: '',
        heard: [],
        wants: false,
        others: told.map(({ id, token }) => ({ id, token })),
      };
      const answer = await carrier.client.sign(beat);
      if (answer.stop) carrier.onStop();
      // Another coordinator answered, which may not know the others yet.
      if (carrier.client.address !== group.address) return;
      const [stop, over] = [new Set(answer.others?.stop), new Set(answer.others?.over)];
      for (const { sign, id } of told) {
        if (stop.has(id)) sign.onStop();
        // Under its new id another coordinator has it.
        if (over.has(id) && id === sign.client.id) void this.#goOn(sign);
      }
    } catch (error) {
      if (!group.signs.has(carrier)) return;
      if (error instanceof Superseded || error instanceof Moved) void this.#goOn(carrier);
      else this.#end(carrier, error);
    } finally {
      group.carrier = null;
    }
  }

  /** Its coordinator takes nothing more of it. Never rejects. */
  async #goOn(sign: Sign): Promise<void> {
    const { id } = sign.client;
    this.#leave(sign);
    const goesOn = await sign.client.goOn();
    if (!this.#groupOf.has(sign)) return;
    if (goesOn) this.#join(sign);
    else this.#end(sign, new Superseded(failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(id) })));
  }

  /** One that is refused says nothing more. */
  #end(sign: Sign, error: unknown): void {
    this.#leave(sign);
    sign.onFailure(error);
  }
}
