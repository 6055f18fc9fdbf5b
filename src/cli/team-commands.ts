// The command line of `tool team`, `tool spec` and `tool mcp`.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { packageRoot } from '../base/package-root.ts';
import type { OperationName } from '../team/rules/operation.ts';

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean };

function count(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1)
    throw new InvalidArgumentError(`Expected a whole number of at least 1, got ${text || 'nothing'}.`);
  return value;
}

function score(text: string): number {
  if (!/^(?:[1-9]|10)$/.test(text))
    throw new InvalidArgumentError(`Expected a whole number from 1 to 10, got ${text || 'nothing'}.`);
  return Number(text);
}

function list(text: string, before: readonly string[] = []): readonly string[] {
  return [
    ...before,
    ...text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ];
}

async function run(name: OperationName, given: Readonly<Record<string, unknown>>, options: Options): Promise<void> {
  const { teamCommand } = await import('./team.ts');
  await teamCommand(name, given, options);
}

function withTeam(command: Command): Command {
  return command.option('--team <name>', 'which team, when several stand').option('--json', 'as JSON');
}

function addTasks(team: Command): void {
  const task = team.command('task').description('the shared task list');
  withTeam(task.command('create').description('add a task').argument('<subject>', 'a short title'))
    .option('--description <text>', 'what is to be done, and when it is done', '-')
    .option('--owner <name>', 'the teammate it is for')
    .option('--file <path>', 'a path or glob it will touch; may be repeated', list)
    .option('--after <id>', 'a task that comes first; may be repeated', list)
    .action(async (subject: string, options: Options) => {
      const { description, owner, file, after } = options;
      await run(
        'TaskCreate',
        { subject, description, owner, files: file, blocked_by: after, team_name: options.team },
        options,
      );
    });
  withTeam(task.command('update').description('set the status of a task').argument('<id>').argument('<status>'))
    .option('--result <text>', 'what came of it')
    .option('--owner <name>', 'from the lead: who is to do it')
    .action(async (taskId: string, status: string, options: Options) => {
      const { result, owner } = options;
      await run('TaskUpdate', { taskId, status, result, owner, team_name: options.team }, options);
    });
  withTeam(task.command('list').description('open tasks, those that ended last, and counts of all'))
    .option('--status <status>', 'only tasks of this status, the 100 newest')
    .action(async (options: Options) => {
      await run('TaskList', { status: options.status, team_name: options.team }, options);
    });
  withTeam(task.command('get').description('one task').argument('<id>')).action(
    async (taskId: string, options: Options) => {
      await run('TaskGet', { taskId, team_name: options.team }, options);
    },
  );
}

function addLead(team: Command): void {
  team
    .command('create')
    .description('create a team')
    .argument('<team>', 'tool-plan-<feature>, tool-run-<spec-id-lowercase> or tool-debug-<failure>')
    .option('--pattern <name>', 'the composition')
    .option('--subject <text>', 'what it works on')
    .option('--json', 'as JSON')
    .action(async (name: string, options: Options) => {
      await run('TeamCreate', { team_name: name, pattern: options.pattern, subject: options.subject }, options);
    });
  team
    .command('spawn')
    .description('register a teammate; prints how to start it')
    .argument('<team>')
    .argument('<agent>', 'like team-backend-dev')
    .requiredOption('--prompt <text>', 'what it is to do')
    .option('--name <name>', "the teammate's name; the agent's without team- if not given")
    .option('--json', 'as JSON')
    .action(async (name: string, agent: string, options: Options) => {
      const member = options.name ?? agent.replace(/^team-/, '');
      await run('Task', { subagent_type: agent, team_name: name, name: member, prompt: options.prompt }, options);
    });
  withTeam(
    team.command('shutdown').description('ask every teammate to end').argument('[reason]', '', 'the work is done'),
  ).action(async (reason: string, options: Options) => {
    const message = { recipient: 'all', type: 'shutdown_request', content: reason, team_name: options.team };
    await run('SendMessage', message, options);
  });
  team
    .command('delete')
    .description('end a team whose teammates have all shut down; its log is archived')
    .argument('<team>')
    .option('--force', 'also without the word of those who did not answer within the deadline')
    .option('--json', 'as JSON')
    .action(async (name: string, options: Options) => {
      await run('TeamDelete', { team_name: name, force: options.force }, options);
    });
}

