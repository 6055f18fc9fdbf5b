// `tool serve init`: asks what no flag answered and writes WORKFLOW.md.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseWorkflow } from '../adapters/config/workflow.ts';
import { detectSlug } from '../adapters/git-remote.ts';
import { messageOf, ToolError } from '../domain/errors.ts';
import { formatSlug, parseSlug } from '../domain/repository.ts';
import { type Answers, workflowText } from './workflow-text.ts';

export type InitOptions = {
  readonly yes?: boolean;
  readonly repo?: string;
  readonly label?: string;
  readonly root?: string;
  readonly port?: number;
  readonly maxAgents?: number;
  readonly force?: boolean;
};

const DEFAULTS = { label: 'tool-todo', root: '/tmp/tool-harness-test', port: 8888, maxAgents: 1 };

type Problem = string | undefined;

const slugProblem = (value: string): Problem =>
  parseSlug(value) === undefined ? 'Expected <owner>/<repo>.' : undefined;
const textProblem = (value: string): Problem => (value.trim() === '' ? 'Expected something.' : undefined);
const numberProblem =
  (least: number, most: number) =>
  (value: string): Problem => {
    const number = Number(value);
    return Number.isInteger(number) && number >= least && number <= most
      ? undefined
      : `Expected a whole number from ${least} to ${most}.`;
  };

/** Asks one question on the terminal; leaving is an error that wrote nothing. */
async function ask(message: string, initial: string, problem: (value: string) => Problem): Promise<string> {
  const { isCancel, text } = await import('@clack/prompts');
  const answer = await text({ message, initialValue: initial, validate: (value) => problem(value ?? '') });
  if (isCancel(answer)) throw new ToolError('usage', 'left; nothing was written');
  return answer;
}

async function collect(options: InitOptions, detected: string | undefined): Promise<Answers> {
  if (options.repo !== undefined && slugProblem(options.repo) !== undefined)
    throw new ToolError('usage', `--repo: expected <owner>/<repo>, got ${options.repo || 'nothing'}`);
  const silent = options.yes === true || process.stdin.isTTY !== true;
  const missing = (['repo', 'label', 'root', 'port', 'maxAgents'] as const).filter(
    (name) => options[name] === undefined,
  );
  if (silent && options.yes !== true && missing.length > 0) {
    const flags = { repo: '--repo', label: '--label', root: '--root', port: '--port', maxAgents: '--max-agents' };
    throw new ToolError(
      'usage',
      `there is no terminal to ask on: expected --yes, or the missing ${missing.map((name) => flags[name]).join(', ')}`,
    );
  }
  const repo =
    options.repo ?? (silent ? detected : await ask('Repository (<owner>/<repo>)', detected ?? '', slugProblem));
  if (repo === undefined)
    throw new ToolError(
      'usage',
      '--repo: expected <owner>/<repo>, got nothing, and this directory has no Git remote to read it from',
    );
  const label =
    options.label ??
    (silent ? DEFAULTS.label : await ask('Label that marks an issue as work to pick up', DEFAULTS.label, textProblem));
  const root =
    options.root ?? (silent ? DEFAULTS.root : await ask('Directory for workspaces', DEFAULTS.root, textProblem));
  const port =
    options.port ??
    (silent
      ? DEFAULTS.port
      : Number(await ask('Port of the status page (0: none)', String(DEFAULTS.port), numberProblem(0, 65_535))));
  const maxAgents =
    options.maxAgents ??
    (silent
      ? DEFAULTS.maxAgents
      : Number(await ask('Agents that may work at a time', String(DEFAULTS.maxAgents), numberProblem(1, 1000))));
  return { repo, label, root, port, maxAgents };
}

async function confirmOverwrite(path: string, options: InitOptions): Promise<void> {
  if (!existsSync(path) || options.force === true) return;
  const refusal = new ToolError('usage', `${path} exists; --force overwrites it`);
  if (process.stdin.isTTY !== true || options.yes === true) throw refusal;
  const { confirm } = await import('@clack/prompts');
  if ((await confirm({ message: 'WORKFLOW.md exists. Overwrite it?', initialValue: false })) !== true) throw refusal;
}

function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export async function serveInitCommand(options: InitOptions): Promise<void> {
  const directory = process.cwd();
  const path = join(directory, 'WORKFLOW.md');
  await confirmOverwrite(path, options);
  const slug = detectSlug(directory);
  const answers = await collect(options, slug === undefined ? undefined : formatSlug(slug));
  const text = workflowText(answers, existsSync(join(directory, '.claude')));
  try {
    // What is written must be what the daemon reads.
    parseWorkflow(text, path, { env: process.env, detectSlug });
  } catch (error) {
    throw new ToolError('usage', `these answers make no valid file; nothing was written: ${messageOf(error)}`, {
      cause: error,
    });
  }
  writeFileSync(path, text);
  const { repo, label } = answers;
  const labels = [
    [label, '8AB0FF', 'Work for an agent to pick up'],
    ['tool-done', '4CC38A', 'An agent has opened a pull request'],
    ['tool-failed', 'B3261E', 'The last attempt of an agent failed'],
  ] as const;
  process.stdout.write(
    [
      `Wrote ${path}.`,
      '',
      'Create the labels once:',
      ...labels.map(
        ([name, color, description]) =>
          `  gh label create ${shellWord(name)} --repo ${repo} --color ${color} --description "${description}" --force`,
      ),
      '',
      'Then:',
      '  tool doctor',
      '  tool serve WORKFLOW.md',
      '',
    ].join('\n'),
  );
}
