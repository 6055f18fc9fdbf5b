// Runs git with safe settings, and makes the environments for it.

import { accessSync, constants, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { Limiter } from '../base/limiter.ts';
import { RUN_VARIABLE } from '../base/processes/processes.ts';
import { boundedOutput, runProgram, startProgram } from '../base/processes/program.ts';
import { noProxyForGit, proxyVariable } from '../base/proxy-route.ts';
import { explainCertificate, saysCertificateProblem } from '../base/rules/certificate.ts';
import { shellWord } from '../base/rules/command-line.ts';
import type { Environment } from '../base/rules/environment.ts';
import { failure, isFailure } from '../base/rules/errors.ts';
import { lastLines } from '../base/rules/text.ts';
import { subcommandIndex, withPlainOutput } from './plain-output.ts';
import { GIT_CODES } from './rules/git-codes.ts';
import { safeDirectories, saysForeignOwner } from './trusted-directories.ts';

/** The command line that has a program run inside another one. */
export type Launch = (file: string, args: readonly string[]) => readonly [string, readonly string[]];

/** Has a program mark on file descriptor 3 that it begins: whatever ends without that mark was not launched. */
function marking(launch: Launch): Launch {
  return (file, args) => launch('/bin/sh', ['-c', 'echo >&3; exec "$@" 3>&-', 'sh', file, ...args]);
}

/** The shell command by which git with `marks` launches a program: one mark says that git came so far, the next that it begins. */
export function launchCommand(launch: Launch, file: string, args: readonly string[]): string {
  const [outer, words] = marking(launch)(file, args);
  return `echo >&3; ${[outer, ...words].map(shellWord).join(' ')}`;
}

export type GitOptions = {
  readonly cwd: string;
  /** Has git run inside something, like the namespaces of an agent. */
  readonly launch?: Launch | undefined;
  /** Git itself launches programs, each by a `launchCommand`. */
  readonly marks?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The time limit counts from git's last output. */
  readonly countsSilence?: boolean;
  /** Of longer output the middle is left out. */
  readonly maxBytes?: number;
  readonly input?: string;
  /** Of input and output; `latin1`: each char is a byte. */
  readonly encoding?: 'utf8' | 'latin1';
  /** User name and password for the remote, in the form of git's credential protocol, handed over on a pipe. */
  readonly secret?: string;
  /** Scheme, host and port that alone get the secret, whatever a server leads on to; without it, whoever asks. */
  readonly secretFor?: string;
};

export type GitResult = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

/** Long enough for a large repository on a slow disk; an end for what waits on a pipe that somebody planted. */
export const LOCAL_MS = 300_000;
/**
 * Git without a server, of the whole process, since it is one machine: hundreds at a time end no sooner, and while this process
 * starts them it does nothing else.
 */
const LOCAL = new Limiter(Math.max(8, 4 * availableParallelism()), 10_000);

/**
 * No hook, file-system monitor or unusual transport of a repository's own configuration is used, ref logs are off, and
 * repositories inside it are left alone. Filters and drivers stay: where an agent was, git runs in that agent's namespaces.
 */
export const SAFE_CONFIG: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.logAllRefUpdates': 'false',
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'protocol.ext.allow': 'never',
  'gc.autoDetach': 'false',
};

const SAFE = Object.entries(SAFE_CONFIG).flatMap(([key, value]) => ['-c', `${key}=${value}`]);

/** Git reads the credential from file descriptor 3: `store` and `erase` find the pipe empty and do nothing. The shell does it alone. */
const HELPER = '!while IFS= read -r line; do printf "%s\\n" "$line"; done <&3 #';
function credentialFor(origin: string | undefined): readonly string[] {
  const key = origin === undefined ? 'credential' : `credential.${origin}`;
  return ['-c', 'credential.helper=', '-c', `${key}.helper=${HELPER}`];
}

/** Names the file with those of the person's settings that the daemon's own git keeps. */
export const SETTINGS_VARIABLE = 'TOOL_GIT_SETTINGS';

