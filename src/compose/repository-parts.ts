// Types of an opened repository: the parts that it is made of, and what it offers.

import type { Isolation } from '../agents/isolation.ts';
import type { Logger } from '../base/ports.ts';
import type { RuntimeDir } from '../base/processes/runtime-dir.ts';
import type { Tracer } from '../base/rules/span.ts';
import type { AuthorityFile } from '../daemon/github/authority.ts';
import type { TakenTokens } from '../daemon/github/credential.ts';
import type { IssueHistories } from '../daemon/journal/issue-story.ts';
import type { Orchestrator } from '../daemon/orchestrator.ts';
import type { Journal } from '../daemon/ports.ts';
import type { SlotShares } from '../daemon/slot-shares.ts';
import type { RepositoryView } from '../daemon/view-source.ts';
import type { WaitingLine } from '../daemon/waiting-line.ts';
import type { Fleet } from './fleet.ts';
import type { ProcessMark } from './process-mark.ts';

/** What a process has, whatever its repositories. */
export type ProcessParts = {
  /** The process's own environment, which its children inherit. */
  readonly processEnv: NodeJS.ProcessEnv;
  /** The same without tokens. */
  readonly env: NodeJS.ProcessEnv;
  readonly tokens: TakenTokens;
  readonly authorities: readonly AuthorityFile[];
  readonly runtime: RuntimeDir;
  readonly log: Logger;
  /** Values that must never be shown. */
  readonly secrets: Set<() => readonly string[]>;
  readonly once: boolean;
  readonly ended: AbortSignal;
  readonly wrapJournal?: (journal: Journal) => Journal;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Workers on other machines; absent: agents run on this one. */
  readonly fleet?: Fleet | undefined;
};

/** What a repository has beside others. */
export type Beside = {
  readonly mark: ProcessMark;
  readonly shares: SlotShares;
  /** Of the checks on finished work. */
  readonly gateShares: SlotShares;
  /** Where those credentials were found that have been checked. */
  readonly checked: Set<string>;
  /** The first fetches of all. */
  readonly fetches: WaitingLine<string>;
  /** Hold the places of all of them. */
  readonly directories: readonly string[];
  /** Places of the others, that no agent of this one may read. */
  readonly others: () => readonly string[];
};

export type OpenRepository = {
  readonly orchestrator: Orchestrator;
  readonly isolation: Isolation;
  /** Where the credential was found. */
  readonly credentialSource: string;
  readonly view: () => RepositoryView;
  readonly histories: IssueHistories;
  /** Aborted when another coordinator may act for it; absent: there can be none. */
  readonly lost?: AbortSignal | undefined;
  /** Names the status page to whoever finds the state directory in use. */
  readonly announce: (url: string | null) => void;
  /** Takes up what an earlier process left. What cannot work is a ToolError. */
  readonly begin: () => Promise<void>;
  readonly close: () => Promise<void>;
};
