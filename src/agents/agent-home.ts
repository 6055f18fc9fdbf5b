// The home directory and the environment of one attempt: an agent's own, with no hosting credential in reach.

import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cp, lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../base/files/remove-tree.ts';
import { packageRoot } from '../base/package-root.ts';
import { RUN_VARIABLE } from '../base/processes/processes.ts';
import type { RuntimeDir } from '../base/processes/runtime-dir.ts';
import { shellWord } from '../base/rules/command-line.ts';
import { isTokenVariable } from '../base/rules/credential.ts';
import type { Environment } from '../base/rules/environment.ts';
import { isRepositoryVariable } from '../git/repository-variables.ts';
import { type Author, DEFAULT_AUTHOR } from '../git/rules/author.ts';
import { issueDirectory } from './issue-directory.ts';
import type { RunRequest } from './ports.ts';

/** What an agent needs of the person's environment to run at all: nothing in here is a secret. */
const PASSED =
  /^(PATH|SHELL|USER|LOGNAME|LANG|LC_\w+|TZ|TERM|COLORTERM|NO_COLOR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;

/** Tool chains that live in the person's home are named, since HOME is another one. */
const TOOLCHAINS = ['JAVA_HOME', 'GOROOT', 'RUSTUP_HOME', 'NVM_DIR', 'PYENV_ROOT', 'DOTNET_ROOT'];

/** Tool chains that look for themselves in the home where nobody says where they are. */
const AT_HOME: readonly (readonly [name: string, directory: string])[] = [
  ['RUSTUP_HOME', '.rustup'],
  ['PYENV_ROOT', '.pyenv'],
];

/** The tool chains that are in the person's home without being named. */
function toolchainsAtHome({ HOME, ...env }: Environment): Record<string, string> {
  if (HOME === undefined || HOME === '') return {};
  const found = AT_HOME.map(([name, directory]) => [name, join(HOME, directory)] as const);
  return Object.fromEntries(found.filter(([name, path]) => env[name] === undefined && existsSync(path)));
}

/** The variables of `env` that an agent gets. */
export function passedEnvironment(env: Environment, more: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  const allowed = new Set([...TOOLCHAINS, ...more].filter((name) => !isTokenVariable(name)));
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (PASSED.test(name) || allowed.has(name)) && !isRepositoryVariable(name))
      picked[name] = value;
  }
  return picked;
}

/** The person's environment for hooks: all of it but the hosting credentials and what names a repository of a caller. */
export function hookEnvironment(env: Environment): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !isTokenVariable(name) && !isRepositoryVariable(name)) picked[name] = value;
  }
  return picked;
}

/** Upkeep is for whoever the repository stays with: to ask whether it is due would be one more program for each commit. */
const gitConfig = ({ name, email }: Author) => `[user]
	name = ${name}
	email = ${email}
[credential]
	helper =
[push]
	default = nothing
[init]
	defaultBranch = main
[advice]
	detachedHead = false
[maintenance]
	auto = false
`;

export type AgentHome = { readonly path: string; readonly env: Readonly<Record<string, string>> };

export type AgentHomeOptions = {
  readonly stateDir: string;
  readonly issue: number;
  readonly attempt: number;
  readonly run: string;
  /** A directory for temporary files; its path is short, since programs make sockets in it. */
  readonly tmp: string;
  readonly env: Environment;
  /** Names of further variables to pass on. */
  readonly passed: readonly string[];
  /** A directory of the previous attempt's home to carry over, relative to it. */
  readonly carry: string | null;
  /** Of the agent's commits, unless it names another one; undefined: the usual one. */
  readonly author?: Author | undefined;
};

/** Where the homes of a run are made, and what it may write to beside its home: an agent that only reads has a place of its own. */
function placesOf(stateDir: string, { issue, cwd, role }: Pick<RunRequest, 'issue' | 'cwd' | 'role'>) {
  if (role === undefined) return { stateDir, writable: [cwd] };
  return { stateDir: join(issueDirectory(stateDir, issue), 'review'), writable: [] };
}

/** Makes the home of one attempt; those of earlier attempts go once what is carried over has been copied. */
export async function createAgentHome(options: AgentHomeOptions): Promise<AgentHome> {
  const homes = join(issueDirectory(options.stateDir, options.issue), 'homes');
  const path = join(homes, String(options.attempt));
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) await removeTree(path);
  const earlier = existsSync(homes)
    ? readdirSync(homes)
        .map(Number)
        .filter((attempt) => attempt < options.attempt)
    : [];
  mkdirSync(join(path, 'bin'), { recursive: true, mode: 0o700 });
  const last = Math.max(0, ...earlier);
  if (options.carry !== null && last > 0) {
    const source = join(await realpath(homes), String(last), options.carry);
    // An agent has been there: nothing is followed, and pipes are left where they are.
    const real = await realpath(source).catch(() => undefined);
    const filter = async (from: string) => {
      const status = await lstat(from);
      return status.isFile() || status.isDirectory();
    };
    if (real === source) await cp(source, join(path, options.carry), { recursive: true, filter });
  }
  // What cannot be removed is no reason not to go on: it goes with the issue.
  await Promise.allSettled(earlier.map((attempt) => removeTree(join(homes, String(attempt)))));
  writeFileSync(join(path, '.gitconfig'), gitConfig(options.author ?? DEFAULT_AUTHOR));
  const tool = join(path, 'bin', 'tool');
  const cli = join(packageRoot(), 'dist', 'cli.js');
  writeFileSync(tool, `#!/bin/sh\nexec ${shellWord(process.execPath)} ${shellWord(cli)} "$@"\n`);
  chmodSync(tool, 0o755);
  const passed = passedEnvironment(options.env, options.passed);
  return {
    path,
    env: {
      ...toolchainsAtHome(options.env),
      ...passed,
      PATH: `${join(path, 'bin')}:${passed.PATH ?? '/usr/local/bin:/usr/bin:/bin'}`,
      HOME: path,
      TMPDIR: options.tmp,
      XDG_CONFIG_HOME: join(path, '.config'),
      XDG_CACHE_HOME: join(path, '.cache'),
      XDG_STATE_HOME: join(path, '.local', 'state'),
      XDG_DATA_HOME: join(path, '.local', 'share'),
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      CI: 'true',
      [RUN_VARIABLE]: options.run,
    },
  };
}

export type AgentPlacesOptions = Pick<AgentHomeOptions, 'stateDir' | 'env' | 'author'> & {
  readonly runtime: RuntimeDir;
};

/** Makes the places of an agent's run: its home, and a directory for temporary files, which the caller removes. */
export async function createAgentPlaces(
  { stateDir, runtime, env, author }: AgentPlacesOptions,
  request: RunRequest,
  more: Pick<AgentHomeOptions, 'passed' | 'carry'>,
) {
  const { issue, attempt, run } = request;
  const tmp = runtime.make(`t${issue}-${attempt}`);
  const places = placesOf(stateDir, request);
  const home = await createAgentHome({ stateDir: places.stateDir, issue, attempt, run, tmp, env, author, ...more });
  return { tmp, home, stateDir: places.stateDir, writable: [...places.writable, home.path, tmp] };
}
