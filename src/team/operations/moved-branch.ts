// Branches that somebody has moved past the team's rules: the team's own is put back, those of the person are named.

import { lineWithCode, refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import type { RefTips, TeamWorktrees } from '../../git/worktrees/team-worktrees-port.ts';
import type { TeamLog } from '../ports.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';

const HOOK = 'branch_moved';

async function note(log: TeamLog, about: string, reason: string): Promise<void> {
  const decided = { hook: HOOK, decision: 'reject', member: null, about, reason } as const;
  await log.append({ type: 'decision', ...decided, fingerprint: `moved ${about}`, paths: [] });
}

/** What a person has made of the team's branch while nobody led. A lead begins also where that cannot be taken up. */
export async function adoptBranchChanges(
  teamWorktrees: TeamWorktrees,
  log: TeamLog,
  say: (words: string) => void,
): Promise<void> {
  const { team, members } = log.state;
  try {
    for (const words of await teamWorktrees.adoptChanges(team, [...members.keys()])) say(words);
  } catch (error) {
    say(lineWithCode(refusal(OPERATIONS_CODES.branch_not_adopted, { branch: `tool/${team}`, said: messageOf(error) })));
  }
}

/** The team's branch moves by merges of finished work alone. */
export async function restoreBranch(
  teamWorktrees: TeamWorktrees,
  log: TeamLog,
  say: (words: string) => void,
): Promise<void> {
  const { team } = log.state;
  const kept = await teamWorktrees.putBack(team);
  if (kept === null) return;
  const words = `put back: it held commits that no completion merged; they are kept as ${kept}`;
  say(lineWithCode(refusal(OPERATIONS_CODES.branch_moved, { branch: `tool/${team}`, words })));
  await note(log, `branch tool/${team}`, words);
}

/** Branches and tags that are at a teammate's commit and were not before. */
export async function reportMovedRefs(
  teamWorktrees: TeamWorktrees,
  log: TeamLog,
  before: RefTips,
  say: (words: string) => void,
): Promise<void> {
  for (const [ref, { sha, isTeams }] of await teamWorktrees.tips()) {
    const was = before.get(ref)?.sha;
    if (!isTeams || was === sha) continue;
    const words = `moved to ${sha.slice(0, 12)}, which a teammate committed. If it was not you, back with it: git update-ref ${was === undefined ? `-d ${ref}` : `${ref} ${was}`}`;
    say(lineWithCode(refusal(OPERATIONS_CODES.branch_moved, { branch: ref, words })));
    await note(log, ref, words);
  }
}
