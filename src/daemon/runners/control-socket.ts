// Commands of operators on the daemon's machine. The socket has a short path elsewhere; a file in the state directory that only
// its owner can read names the socket and its key.

import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { CONTROL_FILE } from '../../agents/isolation.ts';
import { writeFileAtomic } from '../../base/files/atomic-write.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { HTTP_CODES } from '../rules/codes/http-codes.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { STEERS, type Steer } from '../rules/record.ts';
import { openKeyedSocket } from './keyed-socket.ts';

export type Command =
  | { readonly command: Steer; readonly issue: number }
  | { readonly command: 'tell'; readonly issue: number; readonly text: string }
  /** How the issue stands; nothing changes. */
  | { readonly command: 'show'; readonly issue: number };
export type ControlHandler = (command: Command) => Promise<Readonly<Record<string, unknown>>>;

const issue = z.number().int().positive();
const commandSchema = z.discriminatedUnion('command', [
  z.strictObject({ command: z.enum(STEERS), issue }),
  z.strictObject({ command: z.literal('tell'), issue, text: z.string() }),
  z.strictObject({ command: z.literal('show'), issue }),
]);
const place = z.object({ socket: z.string(), key: z.string() });

function decode(body: string): Command {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw failure(WORK_CODES.request_invalid, { problems: [`it is not JSON (${messageOf(error)})`] }, { cause: error });
  }
  const decoded = commandSchema.safeParse(value);
  if (decoded.success) return decoded.data;
  const problems = decoded.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw failure(WORK_CODES.request_invalid, { problems });
}

/** Git in a workspace hides the file from what runs there, and cannot begin while it goes: it goes when no git is left. */
export function removeControlPlace(stateDir: string): void {
  rmSync(join(stateDir, CONTROL_FILE), { force: true });
}

/** Gives the way to close it; then the file is still there. */
export async function openControlSocket(
  runtime: RuntimeDir,
  stateDir: string,
  handler: ControlHandler,
): Promise<() => Promise<void>> {
  const { socket, key, close } = await openKeyedSocket(runtime, {
    keyWrong: refusal(HTTP_CODES.control_key_wrong, { file: CONTROL_FILE }),
    // What another coordinator refuses has its code there.
    codeOf: ({ code, values: { reason } }) => (typeof reason === 'string' ? reason : code),
    answer: (body) => handler(decode(body)),
  });
  try {
    writeFileAtomic(join(stateDir, CONTROL_FILE), JSON.stringify({ socket, key }), 0o600);
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}

/** Where the daemon of a state directory takes commands; undefined: it names no place that can be read. */
export function readControlPlace(stateDir: string): { readonly socket: string; readonly key: string } | undefined {
  try {
    return place.parse(JSON.parse(readFileSync(join(stateDir, CONTROL_FILE), 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Whether the owner of the file made the socket, or this user, or root: once its process has died, its place is free for anybody.
 * Some file systems give the file another owner.
 */
export function isOwnSocket(stateDir: string, socket: string): boolean {
  const ownerOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.uid;
  const trusted = [ownerOf(join(stateDir, CONTROL_FILE)), process.getuid?.(), 0];
  return [dirname(socket), socket].every((path) => {
    const owner = ownerOf(path);
    return owner !== undefined && trusted.includes(owner);
  });
}
