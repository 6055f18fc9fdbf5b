// A team as people and programs see it: JSON with snake_case names, times in ISO 8601.

import type { ShownStatus } from '../../../agents/rules/team-summary.ts';
import { oneLine } from '../../../base/rules/text.ts';
import type { Check, CheckOutcome, CheckResult, Dimension } from '../../../gate/rules/quality.ts';
import type { WriteHolder } from '../../../guard/rules/writes.ts';
import { nextStepText } from '../brief.ts';
import { type Cost, costOfMember, costOfTask, costOfTeam } from '../cost.ts';
import { messageContent } from '../log/content-line.ts';
import type { DecisionKind, Ending } from '../log/record.ts';
import type { SessionState } from '../log/session.ts';
import {
  isLost,
  isRefusal,
  MAX_REJECTIONS,
  type Member,
  type MemberPhase,
  type Message,
  type TeamState,
} from '../log/state.ts';
import { LEAD, type MessageType } from '../message.ts';
import type { Phase } from '../role.ts';
import { isHeldUp, noteOf, shownStatus, type Task, waitsFor } from '../task.ts';

/** So many of the messages are in a view, the last ones. */
const MESSAGES_SHOWN = 50;
/** So much of what a message says, or a task's result. */
const LINE_MAX = 300;

type TaskName = { readonly id: string; readonly subject: string };

export type MemberView = {
  readonly name: string;
  readonly agent: string;
  /** Its epoch: which run of that name it is. */
  readonly run: number;
  /** `lost`: it has not been seen for so long that it counts as gone. */
  readonly phase: MemberPhase | 'lost';
  readonly read_only: boolean;
  readonly model: string;
  /** What it works on now; null: nothing that it has claimed. */
  readonly task: TaskName | null;
  readonly registered_at: string;
  readonly last_seen_at: string;
  readonly unread: number;
  /** US dollars, as its runtime reports them, all its runs together; null: it has reported nothing. */
  readonly cost_usd: number | null;
  /** When it was asked to end. */
  readonly shutdown_asked_at: string | null;
  readonly ended: { readonly at: string; readonly how: Ending; readonly reason: string } | null;
};

export type TaskView = {
  readonly id: string;
  readonly subject: string;
  readonly status: ShownStatus;
  /** Who has claimed it, else whom it is meant for; null: whoever it fits. */
  readonly owner: string | null;
  /** Ids of all tasks that come before it, and of those that have not been completed. */
  readonly blocked_by: readonly string[];
  readonly waits_for: readonly string[];
  readonly files: readonly string[];
  readonly result: string | null;
  /** That nothing was changed under it, with its owner's words; null: something was, or it is not known. */
  readonly note: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** From its start to its end or until now; null: not at work, and not done. */
  readonly seconds: number | null;
  /** US dollars, whoever worked on it; null: nothing was reported. */
  readonly cost_usd: number | null;
};

export type MessageView = {
  readonly seq: number;
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly type: MessageType;
  readonly in_reply_to: number | null;
  /** One line of at most 300 characters. */
  readonly content: string;
  /** The least that holds of all recipients: `read` when all have read it. */
  readonly status: 'queued' | 'delivered' | 'read';
  readonly receipts: readonly {
    readonly member: string;
    readonly delivered_at: string | null;
    readonly read_at: string | null;
  }[];
};

export type LeaseView = {
  readonly path: string;
  readonly member: string;
  readonly taken_at: string;
  readonly until: string;
  readonly reason: string;
};

export type DecisionView = {
  readonly at: string;
  readonly hook: string;
  readonly decision: DecisionKind;
  readonly member: string | null;
  readonly about: string;
  readonly reason: string;
};

export type GateView = {
  readonly ok: boolean;
  readonly at: string;
  /** The task whose end was judged; null: the team's. */
  readonly task: string | null;
  readonly tree: string;
  readonly coverage: number | null;
  readonly checks: readonly {
    readonly check: Check;
    readonly outcome: CheckOutcome;
    readonly figure: string | null;
    readonly reason: string;
  }[];
  /** Of this very tree; null: not measured, as of a single task's work. */
  readonly trust5: Trust5View | null;
};

/** `why`: why nothing was measured; null: it was. */
export type BeforeView = Pick<GateView, 'at' | 'checks' | 'coverage'> & { readonly why: string | null };

