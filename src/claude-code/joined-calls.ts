// Calls of the team's tools joined with the hook that the host raises before each: both carry the id of the tool use.

import type { HookCaller } from '../team/rules/caller.ts';

/** More than a host has under way at once; the oldest are forgotten first. */
const MOST = 1_000;
/** The host may ask the user about a call in between. */
const KEPT_MS = 3_600_000;

export type JoinedCalls = {
  /** Keeps who is about to make a call. */
  readonly expect: (caller: HookCaller) => void;
  /** The caller of the call with that id, once; undefined: no hook has named one, or two hooks named two. */
  readonly take: (toolUseId: string) => HookCaller | undefined;
};

/** `caller` undefined: two claim the id, and nothing tells whose call comes. */
type Expected = { readonly caller: HookCaller | undefined; readonly at: number };

function isSame(one: HookCaller | undefined, other: HookCaller): boolean {
  return one?.session === other.session && one.agentId === other.agentId && one.agentType === other.agentType;
}

/** @param now in milliseconds */
export function joinCalls(now: () => number): JoinedCalls {
  /** The oldest first. */
  const expected = new Map<string, Expected>();
  const forget = () => {
    for (const [id, { at }] of expected) {
      if (expected.size <= MOST && now() - at < KEPT_MS) return;
      expected.delete(id);
    }
  };
  return {
    expect: (caller) => {
      const { toolUseId } = caller;
      if (toolUseId === null) return;
      const known = expected.get(toolUseId);
      if (known === undefined) expected.set(toolUseId, { caller, at: now() });
      else if (!isSame(known.caller, caller)) expected.set(toolUseId, { caller: undefined, at: known.at });
      forget();
    },
    take: (toolUseId) => {
      forget();
      const known = expected.get(toolUseId);
      expected.delete(toolUseId);
      return known?.caller;
    },
  };
}
