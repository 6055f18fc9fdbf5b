// The way through a proxy: a tunnel that fails ends its request at once, and says why.

import { Pool } from 'undici';
import { isCertificateProblem } from '../../base/rules/certificate.ts';
import { messageOf } from '../../base/rules/errors.ts';

/** A proxy made no tunnel. */
export class TunnelError extends Error {
  constructor(cause: unknown) {
    const words = messageOf(cause);
    const status = /Proxy response \((\d+)\)/.exec(words)?.[1];
    const hint = status === '407' ? '; check the user and the password in HTTPS_PROXY or HTTP_PROXY' : '';
    super(`the proxy made no tunnel: ${status === undefined ? words : `it answered ${status}${hint}`}`, { cause });
    this.name = 'TunnelError';
  }
}

/**
 * Makes undici's connections to one origin. undici takes a socket that a proxy closed during CONNECT for one of a request,
 * and connects again without a pause, for ever (seen with 7.30): as an error of another kind it ends the request.
 */
export function createPool(origin: string | URL, options: object): Pool {
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
