// What a lead that is code is given, and what comes of it.

import type { GateResult, QualitySettings } from '../../../domain/quality.ts';
import type { TeamState } from '../../../domain/team/state.ts';
import type { Trust5 } from '../../../domain/trust5.ts';
import type { AgentEvent, Checks, Clock } from '../../ports.ts';
import type { HookContext } from '../hook-context.ts';
import type { Members } from '../members-port.ts';
import type { DebugResult } from '../phases/debug.ts';
import type { PlanDesk, PlanEnd } from '../phases/plan.ts';
import type { Workshop } from '../workshop-port.ts';
import type { MemberTimeouts } from './member-life.ts';

/** The team's branch as it stands: checked out at `root`, from the commit `base` to `head`. */
export type MeasuredWork = {
  readonly team: string;
  readonly root: string;
  readonly base: string;
  readonly head: string;
  readonly gate: GateResult;
  readonly settings: QualitySettings;
  /** What commits have to name; null: no SPEC is built. */
  readonly spec: string | null;
  /** Ids that commits may be for. */
  readonly tasks: readonly string[];
  readonly signal: AbortSignal;
};

export type LeadOptions = {
  readonly context: HookContext;
  readonly members: Members;
  readonly workshop: Workshop;
  readonly clock: Clock;
  /** Measures the team's branch, checked out below a directory. */
  readonly checksAt: (root: string, team: string) => Checks;
  readonly trust5At: (work: MeasuredWork) => Promise<Trust5>;
  /** Where SPECs are written, and who is asked about them. */
  readonly desk: PlanDesk;
  readonly budgetUsd: number | null;
  /** What each teammate is told beside its tasks; null: nothing. */
  readonly instruction: string | null;
  readonly timeouts: MemberTimeouts;
  /** How many teammates work at once. */
  readonly width: number;
  /** Tells people what happens, one line each. */
  readonly say: (words: string) => void;
  readonly onEvent: (name: string, event: AgentEvent) => void;
  readonly output: (name: string, text: string) => void;
  /** The team is about to be deleted: from here on only this knows what it has come to. */
  readonly onEnding?: (team: string, found: Found | null) => void;
  /** A teammate is there, or has gone. */
  readonly onPresence?: (name: string, isThere: boolean) => void;
};

/** What a phase that builds nothing has come to. */
export type Found =
  | ({ readonly phase: 'plan' } & Pick<Extract<PlanEnd, { kind: 'written' }>, 'spec' | 'status'>)
  | ({ readonly phase: 'debug' } & DebugResult);

export type Outcome =
  | { readonly kind: 'done'; readonly state: TeamState; readonly archived: string; readonly found: Found | null }
  | { readonly kind: 'failed'; readonly state: TeamState; readonly why: string }
  | { readonly kind: 'interrupted'; readonly state: TeamState };
