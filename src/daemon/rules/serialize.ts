// Changes of the same serialized paths: one at a time is published, the others wait until its pull request is over; pure.

import picomatch from 'picomatch';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { oneLine } from '../../base/rules/text.ts';
import { SERIAL_CODES } from './codes/serial-codes.ts';
import { tipOf } from './follow.ts';
import { givenUp } from './given-up.ts';
import { openPullRequest } from './next-step.ts';
import type { JournalRecord, OpenPull, Touch } from './record.ts';
import { type DaemonState, type Entry, type SerialState, withEntry } from './state.ts';

type Of<T extends JournalRecord['type']> = Stored<Extract<JournalRecord, { type: T }>>;

/** So many pull requests are kept in mind that touch no serialized path. */
const OTHERS_KEPT = 100;

/** For each glob the first path that it matches, or that lies below the directory of that name. */
export function touchesOf(paths: readonly string[], globs: readonly string[]): readonly Touch[] {
  return globs.flatMap((glob) => {
    const matches = picomatch([glob, `${glob.replace(/\/+$/, '')}/**`], { dot: true, flags: 's' });
    const path = paths.find((one) => matches(one));
    return path === undefined ? [] : [{ glob, path }];
  });
}

/** A change that goes first. `pull`: its pull request is open. */
type Holder = { readonly issue: number; readonly pull: OpenPull | null; readonly touch: Touch };

/** The change of another issue that goes first on one of these globs; open pull requests are named before others. */
function holderOf(state: DaemonState, issue: number, touched: readonly Touch[]): Holder | null {
  const globs = new Set(touched.map(({ glob }) => glob));
  const shared = (all: readonly Touch[] = []) => all.find(({ glob }) => globs.has(glob));
  for (const pull of state.open.values()) {
    const touch = shared(pull.touched);
    if (touch !== undefined && pull.issue !== issue) return { issue: pull.issue, pull, touch };
  }
  for (const { number, serial } of state.entries.values()) {
    const touch = serial?.goesFirst === true && number !== issue ? shared(serial.touched) : undefined;
    if (touch !== undefined) return { issue: number, pull: null, touch };
  }
  return null;
}

/** Issues that are held back, without those that an operator paused. */
function waitersOf({ entries, orders }: DaemonState): readonly (Entry & { readonly serial: SerialState })[] {
  return [...entries.values()].flatMap((entry) =>
    entry.phase === 'held_back' && entry.serial !== null && !orders.has(entry.number)
      ? [{ ...entry, serial: entry.serial }]
      : [],
  );
}

/** Another issue that waits for one of these globs. */
function waiterOn(state: DaemonState, issue: number, touched: readonly Touch[]): Holder | null {
  for (const { number, serial } of waitersOf(state)) {
    const touch = serial.touched.find(({ glob }) => touched.some((one) => one.glob === glob));
    if (touch !== undefined && number !== issue) return { issue: number, pull: null, touch };
  }
  return null;
}

/** Open pull requests for which issues wait. @param by for which this one waits; null: any */
export function awaitedPulls(state: DaemonState, by: number | null = null): readonly OpenPull[] {
  const waiters = waitersOf(state).filter(({ number }) => by === null || number === by);
  return [...state.open.values()].filter(({ issue, touched }) =>
    waiters.some(
      ({ number, serial }) =>
        number !== issue && serial.touched.some(({ glob }) => touched.some((one) => one.glob === glob)),
    ),
  );
}

/** Why an issue is held back. */
export function heldBackBy(state: DaemonState, { number, serial }: Entry): Refusal {
  const touched = serial?.touched ?? [];
  const holder = holderOf(state, number, touched) ?? waiterOn(state, number, touched);
  if (holder === null) return refusal(SERIAL_CODES.change_released, {});
  const { issue, pull, touch } = holder;
  const shared = { glob: touch.glob, path: oneLine(touch.path, 200) };
  return pull === null
    ? refusal(SERIAL_CODES.change_awaits_issue, { issue, ...shared })
    : refusal(SERIAL_CODES.change_awaits_pull_request, { pull_request: pull.number, ...shared });
}

/**
 * The issue that goes on next; null: none does. One that ranks behind another that waits for the same does not overtake it.
 * @param globs as they are set now: a glob that is gone holds nothing back
 * @param rankOf place by priority, 0 first; of the same rank, the oldest issue is first
 */
export function nextRelease(
  state: DaemonState,
  globs: readonly string[],
  rankOf: (issue: number) => number,
): { readonly issue: number; readonly touched: readonly Touch[] } | null {
  const waiters = waitersOf(state).toSorted((a, b) => rankOf(a.number) - rankOf(b.number) || a.number - b.number);
  const wanted = new Set<string>();
  for (const { number, serial } of waiters) {
    const touched = serial.touched.filter(({ glob }) => globs.includes(glob));
    const isFree = holderOf(state, number, touched) === null && !touched.some(({ glob }) => wanted.has(glob));
    if (isFree) return { issue: number, touched };
    for (const { glob } of touched) wanted.add(glob);
  }
  return null;
}

/** The known open pull request of an issue's branch. */
export function openPullOf(state: DaemonState, { number, branch }: Entry): OpenPull | undefined {
  return [...state.open.values()].find((pull) => pull.issue === number && pull.branch === branch);
}

const NEW = { isHurried: false, isBehind: false, rounds: 0, told: null } as const;

