// The way through a proxy: a tunnel that fails ends its request at once, and says why.

import type * as Undici from 'undici';
import { isCertificateProblem } from '../../base/rules/certificate.ts';
import { type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { Pool } from '../../base/undici.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';

/** A proxy made no tunnel. */
export class TunnelError extends Error {
  readonly refusal: Refusal;

  constructor(cause: unknown) {
    const words = messageOf(cause);
    const status = /Proxy response \((\d+)\)/.exec(words)?.[1];
    const what =
      status === '407'
        ? refusal(GITHUB_CODES.proxy_rejected_user, {})
        : refusal(GITHUB_CODES.proxy_refused_tunnel, { said: status === undefined ? words : `it answered ${status}` });
    super(textOf(what), { cause });
    this.name = 'TunnelError';
    this.refusal = what;
  }
}

/**
 * Makes undici's connections to one origin. undici takes a socket that a proxy closed during CONNECT for one of a request,
 * and connects again without a pause, for ever (seen with 7.30): as an error of another kind it ends the request.
 */
export function createPool(origin: string | URL, options: object): Undici.Pool {
  const connect: unknown = 'connect' in options ? options.connect : undefined;
  if (typeof connect !== 'function') return new Pool(origin, options);
  return new Pool(origin, {
    ...options,
    connect: (target, callback) => {
      Reflect.apply(connect, undefined, [
        target,
        (...[error, socket]: Parameters<typeof callback>) => {
          if (error === null) callback(error, socket);
          else callback(isCertificateProblem(error) ? error : new TunnelError(error), null);
        },
      ]);
    },
  });
}
