// Work of one attempt on its way to the coordinator. What that has not taken, or not published, is kept on this machine.

import { join } from 'node:path';
import { refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import type { WorkspaceTask } from '../../daemon/ports.ts';
import type { DiskWorkspaces } from '../../daemon/workspaces/workspaces.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName } from '../rules/job.ts';
import type { SignedJob, WorkCommits, WorkerEnd } from '../wire.ts';
import type { WorkCarrier } from '../work-carrier.ts';
import type { WorkspaceParts } from './attempt-workspace.ts';
import { Superseded } from './coordinator-answers.ts';
import type { CoordinatorClient } from './coordinator-client.ts';
import type { KeptRecord, KeptWork } from './kept-work.ts';

export type HandInParts = WorkspaceParts & {
  readonly client: CoordinatorClient;
  readonly job: SignedJob;
  readonly kept: KeptWork;
  readonly id: string;
};

/** End of an attempt whose worker does not go on with it. */
const RETURNED: WorkerEnd = {
  end: { ok: false, words: 'the worker was started again', fault: 'runtime', resumable: true },
  returned: true,
  evidence: null,
};

/** After the work was taken: an attempt that was lost since needs no end. */
export async function reportReturned(client: CoordinatorClient): Promise<void> {
  try {
    await client.end(RETURNED);
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}

function tipOf({ head, files }: WorkCommits): string {
  return files ?? head;
}

export class HandIn {
  readonly #parts: HandInParts;
  readonly #task: WorkspaceTask;
  #delivered: string;
  /** To which of its coordinators. */
  #deliveredIn = 0;
  /** The workspace may hold work that is nowhere else. */
  isUnsaved = false;
  /** The commit of the bundle that is kept since no coordinator took it. */
  #keptTip: string | null = null;
  /** The commit of the bundle that is kept until it is published. */
  #heldTip: string | null = null;
  /** The commit that was handed in with the bundle on the disk. */
  #bundled: string | null = null;

  constructor(parts: HandInParts, task: WorkspaceTask) {
    this.#parts = parts;
    this.#task = task;
    this.#delivered = tipOf(parts.order);
  }

  /** Whether this machine keeps work of the attempt. */
  get isKept(): boolean {
    return this.#keptTip !== null || this.#heldTip !== null;
  }

  /** Whether another coordinator has the attempt than the one that was given the work. */
  get isOfAnother(): boolean {
    return this.#parts.client.moves !== this.#deliveredIn;
  }

  /** Whether the coordinator that the attempt is of now has it. */
  #has(tip: string): boolean {
    return tip === this.#delivered && !this.isOfAnother;
  }

  record(work: WorkCommits | null): KeptRecord {
    const { client, order } = this.#parts;
    const { job } = client;
    return {
      job: { ...job, labels: [...job.labels] },
      token: client.token,
      order: { ...order, attempt: job.attempt },
      work,
    };
  }

  /** Hands in all of the workspace; gives the commit that can be published. */
  async all(workspaces: DiskWorkspaces, carrier: WorkCarrier): Promise<string | null> {
    const { signal } = new AbortController();
    const task = this.#task;
    const all = await carrier.read(task, signal);
    const head = await workspaces.peek(task, signal);
    const work = head === null || head === all.head ? all : { head, files: null };
    const tip = tipOf(work);
    try {
      await this.deliver(carrier, work);
      if (head !== null && this.#keptTip === null) await this.#keep(carrier, work, true);
    } finally {
      this.isUnsaved = !this.#has(tip) && tip !== this.#keptTip && tip !== this.#heldTip;
    }
    return head;
  }

  /** On this machine, as all that the base lacks: the coordinator's machine may be gone before it is published. Never rejects. */
  async #keep(carrier: WorkCarrier, work: WorkCommits, handed: boolean): Promise<string | null> {
    const { order, stateDir, kept, id, log } = this.#parts;
    const path = join(stateDir, 'handed-in.bundle');
    const isMade = this.#bundled === tipOf(work) && tipOf(order) === order.base;
    try {
      if (!isMade && !(await carrier.packNew(this.#task, path, work, [order.base], new AbortController().signal)))
        return null;
      const place = await kept.keep(id, { ...this.record(work), ...(handed ? { handed: true } : {}) }, path);
      this.#heldTip = handed ? tipOf(work) : null;
      return place;
    } catch (error) {
      log.log(
        'warn',
        'agent',
        refusal(FLEET_CODES.work_not_kept, { attempt: attemptName(id), said: messageOf(error) }),
      );
      return null;
    }
  }

  /** Once for each state. What the coordinator did not take, for whatever reason, stays on this machine. */
  async deliver(carrier: WorkCarrier, work: WorkCommits): Promise<void> {
    const { order, client, stateDir, id, log } = this.#parts;
    const tip = tipOf(work);
    const { moves } = client;
    if (this.#has(tip)) return;
    const { signal } = new AbortController();
    const path = join(stateDir, 'handed-in.bundle');
    // What an earlier coordinator had may be gone with it.
    const known = moves === 0 ? [tipOf(order), order.base] : [order.base];
    const isNew = await carrier.packNew(this.#task, path, work, known, signal);
    this.#bundled = isNew ? tip : null;
    try {
      await client.work(isNew ? path : null, work);
      this.#delivered = tip;
      this.#deliveredIn = moves;
      this.#keptTip = null;
    } catch (error) {
      if (moves !== client.moves) return this.deliver(carrier, work);
      if (isNew) {
        const place = await this.#keep(carrier, work, false);
        if (place !== null && tip !== this.#keptTip) {
          const what = { attempt: attemptName(id), path: place, said: messageOf(error) };
          log.log('warn', 'agent', refusal(FLEET_CODES.work_kept_on_worker, what));
        }
        this.#keptTip = place === null ? null : tip;
      }
      // Where nothing is new, the coordinator has it.
      if (!isNew) this.#delivered = tip;
      if (!isNew) this.#deliveredIn = moves;
      throw error;
    }
  }
}
