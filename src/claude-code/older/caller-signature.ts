// For hosts below 2.1.118, and for plugins: no hook asks the team server there. A compiled hook signs the caller into the
// input of the call, and the server reads the signature. Newer hosts are served by `joined-calls.ts`.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renameExclusive } from '../../base/files/create-exclusive.ts';
import { lazyCrypto } from '../../base/lazy-crypto.ts';
import { errorCode } from '../../base/rules/errors.ts';
import { SILENT } from '../../team/operations/host-event.ts';
import type { Evidence, HookCaller } from '../../team/rules/caller.ts';
import type { Rendered } from '../hooks/render-answer.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Key of the signature in the input of a call. */
const SIGNATURE_KEY = '_caller';

const SECRET_BYTES = 32;

/** Secret for the signatures of a project; made when it is missing or not whole. */
function secretOf(directory: string): Buffer {
  const path = join(directory, 'caller-signature.key');
  const there = readSecret(path);
  if (there !== null && there.length >= SECRET_BYTES) return there;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const secret = lazyCrypto().randomBytes(SECRET_BYTES);
  // It gets its name when it is whole: anybody may read it from then on.
  const temporary = `${path}.${secret.toString('hex', 0, 6)}.tmp`;
  try {
    writeFileSync(temporary, secret, { flag: 'wx', mode: 0o600, flush: true });
    if (there === null) renameExclusive(temporary, path);
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
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function macOf(directory: string, payload: string): string {
  return lazyCrypto().createHmac('sha256', secretOf(directory)).update(payload).digest('base64url');
}

/** The caller and its signature, as text. */
export function signCaller(directory: string, caller: HookCaller): string {
  const payload = Buffer.from(JSON.stringify(caller)).toString('base64url');
  return `${payload}.${macOf(directory, payload)}`;
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isHookCaller(value: unknown): value is HookCaller {
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

/** The caller in a signed text; undefined: the signature was not made here. */
export function readCallerSignature(directory: string, text: string): HookCaller | undefined {
  const [payload = '', mac = ''] = text.split('.');
  const expected = Buffer.from(macOf(directory, payload));
  const came = Buffer.from(mac);
  if (expected.length !== came.length || !lazyCrypto().timingSafeEqual(expected, came)) return undefined;
  try {
    const caller: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return isHookCaller(caller) ? caller : undefined;
  } catch {
    return undefined;
  }
}

/** The answer of a compiled hook: the caller goes into the call, in place of what the caller itself put there. */
export function withCallerSignature(given: Fields, caller: HookCaller | null, directory: string): Rendered {
  const input = withoutCallerSignature(given);
  if (caller === null) return SIGNATURE_KEY in given ? { kind: 'rewrite', input, grant: false } : SILENT;
  return { kind: 'rewrite', input: { ...input, [SIGNATURE_KEY]: signCaller(directory, caller) }, grant: true };
}

export function withoutCallerSignature({ [SIGNATURE_KEY]: _, ...input }: Fields): Fields {
  return input;
}

/** The caller by the signature in the input; undefined: the call carries none. */
export function evidenceOfSignature(input: Fields, toolUseId: string | null, directory: string): Evidence | undefined {
  const text = input[SIGNATURE_KEY];
  if (typeof text !== 'string') return undefined;
  const caller = readCallerSignature(directory, text);
  if (caller === undefined)
    return { kind: 'nothing', takesKey: true, why: 'the call carries a stamp that the hooks did not make' };
  if (toolUseId !== null && caller.toolUseId !== null && toolUseId !== caller.toolUseId)
    return { kind: 'nothing', takesKey: true, why: 'the call carries the stamp of another call' };
  return { kind: 'stamp', caller };
}
