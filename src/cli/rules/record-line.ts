// A record of a team's log in words: who, and what came of it.

import { messageIn, refusal } from '../../base/rules/codes.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { percentText } from '../../gate/rules/coverage.ts';
import { GATE_CODES } from '../../gate/rules/gate-codes.ts';
import type { CheckResult } from '../../gate/rules/quality.ts';
import type { Trust5Summary } from '../../gate/rules/trust5.ts';
import type { WriteHolder } from '../../guard/rules/writes.ts';
import { dollars } from '../../team/rules/cost.ts';
import { contentLine, lineOf } from '../../team/rules/log/content-line.ts';
import type { TeamRecord, TeamRecordType } from '../../team/rules/log/record.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import type { TaskDraft } from '../../team/rules/task-draft.ts';

export type RecordLine = {
  /** The member, `team-lead`, or `–` where nobody is named. */
  readonly who: string;
  readonly what: string;
};

type Of<T extends TeamRecordType> = Extract<TeamRecord, { type: T }>;
type Words<T extends TeamRecordType> = (record: Stored<Of<T>>, state: TeamState, counts: boolean) => RecordLine;

const NOBODY = '–';
const BEGAN = 'where the team began';

const HOLDERS: Readonly<Record<WriteHolder, string>> = {
  kernel: 'the kernel guards their writes',
  seatbelt: 'Seatbelt guards their writes',
  reader: 'only their obvious writes are guarded; tool doctor says why',
};

/** What keeps shell commands of teammates from files of others. */
export function holderWords(by: WriteHolder): string {
  return HOLDERS[by];
}

/** `: reason`, or nothing where none was given. */
function because(reason: string | null): string {
  return reason === null || reason === '' ? '' : `: ${reason}`;
}

const STATUSES = {
  pending: 'puts back',
  in_progress: 'claims',
  completed: 'completes',
  failed: 'gives up',
} as const;

const VERDICTS = {
  accept: 'accepts',
  reject: 'rejects',
  escalated: 'lets pass after repeated rejections',
  failed: 'could not judge',
} as const;

function checkWords({ check, outcome, reason, figure }: CheckResult): string {
  const more = outcome === 'failed' ? reason : figure;
  return `${check} ${outcome.replace('_', ' ')}${more === null ? '' : ` (${more})`}`;
}

function trust5Words({ ok, score, dimensions }: Trust5Summary): string {
  const each = dimensions.map(
    ({ dimension, state, score: one }) => `${dimension} ${one === null ? state.replace('_', ' ') : one.toFixed(1)}`,
  );
  return `TRUST 5 ${ok ? 'passes' : 'fails'}${score === null ? '' : ` with ${score.toFixed(1)}`} (${each.join(', ')})`;
}

/** @param before how many there were before these */
function tasksWords(tasks: readonly TaskDraft[], before = 0): string {
  if (tasks.length === 0) return '';
  const each = tasks.map(({ subject, owner }, index) => `task ${before + index + 1}: ${subject} (for ${owner})`);
  return ` with ${each.join(', ')}`;
}

