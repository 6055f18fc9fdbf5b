// Where the members of a team that are processes have their homes, and how these go when the team is put away.

import { chmodSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { phaseOfTeam } from '../domain/team/team-name.ts';

const TEAMS = 'teams';

/** The directory of a team's homes, below the project's state. */
export function homesOf(stateDir: string, team: string): string {
  return join(stateDir, TEAMS, team);
}

/**
 * Removes the homes of a team that is put away. Links in them are removed, not followed; where the place itself, or the
 * one above it, is a link by now, all stays. Never throws: false when something is left.
 */
export function removeHomes(stateDir: string, team: string): boolean {
  if (phaseOfTeam(team) === undefined) return false;
  const path = homesOf(stateDir, team);
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return true;
    if (realpathSync.native(path) !== join(realpathSync.native(stateDir), TEAMS, team)) return false;
    removeAll(path);
    return true;
  } catch {
    return false;
  }
}

const ALL = { recursive: true, force: true } as const;

/** Programs make directories that cannot be written to. */
function removeAll(path: string): void {
  try {
    rmSync(path, ALL);
  } catch {
    makeWritable(path);
    rmSync(path, ALL);
  }
}

function makeWritable(path: string): void {
  chmodSync(path, 0o700);
  for (const item of readdirSync(path, { withFileTypes: true }))
    if (item.isDirectory()) makeWritable(join(path, item.name));
}
