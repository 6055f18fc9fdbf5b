// The end of what a team has left whose lead did not come to end it: deleted from a shell, or killed on the way.

import type { Workshop } from '../../git/worktrees/workshop-port.ts';

/**
 * Closes the worktrees of a team that is no more, and the branches of these members; the team's own branch stays, with what
 * a person has committed there. Gives the refs that keep what it lacks of theirs.
 */
export async function closeLeft(
  workshop: Workshop,
  team: string,
  members: readonly string[],
): Promise<readonly string[]> {
  const before = new Set(await workshop.kept(team));
  await workshop.adoptChanges(team, []);
  await workshop.end(team, members);
  return (await workshop.kept(team)).filter((ref) => !before.has(ref));
}
