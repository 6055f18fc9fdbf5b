// Context of every operation of a team.

import type { Keys } from '../../base/ports.ts';
import { type Code, type Refusal, refusal, type ValuesOf, withCode } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import type { Checks } from '../../gate/ports.ts';
import type { GateResult, QualitySettings } from '../../gate/rules/quality.ts';
import type { HeldSecret } from '../../gate/rules/secrets.ts';
import type { WorkTree } from '../../git/ports.ts';
import type { TeamWorktrees } from '../../git/worktrees/team-worktrees-port.ts';
import type { WriteHolder } from '../../guard/rules/writes.ts';
import type { LeaseFiles } from '../../guard/shell-guard-port.ts';
import type { Appended, TeamLog, Teams } from '../ports.ts';
import type { Caller, Evidence } from '../rules/caller.ts';
import { identify } from '../rules/caller.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';
import { WRITES_CODES } from '../rules/codes/writes-codes.ts';
import type { TeamRecord } from '../rules/log/record.ts';
import { isActive, type TeamState } from '../rules/log/state.ts';
import { LEAD, TOOLCREW } from '../rules/message.ts';
import type { TeamSettings } from '../rules/settings.ts';
import type { Approval } from '../rules/spec-documents/spec.ts';
import type { Task } from '../rules/task.ts';

/** The program that agents run in. `form`: how the plugin came into it. */
export type Host = { readonly version: string | null; readonly form: 'project' | 'plugin' };

/** A piece of work, from one end to the other. */
export type CommitRange = { readonly base: string; readonly head: string };

/** Where a team began: the commit that was checked out, and the work tree upon it, a Git tree id. */
export type TeamStart = { readonly team: string; readonly commit: string; readonly tree: string };

/** Checks of the project, and the work tree that they measure. */
export type ProjectChecks = {
  readonly checks: Checks;
  /** Measures the work tree that a team began from, made anew apart from the checkout; null: Git cannot make it. */
  readonly checksBefore: (
    began: TeamStart,
    settings: QualitySettings,
    signal: AbortSignal,
  ) => Promise<GateResult | null>;
  /** Waits until it is there; false: it did not come for as long as could be waited. */
  readonly waitFor: (isThere: () => boolean) => Promise<boolean>;
  /** Secrets of known forms in what these commits add, or what a tree has more than another; none where Git cannot tell. */
  readonly newSecrets: (
    work: readonly string[] | CommitRange,
    settings: QualitySettings['secrets'],
  ) => Promise<readonly HeldSecret[]>;
  readonly workTree: WorkTree;
};

export type TeamContext = ProjectChecks & {
  readonly teams: Teams;
  readonly settings: () => Promise<TeamSettings>;
  /** What the settings were found to lack when they were last read: what they said before holds, or nothing. */
  readonly problems: () => readonly Refusal[];
  readonly now: () => number;
  readonly keys: Keys;
  /** A path as a caller names it, from the project's root; null when it lies outside, or is the root itself. */
  readonly inside: (path: string) => string | null;
  /** What a path of the project leads to, with its links followed: absolute where that lies outside. */
  readonly placeOf: (path: string) => { readonly path: string; readonly isDirectory: boolean };
  /** Where the caller works in a worktree of its own, whose finished work is merged; null: in the project itself. */
  readonly teamWorktrees: () => Promise<TeamWorktrees | null>;
  /** What keeps shell commands of teammates from files of others. */
  readonly writesHeldBy: () => Promise<WriteHolder>;
  /** Keeps the write guard's files of a team's leases in step. */
  readonly placeLeases: LeaseFiles;
  /** Whether the project or its user has a definition of that agent, in a file that is called like it. */
  readonly hasAgentFile: (agent: string) => boolean;
  /** Whether a SPEC is approved as it stands. */
  readonly approval: (id: string) => Promise<Approval>;
  /** The host's process that this belongs to: its id and its begin; null: none is known. */
  readonly hostProcess: () => string | null;
  /** null: none; somebody at a terminal, or another client. */
  readonly host: () => Host | null;
};

export type Answer = Readonly<Record<string, unknown>>;

/** Throws a refusal of the error table. */
export function refuse<C extends Code>(of: C, values: ValuesOf<C>): never {
  throw failure(of, values);
}

/** Appends a record that has to count; throws with the fold's reason when it does not. */
export async function appendRequired(log: TeamLog, record: TeamRecord): Promise<Appended> {
  const appended = await log.append(record);
  if (appended.refused !== null) throw new ToolError(appended.refused);
  return appended;
}

/**
 * Appends the record of a task, which has to count, and gives the task as it is by then: others may have made some since, of the
 * same words too. undefined: an older version has taken the log up meanwhile.
 */
