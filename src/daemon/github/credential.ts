// Hosting credential: its sources, and the removal of tokens from this process's environment.

import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { runProgram } from '../../base/processes/program.ts';
import { TOKEN_VARIABLES } from '../../base/rules/credential.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { failure, ToolError } from '../../base/rules/errors.ts';
import { lastLines } from '../../base/rules/text.ts';
import type { Author } from '../../git/rules/author.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';

/** Token variables with their values, removed from the environment once at start-up. */
export type TakenTokens = ReadonlyMap<string, string>;

/**
 * Removes every token from `process.env`, and on Linux from the memory that `/proc/<pid>/environ` shows.
 * Deleting a variable does not change that memory.
 * @param extra further variables that hold a token, named by the workflow file
 * @returns the values; `scrubbed` false when the kernel may still show them to programs of the same user
 */
export function takeTokens(
  environment: NodeJS.ProcessEnv,
  extra: readonly string[],
): { tokens: TakenTokens; scrubbed: boolean } {
  const tokens = new Map<string, string>();
  for (const name of [...TOKEN_VARIABLES, ...extra]) {
    const value = environment[name];
    if (value !== undefined && value !== '') tokens.set(name, value);
    delete environment[name];
  }
  return { tokens, scrubbed: tokens.size === 0 || scrubProcess([...tokens.keys()]) };
}

/** Overwrites the named variables in the initial environment of this process, where the kernel reads it. */
function scrubProcess(names: readonly string[]): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Fields 50 and 51 of proc(5): where the environment begins and ends.
    const start = Number(fields[47]);
    const end = Number(fields[48]);
    const block = readFileSync('/proc/self/environ');
    if (!(start > 0 && block.length <= end - start)) return false;
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      let offset = 0;
      for (const entry of block.toString('latin1').split('\0')) {
        const name = entry.slice(0, entry.indexOf('='));
        if (names.includes(name)) writeSync(memory, Buffer.alloc(entry.length, 0x78), 0, entry.length, start + offset);
        offset += entry.length + 1;
      }
    } finally {
      closeSync(memory);
    }
    const after = readFileSync('/proc/self/environ', 'latin1');
    return !names.some((name) => `\0${after}`.includes(`\0${name}=`));
  } catch {
    return false;
  }
}

/** Ids of processes with the token in a readable environment: an agent of the same user could read it there. */
export function exposedIn(token: string): number[] {
  if (process.platform !== 'linux' || token.length < 8) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'latin1').includes(token);
      } catch {
        return false;
      }
    })
    .map(Number);
}

export type ClientLogin = { readonly installed: boolean; readonly ok: boolean; readonly says: string };

/** Login status as reported by the hosting client, gh. */
export async function clientStatus(host: string, env: Environment): Promise<ClientLogin> {
  const result = await client(['auth', 'status', '--hostname', host], env);
  if (result === undefined) return { installed: false, ok: false, says: 'the hosting client gh is not installed' };
  const says = lastLines(result.stderr || result.stdout, 3, 160).replaceAll('\n', ' ');
  return { installed: true, ok: result.exitCode === 0, says };
}

async function client(args: readonly string[], env: Environment) {
  const clean: Record<string, string> = { NO_COLOR: '1', GH_NO_UPDATE_NOTIFIER: '1', GH_PROMPT_DISABLED: '1' };
  for (const [name, value] of Object.entries(env)) if (value !== undefined) clean[name] = value;
  try {
    return await runProgram('gh', args, { cwd: '/', env: clean, timeoutMs: 15_000 });
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}

async function clientToken(host: string, env: Environment): Promise<string | undefined> {
  const result = await client(['auth', 'token', '--hostname', host], env);
  const token = result?.exitCode === 0 ? result.stdout.trim() : '';
  return token === '' ? undefined : token;
}

const ORDINARY = ['GITHUB_TOKEN', 'GH_TOKEN'];
const ENTERPRISE = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];

/** Token variables in the order that gh uses: enterprise ones come first for hosts other than the service's own. */
function variablesFor(host: string): readonly string[] {
  if (host === 'github.com') return ORDINARY;
  return host.endsWith('.ghe.com') ? [...ORDINARY, ...ENTERPRISE] : [...ENTERPRISE, ...ORDINARY];
}

/** What the daemon presents to the hosting service, and to its git. */
export type HostingCredential = {
  /** Where it is from, for people. */
  readonly source: string;
  readonly fromClient: boolean;
  /** Texts that must never be shown, logged or written. */
  readonly secrets: readonly string[];
  /** A text by which it is known in the environment of a process; empty: it is in none. */
  readonly inEnvironment: string;
  /** Login of its account; null: the service is to be asked. */
  readonly login: string | null;
  /** Author of commits; null: the usual one. */
  readonly author: Author | null;
  token(): Promise<string>;
  /** The service turned the token away. */
  reject(): void;
  /** The credential in the format of git's credential protocol. */
  gitSecret(): Promise<string>;
};

/** Token in memory, with its source. A rejected token from the login of gh is fetched again. */
export class Credential implements HostingCredential {
  readonly login = null;
  readonly author = null;
  readonly #host: string;
  readonly #env: Environment;
  readonly source: string;
  readonly #fromClient: boolean;
  #token: string;
  #stale = false;

  private constructor(token: string, source: string, fromClient: boolean, host: string, env: Environment) {
    this.#token = token;
    this.source = source;
    this.#fromClient = fromClient;
    this.#host = host;
    this.#env = env;
  }

  /**
   * Finds a token: only in `named` if given, else in the host's variables, then in the login of gh. Throws `ToolError`.
   * @param named variable from the workflow file, without the dollar sign
   */
  static async find(named: string | null, tokens: TakenTokens, host: string, env: Environment): Promise<Credential> {
    const candidates = named === null ? variablesFor(host) : [named];
    for (const name of candidates) {
      const token = tokens.get(name);
      if (token !== undefined) return new Credential(token, `$${name}`, false, host, env);
    }
    if (named !== null) throw failure(CONFIG_CODES.variable_unset, { key: 'tracker.token', variable: `$${named}` });
    const token = await clientToken(host, env);
    if (token !== undefined) return new Credential(token, `the login of gh for ${host}`, true, host, env);
    const { says } = await clientStatus(host, env);
    const variables = candidates.map((name) => `$${name}`);
    throw failure(GITHUB_CODES.token_missing, { host, variables, said: says });
  }

  get fromClient(): boolean {
    return this.#fromClient;
  }

  get secrets(): readonly string[] {
    return [this.#token];
  }

  get inEnvironment(): string {
    return this.#token;
  }

  /** Current value. Never show, log or write it. */
  get value(): string {
    return this.#token;
  }

  async token(): Promise<string> {
    if (this.#stale && this.#fromClient) {
      this.#stale = false;
      this.#token = (await clientToken(this.#host, this.#env)) ?? this.#token;
    }
    return this.#token;
  }

  /** Marks the token as rejected by the service. */
  reject(): void {
    this.#stale = true;
  }

  /** The credential in the format of git's credential protocol. */
  async gitSecret(): Promise<string> {
    return `username=x-access-token\npassword=${await this.token()}\n`;
  }
}
