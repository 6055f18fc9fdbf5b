// `tool serve init`: asks what no flag answered and writes WORKFLOW.md.

import { existsSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failure, messageOf } from '../base/rules/errors.ts';
import { joinLines } from '../base/rules/text.ts';
import { parseWorkflow } from '../daemon/config/read-workflow.ts';
import { detectRemote } from '../git/git-remote.ts';
import { type Collected, collectAnswers, type ServeInitOptions } from './init-answers.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { canRedraw } from './screen/terminal.ts';
import { workflowText } from './workflow-text.ts';

async function confirmOverwrite(path: string, options: ServeInitOptions): Promise<void> {
  if (!existsSync(path) || options.force === true) return;
  const refusal = failure(CLI_CODES.workflow_file_exists, { path });
  if (!canRedraw(process.stdin) || options.yes === true) throw refusal;
  const { confirm } = await import('@clack/prompts');
  if ((await confirm({ message: 'WORKFLOW.md exists. Overwrite it?', initialValue: false })) !== true) throw refusal;
}

/** Writes the file whole or not at all: a daemon may be reading it. */
function write(path: string, text: string): void {
  // A link stays one.
  const target = existsSync(path) ? realpathSync(path) : path;
  const fresh = `${target}.${process.pid}`;
  try {
    writeFileSync(fresh, text, { flag: 'wx' });
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw failure(CLI_CODES.workflow_file_unwritable, { path, said: messageOf(error) }, { cause: error });
  }
}

function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** What is to be done next, with the commands that create the labels. */
function nextSteps({ answers, host, origin, notes }: Collected): string[] {
  const labels = [
    [answers.label, '8AB0FF', 'Work for an agent to pick up'],
    ['tool-done', '4CC38A', 'An agent has opened a pull request'],
    ['tool-failed', 'B3261E', 'The last attempt of an agent failed'],
    ['tool-question', 'E0A84A', 'An agent waits for an answer'],
  ] as const;
  const repo = answers.apiUrl === null ? answers.repo : `${host}/${answers.repo}`;
  return [
    ...notes,
    ...(notes.length === 0 ? [] : ['']),
    `Create the labels once, with gh (cli.github.com); without it, make labels of these names at ${origin}/${answers.repo}/labels:`,
    ...labels.map(
      ([name, color, description]) =>
        `  gh label create ${shellWord(name)} --repo ${repo} --color ${color} --description "${description}" --force`,
    ),
    '',
    'Then:',
    '  tool doctor',
    '  tool serve WORKFLOW.md',
  ];
}

export async function serveInitCommand(options: ServeInitOptions): Promise<void> {
  const directory = process.cwd();
  const path = join(directory, 'WORKFLOW.md');
  await confirmOverwrite(path, options);
  const remote = await detectRemote(directory);
  const collected = await collectAnswers(options, remote);
  const text = workflowText(collected.answers, existsSync(join(directory, '.claude')));
  try {
    // What is written must be what the daemon reads.
    parseWorkflow(text, path, { env: process.env, remote });
  } catch (error) {
    const why = `these answers make no valid file: ${joinLines(messageOf(error)).replace(/\.$/, '')}`;
    throw failure(CLI_CODES.init_cancelled, { why }, { cause: error });
  }
  write(path, text);
  process.stdout.write(`${[`Wrote ${path}.`, '', ...nextSteps(collected)].join('\n')}\n`);
}
