#!/usr/bin/env node
// The command `tool`: arguments in, exit code out. Commands load their code when they are called.

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { packageVersion } from './base/package-version.ts';
import { ToolError } from './base/rules/errors.ts';
import type { DemoOptions } from './cli/demo/demo.ts';
import { failedJson, failedText, isAnswered } from './cli/failed-command.ts';
import { type IssueName, issueName } from './cli/issue-name.ts';
import { addPhaseCommands } from './cli/phase-commands.ts';
import { addTeamCommands } from './cli/team-commands.ts';
import { codeUsageErrors } from './cli/usage-errors.ts';
import type { WorkerCommandOptions } from './cli/worker.ts';

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535)
    throw new InvalidArgumentError(`Expected a port from 0 to 65535, got ${text || 'nothing'}.`);
  return value;
}

function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError(`Expected a whole number of at least 1, got ${text || 'nothing'}.`);
  return value;
}

function workerName(text: string): string {
  if (!/^[\w.-]{1,64}$/.test(text))
    throw new InvalidArgumentError(`Expected a name of letters, digits, dots and dashes, got ${text || 'nothing'}.`);
  return text;
}

function logFormat(): Option {
  return new Option('--log-format <format>', 'text for people, json for machines')
    .choices(['text', 'json'])
    .default('text');
}

const STEERING = [
  ['pause', 'end the attempt on an issue and start none before tool resume; it counts for nothing'],
  ['resume', 'go on with a paused issue, in the same session'],
  ['cancel', 'end the work on an issue: the daemon takes the active label off and keeps the work'],
  ['retry', 'start the next attempt on an issue at once, or take up a failed one again'],
] as const;

