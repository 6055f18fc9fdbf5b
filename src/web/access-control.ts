// Access control of the status server: checks of host and origin, and sessions by token.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';

/** A refused request: the status of the answer, and why. */
export type Refused = {
  readonly status: number;
  readonly why: Refusal;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The host name of a `Host` header, without its port. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/** 421 for a foreign host name (DNS rebinding), 403 for a page of another origin. */
export function checkOrigin(request: IncomingMessage, allowedHosts: readonly string[]): Refused | undefined {
  const { host, origin } = request.headers;
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  if (host === undefined || !allowed.includes(nameOf(host))) {
    return { status: 421, why: refusal(HTTP_CODES.foreign_host, { allowed, got: host ?? 'none' }) };
  }
  if (origin === undefined) return undefined;
  let from: string | undefined;
  try {
    from = new URL(origin).host;
  } catch {
    from = undefined;
  }
  if (from === host.toLowerCase()) return undefined;
  return { status: 403, why: refusal(HTTP_CODES.foreign_origin, { origin }) };
}

/** Browsers do not keep cookies of two ports apart. */
export function sessionCookie({ socket }: IncomingMessage): string {
  return `toolcrew_session_${socket.localPort ?? 0}`;
}

function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Holds the token, and the sessions of browsers that presented it. */
export class Sessions {
  readonly #token: string | null;
  readonly #open = new Set<string>();

  constructor(token: string | null) {
    this.#token = token;
  }

  get required(): boolean {
    return this.#token !== null;
  }

  /** Opens a session; undefined when the token is wrong. */
  login(token: string): string | undefined {
    if (this.#token === null || !same(token, this.#token)) return undefined;
    const session = randomBytes(24).toString('base64url');
    this.#open.add(session);
    // Bounds the memory when a browser logs in repeatedly.
    for (const oldest of this.#open) {
      if (this.#open.size <= 100) break;
      this.#open.delete(oldest);
    }
    return session;
  }

  admits(request: IncomingMessage): boolean {
    if (this.#token === null) return true;
    const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (bearer !== undefined) return same(bearer, this.#token);
    const cookie = new RegExp(`(?:^|;\\s*)${sessionCookie(request)}=([\\w-]+)`).exec(request.headers.cookie ?? '')?.[1];
    return cookie !== undefined && this.#open.has(cookie);
  }
}
