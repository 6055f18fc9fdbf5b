// What is left of a team that was led to its end: its log, put away, and the report beside it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFinished } from '../../domain/team/lead-step.ts';
import type { TeamState } from '../../domain/team/state.ts';
import { hasLog, TeamHistory } from './team-history.ts';
import { teamsDirectory } from './team-names.ts';
import { ARCHIVE } from './teams.ts';

export type FinishedTeam = {
  readonly directory: string;
  readonly state: TeamState;
  /** Null: whoever led it was killed before the report was written. */
  readonly report: string | null;
};

/** No name that formatters and linters of the project take for something of theirs. */
export function reportPath(directory: string): string {
  return join(directory, 'report.txt');
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Where the teams of that name were put away, the first one first. */
function archived(root: string, team: string): readonly string[] {
  const archive = join(teamsDirectory(root), ARCHIVE);
  return namesIn(archive)
    .filter((name) => name.startsWith(`${team}-`) && /^\d{4}-\d{2}-\d{2}T/.test(name.slice(team.length + 1)))
    .sort()
    .map((name) => join(archive, name))
    .filter((directory) => hasLog(directory));
}

async function lastState(directory: string): Promise<TeamState> {
  const history = new TeamHistory({ directory, from: 'snapshot' });
  await history.close();
  return history.state;
}

/** The commits at which the teams of that name that were put away began, the first one first. */
export async function beginnings(root: string, team: string): Promise<readonly string[]> {
  const commits: string[] = [];
  for (const directory of archived(root, team)) {
    const { commit } = await lastState(directory);
    if (commit !== null) commits.push(commit);
  }
  return commits;
}

/** The last team of that name that was put away with all of its work done; null when there is none. */
export async function finishedTeam(root: string, team: string): Promise<FinishedTeam | null> {
  for (const directory of archived(root, team).toReversed()) {
    const state = await lastState(directory);
    if (isFinished(state)) return { directory, state, report: textOf(reportPath(directory)) };
  }
  return null;
}
