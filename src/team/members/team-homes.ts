// Home directories of team members that are processes, and their removal when the team is archived.

import { chmodSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { phaseOfTeam } from '../rules/team-name.ts';

const TEAMS = 'teams';

/** The directory of a team's homes, below the project's state. */
export function homesOf(stateDir: string, team: string): string {
  return join(stateDir, TEAMS, team);
}

/**
 * Removes the homes of a team that is archived. Links are removed, not followed. Removes nothing if the directory or
 * its parent is a link. Never throws: false when something is left.
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

/** Retries with write permission: programs create read-only directories. */
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
