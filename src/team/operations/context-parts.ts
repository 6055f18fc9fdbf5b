// Parts of the contexts of events, phases and commands. Each user names the parts that it needs (types only).

import type { Refusal } from '../../base/rules/codes.ts';
import type { GateResult, QualitySettings } from '../../gate/rules/quality.ts';
import type { Trust5 } from '../../gate/rules/trust5.ts';
import type { Unmeasured, WrittenFacts } from '../../gate/rules/trust5-facts.ts';
import type { GitRow } from '../../guard/rules/git-calls.ts';
import type { Target, Writes } from '../../guard/rules/writes.ts';
import type { ShellGuard } from '../../guard/shell-guard-port.ts';
import type { SyncOutcome } from '../phases/sync.ts';
import type { PhaseLock } from '../ports.ts';
import type { TeamVariable } from '../rules/select/activation.ts';
import type { TeamSettings } from '../rules/settings.ts';
import type { PlannedSpec } from '../rules/spec-documents/check.ts';
import type { CreatedSpec, NewSpec } from '../rules/spec-documents/new-spec.ts';
import type { Approval } from '../rules/spec-documents/spec.ts';

/** Files of the project. */
export type ProjectFiles = {
  /** Tracked files, from the root; `place`: those of another work tree of it. */
  readonly files: (place?: string) => Promise<readonly string[]>;
  /** The tools that the project's own definition of an agent lists; null: it has none of its own, or one without a list. */
  readonly agentTools: (agent: string) => readonly string[] | null;
  /** Writes the report of a team beside its log; gives its path. */
  readonly writeReport: (directory: string, text: string) => string;
};

/** Documents of SPECs, and their approval. */
export type SpecStore = {
  /** Ids of the SPECs that there are. */
  readonly specs: () => readonly string[];
  /** Why none can be written; null: one can. */
  readonly whyNoSpec: () => Refusal | null;
  /** What a SPEC asks for, `spec.md` first; null when there is none. */
  readonly spec: (id: string) => string | null;
  /** A SPEC as data; null when there is none, or when it has no plan. */
  readonly planned: (id: string) => Promise<PlannedSpec | null>;
  /** Whether a SPEC is approved as it stands. */
  readonly approval: (id: string) => Promise<Approval>;
  /**
   * Holds a SPEC against what was built, and writes down what came of it.
   * @param base the commit before the work; null: found by itself
   */
  readonly sync: (id: string, base: string | null) => Promise<SyncOutcome>;
  /** Writes the approval down; gives what stands in the way. */
  readonly approve: (id: string) => Refusal | null;
  /** Writes it over the SPEC of that id, else as a new one; where one holds these very words already, that is it. */
  readonly writeSpec: (spec: NewSpec, replaces: string | null) => CreatedSpec;
};

/** Version of the host, and its settings. */
export type HostFacts = {
  /** Version of the host; null when it cannot be told. */
  readonly hostVersion: () => Promise<string | null>;
  /** The variable that switches team mode on. */
  readonly variable: TeamVariable;
  /** Settings files of the host that keep it from starting the team server. */
  readonly serverOffIn: readonly string[];
};

/** What a team has built in the checkout itself. */
export type CheckoutWork = {
  /** Git trees: where it began, and where it is; or why there are none. */
  readonly change: { readonly base: string; readonly head: string } | Unmeasured;
  readonly gate: GateResult;
  readonly settings: QualitySettings;
  /** What of it was written under which task. */
  readonly written: WrittenFacts;
  readonly signal: AbortSignal;
};

/** Final gate over the checkout itself. */
export type CheckoutGate = {
  readonly trust5: (work: CheckoutWork) => Promise<Trust5>;
};

/** Lock of the steps of a phase. */
export type StepLock = {
  /** Lets one process at a time take the steps of a team that code takes. */
  readonly phaseLock: PhaseLock;
};

/** Process that an event comes from. */
export type EventOrigin = {
  /** Whether the caller may have to wait and ask again. */
  readonly mayWait: boolean;
  /** Whether another host in the same project started this one. Its prompts then come from no person. */
  readonly isNested: () => boolean;
};

/** Rules and facts by which a write is judged. */
export type WriteRules = {
  /** What a call of a tool would write; paths from the project's root, or absolute ones outside of it. */
  /** @param git calls of git that are refused */
  readonly writesOf: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    cwd: string,
    git: readonly GitRow[],
  ) => Promise<Writes>;
  /** Paths of the project below a directory. */
  readonly below: (directory: string) => readonly string[];
  /** Paths of those that lie in directories that Git ignores. */
  readonly outputs: (targets: readonly Target[]) => Promise<ReadonlySet<string>>;
  /** The write guard around shell calls; null: this host does not start them with our shell. */
  readonly shellGuard: ShellGuard | null;
  /** Whether the host lets a hook mark commands. @param transcript of the session */
  readonly allowsTicketComments: (transcript: string | null) => boolean;
  readonly temporary: readonly string[];
  /** What the host itself goes by, absolute. */
  readonly hosts: readonly string[];
  /** In a worktree: its root and the checkout that it belongs to, both absolute; null: in that checkout itself. */
  readonly worktree: { readonly root: string; readonly checkout: string } | null;
  /** Whether somebody sits in front of the screen. */
  readonly attended: boolean;
};

/** Log lines for people. */
export type PeopleLog = {
  /** Tells people, beside what the agent is told; `debug` is not printed. */
  readonly log: (level: TeamSettings['fallback']['logLevel'], words: string) => void;
};
