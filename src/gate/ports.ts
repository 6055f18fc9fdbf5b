// Port of the quality gate: measuring finished work, and the required parts that nothing can measure (types only).

import type { Refusal } from '../base/rules/codes.ts';
import type { GateResult, QualitySettings } from './rules/quality.ts';

/** What measures finished work. */
export interface Checks {
  /**
   * Measures the work tree as it stands; a tree that has passed with the same settings is not measured again. One measures at a
   * time: throws `checks_busy` where others did for as long as could be waited.
   * @param since when who asks began to wait for something else, ms since the epoch; it counts as waited
   */
  run(settings: QualitySettings, signal: AbortSignal, since?: number): Promise<GateResult>;
  /** Required parts of the gate that nothing can measure, with what a person does about each. Nothing is measured. */
  missing(settings: QualitySettings): Promise<readonly Refusal[]>;
}