/** No settings and attributes of the person or the machine, but those in that file. */
function plainSettings(env: Environment): Record<string, string> {
  return {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: env[SETTINGS_VARIABLE] ?? '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
  };
}

const INHERITED = [
  RUN_VARIABLE,
  'PATH',
  'HOME',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'GIT_SSL_CAINFO',
  'GIT_PROXY_SSL_CAINFO',
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

/**
 * The environment for git on the network: proxies, certificates and keys are the person's; other settings are not.
 * @param address what git asks: it takes the route of the API
 */
export function networkEnvironment(env: Environment, address: string): Record<string, string> {
  const picked: Record<string, string> = { ...plainSettings(env), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  for (const name of INHERITED) {
    const value = env[name];
    if (value !== undefined) picked[name] = value;
  }
  // curl ignores HTTP_PROXY in capitals, since a web server sets it from a request. The API reads both: so does git.
  const http = proxyVariable('http:', picked)?.value;
  if (http !== undefined && !picked.http_proxy) picked.http_proxy = http;
  // The API takes the proxy of http for https as well when https has none of its own: git takes the same route.
  const https = proxyVariable('https:', picked)?.value;
  if (https !== undefined && !picked.https_proxy && !picked.HTTPS_PROXY) picked.https_proxy = https;
  const direct = noProxyForGit(address, picked);
  if (direct !== undefined) Object.assign(picked, { no_proxy: direct, NO_PROXY: direct });
  return picked;
}

/** The environment for git in a clone: no settings of anybody's, nothing to ask. */
export function cloneEnvironment(env: Environment): Record<string, string> {
  const mark = env[RUN_VARIABLE];
  return {
    ...(mark === undefined ? {} : { [RUN_VARIABLE]: mark }),
    PATH: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    ...plainSettings(env),
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/** For what is made to be read without git as well: refs are kept as files. */
export const FILES = 'init.defaultRefFormat=files';

/** Of `fetch`: as far back as there is anything, from a repository that itself ends early as well. */
export const ALL_PAST = '--depth=2147483647';

/** Whether the PATH has the program. */
export function isOnPath(program: string, env: Environment): boolean {
  const places = (env.PATH ?? '').split(delimiter).filter((place) => place !== '');
  return places.some((place) => {
    try {
      accessSync(join(place, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Throws when there is no git on the PATH. */
export function requireGit(env: Environment): void {
  if (!isOnPath('git', env)) throw failure(GIT_CODES.git_missing, {});
}

/** Runs git; its exit code is in the result. A repository of another user that the person takes for safe is as any other. */
export async function tryGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const isForeign = statSync(options.cwd, { throwIfNoEntry: false })?.uid !== process.geteuid?.();
  // In a repository that they may not enter, some commands of git do without one, and refuse nothing.
  const result = isForeign ? null : await runGit(args, options);
  if (result !== null && !(result.exitCode === 128 && saysForeignOwner(result.stderr))) return result;
  const safe = await safeDirectories(process.env);
  if (result !== null && safe.length === 0) return result;
  return runGit([...safe.flatMap((place) => ['-c', `safe.directory=${place}`]), ...args], options);
}

async function runGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, signal, timeoutMs = LOCAL_MS, input, secret, secretFor, launch } = options;
  const credential = secret === undefined ? [] : credentialFor(secretFor);
  const all = [...SAFE, ...credential, ...withPlainOutput(args)];
  const run = () => {
    // Only now: what the launch names must still be there when it begins.
    const [file, words] = launch === undefined ? (['git', all] as const) : marking(launch)('git', all);
    return runProgram(file, words, {
      cwd,
      env: options.env ?? cloneEnvironment(process.env),
      timeoutMs,
      countsSilence: options.countsSilence === true,
      graceMs: 1_000,
      marks: launch !== undefined || options.marks === true,
      ...(signal === undefined ? {} : { signal }),
      ...(input === undefined ? {} : { input }),
      ...(options.encoding === undefined ? {} : { encoding: options.encoding }),
      ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
      ...(secret === undefined ? {} : { secret }),
    });
  };
  // Of those that wait for a server, many cost nothing.
  const result = await (options.countsSilence === true ? run() : LOCAL.run(run, signal));
  if (result.timedOut) {
    const why = options.countsSilence === true ? 'gave no sign of life for' : 'took longer than';
    throw failure(GIT_CODES.git_timed_out, { command: verbOf(args), why, seconds: timeoutMs / 1000 });
  }
  // Before it runs git, the launch hears the end as well.
  if (launch === undefined ? result.marks % 2 === 1 : result.marks === 0) {
    signal?.throwIfAborted();
    throw failure(GIT_CODES.git_not_launched, { command: verbOf(args), said: lastLines(result.stderr, 8) });
  }
  return result;
}

/** The command of git, after the options of git itself. */
export function verbOf(args: readonly string[]): string {
  return args[subcommandIndex(args)] ?? '';
}

/** Whether git's words mean that objects of a repository are gone or spoilt. */
export function saysDamaged(words: string): boolean {
  const own = words.replaceAll(/^remote:.*$/gm, '');
  return /corrupt|bad object|bad tree|missing blob|missing tree|unable to read (sha1|tree|object)|unable to read [0-9a-f]{40}|did not send all necessary objects|inflate: data stream error|unable to unpack|packfile .* (cannot be|is far too short|index unavailable)|could not parse (commit|object)|failed to read object|not a git repository|bad pack|broken link/i.test(
    own,
  );
}

/** How git ended, as values of `git_failed`; null: by a signal. */
export function exitOf(exitCode: number | null): { readonly exit: number } | { readonly signal: string } {
  return exitCode === null ? { signal: 'signal' } : { exit: exitCode };
}

/** Runs git and gives its standard output; throws with git's own words when it fails. */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const { exitCode, stdout, stderr } = await tryGit(args, options);
  if (exitCode !== 0) {
    options.signal?.throwIfAborted();
    throw failure(GIT_CODES.git_failed, {
      command: verbOf(args),
      ...exitOf(exitCode),
      said: lastLines(stderr || stdout, 8),
    });
  }
  return stdout;
}

/**
 * Hands over git's standard output, a char for each byte, as it comes. Once `take` gives false, git is ended and nothing
 * more is read: then the answer is false. Throws when git fails.
 */
export async function readGit(
  args: readonly string[],
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
  take: (text: string) => boolean,
): Promise<boolean> {
  const env = cloneEnvironment(process.env);
  const program = await startProgram('git', [...SAFE, ...args], { cwd, env, signal, graceMs: 1_000 });
  const stderr = boundedOutput(program.stderr, 64 * 1024);
  program.stdin.end();
  let goesOn = true;
  program.stdout.setEncoding('latin1').on('data', (text: string) => {
    if (!goesOn || take(text)) return;
    goesOn = false;
    program.stdout.destroy();
    program.terminate();
  });
  const { exitCode } = await program.exit;
  signal.throwIfAborted();
  if (goesOn && exitCode !== 0)
    throw failure(GIT_CODES.git_failed, {
      command: verbOf(args),
      ...exitOf(exitCode),
      said: lastLines(stderr(), 8),
    });
  return goesOn;
}

/** Whether git did not begin, since what it was to run in could not be set up: that tells nothing of the repository. */
export function isUnstarted(error: unknown): boolean {
  return isFailure(error, GIT_CODES.git_not_launched);
}

/** Whether the hosting service answered git, and turned it away. */
export function isAccessDenied(words: string): boolean {
  return /Authentication failed|could not read Username|HTTP Basic: Access denied|\b40[13]\b|Permission denied|Repository not found/i.test(
    words,
  );
}

/** Git's own words, its first line among them, with what usually is behind them. */
export function explain(stderr: string, stdout = ''): string {
  const lines = `${stderr.trim()}\n${stdout.trim()}`.trim().split('\n');
  const said = (lines.length > 7 ? [lines[0], '…', ...lines.slice(-6)] : lines).join('\n');
  if (saysCertificateProblem(said)) return explainCertificate(said);
  return isAccessDenied(said)
    ? `${said} (the hosting service turned the credential away: check \`gh auth status\` or the token)`
    : said;
}
