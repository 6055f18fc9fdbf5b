// Access control of the status server: checks of host and origin, and sessions by token.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A refusal: status, code and message of the answer. */
export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The host name of a `Host` header, without its port. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/** 421 for a foreign host name (DNS rebinding), 403 for a page of another origin. */
export function checkOrigin(request: IncomingMessage, allowedHosts: readonly string[]): Refusal | undefined {
  const { host, origin } = request.headers;
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  if (host === undefined || !allowed.includes(nameOf(host))) {
    return {
      status: 421,
      code: 'foreign_host',
      message: `expected a Host of this server (server.allowed_hosts: ${allowed.join(', ')}), got ${host ?? 'none'}`,
    };
  }
  if (origin === undefined) return undefined;
  let from: string | undefined;
  try {
    from = new URL(origin).host;
  } catch {
    from = undefined;
  }
  if (from === host.toLowerCase()) return undefined;
  return {
    status: 403,
    code: 'foreign_origin',
    message: `expected a request of this server's own page, got Origin ${origin}`,
  };
}

export const SESSION_COOKIE = 'toolcrew_session';

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
    const cookie = new RegExp(`(?:^|;\\s*)${SESSION_COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? '')?.[1];
    return cookie !== undefined && this.#open.has(cookie);
  }
}
