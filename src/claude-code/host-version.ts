// The version of the host around this process.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../base/processes/program.ts';
import type { Environment } from '../base/rules/environment.ts';
import { isVersionAtLeast, parseVersion } from '../base/rules/version.ts';
import { TICKET_COMMENTS_SINCE } from '../guard/rules/ticket.ts';
import { INSTALLED_FILE } from '../team/config/team-config-file.ts';
import { readTail } from './call-origin.ts';

const TIMEOUT_MS = 10_000;
/** Hooks may ask a server from here on. */
export const RESIDENT_HOOKS_SINCE = '2.1.118';

async function ask(program: string, env: Environment): Promise<string | null> {
  try {
    const { exitCode, stdout } = await runProgram(program, ['--version'], {
      cwd: '/',
      env: { PATH: env.PATH ?? '/usr/bin:/bin', HOME: '/nonexistent' },
      timeoutMs: TIMEOUT_MS,
      graceMs: 1_000,
    });
    return exitCode === 0 ? parseVersion(stdout) : null;
  } catch {
    return null;
  }
}

/** What the installer found when it was run last. */
function installedFor(root: string): string | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(root, INSTALLED_FILE), 'utf8'));
    return typeof value === 'object' &&
      value !== null &&
      'hostVersion' in value &&
      typeof value.hostVersion === 'string'
      ? value.hostVersion
      : null;
  } catch {
    return null;
  }
}

/** Asks the program that started this hook where it names itself, else takes what the installer found, else whatever is on the path. */
export async function readHostVersion(root: string, env: Environment): Promise<string | null> {
  const program = env.CLAUDE_CODE_EXECPATH;
  const asked = program === undefined ? null : await ask(program, env);
  return asked ?? installedFor(root) ?? (await ask('claude', env));
}

function versionOf(line: string): string | null {
  try {
    const entry: unknown = JSON.parse(line);
    const isTold = typeof entry === 'object' && entry !== null && 'version' in entry;
    return isTold && typeof entry.version === 'string' ? parseVersion(entry.version) : null;
  } catch {
    // The first line may be cut off.
    return null;
  }
}

/** The version that wrote last to a transcript; null: there is none yet. */
function writerOf(transcript: string): string | null {
  for (const line of readTail(transcript).split('\n').reverse()) {
    const version = versionOf(line);
    if (version !== null) return version;
  }
  return null;
}

function isWrittenSince(transcript: string | null, least: string): boolean {
  const version = transcript === null ? null : writerOf(transcript);
  return version !== null && isVersionAtLeast(version, least);
}

/** An agent that stops goes on with the text of a hook from here on; older hosts leave it out. */
const GOES_ON = '2.1.177';

/** @param transcript of the session; where it names no version, the host is taken for an older one */
export function goesOnWithContext(transcript: string | null): boolean {
  return isWrittenSince(transcript, GOES_ON);
}

/** Whether a hook can mark commands. @param transcript of the session; where it names no version, the host is taken for an older one */
export function allowsTicketComments(transcript: string | null): boolean {
  return isWrittenSince(transcript, TICKET_COMMENTS_SINCE);
}

/**
 * Whether the host around this hook knows hooks that ask a server; so it is taken to where nothing tells.
 * @param transcript of the session; it begins with the first prompt
 */
export async function supportsResidentHooks(transcript: string | null, env: Environment): Promise<boolean> {
  const told = transcript === null ? null : writerOf(transcript);
  // Hosts that name themselves to their hooks are newer.
  const version = told ?? (env.CLAUDECODE === undefined ? await ask('claude', env) : null);
  return version === null || isVersionAtLeast(version, RESIDENT_HOOKS_SINCE);
}
