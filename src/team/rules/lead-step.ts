// Next step of a lead that is code, derived from the team's state alone: the same for every lead that continues it.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { LEAD_CODES } from './codes/lead-codes.ts';
import { claimable } from './idle.ts';
import type { TeamState } from './log/state.ts';
import { recalledMembers } from './mail.ts';
import { askedJudge, JUDGE, JUDGE_ROUNDS, lacksVerdict } from './quality-verdict.ts';
import { isHeldUp, type Task } from './task.ts';
import { taskIndexOf } from './task-index.ts';
import { type TakerFacts, takerOf } from './task-taker.ts';

/** So many times what the gate finds is given back to be mended. */
export const GATE_ROUNDS = 3;

export type LeadStep =
  /** These roles have work, or are asked for it, and nobody plays them. */
  | { readonly kind: 'start'; readonly roles: readonly string[] }
  /** What was nobody's is this role's from here on. */
  | { readonly kind: 'give'; readonly task: string; readonly role: string }
  /** It can come to nothing. */
  | { readonly kind: 'fail'; readonly task: string; readonly why: string }
  /** Who judges has ended its work, and has not said what it thinks. */
  | { readonly kind: 'ask_judge' }
  /** All is done but for that word, and somebody is in the turn in which it may come. */
  | { readonly kind: 'hear_judge' }
  /** All that was built is done: it is measured as one. */
  | { readonly kind: 'measure' }
  /** The gate has passed, and whoever judges has agreed. */
  | { readonly kind: 'pass'; readonly isChecked: boolean }
  /** All have given their results: a SPEC is made of them. */
  | { readonly kind: 'write_spec' }
  /** A cause was proven, or nobody is left who could. */
  | { readonly kind: 'prove' }
  | { readonly kind: 'ask_to_end' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'wait' }
  /** Nothing can begin, and nobody is at work. */
  | { readonly kind: 'stuck'; readonly why: string }
  | { readonly kind: 'over' };

/** What the lead keeps beside the log, of this process alone. */
export type LeadFacts = TakerFacts & {
  /** Whether finished work is measured at all. */
  readonly isChecked: boolean;
  /** Whether what the phase is for has come about: all that is left is the end of the team. */
  readonly isClosed: boolean;
  /** Where the team's branch stood when its lead began; null: nobody could have moved it since it was measured. */
  readonly head: string | null;
  /** Tasks that nobody begins any more, with the reason. */
  readonly overBudget: ReadonlyMap<string, string>;
};

/** Whether a task changes something, as against the judgement of it. */
function isBuild({ owner }: Task): boolean {
  return owner !== JUDGE;
}

/** Whether no task that changes something is left. */
function isBuiltUp({ tasks }: TeamState): boolean {
  return !taskIndexOf(tasks).uncompletedTasks().some(isBuild);
}

function hasMail({ unread }: TeamState, name: string): boolean {
  return (unread.get(name) ?? []).length > 0;
}

function stuckWords(state: TeamState, facts: LeadFacts): string {
  const { tasks, why } = stuckOn(state, facts);
  return textOf(refusal(LEAD_CODES.team_stuck, { tasks: tasks.map(({ id }) => id), why }));
}

/** Tasks that nothing goes on without, and why. */
function stuckOn(state: TeamState, { spent }: LeadFacts): { readonly tasks: readonly Task[]; readonly why: string } {
  const book = taskIndexOf(state.tasks);
  const open = book.open();
  const over = open.filter(({ owner }) => owner !== null && spent.has(owner));
  if (over.length > 0) {
    const each = over.map(
      ({ id, subject, owner }) =>
        `task ${id} "${subject}" is open, and ${owner} begins no more tasks: ${spent.get(owner ?? '')}`,
    );
    return { tasks: over, why: each.join('; ') };
  }
  const failed = book.failed();
  if (failed.length > 0) {
    const each = failed.map(({ id, subject, result }) => `task ${id} "${subject}" (${result ?? 'no reason given'})`);
    return { tasks: failed, why: `failed: ${each.join('; ')}` };
  }
  const named = open.map(({ id, subject }) => `task ${id} "${subject}"`).join(', ');
  return { tasks: open, why: `nobody can continue ${named}` };
}

/** Whether it is in the middle of a turn, or will have one for its mail. */
function isBusy(state: TeamState, { running }: LeadFacts, name: string): boolean {
  return running.has(name) && (state.members.get(name)?.phase === 'working' || hasMail(state, name));
}

/** What follows when all is done, and who judges has not agreed. */
function unjudged(state: TeamState, facts: LeadFacts): LeadStep {
  if ([...facts.running].some((name) => isBusy(state, facts, name))) return { kind: 'hear_judge' };
  const why = facts.spent.get(JUDGE);
  if (why !== undefined)
    return { kind: 'stuck', why: textOf(refusal(LEAD_CODES.verdict_missing, { judge: JUDGE, why })) };
  const asked = askedJudge(state);
  if (asked.length < JUDGE_ROUNDS) return { kind: 'ask_judge' };
  const said = asked.at(-1)?.result ?? 'nothing';
  return {
    kind: 'stuck',
    why: textOf(refusal(LEAD_CODES.verdict_missing, { judge: JUDGE, asked: asked.length, why: said })),
  };
}

/** What follows when every task is completed; what goes on one at a time has no steps of a session. */
function done(state: TeamState, facts: LeadFacts): LeadStep {
  if (lacksVerdict(state)) return unjudged(state, facts);
  if (state.purpose?.phase === 'plan') return { kind: 'write_spec' };
  if (state.session === 'fallback') return ending(state);
  return { kind: 'pass', isChecked: facts.isChecked };
}

