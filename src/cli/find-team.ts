// Selects the team of a command: the named one, else the only active one; archived teams by the name of their archive.

import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BASE_CODES } from '../base/rules/base-codes.ts';
import { errorCode, failure, messageOf, ToolError } from '../base/rules/errors.ts';
import { nearest } from '../base/rules/nearest.ts';
import { hasLog, TeamHistory } from '../team/log/team-history.ts';
import { teamsDirectory } from '../team/log/team-names.ts';
import { ARCHIVE, FileTeams } from '../team/log/teams.ts';
import { isActive } from '../team/rules/log/state.ts';
import { type TeamView, teamView } from '../team/rules/views/view.ts';
import { failedText, warn } from './failed-command.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { NOTICE_CODES } from './rules/notice-codes.ts';

/** What an archive's name has behind the team's: when it was put away, and what tells two of one moment apart. */
const SUFFIX = /-(\d{4}-\d{2}-\d{2}T[-\d]+Z)-[0-9a-z]+$/;

export type FoundTeam = { readonly name: string; readonly directory: string; readonly isArchived: boolean };

function dateOf(archive: string): string {
  return SUFFIX.exec(archive)?.[1] ?? '';
}

/** The archives of a project's teams, the latest last. */
export function archivedTeams(root: string): readonly FoundTeam[] {
  const place = join(teamsDirectory(root), ARCHIVE);
  let items: readonly Dirent[];
  try {
    items = readdirSync(place, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw failure(BASE_CODES.state_unreadable, { path: place, said: messageOf(error) }, { cause: error });
  }
  return items
    .filter((item) => item.isDirectory() && hasLog(join(place, item.name)))
    .map(({ name }) => ({ name, directory: join(place, name), isArchived: true }))
    .sort((one, other) => dateOf(one.name).localeCompare(dateOf(other.name)));
}

/** The teams that have not been archived: those that stand, and those that are only proposed. */
export function presentTeams(root: string): readonly FoundTeam[] {
  const directory = teamsDirectory(root);
  const names = new FileTeams({ root, now: Date.now }).list();
  return names.map((name) => ({ name, directory: join(directory, name), isArchived: false }));
}

/** What a team's log comes to: now, or at the moment of its last record when the team has come to its end. */
export function viewFrom(history: TeamHistory, team: FoundTeam, now: number): TeamView {
  const { state, lastAt } = history;
  const isOver = team.isArchived || state.session === 'deleted';
  const view = teamView(state, isOver && lastAt !== 0 ? lastAt : now);
  return view.team === '' ? { ...view, team: team.name } : view;
}

export function warnOfTornLines({ tornLines }: TeamHistory, { name }: FoundTeam): void {
  if (tornLines > 0) warn(NOTICE_CODES.log_lines_torn, { team: name, count: tornLines });
}

export async function readTeam(team: FoundTeam, now: number): Promise<TeamView> {
  const history = new TeamHistory({ directory: team.directory, from: 'snapshot' });
  await history.close();
  warnOfTornLines(history, team);
  return viewFrom(history, team, now);
}

/** Names, the latest archive first. */
function listed(teams: readonly FoundTeam[]): readonly string[] {
  return teams.map(({ name }) => name).reverse();
}

function archivedIn(archived: readonly FoundTeam[]): { readonly archived?: readonly string[] } {
  return archived.length === 0 ? {} : { archived: listed(archived) };
}

/** Those that stand, and what keeps others from being read: whether one of these does is not known. */
async function standing(teams: readonly FoundTeam[]) {
  const there: FoundTeam[] = [];
  const unread: ToolError[] = [];
  for (const team of teams)
    try {
      const history = new TeamHistory({ directory: team.directory, from: 'snapshot' });
      if (isActive(history.state)) there.push(team);
      await history.close();
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      unread.push(error);
    }
  return { there, unread };
}

function unknown(name: string, present: readonly FoundTeam[], archived: readonly FoundTeam[]): ToolError {
  const own = archived.filter((team) => team.name.replace(SUFFIX, '') === name);
  if (own.length > 0) return failure(CLI_CODES.team_archived, { team: name, archives: listed(own) });
  const known = [...present, ...archived];
  const close = nearest(
    name,
    known.map((team) => team.name),
  );
  return failure(CLI_CODES.team_unknown, {
    team: name,
    ...(known.length === 0 ? {} : { known: [...present.map((team) => team.name), ...listed(archived)] }),
    ...(close === undefined ? {} : { near: close }),
  });
}

/** @param name a team's, or that of its archive; undefined: the only one that stands */
export async function findTeam(root: string, name: string | undefined): Promise<FoundTeam> {
  const present = presentTeams(root);
  const archived = archivedTeams(root);
  if (name !== undefined) {
    const found = [...present, ...archived].find((team) => team.name === name);
    if (found === undefined) throw unknown(name, present, archived);
    return found;
  }
  const { there, unread } = await standing(present);
  const [only] = there;
  const [first, ...more] = unread;
  for (const error of only === undefined ? more : unread) process.stderr.write(`${failedText(error)}\n`);
  if (only === undefined && first !== undefined) throw first;
  if (only !== undefined && there.length === 1) return only;
  if (only === undefined)
    throw failure(CLI_CODES.no_team_active, { directory: teamsDirectory(root), ...archivedIn(archived) });
  throw failure(CLI_CODES.team_unnamed, {
    count: there.length,
    teams: there.map((team) => team.name),
    ...archivedIn(archived),
  });
}
