// HTTP over a Unix socket that answers whoever has its key: one request is one JSON object, POST /v1.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { HTTP_CODES } from '../rules/codes/http-codes.ts';
import { TrackerError } from '../rules/tracker-error.ts';

export type KeyedSocketOptions = {
  /** Answer to a request without the key. */
  readonly keyWrong: Refusal;
  /** Code of a refusal in the answer. */
  readonly codeOf: (error: ToolError) => string;
  /** Answers the body of a request; a refusal is a rejected ToolError. */
  readonly answer: (body: string, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;
};

export type KeyedSocket = { readonly socket: string; readonly key: string; readonly close: () => Promise<void> };

const MAX_BODY_BYTES = 256 * 1024;

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw failure(HTTP_CODES.too_large, { limit: MAX_BODY_BYTES });
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function answer(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

function sameKey(given: string, key: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(key);
  return a.length === b.length && timingSafeEqual(a, b);
}

export async function openKeyedSocket(runtime: RuntimeDir, options: KeyedSocketOptions): Promise<KeyedSocket> {
  const directory = runtime.make(randomBytes(6).toString('hex'));
  const socket = join(directory, 's');
  const key = randomBytes(24).toString('base64url');
  const closing = new AbortController();
  const serve = async (message: IncomingMessage, response: ServerResponse) => {
    try {
      if (!sameKey(message.headers.authorization ?? '', `Bearer ${key}`)) {
        answer(response, 403, { error: { code: 'refused', message: textOf(options.keyWrong) } });
        return;
      }
      if (message.method !== 'POST' || message.url !== '/v1') {
        const values = { method: message.method ?? '', path: message.url ?? '' };
        const problem = textOf(refusal(HTTP_CODES.socket_request_unknown, values));
        answer(response, 404, { error: { code: 'refused', message: problem } });
        return;
      }
      answer(response, 200, await options.answer(await readBody(message), closing.signal));
    } catch (error) {
      const code =
        error instanceof ToolError ? options.codeOf(error) : error instanceof TrackerError ? 'tracker' : 'internal';
      answer(response, code === 'internal' ? 500 : 422, { error: { code, message: messageOf(error) } });
    }
  };
  const server = createServer({ requestTimeout: 30_000 }, (message, response) => {
    serve(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  return {
    socket,
    key,
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      runtime.remove(directory);
    },
  };
}