export type Trust5View = {
  readonly ok: boolean;
  /** From 0 to 5; null: nothing of it was measured. */
  readonly score: number | null;
  readonly dimensions: readonly {
    readonly dimension: Dimension;
    readonly state: CheckOutcome;
    readonly score: number | null;
    /** What was found, part by part, or why a part was not measured. */
    readonly figures: readonly string[];
    /** The commands and files that the figures are from. */
    readonly source: string;
  }[];
};

export type TeamView = {
  readonly generated_at: string;
  readonly team: string;
  /** `proposed`: not created yet. */
  readonly state: SessionState | 'proposed';
  readonly phase: Phase | null;
  readonly pattern: string | null;
  readonly subject: string;
  readonly created_at: string | null;
  readonly fallback: { readonly trigger: string; readonly reason: string } | null;
  readonly lead: { readonly unread: number };
  /** What keeps shell commands of teammates from files of others; null: not noted. */
  readonly writes_held_by: WriteHolder | null;
  /** US dollars; null: nobody has reported any. */
  readonly cost_usd: number | null;
  readonly members: readonly MemberView[];
  readonly task_counts: Readonly<Record<ShownStatus, number>>;
  readonly tasks: readonly TaskView[];
  readonly messages: { readonly count: number; readonly last: readonly MessageView[] };
  readonly leases: readonly LeaseView[];
  /** What was measured last. */
  readonly gate: GateView | null;
  /** What the checks found where the team began; null: not measured so far. */
  readonly before: BeforeView | null;
  /** The last ones, accepted or not, the oldest first. */
  readonly decisions: readonly DecisionView[];
  readonly rejections: {
    /** How many of `decisions` are rejections; prompts to go on are none. */
    readonly count: number;
    /** Those that have not been followed by an acceptance, with how often the same work was rejected. */
    readonly open: readonly { readonly hook: string; readonly member: string | null; readonly in_a_row: number }[];
  };
  readonly next_step: string;
};

/** The last moment that a date can name; a record may hold any number. */
const LAST_MOMENT = 8.64e15;

function iso(at: number): string {
  return new Date(Math.max(-LAST_MOMENT, Math.min(at, LAST_MOMENT))).toISOString();
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}

function seconds(from: number, to: number): number {
  return Math.max(0, Math.round((to - from) / 1000));
}

/** Millionths of a dollar are not shown as they add up. */
function usd(cost: Cost | null): number | null {
  return cost === null ? null : Math.round(cost.cost_usd * 1e6) / 1e6;
}

function unreadBy(state: TeamState, name: string): number {
  return state.unread.get(name)?.length ?? 0;
}

function taskOf(state: TeamState, { name, epoch }: Member): TaskName | null {
  const claimed = [...state.tasks.values()].filter(
    ({ status, claim }) => status === 'in_progress' && claim?.member === name && claim.epoch === epoch,
  );
  const [first, ...rest] = claimed.map((task) => ({ task, at: task.claim?.at ?? 0 }));
  if (first === undefined) return null;
  const { task } = rest.reduce((last, one) => (one.at >= last.at ? one : last), first);
  return { id: task.id, subject: task.subject };
}

function memberView(state: TeamState, member: Member, now: number): MemberView {
  const { name, agent, epoch, phase, readOnly, model, registeredAt, seenAt, shutdown, ended } = member;
  return {
    name,
    agent,
    run: epoch,
    phase: isLost(member, now) ? 'lost' : phase,
    read_only: readOnly,
    model,
    task: taskOf(state, member),
    registered_at: iso(registeredAt),
    last_seen_at: iso(seenAt),
    unread: unreadBy(state, name),
    cost_usd: usd(costOfMember(state, name)),
    shutdown_asked_at: isoOrNull(shutdown?.askedAt ?? null),
    ended: ended === null ? null : { at: iso(ended.at), how: ended.how, reason: ended.reason },
  };
}

function secondsOf({ status, startedAt, endedAt }: Task, now: number): number | null {
  if (startedAt === null || status === 'pending') return null;
  return seconds(startedAt, endedAt ?? now);
}

function taskView(state: TeamState, task: Task, now: number): TaskView {
  return {
    id: task.id,
    subject: task.subject,
    status: shownStatus(task, state.tasks),
    owner: task.claim?.member ?? task.owner,
    blocked_by: task.blockedBy,
    waits_for: task.status === 'pending' || isHeldUp(task, state.tasks) ? waitsFor(task, state.tasks) : [],
    files: task.files,
    result: task.result === null ? null : oneLine(task.result, LINE_MAX),
    note: noteOf(task),
    created_at: iso(task.createdAt),
    started_at: isoOrNull(task.startedAt),
    ended_at: isoOrNull(task.endedAt),
    seconds: secondsOf(task, now),
    cost_usd: usd(costOfTask(state, task.id)),
  };
}

