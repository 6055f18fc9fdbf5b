// Port of agents: the runner that starts one, and the request, events and end of a run (types only).

import type { LogLevel } from '../base/ports.ts';
import type { CutOff } from './rules/cut-off.ts';
import type { Expiry } from './rules/expiry.ts';
import type { Round } from './rules/round.ts';
import type { TeamSummary } from './rules/team-summary.ts';
import type { Usage } from './rules/usage.ts';

/** What a runner reports while an agent works. */
export type AgentEvent =
  | { readonly type: 'session'; readonly sessionId: string }
  | { readonly type: 'message'; readonly text: string }
  /** `limitMs`: the tool's own limit, where it states one. */
  | { readonly type: 'tool_started'; readonly id: string; readonly name: string; readonly limitMs: number | null }
  | { readonly type: 'tool_ended'; readonly id: string }
  /** All that the attempt used so far. */
  | { readonly type: 'usage'; readonly usage: Omit<Usage, 'seconds'> }
  /** The team that works on it, as it stands now. */
  | { readonly type: 'team'; readonly team: TeamSummary }
  /** What belongs into the daemon's own log. */
  | { readonly type: 'log'; readonly level: LogLevel; readonly text: string }
  /** Any other life sign. */
  | { readonly type: 'activity'; readonly name: string };

/** What an agent is told that only reads: the text of its definition. */
export type AgentRole = {
  readonly text: string;
  /** Model of the runtime; null: its usual one. */
  readonly model: string | null;
};

export type RunRequest = {
  /** The mark that the agent and all it starts carry in their environment. */
  readonly run: string;
  readonly issue: number;
  readonly attempt: number;
  readonly cwd: string;
  readonly prompt: string;
  /** The issue's own words: its title, then its body. */
  readonly issueText: string;
  /** Labels of the issue. */
  readonly labels?: readonly string[];
  /** How often the issue has come up for work, from 1. */
  readonly life: number;
  /** Absent: the first. */
  readonly round?: Round;
  /** The session of an earlier attempt to go on with. */
  readonly resume: string | null;
  /** What this attempt may cost at most, US dollars. */
  readonly budgetUsd: number | null;
  /** The agent reads and cannot write to `cwd`; absent: it works there. */
  readonly role?: AgentRole;
  /** Variables for the agent beside the runner's own. */
  readonly env: Readonly<Record<string, string>>;
};

/** Texts of people as an agent is told them, and the keys by which they are known. */
export type Words = { readonly text: string; readonly keys: readonly string[] };

export type RunHooks = {
  /** Called as soon as the process runs; the runner waits for it before it hands over the prompt. */
  readonly onStarted: (pid: number) => Promise<void>;
  readonly onEvent: (event: AgentEvent) => void;
  /** Takes what the agent says and does, for people to read. */
  readonly output: (text: string) => void;
  /** After a turn that ended well: the next prompt, or null to end the session. */
  readonly nextTurn: () => Promise<string | null>;
  /** For a team, which has no turns of one session: what people wrote since, once each; null: nothing. */
  readonly takeWords?: () => Words | null;
  /** A member of the team was shown them. */
  readonly heardWords?: (keys: readonly string[]) => void;
  /** The agent of the attempt before is still at work and goes on: it does not read the prompt. */
  readonly onGoesOn?: () => void;
  /** Ends the agent's process group: SIGTERM, then SIGKILL. */
  readonly signal: AbortSignal;
};

export type RunEnd =
  | {
      readonly ok: true;
      /** The agent's last words. */
      readonly words: string;
      /** Earlier work was handed in: no agent has read the prompt. */
      readonly isUnheard?: true;
    }
  | {
      readonly ok: false;
      readonly words: string;
      /** `agent`: it failed · `runtime`: it could not work at all (no program, no login, its service down). */
      readonly fault: 'agent' | 'runtime';
      /** Whether a later attempt may go on with the session. */
      readonly resumable: boolean;
      /** With `runtime`: its quota is used up; when it is there again, ms since the epoch. */
      readonly quotaAt?: number;
      /** It was ended: with the machine that it ran on, which is nobody's fault, or since a time limit passed there. */
      readonly cutOff?: CutOff | Expiry;
    };

export interface Runner {
  readonly name: string;
  /** It keeps the time limits of its agents itself, and says so in their end. */
  readonly keepsLimits?: true;
  run(request: RunRequest, hooks: RunHooks): Promise<RunEnd>;
}