function createProgram(): Command {
  const program = new Command('tool')
    .description('Labelled issues become pull requests by a daemon; teams of agents work on one task in Claude Code.')
    .version(packageVersion(), '-V, --version', 'print the version; -v does it as well')
    .addOption(new Option('-v').hideHelp())
    .on('option:v', () => {
      process.stdout.write(`${packageVersion()}\n`);
      throw new CommanderError(0, 'commander.version', packageVersion());
    })
    .showSuggestionAfterError()
    .exitOverride()
    .enablePositionalOptions();
  const serve = program
    .command('serve')
    // What stands after `init` is init's: both have a --port.
    .enablePositionalOptions()
    .description('watch a repository for labelled issues and run an agent on each')
    .argument('[workflow]', 'the workflow file', './WORKFLOW.md')
    .option('--port <n>', 'port of the status server, over the one in the file; 0: none', port)
    .addOption(logFormat())
    .option('--once', 'poll once, finish what that started, exit')
    .action(async (path: string, options: { port?: number; logFormat: 'text' | 'json'; once?: boolean }) => {
      const { saveMemory } = await import('./cli/v8-flags.ts');
      saveMemory();
      await import('./base/english-zod.ts');
      const { serveCommand } = await import('./cli/serve.ts');
      await serveCommand(path, options);
    });
  serve
    .command('init')
    .description('ask five questions and write WORKFLOW.md')
    .option('--yes', 'take the default for every question that no flag answers')
    .option(
      '--repo <owner/repo>',
      'the repository, as <host>/<owner>/<repo> when it is not on the host of the Git remote',
    )
    .option('--label <name>', 'the label that marks an issue as work to pick up')
    .option('--root <dir>', 'where workspaces are made')
    .option('--port <n>', 'port of the status server; 0: none', port)
    .option('--max-agents <n>', 'how many agents work at a time', positive)
    .option('--force', 'overwrite an existing WORKFLOW.md')
    .action(
      async (options: {
        yes?: boolean;
        repo?: string;
        label?: string;
        root?: string;
        port?: number;
        maxAgents?: number;
        force?: boolean;
      }) => {
        const { serveInitCommand } = await import('./cli/serve-init.ts');
        await serveInitCommand(options);
      },
    );
  program
    .command('worker')
    .description('make attempts for coordinators on other machines: tool serve with queue.url')
    .option(
      '--queue <url>',
      'address of the queue, like redis://host:6379 or postgres://host/database; without it, $TOOL_QUEUE_URL',
    )
    .option('--labels <a,b>', 'what this machine has: it takes attempts that need nothing else')
    .option('--slots <n>', 'how many agents work at a time', positive, 1)
    .option('--once', 'make one attempt, then exit')
    .addOption(
      new Option('--drain <how>', 'on SIGTERM: let the agents finish, or end them and hand their work back')
        .choices(['finish', 'return'])
        .default('finish'),
    )
    .option('--drain-seconds <n>', 'with finish: after so long the work is handed back', positive, 3600)
    .option('--traces', 'send traces of attempts to the collector of $OTEL_EXPORTER_OTLP_ENDPOINT')
    .option('--name <name>', 'name of this worker, one of its own for each; default: the host name', workerName)
    .option('--state-dir <dir>', 'bundles, homes of agents and a lock; default: $XDG_STATE_HOME/toolcrew/worker')
    .option('--root <dir>', 'where workspaces are made', '/tmp/tool-worker')
    .addOption(logFormat())
    .action(async (options: WorkerCommandOptions) => {
      await import('./base/english-zod.ts');
      const { workerCommand } = await import('./cli/worker.ts');
      await workerCommand(options);
    });
  program
    .command('demo')
    .description('the whole daemon on an embedded forge: no account, no key, no network')
    .option('--issues <n>', 'how many issues to seed, at least 5', positive)
    .option('--repo <path>', 'import this Git repository instead of the small one')
    .option('--keep', 'leave dashboard and forge up at the end')
    .option('--team', 'a team of four on one task instead, then the same one at a time')
    .addOption(
      new Option('--follow', 'one pull request instead: a red check and a review, until it can be merged').conflicts(
        'team',
      ),
    )
    .addOption(
      new Option('--workers <n>', 'a coordinator and workers over Redis instead, one of which is killed')
        .argParser(positive)
        .conflicts(['team', 'follow']),
    )
    .option('--json', 'print one JSON object instead of the live view')
    .action(
      async ({
        team,
        follow,
        workers,
        ...options
      }: DemoOptions & { team?: boolean; follow?: boolean; workers?: number }) => {
        if (workers !== undefined) {
          const { demoWorkersCommand } = await import('./cli/demo/demo-workers.ts');
          await demoWorkersCommand({ ...options, workers });
          return;
        }
        if (team === true) {
          const { demoTeamCommand } = await import('./cli/demo/demo-team.ts');
          await demoTeamCommand(options);
          return;
        }
        if (follow === true) {
          const { demoFollowCommand } = await import('./cli/demo/demo-follow.ts');
          await demoFollowCommand(options);
          return;
        }
        const { demoCommand } = await import('./cli/demo/demo.ts');
        await demoCommand(options);
      },
    );
  program
    .command('logs')
    .description("one issue's attempts with their output")
    .argument('<issue>', "the issue's number, or <owner>/<repo>#<number>", issueName)
    .argument('[workflow]', 'the workflow file', './WORKFLOW.md')
    .option('--follow', 'go on printing as the output grows')
    .option('--json', 'list the attempts as JSON')
    .option('--state-dir <dir>', 'the state directory, whatever the workflow file says')
    .action(
      async (issue: IssueName, path: string, options: { follow?: boolean; json?: boolean; stateDir?: string }) => {
        const { logsCommand } = await import('./cli/logs.ts');
        await logsCommand(issue, path, options);
      },
    );
  program
    .command('explain')
    .description('why an issue waits, or what happened to it: the records of the daemon as lines with times')
    .argument('<issue>', "the issue's number, or <owner>/<repo>#<number>", issueName)
    .argument('[workflow]', 'the workflow file', './WORKFLOW.md')
    .option('--json', 'as JSON')
    .option('--state-dir <dir>', 'the state directory, whatever the workflow file says')
    .action(async (issue: IssueName, path: string, options: { json?: boolean; stateDir?: string }) => {
      const { explainCommand } = await import('./cli/explain.ts');
      await explainCommand(issue, path, options);
    });
  for (const [command, description] of STEERING) {
    program
      .command(command)
      .description(description)
      .argument('<issue>', "the issue's number, or <owner>/<repo>#<number>", issueName)
      .argument('[workflow]', 'the workflow file', './WORKFLOW.md')
      .option('--json', 'as JSON')
      .option('--state-dir <dir>', 'the state directory, whatever the workflow file says')
      .action(async (issue: IssueName, path: string, options: { json?: boolean; stateDir?: string }) => {
        const { steerCommand } = await import('./cli/steer.ts');
        await steerCommand(command, issue, path, options);
      });
  }
  program
    .command('tell')
    .description('give the agent of an issue a text: it gets it in its next turn')
    .argument('<issue>', "the issue's number, or <owner>/<repo>#<number>", issueName)
    .argument('<text>', 'the text')
    .argument('[workflow]', 'the workflow file', './WORKFLOW.md')
    .option('--json', 'as JSON')
    .option('--state-dir <dir>', 'the state directory, whatever the workflow file says')
    .action(async (issue: IssueName, text: string, path: string, options: { json?: boolean; stateDir?: string }) => {
      const { tellCommand } = await import('./cli/steer.ts');
      await tellCommand(issue, text, path, options);
    });
  program
    .command('doctor')
    .description('what the daemon and team mode need: holds or not, why, and the command that mends it')
    .argument('[workflow]', 'the workflow file', './WORKFLOW.md')
    .option('--json', 'as JSON')
    .option('--queue', 'only the queue: its address, TLS, versions, permissions, and its workers')
    .option('--fix', 'first write the proposed commands of the quality gate into .tool/config/workflow.yaml')
    .action(async (path: string, options: { json?: boolean; fix?: boolean; queue?: boolean }) => {
      const { doctorCommand } = await import('./cli/doctor/doctor.ts');
      await doctorCommand(path, options);
    });
  addTeamCommands(program);
  addPhaseCommands(program);
  program
    .command('sync')
    .description('hold a SPEC against what was built: each requirement, each scenario')
    .argument('<spec_id>', 'like SPEC-AUTH-001')
    .option('--base <commit>', 'the commit before the work, instead of where the default branch was left')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { base?: string; json?: boolean }) => {
      const { syncCommand } = await import('./cli/sync.ts');
      await syncCommand(id, options);
    });
  program
    .command('init')
    .description('install into a project: agents, commands, hooks and the team server')
    .argument('[dir]', "the project; without it, the top of this directory's working tree")
    .option('--dry-run', 'show what would change and write nothing')
    .option('--host-version <version>', 'the version of Claude Code, instead of that of the one on the PATH')
    .option('--force', 'replace what stands in the way, and keep it under .tool/before')
    .option('--json', 'as JSON')
    .action(
      async (
        directory: string | undefined,
        options: { dryRun?: boolean; hostVersion?: string; force?: boolean; json?: boolean },
      ) => {
        const { initCommand } = await import('./cli/init.ts');
        await initCommand(directory, options);
      },
    );
  program
    .command('uninstall')
    .description('take it out of a project again, byte for byte')
    .argument('[dir]', "the project; without it, the top of this directory's working tree")
    .option('--dry-run', 'show what would change and write nothing')
    .option('--json', 'as JSON')
    .action(async (directory: string | undefined, options: { dryRun?: boolean; json?: boolean }) => {
      const { uninstallCommand } = await import('./cli/uninstall.ts');
      await uninstallCommand(directory, options);
    });
  addAgentCommands(program);
  codeUsageErrors(program, 'tool');
  return program;
}

