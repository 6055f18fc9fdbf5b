// The end of building: what the gate found is given to who can mend it, and what it passed is closed.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { withoutOldFailures } from '../../gate/rules/old-failures.ts';
import { type GateResult, rejection } from '../../gate/rules/quality.ts';
import { withRules } from '../../gate/rules/rule-files.ts';
import { summaryOf, type Trust5, trust5Reason } from '../../gate/rules/trust5.ts';
import { coverageOfChange } from '../../gate/rules/uncovered-sources.ts';
import { limitsOf } from '../lead/left-over.ts';
import { isBusy, knownBaseline } from '../operations/baseline-checks.ts';
import type { TeamContext } from '../operations/context.ts';
import type { CheckoutWork } from '../operations/context-parts.ts';
import { operate } from '../operations/operations.ts';
import type { TeamLog } from '../ports.ts';
import type { Evidence } from '../rules/caller.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import { GATE_ROUNDS } from '../rules/lead-step.ts';
import type { Gate, TeamState } from '../rules/log/state.ts';
import { LEAD } from '../rules/message.ts';
import { UNCHECKED } from '../rules/quality-verdict.ts';
import { remediesFor } from '../rules/remedies.ts';
import { taskIndexOf } from '../rules/task-index.ts';
import { writersOf } from '../rules/task-taker.ts';
import { unknownFacts, writtenFacts } from '../rules/write-attribution.ts';
import type { MeasureContext, MendContext } from './phase-context.ts';

/** `trust5` null: it was not measured. `root`: where it was measured; null: in the checkout itself. */
export type GateRejection = {
  readonly gate: GateResult;
  readonly trust5: Trust5 | null;
  readonly why: string;
  readonly root: string | null;
};

export type Asking = {
  /** Takes what the user is to know. */
  readonly say: (words: string) => void;
  /** Starts those who are to get a message and are not there; whoever cannot be is told by its task alone. */
  readonly wake: (names: readonly string[]) => Promise<void>;
};

/** What the gate found, as work for who can mend it, there or not; gives what nobody of the team can. */
export async function requestFixes(
  context: MendContext,
  log: TeamLog,
  as: Evidence,
  { gate, trust5, why, root }: GateRejection,
  { say, wake }: Asking,
): Promise<string | null> {
  const { quality: settings, ownership, budget } = await context.settings();
  const files = await context.project.files(root ?? undefined);
  const writers = writersOf(log.state);
  const spent = new Set(limitsOf(log.state, budget).spent.keys());
  const asked = [...log.state.tasks.values()].flatMap(({ createdBy, owner, endedAt, description }) =>
    createdBy === LEAD && owner !== null && endedAt !== null ? [{ owner, text: description }] : [],
  );
  const found = remediesFor({ gate, trust5, settings, ownership, writers, spent, files, asked });
  const { messages, tasks, notes } = found;
  if (messages.length + tasks.length === 0) return [...notes, why].join('; ');
  for (const note of notes) say(note);
  const isThere = (name: string) => (log.state.members.get(name)?.phase ?? 'over') !== 'over';
  const away = new Set(messages.map(({ to }) => to).filter((name) => !isThere(name) && !spent.has(name)));
  if (away.size > 0) await wake([...away]);
  log.refresh();
  for (const task of tasks) await operate(context, 'TaskCreate', { ...task }, as);
  for (const { to, type, content } of messages) {
    if (isThere(to)) await operate(context, 'SendMessage', { recipient: to, type, content }, as);
    // A message alone is no work that is waited for.
    const description = typeof content === 'string' ? content : JSON.stringify(content);
    const subject = `Fix the gate's finding: ${type}`;
    await operate(context, 'TaskCreate', { subject, description, owner: to }, as);
  }
  return null;
}

/** Closes what the gate has passed, or what nobody wants measured. */
export async function passGate(log: TeamLog, isChecked: boolean): Promise<void> {
  const reason = isChecked ? 'the gate passed' : UNCHECKED;
  for (const event of ['gate_started', 'gate_passed'] as const)
    await log.append({ type: 'moved', event, reason, by: LEAD });
}

/** What came of measuring; `notes`: what nobody of the team can mend, for the user. */
export type CheckoutMeasurement =
  | { readonly kind: 'passed' }
  | { readonly kind: 'asked'; readonly trust5: Trust5; readonly notes: readonly string[] }
  /** It is no use to go on. */
  | { readonly kind: 'stuck'; readonly why: string }
  /** Others were at it for longer than could be waited. */
  | { readonly kind: 'busy'; readonly why: string };

/**
 * Measures the work of all where it was done, in the checkout itself: by trees in place of commits, and by the log in place of
 * what they say.
 */
export async function measureCheckout(
  context: MeasureContext,
  log: TeamLog,
  as: Evidence,
): Promise<CheckoutMeasurement> {
  const measuredAt = await gateFingerprint(context);
  const measured = await measureOnce(context, log, as).catch((error: unknown): CheckoutMeasurement => {
    if (isBusy(error)) return { kind: 'busy', why: error.message };
    throw error;
  });
  if (measured.kind === 'busy') return measured;
  // Nobody could tell later that it is still the same work.
  if (measuredAt !== null) await noteStuck(log, measuredAt, measured);
  return measured;
}

/** The hook that stands in the log for work that the gate rejects, and nobody of the team can mend. */
const STUCK = 'gate';

