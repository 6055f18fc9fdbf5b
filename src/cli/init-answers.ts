// The wizard's answers: from flags, from what the directory tells, or asked for on the terminal.

import { existsSync, realpathSync } from 'node:fs';
import { failure, messageOf } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { TRACKERS } from '../compose/trackers.ts';
import { DEFAULT_TRACKER } from '../daemon/rules/tracker-kind.ts';
import { objectionToRoot } from '../daemon/workspaces/workspace-root.ts';
import { formatSlug, parseSlug, type Remote, type RemoteRepository } from '../git/rules/repository.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { canRedraw } from './screen/terminal.ts';
import type { Answers } from './workflow-text.ts';

export type ServeInitOptions = {
  readonly yes?: boolean;
  readonly repo?: string;
  readonly label?: string;
  readonly root?: string;
  readonly port?: number;
  readonly maxAgents?: number;
  readonly force?: boolean;
};

/** `origin`: where the host answers to HTTP; `notes`: what the answers took for granted, one line each. */
export type Collected = {
  readonly answers: Answers;
  readonly host: string;
  readonly origin: string;
  readonly notes: readonly string[];
};

const DEFAULTS = { label: 'tool-todo', root: '/tmp/tool-harness-test', port: 8888, maxAgents: 1 };
const MOST_AGENTS = 1000;
const SERVICE = TRACKERS[DEFAULT_TRACKER];

/** What was expected; undefined when the value is that. */
type Expected = string | undefined;

const REPOSITORY = '<owner>/<repo>, or <host>/<owner>/<repo>';
const repositoryExpected = (value: string): Expected =>
  readRepository(value, undefined) === undefined ? REPOSITORY : undefined;
const labelExpected = (value: string): Expected =>
  value.trim() !== '' && !/[,\r\n]/.test(value)
    ? undefined
    : 'a label without commas and line breaks (the service takes a comma for the end of a label)';
const directoryExpected = (value: string): Expected => (value.trim() === '' ? 'a directory' : undefined);
const numberExpected =
  (least: number, most: number) =>
  (value: string): Expected => {
    const number = Number(value);
    const isOne = /^\d+$/.test(value) && number >= least && number <= most;
    return isOne ? undefined : `a whole number from ${least} to ${most}`;
  };

/** Asks one question on the terminal; leaving is an error that wrote nothing. */
async function ask(message: string, initial: string, expected: (value: string) => Expected): Promise<string> {
  const { isCancel, text } = await import('@clack/prompts');
  const validate = (value: string | undefined) => {
    const words = expected(value ?? '');
    return words === undefined ? undefined : `Expected ${words}.`;
  };
  const answer = await text({ message, initialValue: initial, validate });
  if (isCancel(answer)) throw failure(CLI_CODES.init_cancelled, { why: 'you left the questions' });
  return answer;
}

/** The repository that is named; without a host it is on that of the remote. */
function readRepository(text: string, remote: RemoteRepository | undefined): RemoteRepository | undefined {
  const [first = '', ...rest] = text.split('/');
  const named = rest.length === 2 && /^[a-z0-9.-]+(:\d+)?$/i.test(first) ? first.toLowerCase() : undefined;
  const slug = parseSlug(named === undefined ? text : rest.join('/'));
  if (slug === undefined) return undefined;
  const host = named ?? remote?.host ?? SERVICE.host;
  return { host, slug, origin: remote?.host === host ? remote.origin : `https://${host}` };
}

function objectionTo(root: string, repository: string): string | undefined {
  try {
    return existsSync(root) ? objectionToRoot(realpathSync(root), repository, null) : undefined;
  } catch (error) {
    return `cannot be read (${messageOf(error)})`;
  }
}

/**
 * The root that is offered: the usual one, or one of the repository's own when that is another's. A note says so.
 * @param repository as `<host>/<owner>/<repo>`
 */
export function offeredRoot(repository: string, usual = DEFAULTS.root): { root: string; note: string | null } {
  const objection = objectionTo(usual, repository);
  if (objection === undefined) return { root: usual, note: null };
  const root = `${usual}-${repository.split('/').slice(1).join('-')}`;
  return { root, note: `${usual} ${objection}: workspaces are made in ${root}.` };
}

