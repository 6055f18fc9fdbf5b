// Bodies of requests to a coordinator, and its answers in JSON.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { failure } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';

/** So long a body that was refused is still taken: whoever sends it else hears of a broken connection, and not why. */
const LINGER_MS = 2_000;

/** @param most bytes; a longer body is a ToolError */
export async function readText(request: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > most) throw failure(FLEET_CODES.fleet_request_too_large, { limit: most });
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function send(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent) return;
  const body = JSON.stringify(value);
  const { req: request } = response;
  if (status === 413) {
    const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
    request.once('close', () => clearTimeout(timer));
  }
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}
