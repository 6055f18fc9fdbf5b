// Keys and stamps: what tells who calls, where a call itself carries nothing.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Stamp } from '../domain/team/caller.ts';
import type { Keys } from '../engine/ports.ts';
import { lateCrypto } from './late-crypto.ts';
import { renameNew } from './new-name.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** So long a file's name may be nearly everywhere. */
const NAME_MAX = 200;

/** Where what belongs to a project but not into it is kept: below the state directory of the person. */
export function projectState(root: string, env: Environment): string {
  const base = env.XDG_STATE_HOME ?? join(env.HOME ?? homedir(), '.local', 'state');
  const name = encodeURIComponent(root);
  return join(base, 'toolcrew', 'projects', name.length <= NAME_MAX ? name : hashOf(root));
}

export const systemKeys: Keys = {
  create: () => {
    const key = lateCrypto().randomBytes(18).toString('base64url');
    return { key, hash: hashOf(key) };
  },
  hash: hashOf,
};

function hashOf(key: string): string {
  return lateCrypto().createHash('sha256').update(key).digest('hex');
}

const SECRET_BYTES = 32;

/** The secret that stamps of a project are made with; made when it is not there, or is not whole. */
function secretOf(directory: string): Buffer {
  const path = join(directory, 'stamp.key');
  const there = readSecret(path);
  if (there !== null && there.length >= SECRET_BYTES) return there;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const secret = lateCrypto().randomBytes(SECRET_BYTES);
  // It gets its name when it is whole: anybody may read it from then on.
  const temporary = `${path}.${secret.toString('hex', 0, 6)}.tmp`;
  try {
    writeFileSync(temporary, secret, { flag: 'wx', mode: 0o600, flush: true });
    if (there === null) renameNew(temporary, path);
    else renameSync(temporary, path);
  } catch (error) {
    // Somebody else may just have made it.
    if (readSecret(path) === null) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readFileSync(path);
}

/** null: there is none. */
function readSecret(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function macOf(directory: string, payload: string): string {
  return lateCrypto().createHmac('sha256', secretOf(directory)).update(payload).digest('base64url');
}

/** A stamp as text. */
export function signStamp(directory: string, stamp: Stamp): string {
  const payload = Buffer.from(JSON.stringify(stamp)).toString('base64url');
  return `${payload}.${macOf(directory, payload)}`;
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isStamp(value: unknown): value is Stamp {
  return (
    typeof value === 'object' &&
    value !== null &&
    'session' in value &&
    typeof value.session === 'string' &&
    'agentId' in value &&
    isText(value.agentId) &&
    'agentType' in value &&
    isText(value.agentType) &&
    'toolUseId' in value &&
    isText(value.toolUseId)
  );
}

/** The stamp that a text holds; undefined when it was not made here. */
export function readStamp(directory: string, text: string): Stamp | undefined {
  const [payload = '', mac = ''] = text.split('.');
  const expected = Buffer.from(macOf(directory, payload));
  const came = Buffer.from(mac);
  if (expected.length !== came.length || !lateCrypto().timingSafeEqual(expected, came)) return undefined;
  try {
    const stamp: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return isStamp(stamp) ? stamp : undefined;
  } catch {
    return undefined;
  }
}