export async function makeTask(
  log: TeamLog,
  record: Extract<TeamRecord, { type: 'task_created' }>,
): Promise<Task | undefined> {
  const { id } = await appendRequired(log, record);
  const { tasks } = log.state;
  for (let number = tasks.size; number > 0; number--) {
    const task = tasks.get(String(number));
    if (task?.record === id) return task;
  }
  return undefined;
}

/** Tells the lead something that no teammate says. */
export async function tellLead(log: TeamLog, content: string): Promise<void> {
  const words = { kind: 'progress', content, in_reply_to: null } as const;
  await log.append({ type: 'message_sent', to: LEAD, ...words, by: TOOLCREW, epoch: 0 });
}

/** A team whose log cannot be read: whether it stands, and whose it is, is not known. */
export type UnreadableTeam = { readonly team: string; readonly error: unknown };

/** Opens all teams that stand, for as long as `use` takes. What cannot be read concerns nobody but its own team. */
export async function withReadable<T>(
  teams: Teams,
  use: (logs: readonly TeamLog[], unread: readonly UnreadableTeam[]) => Promise<T>,
): Promise<T> {
  const logs: TeamLog[] = [];
  const unread: UnreadableTeam[] = [];
  for (const team of teams.list()) {
    try {
      const log = teams.open(team);
      if (log !== undefined) logs.push(log);
    } catch (error) {
      unread.push({ team, error });
    }
  }
  try {
    return await use(
      logs.filter((log) => isActive(log.state)),
      unread,
    );
  } finally {
    await Promise.all(logs.map((log) => log.close()));
  }
}

/** What is not known of a team, for people. */
export function unreadWords({ team, error }: UnreadableTeam): string {
  return withCode(refusal(OPERATIONS_CODES.team_unreadable, { team, said: messageOf(error) }));
}

/** Throws what keeps the first of them from being read: anything might be true of it. */
export function mustBeReadable([first]: readonly UnreadableTeam[]): void {
  if (first !== undefined) throw first.error;
}

export type TeamCaller = Extract<Caller, { kind: 'lead' | 'member' }>;

function isSomebody(caller: Caller): caller is TeamCaller {
  return caller.kind === 'lead' || caller.kind === 'member';
}

/** Whether it comes from the session that leads the team. */
function isOfLead(evidence: Evidence, { lead }: TeamState): boolean {
  return evidence.kind === 'stamp' && evidence.caller.session === lead.session;
}

/** Who asks, and of which team. Throws when that cannot be told, or when the caller belongs to none. */
export function callerOf(
  evidence: Evidence,
  logs: readonly TeamLog[],
  wanted: string | undefined,
  unread: readonly UnreadableTeam[] = [],
): { readonly caller: TeamCaller; readonly log: TeamLog } {
  const standing = logs.map((log) => log.state.team);
  mustBeReadable(unread.filter(({ team }) => team === wanted));
  if (wanted !== undefined && !standing.includes(wanted))
    refuse(OPERATIONS_CODES.team_not_active, {
      team: wanted,
      ...(standing.length === 0 ? {} : { active: standing }),
    });
  const all = identify(
    evidence,
    logs.map((log) => log.state),
  );
  const [first] = all;
  if (first?.kind === 'unknown')
    refuse(first.takesKey ? OPERATIONS_CODES.caller_key_missing : OPERATIONS_CODES.caller_unknown, { why: first.why });
  if (!all.some(isSomebody)) mustBeReadable(unread);
  if (standing.length === 0) refuse(OPERATIONS_CODES.team_not_active, {});
  const alone = logs.find(({ state }) => state.session === 'fallback' && isOfLead(evidence, state));
  if (first?.kind === 'outsider' && alone !== undefined)
    refuse(OPERATIONS_CODES.subagent_mode, { team: alone.state.team, who: first.who });
  if (first?.kind === 'outsider' && first.replaced !== undefined)
    refuse(WRITES_CODES.member_replaced, { member: first.replaced });
  if (first?.kind === 'outsider') refuse(OPERATIONS_CODES.caller_not_member, { who: first.who, active: standing });
  const mine = all.filter(isSomebody).filter((caller) => wanted === undefined || caller.team === wanted);
  const [caller, other] = mine;
  if (caller === undefined) return refuse(OPERATIONS_CODES.caller_of_other_team, { team: wanted ?? '' });
  if (other !== undefined) refuse(OPERATIONS_CODES.team_ambiguous, { teams: mine.map(({ team }) => team) });
  const log = logs.find((one) => one.state.team === caller.team);
  if (log === undefined) return refuse(OPERATIONS_CODES.team_gone, { team: caller.team });
  return { caller, log };
}