function checkFlags(options: ServeInitOptions): void {
  const checks = [
    ['--repo', options.repo, repositoryExpected],
    ['--label', options.label, labelExpected],
    ['--root', options.root, directoryExpected],
    ['--max-agents', options.maxAgents?.toString(), numberExpected(1, MOST_AGENTS)],
  ] as const;
  for (const [flag, value, expected] of checks) {
    const words = value === undefined ? undefined : expected(value);
    if (words !== undefined)
      throw failure(CLI_CODES.option_invalid, {
        option: flag,
        expected: words,
        got: oneLine(value ?? '') || 'nothing',
      });
  }
}

/** Whether nobody is asked; throws when somebody would have to be and cannot. */
function isSilent(options: ServeInitOptions): boolean {
  if (options.yes === true) return true;
  if (canRedraw(process.stdin)) return false;
  const flags = { repo: '--repo', label: '--label', root: '--root', port: '--port', maxAgents: '--max-agents' };
  const names = ['repo', 'label', 'root', 'port', 'maxAgents'] as const;
  const missing = names.filter((name) => options[name] === undefined);
  if (missing.length === 0) return true;
  const words = missing.map((name) => flags[name]).join(', ');
  throw failure(CLI_CODES.terminal_missing, { missing: words });
}

function shown(remote: RemoteRepository): string {
  return remote.host === SERVICE.host ? formatSlug(remote.slug) : `${remote.host}/${formatSlug(remote.slug)}`;
}

async function chooseRepository(options: ServeInitOptions, remote: Remote, silent: boolean): Promise<RemoteRepository> {
  const detected = remote.kind === 'repository' ? remote : undefined;
  const initial = detected === undefined ? '' : shown(detected);
  const text =
    options.repo ?? (silent ? initial : await ask('Repository (<owner>/<repo>)', initial, repositoryExpected));
  const repository = readRepository(text, detected);
  if (repository !== undefined) return repository;
  const why = remote.kind === 'none' ? `, and this directory ${remote.says}` : '';
  throw failure(CLI_CODES.option_invalid, { option: '--repo', expected: REPOSITORY, got: `nothing${why}` });
}

/** @param remote of the directory that the file is for */
export async function collectAnswers(options: ServeInitOptions, remote: Remote): Promise<Collected> {
  checkFlags(options);
  const silent = isSilent(options);
  const repository = await chooseRepository(options, remote, silent);
  const label =
    options.label ??
    (silent
      ? DEFAULTS.label
      : await ask('Label that marks an issue as work to pick up', DEFAULTS.label, labelExpected));
  const slug = formatSlug(repository.slug);
  const offered = offeredRoot(`${repository.host}/${slug}`);
  const root =
    options.root ?? (silent ? offered.root : await ask('Directory for workspaces', offered.root, directoryExpected));
  const port =
    options.port ??
    (silent
      ? DEFAULTS.port
      : Number(await ask('Port of the status page (0: none)', String(DEFAULTS.port), numberExpected(0, 65_535))));
  const maxAgents =
    options.maxAgents ??
    (silent
      ? DEFAULTS.maxAgents
      : Number(
          await ask('Agents that may work at a time', String(DEFAULTS.maxAgents), numberExpected(1, MOST_AGENTS)),
        ));
  const apiUrl = repository.host === SERVICE.host ? null : SERVICE.apiUrlOf(repository);
  const notes = [
    ...(offered.note !== null && root === offered.root ? [offered.note] : []),
    ...(apiUrl === null
      ? []
      : [
          `${repository.host} is taken for ${SERVICE.server}, with its API at ${apiUrl}; for a repository of ${SERVICE.host} give --repo ${SERVICE.host}/${slug}.`,
        ]),
  ];
  const { host, origin } = repository;
  return { answers: { repo: slug, apiUrl, label, root, port, maxAgents }, host, origin, notes };
}
