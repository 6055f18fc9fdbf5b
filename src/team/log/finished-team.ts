// Archived teams that finished their work: final state and report.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tryReadText } from '../../base/files/read-text.ts';
import { isFinished } from '../rules/lead-step.ts';
import type { TeamState } from '../rules/log/state.ts';
import { hasLog, TeamHistory } from './team-history.ts';
import { teamsDirectory } from './team-names.ts';
import { ARCHIVE } from './teams.ts';

export type FinishedTeam = {
  readonly directory: string;
  readonly state: TeamState;
  /** Null: the lead was killed before it wrote the report. */
  readonly report: string | null;
};

/** A `.txt` file: formatters and linters of the project ignore it. */
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

/** Archive directories of the teams with that name, oldest first. */
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

/** Base commits of the archived teams with that name, oldest first. */
export async function archivedBases(root: string, team: string): Promise<readonly string[]> {
  const commits: string[] = [];
  for (const directory of archived(root, team)) {
    const { commit } = await lastState(directory);
    if (commit !== null) commits.push(commit);
  }
  return commits;
}

/** The latest archived team with that name that finished all of its work; null: none did. */
export async function finishedTeam(root: string, team: string): Promise<FinishedTeam | null> {
  for (const directory of archived(root, team).toReversed()) {
    const state = await lastState(directory);
    if (isFinished(state)) return { directory, state, report: tryReadText(reportPath(directory)) };
  }
  return null;
}
