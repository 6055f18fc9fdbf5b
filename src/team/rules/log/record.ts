// The records of a team's log. Field names are those of the file.
// CONTRIBUTING.md tells how to add one.

import type { CheckResult } from '../../../gate/rules/quality.ts';
import type { Trust5Summary } from '../../../gate/rules/trust5.ts';
import type { WriteHolder } from '../../../guard/rules/writes.ts';
import type { Cost } from '../cost.ts';
import type { Content, MessageType } from '../message.ts';
import type { Phase } from '../role.ts';
import type { TaskStatus } from '../task.ts';
import type { TaskDraft } from '../task-draft.ts';
import type { MovedEvent } from './session.ts';

/** What a team is made for. */
export type Purpose = {
  readonly phase: Phase;
  /** Name of the pattern; null: put together by hand. */
  readonly pattern: string | null;
  readonly roles: readonly string[];
  /** The feature's words, the SPEC's id, or the words of the failure. */
  readonly subject: string;
};

/** How a teammate ended. `lease`: not seen for so long that it counts as gone · `replaced`: by its successor. */
export type Ending = 'confirmed' | 'lease' | 'forced' | 'replaced' | 'not_started';

/** `escalated`: let through after three rejections without change · `failed`: the hook itself could not decide. */
export type DecisionKind = 'accept' | 'reject' | 'escalated' | 'failed';

type Author = { readonly by: string; readonly epoch: number };

