// The member as which a process was started, by its environment.

import type { Environment } from '../base/rules/environment.ts';

/** The teammate's run that was started with it; absent: whichever is the latest. */
export type Identity = { readonly team: string | null; readonly teammate: string | null; readonly epoch?: number };

/** Whom an environment that this program made names. */
export function identityOf(env: Environment): Identity {
  const run = Number(env.TOOL_TEAMMATE_RUN);
  return {
    team: env.TOOL_TEAM ?? null,
    teammate: env.TOOL_TEAMMATE ?? null,
    ...(Number.isSafeInteger(run) && run > 0 ? { epoch: run } : {}),
  };
}