/** An open pull request is never held back: two that waited for each other would wait for ever. */
export function touch(state: DaemonState, { issue, sha, touched, at }: Of<'touched'>): DaemonState {
  const entry = state.entries.get(issue);
  if (entry?.phase !== 'publishing' || entry.head !== sha) return state;
  const isOpen = entry.follow !== null || openPullRequest(entry) !== null || openPullOf(state, entry) !== undefined;
  const isFree = () =>
    holderOf(state, issue, touched) === null &&
    (entry.serial?.goesFirst === true || waiterOn(state, issue, touched) === null);
  const goesFirst = isOpen || entry.serial?.isHurried === true || isFree();
  const serial = { ...(entry.serial ?? NEW), sha, touched, goesFirst, since: at };
  const next = withEntry(state, { ...entry, phase: goesFirst ? 'publishing' : 'held_back', serial });
  return isOpen ? withOpened(next, issue) : next;
}

/** Publishing takes the base in first, and what others pushed to the branch. */
export function withBaseDue(entry: Entry, sha: string, since: number): Entry {
  const serial = entry.serial ?? { ...NEW, touched: [], goesFirst: true };
  return { ...entry, serial: { ...serial, sha, since, isBehind: true } };
}

/** It goes first from here on. @param isHurried whatever others touch */
export function letGo(entry: Entry, isHurried = false): Entry {
  const { serial } = entry;
  if (entry.phase !== 'held_back' || serial === null) return entry;
  return { ...entry, phase: 'publishing', serial: { ...serial, goesFirst: true, isHurried, isBehind: true } };
}

export function release(state: DaemonState, { issue, touched }: Of<'released'>): DaemonState {
  const entry = state.entries.get(issue);
  if (entry === undefined || entry.serial === null || holderOf(state, issue, touched) !== null) return state;
  return withEntry(state, letGo({ ...entry, serial: { ...entry.serial, touched } }));
}

/** @param result `sha`: the commit with the base in it; `conflicts`: how many paths are in conflict */
export function takenBase(entry: Entry, { sha, conflicts }: Readonly<Record<string, unknown>>): Entry {
  if (entry.phase !== 'publishing' || entry.serial === null || conflicts !== 0) return entry;
  const head = typeof sha === 'string' ? sha : null;
  return { ...entry, head, serial: { ...entry.serial, isBehind: false, told: null } };
}

/** This is no failed attempt: these rounds are counted by themselves. */
export function solveConflict(entry: Entry, { reason, told, next, at }: Of<'base_conflict'>): Entry | undefined {
  const { serial } = entry;
  if (entry.phase !== 'publishing' || serial === null) return undefined;
  const base = { ...entry, lastError: reason, stepError: null, head: null };
  if (next === 'give_up') return { ...base, retryAt: null, ...givenUp(entry, reason) };
  return { ...base, phase: 'retrying', retryAt: at, serial: { ...serial, told, rounds: serial.rounds + 1 } };
}

function withOpen(state: DaemonState, pulls: readonly OpenPull[]): DaemonState {
  const open = new Map(state.open);
  for (const pull of pulls) open.set(pull.number, pull);
  const others = [...open.values()].filter(({ touched }) => touched.length === 0);
  for (const { number } of others.slice(0, -OTHERS_KEPT)) open.delete(number);
  return { ...state, open };
}

/** The pull request of an issue is open. It is kept in mind if it is followed, or touches serialized paths. */
export function withOpened(state: DaemonState, issue: number): DaemonState {
  const entry = state.entries.get(issue);
  if (entry === undefined || entry.pullRequest === null) return state;
  const { pullRequest, branch, serial, follow } = entry;
  const touched = serial?.touched ?? state.open.get(pullRequest.number)?.touched ?? [];
  if (touched.length === 0 && follow === null) return state;
  const head = tipOf(entry) ?? entry.head ?? '';
  return withOpen(state, [{ ...pullRequest, issue, branch, head, touched }]);
}

/** A commit was pushed to the branch of an issue. */
export function withPushed(state: DaemonState, issue: number, head: string): DaemonState {
  const entry = state.entries.get(issue);
  const pull = entry === undefined ? undefined : openPullOf(state, entry);
  return pull === undefined ? state : { ...state, open: new Map(state.open).set(pull.number, { ...pull, head }) };
}

/** It is merged or closed: its issue holds nobody back, though a label of it may still be due. */
export function withoutPull(state: DaemonState, { issue, pull_request: pull }: Of<'pull_request_over'>): DaemonState {
  const open = new Map(state.open);
  if (!open.delete(pull)) return state;
  const next = { ...state, open };
  const entry = state.entries.get(issue);
  if (entry?.serial?.goesFirst !== true || entry.pullRequest?.number !== pull) return next;
  return withEntry(next, { ...entry, serial: { ...entry.serial, goesFirst: false } });
}

export function survey(state: DaemonState, { globs, pulls }: Of<'surveyed'>): DaemonState {
  return { ...withOpen(state, pulls), surveyed: [...globs] };
}

/** Phases in which an issue that goes first goes on by itself, unless an order stops it. */
const GOING: readonly string[] = ['publishing', 'retrying', 'running'];
/** Phases after which it goes on with the same work. */
const KEPT: readonly string[] = [...GOING, 'held_back', 'asking'];

/** Whatever stops the work on an issue that goes first lets the others go on. */
export function withoutIdle(state: DaemonState, issue: number): DaemonState {
  const entry = state.entries.get(issue);
  if (entry === undefined || entry.serial === null) return state;
  if (!KEPT.includes(entry.phase)) return withEntry(state, { ...entry, serial: null });
  // An order on an attempt that handed its work in stops the next attempt, not the publishing.
  const goesOn = entry.phase === 'publishing' || (GOING.includes(entry.phase) && !state.orders.has(issue));
  if (!entry.serial.goesFirst || goesOn) return state;
  return withEntry(state, { ...entry, serial: { ...entry.serial, goesFirst: false } });
}
