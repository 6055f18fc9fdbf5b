// What a team that was led by code has come to, kept beside its log until somebody was told: a lead may be killed between
// the end of its team and its report.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { SPEC_STATUSES } from '../../domain/spec/spec.ts';
import { isStanding, type TeamState } from '../../domain/team/state.ts';
import { phaseOfTeam } from '../../domain/team/team-name.ts';
import type { Teams } from '../../engine/ports.ts';
import { TeamHistory } from './team-history.ts';
import { teamsDirectory } from './team-names.ts';
import { ARCHIVE } from './teams.ts';

/** No name that formatters of the project look for. */
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

export type Untold = {
  readonly team: string;
  /** Where it was put away. */
  readonly archived: string;
  readonly state: TeamState;
  readonly found: z.infer<typeof found> | null;
};

/** Writes down what a team that is about to end has come to; it is put away with its log. */
export function noteEnd(root: string, team: string, what: object | null): void {
  writeFileSync(join(teamsDirectory(root), team, FILE), `${JSON.stringify({ team, found: what })}\n`);
}

/** Somebody was told. */
export function told(archived: string): void {
  rmSync(join(archived, FILE), { force: true });
}

/** null: nothing is noted there, or not whole. */
function noted(directory: string): z.infer<typeof end> | null {
  try {
    return end.parse(JSON.parse(readFileSync(join(directory, FILE), 'utf8')));
  } catch {
    return null;
  }
}

/** Where the ends of a team lie that nobody was told of, the latest last. */
function placesOf(root: string, team: string | null): readonly (readonly [team: string, archived: string])[] {
  const archive = join(teamsDirectory(root), ARCHIVE);
  return (existsSync(archive) ? readdirSync(archive).sort() : []).flatMap((name) => {
    if (!existsSync(join(archive, name, FILE))) return [];
    const of = noted(join(archive, name))?.team;
    const isWhole = of !== undefined && phaseOfTeam(of) !== undefined && name.startsWith(`${of}-`);
    return isWhole && (team === null || team === of) ? [[of, join(archive, name)] as const] : [];
  });
}

/** As its log says now; undefined: there is none. */
function stateOf(teams: Teams, team: string): TeamState | undefined {
  const log = teams.open(team);
  void log?.close();
  return log?.state;
}

/** Whether a lead came so far with it, and no further. */
function isDeleted(teams: Teams, root: string, team: string): boolean {
  return noted(join(teamsDirectory(root), team)) !== null && stateOf(teams, team)?.session === 'deleted';
}

/** Teams of whose end nobody was told; not of one whose log cannot be read: whether it has come to its end is not known. */
export function untoldTeams(teams: Teams, root: string): readonly string[] {
  const deleted = teams.list().filter((team) => {
    try {
      return isDeleted(teams, root, team);
    } catch {
      return false;
    }
  });
  return [...new Set([...deleted, ...placesOf(root, null).map(([team]) => team)])];
}

/** What a team has come to of whose end nobody was told; null: there is no such. No other may lead that team meanwhile. */
export async function findUntold(teams: Teams, root: string, team: string): Promise<Untold | null> {
  if (isDeleted(teams, root, team)) teams.archive(team);
  const places = placesOf(root, team);
  const now = stateOf(teams, team);
  if (now !== undefined && isStanding(now)) {
    // A newer one of that name is at work: what an older one came to answers nothing that is asked of it.
    for (const [, earlier] of places) told(earlier);
    return null;
  }
  const archived = places.at(-1)?.[1];
  const what = archived === undefined ? null : noted(archived);
  if (archived === undefined || what === null) return null;
  // A later one of that name has more to say.
  for (const [, earlier] of places.slice(0, -1)) told(earlier);
  const history = new TeamHistory({ directory: archived, from: 'snapshot' });
  await history.close();
  return { ...what, archived, state: history.state };
}
