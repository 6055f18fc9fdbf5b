// The port and the address of the status server.

import type { Server } from 'node:http';
import { failure, messageOf } from '../base/rules/errors.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';

/** Gives the port, also where 0 asks for any free one. A busy port is a ToolError that names both ways out. */
export async function listenOn(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const busy = 'code' in error && error.code === 'EADDRINUSE';
      const said = messageOf(error);
      reject(
        busy
          ? failure(HTTP_CODES.port_in_use, { port, host }, { cause: error })
          : failure(HTTP_CODES.listen_failed, { host, port, said }, { cause: error }),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

export function urlOf(host: string, port: number): string {
  const name = host === '127.0.0.1' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
