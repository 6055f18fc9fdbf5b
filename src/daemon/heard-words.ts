// The words that reach an agent: those of people and bots that may write to the repository, and never our own.

import type { Tracker } from './ports.ts';
import type { Actor } from './rules/issue.ts';
import { isOurs } from './rules/message.ts';

/** A person may lend us an account, no App does. */
export async function areHeard(
  tracker: Tracker,
  { author, body }: { readonly author: Actor | null; readonly body: string },
  signal: AbortSignal,
): Promise<boolean> {
  if (author === null || isOurs(body)) return false;
  const isOurApp = author.type === 'Bot' && author.login === (await tracker.feed?.account(signal));
  return !isOurApp && (await tracker.mayWrite(author, signal));
}
