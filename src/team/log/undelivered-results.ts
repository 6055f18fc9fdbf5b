// Undelivered results of teams led by code, kept beside the log until delivery.
// A lead may be killed between the end of its team and its report.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Teams } from '../ports.ts';
import { isActive, type TeamState } from '../rules/log/state.ts';
import { SPEC_STATUSES } from '../rules/spec-documents/spec.ts';
import { phaseOfTeam } from '../rules/team-name.ts';
import { TeamHistory } from './team-history.ts';
import { teamsDirectory } from './team-names.ts';
import { ARCHIVE } from './teams.ts';

/** No extension: formatters of the project ignore the file. */
const FILE = 'end';

const found = z.discriminatedUnion('phase', [
  z.strictObject({ phase: z.literal('plan'), spec: z.string(), status: z.enum(SPEC_STATUSES) }),
  z.strictObject({
    phase: z.literal('debug'),
    cause: z.string().nullable(),
    evidence: z.string(),
    by: z.string().nullable(),
    tried: z.array(z.strictObject({ subject: z.string(), said: z.string() })),
  }),
]);

const end = z.strictObject({ team: z.string(), found: found.nullable() });

export type UndeliveredResult = {
  readonly team: string;
  /** Archive directory. */
  readonly archived: string;
  readonly state: TeamState;
  readonly found: z.infer<typeof found> | null;
};

/** Writes the result of a team that is about to end; it is archived with the log. */
export function recordResult(root: string, team: string, what: object | null): void {
  writeFileSync(join(teamsDirectory(root), team, FILE), `${JSON.stringify({ team, found: what })}\n`);
}

/** Removes a result that was delivered. */
export function removeResult(archived: string): void {
  rmSync(join(archived, FILE), { force: true });
}

/** null: the file is missing or truncated. */
function noted(directory: string): z.infer<typeof end> | null {
  try {
    return end.parse(JSON.parse(readFileSync(join(directory, FILE), 'utf8')));
  } catch {
    return null;
  }
}

/** Archives with undelivered results, for each team the latest last. `team` null: all teams. */
function placesOf(root: string, team: string | null): readonly (readonly [team: string, archived: string])[] {
  const archive = join(teamsDirectory(root), ARCHIVE);
  return (existsSync(archive) ? readdirSync(archive).sort() : []).flatMap((name) => {
    if (!existsSync(join(archive, name, FILE))) return [];
    const of = noted(join(archive, name))?.team;
    const isWhole = of !== undefined && phaseOfTeam(of) !== undefined && name.startsWith(`${of}-`);
    return isWhole && (team === null || team === of) ? [[of, join(archive, name)] as const] : [];
  });
}

/** Current state from the log; undefined: no log. */
function stateOf(teams: Teams, team: string): TeamState | undefined {
  const log = teams.open(team);
  void log?.close();
  return log?.state;
}

/** Whether the lead deleted the team, but was killed before it archived the log. */
function isDeleted(teams: Teams, root: string, team: string): boolean {
  return noted(join(teamsDirectory(root), team)) !== null && stateOf(teams, team)?.session === 'deleted';
}

/** Teams with an undelivered result. Omits a team with an unreadable log, since it may still be active. */
export function undeliveredTeams(teams: Teams, root: string): readonly string[] {
  const deleted = teams.list().filter((team) => {
    try {
      return isDeleted(teams, root, team);
    } catch {
      return false;
    }
  });
  return [...new Set([...deleted, ...placesOf(root, null).map(([team]) => team)])];
}

/** The undelivered result of a team; null: none. No other process may lead the team during the call. */
export async function findUndelivered(teams: Teams, root: string, team: string): Promise<UndeliveredResult | null> {
  if (isDeleted(teams, root, team)) teams.archive(team);
  const places = placesOf(root, team);
  const now = stateOf(teams, team);
  if (now !== undefined && isActive(now)) {
    // A newer team with that name is active, so older results are obsolete.
    for (const [, earlier] of places) removeResult(earlier);
    return null;
  }
  const archived = places.at(-1)?.[1];
  const what = archived === undefined ? null : noted(archived);
  if (archived === undefined || what === null) return null;
  // Only the latest result counts.
  for (const [, earlier] of places.slice(0, -1)) removeResult(earlier);
  const history = new TeamHistory({ directory: archived, from: 'snapshot' });
  await history.close();
  return { ...what, archived, state: history.state };
}
