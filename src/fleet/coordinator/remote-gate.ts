// The gate of a coordinator: a worker measures finished work that came without evidence. This machine runs no code of agents.

import type { RunEnd } from '../../agents/ports.ts';
import { messageIn, refusal } from '../../base/rules/codes.ts';
import { failure } from '../../base/rules/errors.ts';
import type { GateRequest, WorkGate } from '../../daemon/ports.ts';
import { type Evidence, noEvidence } from '../../gate/rules/evidence.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';

/** Has a worker measure a commit. The evidence is null where it came to none. */
export type MeasureOnWorker = (
  request: GateRequest,
  signal: AbortSignal,
) => Promise<{ readonly end: RunEnd; readonly evidence: Evidence | null }>;

/** So many workers in a row may be lost while they measure one commit. */
const MOST_WORKERS = 10;

export class RemoteGate implements WorkGate {
  readonly #measure: MeasureOnWorker;

  constructor(measure: MeasureOnWorker) {
    this.#measure = measure;
  }

  /** Throws where nothing of the work is at fault: then it is tried again later. */
  async measure(request: GateRequest, signal: AbortSignal): Promise<Evidence> {
    const { commit, base, output } = request;
    for (let workers = 0; workers < MOST_WORKERS; workers++) {
      output('waits for a worker that measures the commit\n');
      const { end, evidence } = await this.#measure(request, signal);
      signal.throwIfAborted();
      if (evidence?.commit === commit) return evidence;
      if (end.ok || end.cutOff !== undefined) continue;
      if (end.fault === 'agent') return noEvidence(commit, base, end.words);
      throw failure(FLEET_CODES.measurement_failed, { commit: commit.slice(0, 12), said: end.words });
    }
    return noEvidence(commit, base, messageIn(refusal(FLEET_CODES.gate_not_on_worker, {})));
  }
}
