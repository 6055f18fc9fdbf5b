// Work that workers keep until it is published: they hear when nobody needs it, and bring what this machine lacks.

import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import type { BringWork, Workspaces, WorkspaceTask } from '../../daemon/ports.ts';
import { quietTask } from '../../daemon/publish/publish.ts';
import type { DaemonState } from '../../daemon/rules/state.ts';
import type { Mirror } from '../../daemon/workspaces/mirror/mirror.ts';
import { isSame, newToken } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { isSettled } from '../rules/kept-fate.ts';
import type { Fates, Kept } from '../wire.ts';
import type { WorkCarrier } from '../work-carrier.ts';
import { inTime } from './in-time.ts';

export type KeptCommitsOptions = {
  readonly carrier: Pick<WorkCarrier, 'adopt' | 'has'>;
  readonly mirror: Pick<Mirror, 'refresh'>;
  readonly workspaces: Pick<Workspaces, 'prepare' | 'afterCreate' | 'complete'>;
  readonly state: () => DaemonState;
  /** Whether the last attempt at the issue was another coordinator's. */
  readonly wasElsewhere: (issue: number) => boolean;
  /** A place for bundles. */
  readonly directory: string;
  readonly maxBundleBytes: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A worker asks every few seconds, once it knows who acts for the repository. */
const WAIT_MS = 60_000;

type Wanted = {
  readonly task: WorkspaceTask;
  /** Null: whatever the attempt has handed in. */
  readonly head: string | null;
  readonly token: string;
  /** As a worker offered it; null: none did yet. */
  offered: Kept | null;
  /** Being taken in. */
  taking: Promise<void> | null;
  readonly brought: AbortController;
};

function isWanted({ life, attempt, head }: Kept, { task, head: wanted }: Wanted): boolean {
  return wanted === null ? life === task.life && attempt === task.attempt : head === wanted;
}

export class KeptCommits {
  readonly #options: KeptCommitsOptions;
  readonly #wanted = new Map<number, Wanted>();

  constructor(options: KeptCommitsOptions) {
    this.#options = options;
  }

  /** For the step that needs the commit: waits for it so long that each worker could be asked. */
  readonly bring: BringWork = async (entry, head, signal, onWait) => {
    const { carrier, mirror, clock, leaseMs, wasElsewhere } = this.#options;
    const task = quietTask(entry);
    const isHere = async () => (head === null ? !wasElsewhere(entry.number) : carrier.has(task, head, signal));
    if (await isHere()) return true;
    // What was pushed, the hosting service has.
    await mirror.refresh(signal);
    if (await isHere()) return true;
    const ms = WAIT_MS + leaseMs;
    await onWait(ms);
    const wanted: Wanted = {
      task,
      head,
      token: newToken(),
      offered: null,
      taking: null,
      brought: new AbortController(),
    };
    this.#wanted.set(entry.number, wanted);
    try {
      await clock.sleep(ms, AbortSignal.any([signal, wanted.brought.signal]));
      // What has begun to arrive is waited for.
      await wanted.taking?.catch(() => undefined);
    } finally {
      this.#wanted.delete(entry.number);
    }
    return wanted.brought.signal.aborted;
  };

  /** What becomes of what a worker keeps. */
  fates(kept: readonly Kept[]): Fates {
    const state = this.#options.state();
    const bring = kept.flatMap((one) => {
      const wanted = this.#wanted.get(one.issue);
      if (wanted === undefined || wanted.taking !== null || !isWanted(one, wanted)) return [];
      wanted.offered = one;
      return [{ id: one.id, token: wanted.token }];
    });
    return { forget: kept.filter((one) => isSettled(state, one)).map(({ id }) => id), bring };
  }

  /** Where a bundle may be received. */
  async place(): Promise<string> {
    const { directory } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return join(directory, `${randomBytes(9).toString('hex')}.bundle`);
  }

  /** Whether the token is that of commits that are waited for. */
  admits(id: string, token: string): boolean {
    return this.#find(id, token) !== undefined;
  }

  #find(id: string, token: string): Wanted | undefined {
    return [...this.#wanted.values()].find(({ offered, token: own }) => offered?.id === id && isSame(token, own));
  }

  /** Takes a bundle in with the same checks as any other, as the work of its attempt. @param path of the bundle */
  async take(id: string, token: string, path: string): Promise<void> {
    const wanted = this.#find(id, token);
    if (wanted?.offered == null || wanted.taking !== null)
      throw failure(FLEET_CODES.attempt_superseded, { attempt: id });
    const { offered } = wanted;
    wanted.taking = inTime(this.#options.clock, (signal) => this.#adopt(wanted, offered, path, signal));
    try {
      await wanted.taking;
      wanted.brought.abort();
    } catch (error) {
      const what = { attempt: id, said: messageOf(error) };
      this.#options.log.log('warn', 'publish', refusal(FLEET_CODES.kept_work_refused, what), { issue: offered.issue });
      throw error;
    } finally {
      wanted.taking = null;
    }
  }

  async #adopt({ task }: Wanted, { head, files, base }: Kept, path: string, signal: AbortSignal): Promise<void> {
    const { carrier, workspaces, maxBundleBytes } = this.#options;
    if ((await workspaces.prepare(task, signal)).created) {
      await workspaces.afterCreate(task, signal);
      await workspaces.complete(task, signal);
    }
    await carrier.adopt(task, path, { head, files }, { base, maxBundleBytes }, signal);
  }
}
