// What a project says of its teams: .tool/config/workflow.yaml, decoded.

import type { QualitySettings } from '../quality.ts';
import type { Budgets } from './cost.ts';
import type { Ownership } from './ownership.ts';

export type ExecutionMode = 'auto' | 'subagent' | 'team';

export type TeamSettings = {
  readonly executionMode: ExecutionMode;
  readonly enabled: boolean;
  readonly maxTeammates: number;
  /** Takes the place of a role's `inherit`; `inherit` itself: the lead's model. */
  readonly defaultModel: string;
  readonly requirePlanApproval: boolean;
  /** The lead delegates: it writes nothing but SPEC documents. */
  readonly delegateMode: boolean;
  readonly teammateDisplay: 'auto' | 'tmux' | 'inline';
  readonly autoSelection: {
    readonly minDomains: number;
    readonly minFiles: number;
    readonly minComplexity: number;
  };
  /** Owners as members are named: without the prefix of their agents. */
  readonly ownership: readonly Ownership[];
  /** Roles by the name of the pattern. */
  readonly patterns: Readonly<Record<string, readonly string[]>>;
  readonly hooks: {
    readonly teammateIdle: { readonly enabled: boolean; readonly validateWork: boolean };
    readonly taskCompleted: { readonly enabled: boolean; readonly requireQualityCheck: boolean };
  };
  readonly fallback: {
    readonly enabled: boolean;
    readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
    readonly preserveProgress: boolean;
  };
  /** Globs of ignored files that each worktree of a team has copies of. */
  readonly copies: readonly string[];
  /** What teammates that are processes of their own may cost. */
  readonly budget: Budgets;
  readonly quality: QualitySettings;
};
