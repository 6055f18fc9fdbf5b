// The team operations as an MCP server on standard input and output, and the hooks that call it while it stays.

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { packageVersion } from '../../base/package-version.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { asData, type RefusalData, refusal, withCode } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { isObject } from '../../base/rules/values.ts';
import type { Answer } from '../../team/operations/context.ts';
import { OPERATIONS_CODES } from '../../team/rules/codes/operations-codes.ts';
import { inputSchema, listedOperations, OPERATIONS } from '../../team/rules/operation.ts';
import { operateInHost } from '../answers/operate-in-host.ts';
import { answerResident } from '../hooks/resident-hook.ts';
import { type JoinedCalls, joinCalls } from '../joined-calls.ts';
import { withoutCallerSignature } from '../older/caller-signature.ts';
import type { Resident } from '../resident.ts';
import { evidenceOfCall, HOST_CLIENT, type ToolCall } from './evidence.ts';

/** Called by the host's hooks alone; it is not listed. */
const HOOK = 'Hook';
const TOOL_USE = 'claudecode/toolUseId';

/** What people answer to forms would be checked by it: this server shows none, and the build leaves out what would check them. */
const NO_FORMS = {
  getValidator: (): never => {
    throw new Error('the team server shows no forms');
  },
};

type Result = {
  content: { type: 'text'; text: string }[];
  isError?: boolean;
  _meta?: { 'toolcrew/error': Pick<RefusalData, 'code' | 'values'> };
};

function textResult(text: string, isError = false): Result {
  return { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) };
}

function failedResult(name: string, error: unknown): Result {
  const coded =
    error instanceof ToolError ? error.refusal : refusal(BASE_CODES.unexpected_error, { said: messageOf(error) });
  const text = !(error instanceof ToolError)
    ? `${name} failed: ${messageOf(error)}`
    : coded === null
      ? error.message
      : withCode(coded);
  const result = textResult(text, true);
  if (coded === null) return result;
  const { code, values } = asData(coded);
  return { ...result, _meta: { 'toolcrew/error': { code, values } } };
}

/** @param hand gives the answer to the client; resolves when it was handed on */
async function call(
  request: ToolCall,
  clientName: string,
  resident: Resident,
  calls: JoinedCalls,
  hand: (result: Result) => Promise<void>,
): Promise<Result> {
  const { name, input } = request;
  if (name === HOOK) {
    // A model's call carries the id of its use; a hook's carries nothing.
    if (request.toolUseId !== null || clientName !== HOST_CLIENT)
      return failedResult(name, failure(OPERATIONS_CODES.operation_unknown, { name, known: Object.keys(OPERATIONS) }));
    return textResult(await answerResident(resident, calls, input));
  }
  try {
    const resultOf = (answer: Answer) => textResult(JSON.stringify(answer));
    const evidence = await evidenceOfCall(request, clientName, resident, calls);
    const answer = await operateInHost(resident.context, name, withoutCallerSignature(input), evidence, (shown) =>
      hand(resultOf(shown)),
    );
    if (name === 'TeamCreate') resident.measureBaseline(String(answer.team));
    return resultOf(answer);
  } catch (error) {
    return failedResult(name, error);
  }
}

/** Lets the hooks of a host ask this server, from when there is a team on: before, there is nothing to ask. */
function offering(resident: Resident, isHosts: () => boolean, answerEvents: ServerParts['answerEvents']) {
  let offered: ReturnType<ServerParts['answerEvents']> | undefined;
  return {
    look: () => {
      if (offered !== undefined || !isHosts() || resident.identity.teammate !== null) return;
      try {
        if (resident.context.teams.list().length > 0) offered = answerEvents(resident);
      } catch {
        // Whatever keeps the teams from being read, whoever asks for them is told.
      }
    },
    close: async () => (await offered)?.close(),
  };
}

/** Tells when an answer was handed on. */
class TellingTransport extends StdioServerTransport {
  readonly #awaited = new Map<RequestId, () => void>();

  /** Resolves when the answer to that request was written to standard output, and never if it is not. */
  handedOn(request: RequestId): Promise<void> {
    return new Promise((resolve) => this.#awaited.set(request, resolve));
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!('id' in message) || message.id === undefined) return;
    this.#awaited.get(message.id)?.();
    this.#awaited.delete(message.id);
  }
}

/** What the server is composed of. */
export type ServerParts = {
  /** @param hostVersion the version of the host that speaks to the server; null: it is another client, or has not spoken */
  readonly composeResident: (env: NodeJS.ProcessEnv, hostVersion: () => string | null) => Resident;
  /** Answers the events of hooks at a socket; undefined: it cannot be made. */
  readonly answerEvents: (resident: Resident) => Promise<{ readonly close: () => void } | undefined>;
};

/** Serves until standard input ends. */
export async function serveMcp({ composeResident, answerEvents }: ServerParts): Promise<void> {
  const server = new Server(
    { name: 'team', version: packageVersion() },
    { capabilities: { tools: {} }, jsonSchemaValidator: NO_FORMS },
  );
  const clientName = () => server.getClientVersion()?.name ?? '';
  const resident = composeResident(process.env, () => {
    const client = server.getClientVersion();
    return client?.name === HOST_CLIENT ? client.version : null;
  });
  const calls = joinCalls(Date.now);
  const hooks = offering(resident, () => clientName() === HOST_CLIENT, answerEvents);
  server.oninitialized = hooks.look;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: listedOperations(resident.identity.teammate !== null).map((name) => ({
      name,
      description: OPERATIONS[name].says,
      inputSchema: inputSchema(name),
    })),
  }));
  const transport = new TellingTransport();
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId }) => {
    const use = isObject(params._meta) ? params._meta[TOOL_USE] : undefined;
    const request = {
      name: params.name,
      input: params.arguments ?? {},
      toolUseId: typeof use === 'string' ? use : null,
    };
    const result = await new Promise<Result>((resolve, reject) => {
      const hand = (answer: Result): Promise<void> => {
        const handed = transport.handedOn(requestId);
        resolve(answer);
        return handed;
      };
      call(request, clientName(), resident, calls, hand).then(resolve, reject);
    });
    hooks.look();
    return result;
  });
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await server.connect(transport);
  await ended;
  await hooks.close();
  await resident.close();
  await server.close();
  process.stdin.destroy();
}
