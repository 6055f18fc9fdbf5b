// Options and outcome of a lead that is code (types only).

import type { AgentEvent } from '../../agents/ports.ts';
import type { Clock } from '../../base/ports.ts';
import type { Checks } from '../../gate/ports.ts';
import type { GateResult, QualitySettings } from '../../gate/rules/quality.ts';
import type { Trust5 } from '../../gate/rules/trust5.ts';
import type { TeamWorktrees } from '../../git/worktrees/team-worktrees-port.ts';
import type { Members } from '../members/members-port.ts';
import type { HostFacts } from '../operations/context-parts.ts';
import type { DebugResult } from '../phases/debug.ts';
import type { MendContext, PlanContext } from '../phases/phase-context.ts';
import type { PlanCallbacks, PlanEnd } from '../phases/plan.ts';
import type { TeamState } from '../rules/log/state.ts';
import type { MemberTimeouts } from './member-session.ts';

/** The team's branch, checked out at `root`, with its commits from `base` to `head`. */
export type MeasuredWork = {
  readonly team: string;
  readonly root: string;
  readonly base: string;
  readonly head: string;
  readonly gate: GateResult;
  readonly settings: QualitySettings;
  /** Id of the SPEC that commits must name; null: no SPEC is built. */
  readonly spec: string | null;
  /** Ids of tasks that commits may name. */
  readonly tasks: readonly string[];
  readonly signal: AbortSignal;
};

export type LeadOptions = {
  readonly context: PlanContext & MendContext & { readonly project: HostFacts };
  readonly members: Members;
  readonly teamWorktrees: TeamWorktrees;
  readonly clock: Clock;
  /** Measures the team's branch, checked out below a directory. */
  readonly checksAt: (root: string, team: string) => Checks;
  readonly trust5At: (work: MeasuredWork) => Promise<Trust5>;
  /** Writes SPECs, and asks the user to approve them. */
  readonly planCallbacks: PlanCallbacks;
  readonly budgetUsd: number | null;
  /** Instruction to each teammate beside its tasks; null: none. */
  readonly instruction: string | null;
  readonly timeouts: MemberTimeouts;
  /** Number of teammates that work at once. */
  readonly width: number;
  /** Reports progress to people, one line a call. */
  readonly say: (words: string) => void;
  readonly onEvent: (name: string, event: AgentEvent) => void;
  readonly output: (name: string, text: string) => void;
  /** Called before the team is deleted, with its result, which nothing else keeps. */
  readonly onEnding?: (team: string, found: PhaseResult | null) => void;
  /** Called when a teammate arrives or leaves. */
  readonly onPresence?: (name: string, isThere: boolean) => void;
};

/** Result of a phase that builds nothing. */
export type PhaseResult =
  | ({ readonly phase: 'plan' } & Pick<Extract<PlanEnd, { kind: 'written' }>, 'spec' | 'status'>)
  | ({ readonly phase: 'debug' } & DebugResult);

export type LeadOutcome =
  | { readonly kind: 'done'; readonly state: TeamState; readonly archived: string; readonly found: PhaseResult | null }
  | {
      readonly kind: 'failed';
      readonly state: TeamState;
      readonly why: string;
      /** The quota of the teammates' runtime is used up; when it is there again, ms since the epoch. */
      readonly quotaAt?: number;
    }
  | { readonly kind: 'interrupted'; readonly state: TeamState };
