// The command lines of the phases without a host's screen.

import type { Command } from 'commander';
import type { CommandName } from '../team/rules/select/command.ts';
import type { PhaseOptions } from './run.ts';

async function phase(command: CommandName, words: string, options: PhaseOptions): Promise<void> {
  const { phaseCommand } = await import('./run.ts');
  await phaseCommand(command, words, options);
}

function withFlags(command: Command): Command {
  return command
    .option('--team', 'a team, whatever the thresholds say')
    .option('--solo', 'one agent after the other')
    .option('--force', 'a team, without the settings and the variable that allow it')
    .option('--command <program>', 'what plays the teammates: a program that reads its prompt from standard input')
    .option('--json', 'as JSON');
}

export function addPhaseCommands(program: Command): void {
  withFlags(
    program
      .command('plan')
      .description('turn a wish into a SPEC: researcher, analyst and architect look, you approve')
      .argument('<feature>', 'what is wanted, in quotes'),
  ).action((feature: string, options: PhaseOptions) => phase('plan', feature, options));
  withFlags(
    program
      .command('run')
      .description('build an approved SPEC: a team in worktrees of its own, one branch at the end')
      .argument('<spec_id>', 'like SPEC-AUTH-001'),
  )
    .option('--pattern <name>', 'the composition of the team')
    .action((id: string, options: PhaseOptions) => phase('run', id, options));
  withFlags(
    program
      .command('build-fix')
      .description('find the cause of a failure: three hypotheses at once, the first that is proven wins')
      .argument('[failure]', 'its words, in quotes'),
  ).action((failure: string | undefined, options: PhaseOptions) => phase('build-fix', failure ?? '', options));
  program
    .command('team-restart')
    .description('go on with a team whose lead is gone: what was completed stays completed')
    .argument('[team]', 'which one, when several stand')
    .option('--command <program>', 'what plays the teammates: a program that reads its prompt from standard input')
    .option('--json', 'as JSON')
    .action(async (team: string | undefined, options: PhaseOptions) => {
      const { restartCommand } = await import('./run.ts');
      await restartCommand(team, options);
    });
}