/** What an agent inside a workspace may ask of the daemon, and the agent that needs no model. */
function addAgentCommands(program: Command): void {
  const issue = program.command('issue').description('for agents: the issue of this attempt');
  issue
    .command('show')
    .description('print the issue')
    .argument('[number]', 'its number; that of this attempt is the only one', positive)
    .option('--json', 'as JSON')
    .action(async (number: number | undefined, options: { json?: boolean }) => {
      const { showIssue } = await import('./cli/issue.ts');
      await showIssue(number, options);
    });
  issue
    .command('comment')
    .description('write a comment on the issue')
    .argument('[number]', 'its number', positive)
    .option('--body <text>', 'the comment')
    .option('--body-file <file>', 'a file with the comment; - for standard input')
    .action(async (number: number | undefined, options: { body?: string; bodyFile?: string }) => {
      const { commentOnIssue } = await import('./cli/issue.ts');
      await commentOnIssue(number, options);
    });
  issue
    .command('ask')
    .description('ask a question on the issue; end the turn then, the answer comes into the session')
    .argument('[question]', 'the question')
    .option('--body-file <file>', 'a file with the question; - for standard input')
    .action(async (question: string | undefined, options: { bodyFile?: string }) => {
      const { askOnIssue } = await import('./cli/issue.ts');
      await askOnIssue(question, options);
    });
  issue
    .command('done')
    .description('say that the work is finished; the daemon publishes it')
    .argument('[number]', 'its number', positive)
    .action(async (number: number | undefined) => {
      const { finishIssue } = await import('./cli/issue.ts');
      await finishIssue(number);
    });
  const pull = program.command('pr').description('for agents: the pull request of this attempt');
  pull
    .command('create')
    .description('have the branch pushed and the pull request opened')
    .requiredOption('--title <text>', 'its title')
    .option('--body <text>', 'its body')
    .option('--body-file <file>', 'a file with its body; - for standard input')
    .option('--json', 'as JSON')
    .action(async (options: { title: string; body?: string; bodyFile?: string; json?: boolean }) => {
      const { createPullRequest } = await import('./cli/issue.ts');
      await createPullRequest(options);
    });
  pull
    .command('reply')
    .description('answer in a review thread of the open pull request')
    .argument('<thread>', 'the number of the thread, as the prompt names it', positive)
    .option('--body <text>', 'the answer')
    .option('--body-file <file>', 'a file with the answer; - for standard input')
    .action(async (thread: number, options: { body?: string; bodyFile?: string }) => {
      const { replyInThread } = await import('./cli/issue.ts');
      await replyInThread(thread, options);
    });
  const agent = program.command('agent', { hidden: true });
  agent
    .command('team')
    .description('lead a team on the issue of this attempt')
    .action(async () => {
      const { agentTeamCommand } = await import('./cli/agents/agent-team.ts');
      await agentTeamCommand();
    });
  agent
    .command('patch')
    .description('apply the patches in the issue of this attempt')
    .action(async () => {
      const { patchCommand } = await import('./cli/agents/agent-patch.ts');
      await patchCommand();
    });
  agent
    .command('gate')
    .description('measure a commit for the daemon')
    .action(async () => {
      const { gateCommand } = await import('./cli/agents/agent-gate.ts');
      await gateCommand();
    });
  agent
    .command('teammate')
    .description('play a teammate for one turn, as a script says')
    .action(async () => {
      const { teammateCommand } = await import('./cli/agents/agent-teammate.ts');
      await teammateCommand();
    });
}

async function main(): Promise<void> {
  // Nobody reads on (`| head`, a terminal that was closed): no reason to break off in the middle of anything.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  let hasJson = false;
  const program = createProgram().hook('preAction', (_, command) => {
    hasJson = command.opts().json === true;
  });
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help or the version, which are written already.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    if (hasJson && !isAnswered()) process.stdout.write(`${failedJson(error)}\n`);
    process.stderr.write(`${failedText(error)}\n`);
    process.exitCode = error instanceof ToolError ? error.exitCode : 1;
    if (!(error instanceof ToolError) && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`);
  }
}

let isEnded = false;
// Node would end with 0 where nothing is left to wait for, though a promise was never settled.
process.once('beforeExit', () => {
  if (!isEnded) process.exitCode = 13;
});
void main().finally(() => {
  isEnded = true;
});
