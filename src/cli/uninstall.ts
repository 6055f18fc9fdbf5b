// `tool uninstall`: takes out what `tool init` put into a project, and nothing else.

import { performAll } from '../install/file-operations.ts';
import { outcomesWith, planUninstall } from '../install/install.ts';
import { findInstallTarget } from '../install/install-target.ts';
import { dryRun, outcomeLines, reportedOutcomes } from '../install/report.ts';
import { FileTeams } from '../team/log/teams.ts';
import { activeTeams } from './active-teams.ts';
import { refuseAgentsWhileTeamsActive } from './refuse-agents.ts';

export async function uninstallCommand(
  directory: string | undefined,
  options: { readonly dryRun?: boolean; readonly json?: boolean },
): Promise<void> {
  const project = findInstallTarget(directory, process.cwd(), process.env.HOME);
  const { root } = project;
  const isDry = options.dryRun === true;
  if (!isDry) await refuseAgentsWhileTeamsActive(project);
  const planned = planUninstall(root, activeTeams(new FileTeams({ root, now: Date.now })));
  const preview = isDry ? dryRun(root, planned) : undefined;
  const left = isDry ? [] : performAll(root, planned.operations);
  const plan = { ...planned, outcomes: outcomesWith(planned.outcomes, left) };
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ root, dryRun: isDry, files: plan.outcomes }, null, 2)}\n`);
    return;
  }
  const head = `${isDry ? 'Would take' : 'Took'} toolcrew out of ${root}:`;
  const said = [head, ...(preview?.lines ?? outcomeLines(reportedOutcomes(plan)))];
  process.stdout.write(`${said.join('\n')}\n${preview?.diff ?? ''}`);
}