/** What decides over what is measured: the work tree, and what it is held to; null: it cannot be told what the work tree holds. */
async function gateFingerprint({
  workTree,
  settings,
}: Pick<TeamContext, 'workTree' | 'settings'>): Promise<string | null> {
  const tree = await workTree.tree();
  return tree === null ? null : JSON.stringify([tree, (await settings()).quality]);
}

/** Why it is no use to go on, as it was measured; null: it never was, or something has changed since. */
export async function knownDeadEnd(
  context: Pick<TeamContext, 'workTree' | 'settings'>,
  { state }: TeamLog,
): Promise<string | null> {
  const { gate, rejections, decisions, tasks } = state;
  const before = rejections.get(`${STUCK}:`);
  const said = decisions.findLast(({ hook }) => hook === STUCK);
  if (before === undefined || said === undefined || gate === null || gate.task !== null || gate.ok) return null;
  if (hasEndedAfter(tasks, gate)) return null;
  return before.fingerprint === (await gateFingerprint(context)) ? said.reason : null;
}

async function noteStuck(log: TeamLog, fingerprint: string, measured: CheckoutMeasurement): Promise<void> {
  const before = log.state.rejections.get(`${STUCK}:`);
  const isStuck = measured.kind === 'stuck';
  if (isStuck ? before?.fingerprint === fingerprint : before === undefined) return;
  await log.append({
    type: 'decision',
    hook: STUCK,
    decision: isStuck ? 'reject' : 'accept',
    member: null,
    about: 'the work of all',
    reason: isStuck ? measured.why : 'measured anew',
    fingerprint: isStuck ? fingerprint : '',
    paths: [],
  });
}

async function measureOnce(context: MeasureContext, log: TeamLog, as: Evidence): Promise<CheckoutMeasurement> {
  const { quality } = await context.settings();
  const { signal } = new AbortController();
  const before = await knownBaseline(context, log, quality);
  const whole = await context.checks.run(quality, signal);
  const { changed, ...built } = await builtBy(context, log.state);
  const fresh = withoutOldFailures(coverageOfChange(whole, changed, quality), before);
  const gate = withRules(fresh, changed);
  const trust5 = await context.trust5({ ...built, gate, settings: quality, signal });
  const { tree, checks, coverage } = gate;
  const ok = gate.ok && trust5.ok;
  const found = { tree, ok, checks, coverage, trust5: summaryOf(trust5) };
  log.refresh();
  if (!isKnown(log.state, found)) await log.append({ type: 'gate_measured', task: null, ...found });
  if (ok) return { kind: 'passed' };
  const why = gate.ok ? trust5Reason(found.trust5) : rejection(gate, quality);
  const rounds = log.state.gate?.rejected ?? 0;
  if (rounds > GATE_ROUNDS)
    return { kind: 'stuck', why: textOf(refusal(LEAD_CODES.gate_rejected_too_often, { count: rounds, why })) };
  const notes: string[] = [];
  // Only the lead can start somebody here.
  const asking = { say: (words: string) => notes.push(words), wake: () => Promise.resolve() };
  const left = await requestFixes(context, log, as, { gate, trust5, why, root: null }, asking);
  return left === null ? { kind: 'asked', trust5, notes } : { kind: 'stuck', why: left };
}

/** What differs from where the team began, and what of it was written for what. */
async function builtBy(
  { workTree }: Pick<TeamContext, 'workTree'>,
  state: TeamState,
): Promise<Pick<CheckoutWork, 'change' | 'written'> & { readonly changed: readonly string[] | null }> {
  const unknown = (unmeasured: string) => ({
    change: { unmeasured },
    written: unknownFacts(state, unmeasured),
    changed: null,
  });
  const { base } = state;
  if (base === null) return unknown('there was no Git repository when the team began');
  const head = await workTree.tree();
  if (head === null) return unknown('Git cannot tell what the work tree holds');
  const changed = await workTree.changed(base, head);
  if (changed === null) return unknown('the record of the work tree when the team began is gone from .tool/cache');
  return { change: { base, head }, written: writtenFacts(state, changed), changed };
}

type Finding = Pick<Gate, 'tree' | 'ok' | 'checks' | 'trust5'>;

/** What fails, by name. */
function failuresOf({ checks, trust5 }: Finding): string {
  const named = checks.filter(({ outcome }) => outcome !== 'passed').map(({ check, outcome }) => `${check} ${outcome}`);
  const scored = (trust5?.dimensions ?? [])
    .filter(({ state }) => state !== 'passed')
    .map(({ dimension, state }) => `${dimension} ${state}`);
  return [...named, ...scored].join(', ');
}

/**
 * Whether the log holds this rejection already, of the same round: whoever wrote it down came no further, or two have measured
 * at once. A task that was ended since makes it another round.
 */
function isKnown({ gate, tasks }: TeamState, found: Finding): boolean {
  // With a restart the rounds begin anew.
  if (gate === null || gate.rejected === undefined) return false;
  if (gate.task !== null || gate.ok || found.ok || gate.tree !== found.tree) return false;
  const isSame = failuresOf(gate) === failuresOf(found);
  return isSame && !hasEndedAfter(tasks, gate);
}

/** Whether a task has ended since that was measured. */
function hasEndedAfter(tasks: TeamState['tasks'], { at }: Gate): boolean {
  for (const { endedAt } of taskIndexOf(tasks).endedSince(at)) if (endedAt !== at) return true;
  return false;
}
