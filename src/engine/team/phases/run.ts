// The end of building: what the gate found is given to who can mend it, and what it passed is closed.

import { type GateResult, rejection } from '../../../domain/quality.ts';
import type { Evidence } from '../../../domain/team/caller.ts';
import { GATE_ROUNDS } from '../../../domain/team/lead-step.ts';
import { LEAD } from '../../../domain/team/message.ts';
import { remediesFor } from '../../../domain/team/remedies.ts';
import type { Trust5 } from '../../../domain/trust5.ts';
import type { TeamLog } from '../../ports.ts';
import type { HookContext } from '../hook-context.ts';
import { operate } from '../operations.ts';

/** `trust5` null: it was not measured. */
export type Rejected = { readonly gate: GateResult; readonly trust5: Trust5 | null; readonly why: string };

/** What the gate found, as work for who can mend it; gives what nobody of the team can. */
export async function askForMending(
  context: HookContext,
  log: TeamLog,
  as: Evidence,
  { gate, trust5, why }: Rejected,
  say: (words: string) => void,
): Promise<string | null> {
  const { quality, ownership } = await context.settings();
  const writers = [...log.state.members.values()]
    .filter((one) => !one.readOnly && one.phase !== 'over')
    .map(({ name }) => name);
  const files = await context.project.files();
  const { messages, tasks, notes } = remediesFor({ gate, trust5, settings: quality, ownership, writers, files });
  if (messages.length + tasks.length === 0) return [...notes, why].join('; ');
  for (const note of notes) say(`gate: ${note}`);
  for (const { subject, description, owner, files: touched } of tasks)
    await operate(context, 'TaskCreate', { subject, description, owner, files: touched }, as);
  for (const { to, type, content } of messages) {
    await operate(context, 'SendMessage', { recipient: to, type, content }, as);
    // A message alone is no work that is waited for.
    const description = typeof content === 'string' ? content : JSON.stringify(content);
    const subject = `Mend what the gate found: ${type}`;
    await operate(context, 'TaskCreate', { subject, description, owner: to }, as);
  }
  return null;
}

/** Closes what the gate has passed. */
export async function passGate(log: TeamLog): Promise<void> {
  for (const event of ['gate_started', 'gate_passed'] as const)
    await log.append({ type: 'moved', event, reason: 'the gate passed', by: LEAD });
}

/**
 * Measures the work of all where it was done, in the checkout itself: without branches, and without commits that could be
 * held against tasks. Gives why it is no use to go on.
 */
export async function measureCheckout(context: HookContext, log: TeamLog, as: Evidence): Promise<string | null> {
  const { quality } = await context.settings();
  const gate = await context.checks.run(quality, new AbortController().signal);
  const { tree, ok, checks, coverage } = gate;
  await log.append({ type: 'gate_measured', task: null, tree, ok, checks, coverage });
  if (ok) return null;
  const why = rejection(gate, quality);
  const rounds = log.state.gate?.rejected ?? 0;
  if (rounds > GATE_ROUNDS) return `the gate has rejected the work ${rounds} times: ${why}`;
  return askForMending(context, log, as, { gate, trust5: null, why }, () => undefined);
}
