// The first writer of an unowned path holds it: a lease that the write takes, until the writer's task ends.

import type { TeamContext } from '../../team/operations/context.ts';
import type { TeamLog } from '../../team/ports.ts';
import type { Caller } from '../../team/rules/caller.ts';

/** As long as a lease can last; it ends with its holder's task. */
const FIRST_WRITER_MS = 120 * 60_000;

/**
 * Takes leases of unowned paths.
 * @returns why a path stays somebody else's; null: all leases are the caller's
 */
export async function leaseToFirstWriter(
  context: Pick<TeamContext, 'now' | 'placeLeases'>,
  log: TeamLog,
  { name, epoch }: Caller & { kind: 'member' },
  paths: readonly string[],
): Promise<string | null> {
  if (paths.length === 0) return null;
  let refusal: string | null = null;
  for (const path of paths) {
    const held = log.state.leases.get(path);
    if (held?.member === name && held.until > context.now()) continue;
    const until = context.now() + FIRST_WRITER_MS;
    const record = { type: 'lease_taken', path, until, reason: 'the first to write it', by: name, epoch } as const;
    refusal ??= (await log.append(record)).refusal;
  }
  context.placeLeases(log.state.team, log.state.leases, context.now());
  return refusal;
}
