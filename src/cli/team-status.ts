// `tool team status`: all teams of a project, one line each; or one of them.

import { ToolError } from '../base/rules/errors.ts';
import type { TeamView } from '../team/rules/views/view.ts';
import { errorLine } from './failed-command.ts';
import { archivedTeams, type FoundTeam, findTeam, presentTeams, readTeam } from './find-team.ts';
import { jsonText } from './json-text.ts';
import { paints } from './screen/paint.ts';
import { type Line, printed, tableLines } from './screen/table.ts';
import { outputColumns, printedBoard } from './screen/team-board.ts';
import { cell, elapsed } from './screen/team-board-sections.ts';

/** So many archives are named, the latest ones. */
const ARCHIVES_SHOWN = 5;

type Read = { readonly name: string; readonly view: TeamView } | { readonly name: string; readonly error: string };

/** A log that cannot be read hides no other team. */
async function read(team: FoundTeam, now: number): Promise<Read> {
  try {
    return { name: team.name, view: await readTeam(team, now) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { name: team.name, error: errorLine(error) };
  }
}

function row(team: Read): Line {
  if ('error' in team)
    return [cell(team.name, paints.strong), cell('unreadable', paints.bad), cell(''), cell(''), cell(team.error)];
  const { view } = team;
  const live = view.members.filter(({ phase }) => phase === 'working' || phase === 'idle');
  const since = view.created_at === null ? '' : elapsed(Date.parse(view.generated_at) - Date.parse(view.created_at));
  return [
    cell(team.name, paints.strong),
    cell(view.state.replaceAll('_', ' '), paints.active),
    cell(`${view.task_counts.completed} of ${view.tasks.length} tasks`),
    cell(live.length === 1 ? '1 teammate' : `${live.length} teammates`),
    cell(view.subject),
    cell(since, paints.quiet),
  ];
}

function printedTeams(teams: readonly Read[], archived: readonly FoundTeam[], columns: number): string {
  const rows = tableLines(
    teams.map(row),
    [{}, {}, { drop: 2 }, { drop: 1 }, { grow: true, min: 12 }, { align: 'right', drop: 3 }],
    columns,
  );
  const kept = archived.slice(-ARCHIVES_SHOWN).map((team): Line => [{ text: '  ' }, cell(team.name, paints.quiet)]);
  const more = archived.length - kept.length;
  const lines: readonly Line[] = [
    ...(teams.length === 0 ? [[cell('no team is active')]] : rows),
    ...(kept.length === 0 ? [] : [[], [cell('archived', paints.heading)]]),
    ...(more > 0 ? [[{ text: '  ' }, cell(`… and ${more} earlier`, paints.quiet)]] : []),
    ...kept,
  ];
  return `${lines.map((line) => printed(line, columns)).join('\n')}\n`;
}

/** @param root the project, that of the checkout in a team's worktree */
export async function statusCommand(
  root: string,
  name: string | undefined,
  options: { readonly json?: boolean },
): Promise<void> {
  const now = Date.now();
  if (name !== undefined) {
    const view = await readTeam(await findTeam(root, name), now);
    process.stdout.write(options.json === true ? `${jsonText(view, 2)}\n` : printedBoard(view));
    return;
  }
  const teams = await Promise.all(presentTeams(root).map((team) => read(team, now)));
  const archived = archivedTeams(root);
  if (options.json === true) {
    const rows = teams.map((team) => ('error' in team ? { team: team.name, error: team.error } : team.view));
    process.stdout.write(`${jsonText({ teams: rows, archived: archived.map((team) => team.name) }, 2)}\n`);
    return;
  }
  process.stdout.write(printedTeams(teams, archived, outputColumns()));
}
