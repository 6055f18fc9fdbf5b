// The one way this program runs git.

import { ToolError } from '../domain/errors.ts';
import { lastLines } from '../domain/text.ts';
import { RUN_VARIABLE } from './processes.ts';
import { runProgram } from './program.ts';

export type GitOptions = {
  readonly cwd: string;
  readonly signal?: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly input?: string;
  /** User name and password for the remote, in the form of git's credential protocol, handed over on a pipe. */
  readonly secret?: string;
};

export type GitResult = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

/**
 * Nothing of a repository's own configuration may start a program: hooks and the file-system monitor are off, and no
 * transport but the ordinary ones is known. What stands in a clone's configuration is reset elsewhere (`clone.ts`).
 */
const SAFE = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'protocol.ext.allow=never',
  '-c',
  'gc.autoDetach=false',
];

/** Git reads the credential from file descriptor 3: `store` and `erase` find the pipe empty and do nothing. */
const CREDENTIAL = ['-c', 'credential.helper=', '-c', 'credential.helper=!cat <&3 #'];

const INHERITED = [
  RUN_VARIABLE,
  'PATH',
  'HOME',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'all_proxy',
];

/** The person's own settings matter for the network (proxy, certificates); for work in a clone they do not. */
export function networkEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const picked: Record<string, string> = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  for (const name of INHERITED) {
    const value = env[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** The environment for git in a clone: no settings of anybody's, nothing to ask. */
export function cloneEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const mark = env[RUN_VARIABLE];
  return {
    ...(mark === undefined ? {} : { [RUN_VARIABLE]: mark }),
    PATH: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/** Runs git; its exit code is in the result. */
export async function tryGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, signal, timeoutMs = 600_000, input, secret } = options;
  const credential = secret === undefined ? [] : CREDENTIAL;
  const result = await runProgram('git', [...SAFE, ...credential, ...args], {
    cwd,
    env: options.env ?? cloneEnvironment(process.env),
    timeoutMs,
    graceMs: 1_000,
    ...(signal === undefined ? {} : { signal }),
    ...(input === undefined ? {} : { input }),
    ...(secret === undefined ? {} : { secret }),
  });
  if (result.timedOut)
    throw new ToolError('git', `git ${verbOf(args)} took longer than ${timeoutMs / 1000} s and was ended`);
  return result;
}

function verbOf(args: readonly string[]): string {
  return args.find((arg) => !arg.startsWith('-')) ?? '';
}

/** Runs git and gives its standard output; throws with git's own words when it fails. */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const { exitCode, stdout, stderr } = await tryGit(args, options);
  if (exitCode !== 0) {
    options.signal?.throwIfAborted();
    throw new ToolError(
      'git',
      `git ${verbOf(args)} failed (exit ${exitCode ?? 'by signal'}): ${lastLines(stderr || stdout, 8)}`,
    );
  }
  return stdout;
}
