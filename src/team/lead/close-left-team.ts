// The end of what a team has left whose lead did not come to end it: deleted from a shell, or killed on the way.

import type { TeamWorktrees } from '../../git/worktrees/team-worktrees-port.ts';

/**
 * Closes the worktrees of a team that is no more, and the branches of these members; the team's own branch stays, with what
 * a person has committed there. Gives the refs that keep what it lacks of theirs.
 */
export async function closeLeftTeam(
  teamWorktrees: TeamWorktrees,
  team: string,
  members: readonly string[],
): Promise<readonly string[]> {
  const before = new Set(await teamWorktrees.kept(team));
  await teamWorktrees.adoptChanges(team, []);
  await teamWorktrees.end(team, members);
  return (await teamWorktrees.kept(team)).filter((ref) => !before.has(ref));
}