function statusOf(message: Message): MessageView['status'] {
  const receipts = [...message.receipts.values()];
  if (receipts.every(({ readAt }) => readAt !== null)) return 'read';
  return receipts.every(({ deliveredAt }) => deliveredAt !== null) ? 'delivered' : 'queued';
}

function messageView(message: Message): MessageView {
  const { seq, sentAt, from, to, type, inReplyTo, receipts } = message;
  return {
    seq,
    at: iso(sentAt),
    from,
    to,
    type,
    in_reply_to: inReplyTo,
    content: oneLine(messageContent(message), LINE_MAX),
    status: statusOf(message),
    receipts: [...receipts].map(([member, { deliveredAt, readAt }]) => ({
      member,
      delivered_at: isoOrNull(deliveredAt),
      read_at: isoOrNull(readAt),
    })),
  };
}

function shownCheck({ check, outcome, figure, reason }: CheckResult): GateView['checks'][number] {
  return { check, outcome, figure, reason };
}

function beforeView({ before }: TeamState): BeforeView | null {
  if (before === null) return null;
  const { at, checks, coverage, why = null } = before;
  return { at: iso(at), checks: checks.map(shownCheck), coverage, why };
}

function gateView(state: TeamState): GateView | null {
  if (state.gate === null) return null;
  const { ok, at, task, tree, coverage, checks, trust5 } = state.gate;
  return {
    ok,
    at: iso(at),
    task,
    tree,
    coverage,
    checks: checks.map(shownCheck),
    trust5:
      trust5 === undefined ? null : { ok: trust5.ok, score: trust5.score, dimensions: trust5.dimensions.map(scored) },
  };
}

function scored({ dimension, state, score, figures, source }: Trust5View['dimensions'][number]) {
  return { dimension, state, score, figures, source };
}

/** The rejections that stand, by the hook and the member whose key they have in the state. */
function openRejections(state: TeamState): TeamView['rejections']['open'] {
  return [...state.rejections]
    .filter(([, { count }]) => count <= MAX_REJECTIONS)
    .map(([key, { count }]) => {
      const [hook = '', member = ''] = key.split(':');
      return { hook, member: member || null, in_a_row: count };
    });
}

function countsOf(tasks: readonly TaskView[]): TeamView['task_counts'] {
  const counts = { pending: 0, blocked: 0, in_progress: 0, completed: 0, failed: 0 };
  for (const { status } of tasks) counts[status] += 1;
  return counts;
}

/** @param now ms since the epoch */
export function teamView(state: TeamState, now: number): TeamView {
  const purpose = state.purpose ?? state.proposal;
  const tasks = [...state.tasks.values()].map((task) => taskView(state, task, now));
  const decisions = state.decisions.map((decision) => ({ ...decision, at: iso(decision.at) }));
  return {
    generated_at: iso(now),
    team: state.team,
    state: state.session === 'none' && state.proposal !== null ? 'proposed' : state.session,
    phase: purpose?.phase ?? null,
    pattern: purpose?.pattern ?? null,
    subject: purpose?.subject ?? '',
    created_at: state.createdAt === 0 ? null : iso(state.createdAt),
    fallback: state.fallback,
    lead: { unread: unreadBy(state, LEAD) },
    writes_held_by: state.writesHeldBy,
    cost_usd: usd(costOfTeam(state)),
    members: [...state.members.values()].map((member) => memberView(state, member, now)),
    task_counts: countsOf(tasks),
    tasks,
    messages: { count: state.messages.length, last: state.messages.slice(-MESSAGES_SHOWN).map(messageView) },
    leases: [...state.leases.values()]
      .filter(({ until }) => until > now)
      .map(({ path, member, takenAt, until, reason }) => ({
        path,
        member,
        taken_at: iso(takenAt),
        until: iso(until),
        reason,
      })),
    gate: gateView(state),
    before: beforeView(state),
    decisions,
    rejections: {
      count: decisions.filter((one) => one.decision === 'reject' && isRefusal(one)).length,
      open: openRejections(state),
    },
    next_step: nextStepText(state),
  };
}