const LINES: { readonly [T in TeamRecordType]: Words<T> } = {
  proposed: ({ phase, pattern, subject, roles, reasons }) => ({
    who: NOBODY,
    what: `a team is proposed for ${subject} (${phase}, ${pattern ?? 'no pattern'}; ${roles.join(', ')})${because(reasons.join('; '))}`,
  }),
  created: ({ team, phase, pattern, subject, roles, tasks }) => ({
    who: LEAD,
    what: `creates ${team} for ${subject} (${phase}, ${pattern ?? 'no pattern'}; ${roles.join(', ')})${tasksWords(tasks ?? [])}`,
  }),
  task_created: ({ subject, owner, blocked_by: before, holds_up: held, by }, state, counts) => ({
    who: by,
    what: `adds task${counts ? ` ${state.tasks.size}` : ''}: ${subject}${owner === null ? '' : ` (for ${owner})`}${before.length === 0 ? '' : ` after ${before.join(', ')}`}${held === undefined ? '' : `; task ${held} waits for it`}`,
  }),
  task_updated: ({ task, status, result, owner, by, changed_nothing: isNothing }) => ({
    who: by,
    what: `${STATUSES[status]} task ${task}${owner === undefined ? '' : ` of ${owner}`}${isNothing === true ? ', and changed nothing' : ''}${because(result)}`,
  }),
  task_assigned: ({ task, owner, by }) => ({ who: by, what: `gives task ${task} to ${owner}` }),
  member_registered: ({ name, agent, read_only: readOnly, model }, state, counts) => ({
    who: name,
    what: `is registered as ${agent}${counts ? `, run ${state.members.get(name)?.epoch ?? '?'}` : ''} (model ${model}${readOnly ? ', reads only' : ''})`,
  }),
  member_spawned: ({ name, epoch, pid }) => ({
    who: name,
    what: `is started, run ${epoch}${pid === null ? '' : `, process ${pid}`}`,
  }),
  member_bound: ({ name, epoch, agent_id: agent }) => ({
    who: name,
    what: `run ${epoch} is the host's agent ${agent}`,
  }),
  member_seen: ({ name }) => ({ who: name, what: 'gives a sign of life' }),
  member_used: ({ name, task, cost_usd: usd, input_tokens: input, output_tokens: output }) => ({
    who: name,
    what: `has used ${dollars(usd)}, ${input + output} tokens${task === null ? '' : ` for task ${task}`}`,
  }),
  member_idle: ({ name, stopped }) => ({ who: name, what: stopped ? 'has ended its run' : 'has nothing to do' }),
  member_ended: ({ name, how, reason }) => ({ who: name, what: `is over (${how})${because(reason)}` }),
  message_sent: ({ by, to, kind, content, in_reply_to: reply }, state, counts) => ({
    who: by,
    what: `→ ${to} ${kind}${counts ? ` #${state.messages.length}` : ''}${reply === null ? '' : `, in reply to #${reply}`}: ${contentLine(kind, content)}`,
  }),
  mail_seen: ({ member, seqs, how }) => ({
    who: member,
    what: `${how === 'read' ? 'reads' : 'is handed'} ${seqs.map((seq) => `#${seq}`).join(', ')}`,
  }),
  lease_taken: ({ path, until, reason, by, at }) => ({
    who: by,
    what: `leases ${path} for ${Math.max(1, Math.round((until - at) / 60_000))} min${because(reason)}`,
  }),
  lease_released: ({ path, by }) => ({ who: by, what: `gives back ${path}` }),
  decision: ({ hook, decision, member, about, reason }) => ({
    who: member ?? NOBODY,
    what: `${hook} ${VERDICTS[decision]} ${about}${because(reason)}`,
  }),
  gate_measured: ({ task, ok, checks, coverage, trust5 }) => ({
    who: NOBODY,
    what: `the gate ${ok ? 'passes' : 'fails'}${task === null ? '' : ` task ${task}`}: ${checks.map(checkWords).join(', ') || 'no checks'}${coverage === null ? '' : `; ${percentText(coverage)} covered`}${trust5 === undefined ? '' : `; ${trust5Words(trust5)}`}`,
  }),
  base_measured: ({ checks, why }) => ({
    who: NOBODY,
    what:
      why === undefined
        ? `${BEGAN}: ${checks.map(checkWords).join(', ') || 'no checks'}`
        : messageIn(refusal(GATE_CODES.part_not_measured, { part: BEGAN, why })),
  }),
  moved: ({ event, reason, by, tasks = [] }, state, counts) => ({
    who: by,
    what: `${event.replaceAll('_', ' ')}${counts ? tasksWords(tasks, state.tasks.size - tasks.length) : ''}${because(reason)}`,
  }),
  fell_back: ({ trigger, reason }) => ({
    who: NOBODY,
    what: `falls back to sub-agents (${trigger})${because(reason)}`,
  }),
  restarted: ({ keep }) => ({
    who: LEAD,
    what: `restarts the team; ${keep ? 'what was done stays, what failed is tried again' : 'every task starts over'}`,
  }),
  lead_moved: ({ host }) => ({
    who: LEAD,
    what: host === undefined ? 'leads on in a new session of the same host' : 'leads on in a new process of its host',
  }),
  writes_held: ({ by }) => ({ who: NOBODY, what: `shell commands of teammates: ${holderWords(by)}` }),
  deleted: ({ forced, by }) => ({ who: by, what: `deletes the team${forced ? ' by force' : ''}` }),
  snapshot: () => ({ who: NOBODY, what: 'the state so far' }),
  continued: ({ next }) => ({ who: NOBODY, what: `the log goes on in ${next}` }),
};

/** Every type that a record can have. */
export const RECORD_TYPES: readonly string[] = Object.keys(LINES);

function linesOf<T extends TeamRecordType>(
  type: T,
  record: Stored<Of<T>>,
  state: TeamState,
  counts: boolean,
): RecordLine {
  return LINES[type](record, state, counts);
}

/**
 * The record in one visible line, whole.
 * @param state as the record left it
 * @param counts whether it changed anything
 */
export function recordLine(record: Stored<TeamRecord>, state: TeamState, counts: boolean): RecordLine {
  const { who, what } = linesOf(record.type, record, state, counts);
  return { who: lineOf(who), what: lineOf(what) };
}

/** The names of members that a record is by, for, or about; `all` is everybody's. */
export function namesIn(record: TeamRecord): readonly string[] {
  const names: readonly unknown[] = [
    'by' in record ? record.by : null,
    'name' in record ? record.name : null,
    'member' in record ? record.member : null,
    'to' in record ? record.to : null,
    'owner' in record ? record.owner : null,
    ...('tasks' in record ? (record.tasks ?? []).map(({ owner }) => owner) : []),
  ];
  return names.filter((name): name is string => typeof name === 'string');
}
