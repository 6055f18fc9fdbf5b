// Evidence that workers sent with their work. This machine measures nothing again: no hook prepared the workspace here.

import { messageIn, refusal } from '../../base/rules/codes.ts';
import type { GateRequest, WorkGate } from '../../daemon/ports.ts';
import { type Evidence, noEvidence } from '../../gate/rules/evidence.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';

/** So many are kept until their work is published. */
const KEPT = 1_000;

export class WorkerEvidence implements WorkGate {
  readonly #known = new Map<string, Evidence>();

  note(evidence: Evidence): void {
    this.#known.set(evidence.commit, evidence);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KEPT) break;
      this.#known.delete(oldest);
    }
  }

  async measure({ commit, base }: GateRequest): Promise<Evidence> {
    return this.#known.get(commit) ?? noEvidence(commit, base, messageIn(refusal(FLEET_CODES.gate_not_on_worker, {})));
  }
}