/** Whoever is left is asked to end, then the team goes. */
function ending(state: TeamState): LeadStep {
  return { kind: isEnded(state) ? 'delete' : 'ask_to_end' };
}

function isEnded({ members }: TeamState): boolean {
  return [...members.values()].every(({ phase }) => phase === 'over');
}

/** Whether the work of all, as it stands now, was measured as one and found good. @param head as of `LeadFacts` */
export function isMeasured(state: TeamState, head: string | null = null): boolean {
  const { gate } = state;
  if (gate === null || gate.task !== null || !gate.ok) return false;
  if (head !== null && gate.head !== undefined && gate.head !== head) return false;
  const book = taskIndexOf(state.tasks);
  if (book.open().some(isBuild)) return false;
  for (const task of book.endedSince(gate.at)) if (isBuild(task) && task.endedAt !== gate.at) return false;
  return true;
}

/** What is to be done with the first task that nobody would begin of themselves. */
function leftOver(state: TeamState, facts: LeadFacts): LeadStep | null {
  for (const { id, status } of taskIndexOf(state.tasks).open()) {
    const why = status === 'pending' ? facts.overBudget.get(id) : undefined;
    if (why !== undefined) return { kind: 'fail', task: id, why };
  }
  for (const task of claimable(state)) {
    const taker = task.owner === null ? takerOf(task, state, facts) : null;
    if (taker?.kind === 'give') return { kind: 'give', task: task.id, role: taker.role };
    if (taker?.kind === 'nobody') return { kind: 'fail', task: task.id, why: taker.why };
  }
  return null;
}

/** Whose an open task is; of one that is nobody's, who has begun it. */
function ownerOrClaimer({ owner, status, claim }: Task): string | null {
  return owner ?? (status === 'in_progress' ? (claim?.member ?? null) : null);
}

/** Whether somebody may still change what was built, or ask for it: who judges changes nothing. */
function isBeingChanged(state: TeamState, facts: LeadFacts): boolean {
  return (
    state.purpose?.phase === 'run' && [...facts.running].some((name) => name !== JUDGE && isBusy(state, facts, name))
  );
}

function working(state: TeamState, facts: LeadFacts): LeadStep {
  const { running, isChecked, isClosed, spent, head } = facts;
  if (isClosed) return ending(state);
  const book = taskIndexOf(state.tasks);
  const open = book.open();
  if (state.purpose?.phase === 'debug' && (book.isProven || open.length === 0)) return { kind: 'prove' };
  const called =
    state.session === 'fallback' ? [] : recalledMembers(state).flatMap(({ name }) => (spent.has(name) ? [] : name));
  const missing = called.filter((name) => !running.has(name));
  if (missing.length > 0) return { kind: 'start', roles: missing };
  // Its process is about to be gone.
  if (called.length > 0) return { kind: 'wait' };
  const isRun = state.purpose?.phase === 'run';
  if (isRun && isChecked && isBuiltUp(state) && !isMeasured(state, head))
    return { kind: isBeingChanged(state, facts) ? 'wait' : 'measure' };
  const left = leftOver(state, facts);
  if (left !== null) return left;
  const owners = new Set(open.map(ownerOrClaimer));
  const wanted = [...owners].filter((role) => role !== null).filter((role) => !running.has(role) && !spent.has(role));
  if (wanted.length > 0) return { kind: 'start', roles: wanted };
  if (book.isDone) return isBeingChanged(state, facts) ? { kind: 'wait' } : done(state, facts);
  const isAtWork = open.some(
    (task) =>
      task.status === 'in_progress' &&
      task.claim !== null &&
      running.has(task.claim.member) &&
      !isHeldUp(task, state.tasks),
  );
  // Whoever judges waits for what is measured, which comes only when everything is built.
  const waits = (name: string | null) => name === JUDGE && isRun && isChecked && !isMeasured(state, head);
  // What is nobody's is somebody's by now, or taken by who is there.
  const mayBegin = claimable(state).some(
    ({ owner }) => owner === null || (!waits(owner) && (running.has(owner) || !spent.has(owner))),
  );
  // Who is in the middle of a turn may still add a task, and who has mail may after it.
  const mayAdd = [...running].some((name) => !waits(name) && isBusy(state, facts, name));
  return !isAtWork && !mayBegin && !mayAdd ? { kind: 'stuck', why: stuckWords(state, facts) } : { kind: 'wait' };
}

/** Whether the team was ended with all of its work done. */
export function isFinished({ session, tasks }: TeamState): boolean {
  return session === 'deleted' && taskIndexOf(tasks).isDone;
}

/** The next step of the team's lead. */
export function leadStep(state: TeamState, facts: LeadFacts): LeadStep {
  switch (state.session) {
    case 'created':
    case 'assigned':
    case 'spawned':
    case 'working':
    case 'fallback':
      return working(state, facts);
    case 'gate':
      return { kind: 'pass', isChecked: facts.isChecked };
    case 'spec_generated':
    case 'awaiting_approval':
    case 'approved':
      return facts.isClosed ? ending(state) : { kind: 'write_spec' };
    case 'complete':
      return { kind: 'ask_to_end' };
    case 'shutting_down':
      return { kind: 'wait' };
    case 'shut_down':
      return { kind: 'delete' };
    case 'none':
    case 'deleted':
      return { kind: 'over' };
  }
}
