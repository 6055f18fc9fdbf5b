// The daemon's API for agents: HTTP over a Unix socket, one per attempt, with a key for that attempt's agent only.

import * as z from 'zod';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import type { AgentRequest, AgentRequestHandler, AgentSocket } from '../ports.ts';
import { HTTP_CODES } from '../rules/codes/http-codes.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { openKeyedSocket } from './keyed-socket.ts';

const request = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('show'), issue: z.number().int() }),
  z.strictObject({ type: z.literal('comment'), issue: z.number().int(), body: z.string().min(1) }),
  z.strictObject({ type: z.literal('ask'), issue: z.number().int(), body: z.string().trim().min(1) }),
  z.strictObject({ type: z.literal('done'), issue: z.number().int() }),
  z.strictObject({ type: z.literal('pull_request'), title: z.string().min(1), body: z.string() }),
  z.strictObject({ type: z.literal('reply'), thread: z.number().int().positive(), body: z.string().min(1) }),
]);

/** Reads what an agent asks. Throws a ToolError. */
export function decodeAgentRequest(body: string): AgentRequest {
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

export function createAgentSocket(runtime: RuntimeDir): AgentSocket {
  return {
    async open(handler: AgentRequestHandler) {
      const { socket, key, close } = await openKeyedSocket(runtime, {
        keyWrong: refusal(HTTP_CODES.attempt_key_wrong, {}),
        codeOf: (error) => error.kind,
        answer: (body, signal) => handler(decodeAgentRequest(body), signal),
      });
      return { env: { TOOL_SOCKET: socket, TOOL_KEY: key }, close };
    },
  };
}
