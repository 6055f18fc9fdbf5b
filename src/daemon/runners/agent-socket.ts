// The daemon's API for agents: HTTP over a Unix socket, one per attempt, with a key for that attempt's agent only.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import * as z from 'zod';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { refusal, textOf } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import type { AgentRequest, AgentRequestHandler, AgentSocket } from '../ports.ts';
import { HTTP_CODES } from '../rules/codes/http-codes.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { TrackerError } from '../rules/tracker-error.ts';

const MAX_BODY_BYTES = 256 * 1024;

const request = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('show'), issue: z.number().int() }),
  z.strictObject({ type: z.literal('comment'), issue: z.number().int(), body: z.string().min(1) }),
  z.strictObject({ type: z.literal('done'), issue: z.number().int() }),
  z.strictObject({ type: z.literal('pull_request'), title: z.string().min(1), body: z.string() }),
  z.strictObject({ type: z.literal('reply'), thread: z.number().int().positive(), body: z.string().min(1) }),
]);

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

function decode(body: string): AgentRequest {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw failure(WORK_CODES.request_invalid, { problems: [`it is not JSON (${messageOf(error)})`] }, { cause: error });
  }
  const decoded = request.safeParse(value);
  if (decoded.success) return decoded.data;
  const problems = decoded.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  throw failure(WORK_CODES.request_invalid, { problems });
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

export function createAgentSocket(runtime: RuntimeDir): AgentSocket {
  return {
    async open(handler: AgentRequestHandler) {
      const directory = runtime.make(randomBytes(6).toString('hex'));
      const socket = join(directory, 's');
      const key = randomBytes(24).toString('base64url');
      const closing = new AbortController();
      const serve = async (message: IncomingMessage, response: ServerResponse) => {
        try {
          if (!sameKey(message.headers.authorization ?? '', `Bearer ${key}`)) {
            const message = textOf(refusal(HTTP_CODES.attempt_key_wrong, {}));
            answer(response, 403, { error: { code: 'refused', message } });
            return;
          }
          if (message.method !== 'POST' || message.url !== '/v1') {
            const values = { method: message.method ?? '', path: message.url ?? '' };
            const problem = textOf(refusal(HTTP_CODES.socket_request_unknown, values));
            answer(response, 404, { error: { code: 'refused', message: problem } });
            return;
          }
          answer(response, 200, await handler(decode(await readBody(message)), closing.signal));
        } catch (error) {
          const code = error instanceof ToolError ? error.kind : error instanceof TrackerError ? 'tracker' : 'internal';
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
        env: { TOOL_SOCKET: socket, TOOL_KEY: key },
        async close() {
          closing.abort();
          server.closeAllConnections();
          await new Promise<void>((resolve) => {
            server.close(() => resolve());
          });
          runtime.remove(directory);
        },
      };
    },
  };
}
