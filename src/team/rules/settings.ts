// Team settings of a project, decoded from .tool/config/workflow.yaml.

import type { QualitySettings } from '../../gate/rules/quality.ts';
import type { Ownership } from '../../guard/rules/ownership.ts';
import type { Budgets } from './cost.ts';

export type ExecutionMode = 'auto' | 'subagent' | 'team';

export type TeamSettings = {
  readonly executionMode: ExecutionMode;
  readonly enabled: boolean;
  readonly maxTeammates: number;
  /** Replaces a role's `inherit`. The value `inherit` means the lead's model. */
  readonly defaultModel: string;
  readonly requirePlanApproval: boolean;
  /** Whether the lead only delegates: then it writes nothing but SPEC documents. */
  readonly delegateMode: boolean;
  readonly teammateDisplay: 'auto' | 'tmux' | 'inline';
  readonly autoSelection: {
    readonly minDomains: number;
    readonly minFiles: number;
    readonly minComplexity: number;
  };
  /** Owners by member name, without the prefix of their agents. */
  readonly ownership: readonly Ownership[];
  /** Roles by pattern name. */
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
  /** Globs of ignored files that are copied into each worktree of a team. */
  readonly copies: readonly string[];
  /** Budgets of teammates that run as separate processes. */
  readonly budget: Budgets;
  readonly quality: QualitySettings;
};