export type TeamRecord =
  | ({
      readonly type: 'proposed';
      readonly reasons: readonly string[];
      readonly drafts: readonly TaskDraft[];
      /** Sub-agents from the first, and what for: a trigger of the fallback, or `solo`. Missing: a team. */
      readonly alone?: string;
      /** True: made without the setting and the variable that allow a team. */
      readonly forced?: boolean;
      /** SHA-256 of what people wrote before it began, which its members are told; missing: nothing. */
      readonly words_hash?: string;
    } & Purpose)
  | ({
      readonly type: 'created';
      readonly team: string;
      /** The host's session whose main agent leads; null: a terminal. */
      readonly session: string | null;
      /** SHA-256 of the lead's key. */
      readonly key_hash: string | null;
      /** Whether a SPEC needs the user's word. */
      readonly approval: boolean;
      /** The work tree as it was, a Git tree id; null when there is none. */
      readonly base: string | null;
      /** The commit that was checked out; missing: there was none. */
      readonly commit?: string;
      /** The host's process that leads, its id and its begin; missing: not known. */
      readonly host?: string;
      /** Who holds writes of teammates' shell commands; missing: not known. */
      readonly writes_held_by?: WriteHolder;
      /** What it begins with; missing: with none. */
      readonly tasks?: readonly TaskDraft[];
    } & Purpose)
  | {
      readonly type: 'task_created';
      readonly subject: string;
      readonly description: string;
      readonly owner: string | null;
      readonly files: readonly string[];
      readonly blocked_by: readonly string[];
      /** It may be begun before those are completed, and ends after them. */
      readonly early?: true;
      /** The task that waits for this one from now on, though it is older. */
      readonly holds_up?: string;
      readonly by: string;
    }
  | ({
      readonly type: 'task_updated';
      readonly task: string;
      readonly status: TaskStatus;
      readonly result: string | null;
      /** Whom the lead gives it to with that. */
      readonly owner?: string;
      /** True: it is completed, and nothing was changed under it; missing: that is not known. */
      readonly changed_nothing?: boolean;
    } & Author)
  | { readonly type: 'task_assigned'; readonly task: string; readonly owner: string; readonly by: string }
  | {
      readonly type: 'member_registered';
      readonly name: string;
      readonly agent: string;
      readonly read_only: boolean;
      readonly model: string;
      readonly prompt: string;
      /** How many may live at once. */
      readonly max: number;
    }
  | {
      readonly type: 'member_spawned';
      readonly name: string;
      readonly epoch: number;
      /** SHA-256 of the key that it was handed; null: its host names it. */
      readonly key_hash: string | null;
      readonly pid: number | null;
    }
  | {
      readonly type: 'member_bound';
      readonly name: string;
      readonly epoch: number;
      /** The host's name for one run of the agent. */
      readonly agent_id: string;
    }
  | { readonly type: 'member_seen'; readonly name: string; readonly epoch: number }
  | ({
      readonly type: 'member_used';
      readonly name: string;
      readonly epoch: number;
      /** What it was used for; null: for none. */
      readonly task: string | null;
    } & Cost)
  | {
      readonly type: 'member_idle';
      readonly name: string;
      readonly epoch: number;
      /** Its run is over: it reads no more mail. */
      readonly stopped: boolean;
      /** Tasks that it should have finished; missing: none, or its host ended with it. */
      readonly left?: readonly string[];
    }
  | {
      readonly type: 'member_ended';
      readonly name: string;
      readonly epoch: number;
      readonly how: Ending;
      readonly reason: string;
    }
  | ({
      readonly type: 'message_sent';
      readonly to: string;
      readonly kind: MessageType;
      readonly content: Content;
      readonly in_reply_to: number | null;
    } & Author)
  | {
      readonly type: 'mail_seen';
      readonly member: string;
      readonly seqs: readonly number[];
      readonly how: 'delivered' | 'read';
    }
  | {
      readonly type: 'lease_taken';
      readonly path: string;
      readonly until: number;
      readonly reason: string;
      readonly by: string;
      readonly epoch: number;
    }
  | ({ readonly type: 'lease_released'; readonly path: string } & Author)
  | {
      readonly type: 'decision';
      readonly hook: string;
      readonly decision: DecisionKind;
      /** Who was judged; null: nobody that the team knows. */
      readonly member: string | null;
      /** The tool, path or task that it was about. */
      readonly about: string;
      readonly reason: string;
      /** What tells an unchanged repetition from new work. */
      readonly fingerprint: string;
      /** Paths that were allowed to be written. */
      readonly paths: readonly string[];
      /** The result that went back to its author with a rejection, where it is text that another may go on with. */
      readonly returned?: string;
    }
  | {
      readonly type: 'gate_measured';
      readonly task: string | null;
      readonly tree: string;
      readonly ok: boolean;
      readonly checks: readonly CheckResult[];
      readonly coverage: number | null;
      /** Of the whole work; missing where it was not measured. */
      readonly trust5?: Trust5Summary;
      /** The commit of the team's branch; missing where it was measured in a work tree. */
      readonly head?: string;
    }
  /** What the checks find where the team began. The first counts. */
  | {
      readonly type: 'base_measured';
      readonly checks: readonly CheckResult[];
      readonly coverage: number | null;
      /** Why nothing was measured; missing: it was. */
      readonly why?: string;
    }
  | {
      readonly type: 'moved';
      readonly event: MovedEvent;
      /** What is to be done for it; missing: nothing. */
      readonly tasks?: readonly TaskDraft[];
      readonly reason: string;
      readonly by: string;
    }
  | { readonly type: 'fell_back'; readonly trigger: string; readonly reason: string }
  | {
      readonly type: 'restarted';
      readonly session: string | null;
      readonly key_hash: string | null;
      /** False: every task starts over. */
      readonly keep: boolean;
      /** The host's process that leads from here on; missing: not known. */
      readonly host?: string;
      /** True: what went on one at a time goes on so. */
      readonly alone?: boolean;
      /** True: from here on without the setting and the variable that allow a team. */
      readonly forced?: boolean;
      /** SHA-256 of what people wrote so far, which members are told that start from here on; missing: as before. */
      readonly words_hash?: string;
    }
  /** The same host leads on in a new session, as after /clear; `host`: the same session goes on in that process. */
  | { readonly type: 'lead_moved'; readonly session: string; readonly host?: string }
  /** Others hold writes from here on. */
  | { readonly type: 'writes_held'; readonly by: WriteHolder }
  | { readonly type: 'deleted'; readonly forced: boolean; readonly by: string }
  /** The first record of a file that continues another. */
  | { readonly type: 'snapshot'; readonly state: unknown }
  /** The last record of a file that counts. */
  | { readonly type: 'continued'; readonly next: string };

export type TeamRecordType = TeamRecord['type'];