function addMember(team: Command): void {
  withTeam(
    team
      .command('send')
      .description('send a message')
      .argument('<recipient>', 'a teammate, team-lead or all')
      .argument('<type>', 'like api_ready')
      .argument('<content>', 'a JSON object, or text for shutdown_request and progress; - for standard input'),
  )
    .option('--in-reply-to <n>', 'the number of the message it answers', count)
    .action(async (recipient: string, type: string, content: string, options: Options) => {
      const { contentOf } = await import('./team.ts');
      const message = { recipient, type, content: contentOf(content), in_reply_to: options.inReplyTo };
      await run('SendMessage', { ...message, team_name: options.team }, options);
    });
  withTeam(team.command('inbox').description('print the unread messages and mark them as read')).action(
    async (options: Options) => {
      await run('Inbox', { team_name: options.team }, options);
    },
  );
  withTeam(team.command('lease').description('take a shared or unowned path for a while').argument('<path>'))
    .option('--reason <text>', 'what for')
    .option('--minutes <n>', 'for how long', count)
    .option('--release', 'give it back')
    .action(async (path: string, options: Options) => {
      const { reason, minutes, release } = options;
      await run('FileLease', { path, reason, minutes, release, team_name: options.team }, options);
    });
}

function addSpecs(program: Command): void {
  const spec = program.command('spec').description('SPEC documents below .tool/specs');
  spec
    .command('list')
    .description('all of them, with their status and whether it counts')
    .option('--json', 'as JSON')
    .action(async (options: Options) => {
      const { listSpecsCommand } = await import('./spec.ts');
      await listSpecsCommand(options);
    });
  spec
    .command('check')
    .description('everything that is wrong with one, line by line')
    .argument('<spec_id>')
    .option('--json', 'as JSON')
    .action(async (id: string, options: Options) => {
      const { checkSpecCommand } = await import('./spec.ts');
      await checkSpecCommand(id, options);
    });
  spec
    .command('approve')
    .description('approve one: only a person does')
    .argument('<spec_id>')
    .action(async (id: string) => {
      const { approveSpecCommand } = await import('./spec.ts');
      await approveSpecCommand(id);
    });
}

/** What people see of a team. */
function addViews(team: Command): void {
  const root = async () => (await import('../git/project.ts')).findProject(process.cwd()).main;
  team
    .command('board')
    .description('a live view: tasks, teammates, messages, leases, gate; q leaves it')
    .argument('[team]', 'the only one that stands, if not given')
    .option('--once', 'print it once')
    .option('--json', 'as JSON, once')
    .action(async (name: string | undefined, options: Options & { readonly once?: boolean }) => {
      const { boardCommand } = await import('./screen/team-board.ts');
      await boardCommand(await root(), name, options);
    });
  team
    .command('status')
    .description('all teams in a line each, or one of them')
    .argument('[team]')
    .option('--json', 'as JSON')
    .action(async (name: string | undefined, options: Options) => {
      const { statusCommand } = await import('./team-status.ts');
      await statusCommand(await root(), name, options);
    });
  team
    .command('events')
    .description('what happened, with the reason of every decision')
    .argument('[team]')
    .option('--member <name>', 'of one member only')
    .option('--type <type>', 'records of one type only, like decision')
    .option('--follow', 'go on as it happens')
    .option('--json', 'a JSON object a line')
    .action(
      async (
        name: string | undefined,
        options: Options & { readonly member?: string; readonly type?: string; readonly follow?: boolean },
      ) => {
        const { eventsCommand } = await import('./screen/team-events.ts');
        await eventsCommand(await root(), name, options);
      },
    );
}

/** Adds `tool team`, `tool spec` and `tool mcp`. */
export function addTeamCommands(program: Command): void {
  const team = program.command('team').description('a team of agents: its tasks, messages, leases and end');
  addLead(team);
  addMember(team);
  addTasks(team);
  addViews(team);
  team
    .command('select')
    .description('mode and team for a piece of work, each figure with its source')
    .argument('[text]', 'the text of a feature, or the id of a SPEC')
    .option('--team', 'ask for a team')
    .option('--solo', 'ask for sub-agents')
    .option('--force', 'a team whatever the thresholds and switches say')
    .option('--pattern <name>', 'the composition')
    .option('--files <n>', 'set the number of files to change', count)
    .option('--domains <n>', 'set the number of domains', count)
    .option('--complexity <n>', 'set the complexity, 1 to 10', score)
    .option('--json', 'as JSON')
    .action(async (text: string | undefined, options: Options) => {
      const { selectCommand } = await import('./team-select.ts');
      await selectCommand(text ?? '', options);
    });
  addSpecs(program);
  program
    .command('mcp')
    .description('the team operations as an MCP server on standard input and output')
    .action(() => {
      // The server that hosts start, in this process.
      createRequire(import.meta.url)(join(packageRoot(), 'dist', 'hooks', 'team-server.js'));
    });
}
