// Effects of the commands on one issue, as a person reads them; pure.

import type { Order } from '../../daemon/rules/steering.ts';

const DONE: Readonly<Record<Order, string>> = {
  pause: 'is paused; tool resume goes on with it',
  resume: 'goes on when a slot is free',
  cancel: 'is cancelled; the daemon takes the active label off and keeps the work',
  retry: 'is tried again when a slot is free',
  tell: 'has the text; its agent, or its team, gets it in the next turn',
};

/** @param standing state of the issue after the command */
export function steerWords(command: Order, standing: unknown): string {
  // A change that was held back needs no attempt.
  return command === 'retry' && standing === 'publishing' ? 'is published without waiting' : DONE[command];
}
