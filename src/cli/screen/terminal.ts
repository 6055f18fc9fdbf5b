// A terminal: whether it may be drawn on, as a dumb one prints each control sequence as rubbish, and how wide it is.

import type { Environment } from '../../base/rules/environment.ts';

function isDumb(env: Environment): boolean {
  return env.TERM === 'dumb';
}

/** Whether lines may be drawn again in their place there. */
export function canRedraw(stream: { readonly isTTY?: boolean }, env: Environment = process.env): boolean {
  return stream.isTTY === true && !isDumb(env);
}

/** How many columns a line may have there: without bound where no terminal shows it. Some terminals do not say. */
export function lineColumns(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Environment = process.env,
): number {
  if (stream.isTTY !== true) return Number.POSITIVE_INFINITY;
  return stream.columns || Number.parseInt(env.COLUMNS ?? '', 10) || 80;
}
