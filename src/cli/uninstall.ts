// `tool uninstall`: takes out what `tool init` put into a project, and nothing else.

import { FileTeams } from '../adapters/event-log/teams.ts';
import { isStanding } from '../domain/team/state.ts';
import { outcomesWith, planUninstall } from '../install/install.ts';
import { performAll } from '../install/operations.ts';
import { findProject } from '../install/project.ts';
import { changes, dryRun, lines } from '../install/report.ts';

/** Teams that stand; one whose log cannot be read may. */
function standingTeams(root: string): readonly string[] {
  const teams = new FileTeams({ root, now: Date.now });
  return teams.list().filter((team) => {
    try {
      const log = teams.open(team);
      void log?.close();
      return log !== undefined && isStanding(log.state);
    } catch {
      return true;
    }
  });
}

export function uninstallCommand(
  directory: string | undefined,
  options: { readonly dryRun?: boolean; readonly json?: boolean },
): void {
  const { root } = findProject(directory, process.cwd(), process.env.HOME);
  const planned = planUninstall(root, standingTeams(root));
  const isDry = options.dryRun === true;
  const preview = isDry ? dryRun(root, planned) : undefined;
  const left = isDry ? [] : performAll(root, planned.operations);
  const plan = { ...planned, outcomes: outcomesWith(planned.outcomes, left) };
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ root, dryRun: isDry, files: plan.outcomes }, null, 2)}\n`);
    return;
  }
  const head = `${isDry ? 'Would take' : 'Took'} toolcrew out of ${root}:`;
  const said = [head, ...(preview?.lines ?? lines(changes(plan)))];
  process.stdout.write(`${said.join('\n')}\n${preview?.diff ?? ''}`);
}
