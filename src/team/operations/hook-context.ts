// Context of the answers to a host's events.

import type { Refusal } from '../../base/rules/codes.ts';
import type { GateResult, QualitySettings } from '../../gate/rules/quality.ts';
import type { Trust5 } from '../../gate/rules/trust5.ts';
import type { Unmeasured, WrittenFacts } from '../../gate/rules/trust5-facts.ts';
import type { GitRow } from '../../guard/rules/git-calls.ts';
import type { Target, Writes } from '../../guard/rules/writes.ts';
import type { ShellGuard } from '../../guard/shell-guard-port.ts';
import type { SyncOutcome } from '../phases/sync.ts';
import type { PhaseLock, TeamLog } from '../ports.ts';
import { type Caller, type EnvironmentEvidence, type Evidence, type HookCaller, identify } from '../rules/caller.ts';
import type { TeamState } from '../rules/log/state.ts';
import type { TeamVariable } from '../rules/select/activation.ts';
import type { TeamSettings } from '../rules/settings.ts';
import type { PlannedSpec } from '../rules/spec-documents/check.ts';
import type { CreatedSpec, NewSpec } from '../rules/spec-documents/new-spec.ts';
import type { Approval } from '../rules/spec-documents/spec.ts';
import { mustBeReadable, type TeamContext, type Unread } from './context.ts';
import { type HostEvent, hookCallerOf } from './host-event.ts';

/** What the project holds, for commands of the user. */
export type ProjectView = {
  /** Tracked files, from the root; `place`: those of another work tree of it. */
  readonly files: (place?: string) => Promise<readonly string[]>;
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
  /** Writes the report of a team beside its log; gives its path. */
  readonly writeReport: (directory: string, text: string) => string;
  /** The tools that the project's own definition of an agent lists; null: it has none of its own, or one without a list. */
  readonly agentTools: (agent: string) => readonly string[] | null;
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

/** Evidence of the caller of an event. */
export type CallerEvidence = {
  /**
   * For hosts whose events name no agent: whose call that was, by the transcripts. `main`: the main agent's own · null: it
   * cannot be told.
   */
  readonly whoseCall: (toolUseId: string, transcript: string) => Promise<{ readonly agentId: string } | 'main' | null>;
  /** Whether this host's events name the agent that calls. */
  readonly namesCallers: boolean;
  /** The teammate that the host around was started as, by a lead that is code; null: nobody's, or a lead's. */
  readonly startedAs: EnvironmentEvidence | null;
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
  readonly countsMarks: (transcript: string | null) => boolean;
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

/** Everything that the hooks need together. A hook names the parts that it uses. */
export type HookContext = TeamContext &
  CallerEvidence &
  WriteRules &
  PeopleLog & {
    readonly project: ProjectView;
    readonly trust5: (work: CheckoutWork) => Promise<Trust5>;
    /** Lets one process at a time take the steps of a team that code takes. */
    readonly phaseLock: PhaseLock;
    /** Whether the caller may have to wait and ask again. */
    readonly mayWait: boolean;
    /** Whether another host in the same project started this one. Its prompts then come from no person. */
    readonly isNested: () => boolean;
  };

/** Who an event is about, as evidence. Looks into the transcripts where the event itself cannot tell. */
export async function evidenceOf(context: CallerEvidence, event: HostEvent): Promise<Evidence> {
  if (context.startedAs !== null) return context.startedAs;
  const caller = hookCallerOf(event);
  if (event.agentId !== null || event.agentType !== null || context.namesCallers || event.toolUseId === null)
    return { kind: 'stamp', caller };
  const found =
    event.transcript === null ? null : await foundCaller(context, event.toolUseId, event.session, event.transcript);
  return found === null
    ? { kind: 'nothing', why: 'this host does not name who calls, and its transcripts do not tell' }
    : { kind: 'stamp', caller: found };
}

/** Who makes a call, by the transcripts of its session; null: they do not tell. */
export async function foundCaller(
  { whoseCall }: Pick<CallerEvidence, 'whoseCall'>,
  toolUseId: string,
  session: string,
  transcript: string,
): Promise<HookCaller | null> {
  const whose = await whoseCall(toolUseId, transcript);
  if (whose === null) return null;
  return whose === 'main'
    ? { session, agentId: null, agentType: null, toolUseId }
    : { session, agentId: whose.agentId, agentType: '', toolUseId };
}

export type Found = { readonly caller: Caller; readonly log: TeamLog };

/** The caller of an event with the team that it is judged by: its own, else the first that stands; undefined when none does. */
export async function findCaller(
  context: CallerEvidence,
  event: HostEvent,
  logs: readonly TeamLog[],
  unread: readonly Unread[] = [],
): Promise<Found | undefined> {
  const [first] = logs;
  if (first === undefined) {
    mustBeReadable(unread);
    return undefined;
  }
  const callers = identify(
    await evidenceOf(context, event),
    logs.map((log) => log.state),
  );
  const [caller] = callers;
  // Who is nobody of these may be of a team that cannot be read.
  if (caller?.kind !== 'lead' && caller?.kind !== 'member') mustBeReadable(unread);
  if (caller === undefined) return undefined;
  const log = 'team' in caller ? logs.find((one) => one.state.team === caller.team) : undefined;
  return { caller, log: log ?? first };
}

/** Whether that session is the lead's, with all agents in it; one that hands keys over names no session. */
export function isOfLead({ lead }: TeamState, session: string): boolean {
  return lead.session === session || (lead.session === null && lead.keyHash !== null);
}

/** Whether it was started as a teammate, and not as one that goes by the name of one. */
export function isTeammate(
  { startedAs }: Pick<CallerEvidence, 'startedAs'>,
  { agentId }: HostEvent,
  { caller, log }: Found,
): boolean {
  if (startedAs !== null) return true;
  // Of a host that names no agents, one is known by its run alone.
  return caller.kind === 'member' && (agentId === null || log.state.bindings.get(agentId)?.epoch === caller.epoch);
}

/** Whether an event is of work that goes on without its team: of the lead, or of an agent that the lead has started. */
export function isAlone({ session }: HostEvent, { caller, log }: Found): boolean {
  const isOthers = caller.kind === 'outsider' && !isOfLead(log.state, session);
  return log.state.session === 'fallback' && log.state.purpose?.phase === 'run' && !isOthers;
}
