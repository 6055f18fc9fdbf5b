// The model, played: a Messages API on loopback that follows a script and streams as the original does.

import { createServer, type ServerResponse } from 'node:http';
import { type Cleanup, finallyDo } from './temp.ts';

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

export type Reply =
  | { readonly content: readonly Block[] }
  | { readonly status: number; readonly error: string; readonly headers?: Fields };

/** What came of a tool call. */
export type Outcome = { readonly id: string; readonly isError: boolean; readonly text: string };

/** How a model answers; nothing at all: it has gone silent. */
export type Script = (request: ModelRequest) => Reply | undefined | Promise<Reply | undefined>;

export type ModelRequest = {
  readonly model: string;
  readonly system: string;
  /** The text blocks of the messages, by message. */
  readonly texts: readonly (readonly string[])[];
  /** Names of the tools that are offered. */
  readonly tools: readonly string[];
  /** How many results of tools the conversation holds. */
  readonly results: number;
  /** The results themselves, as text. */
  readonly resultTexts: readonly string[];
  /** What has come since the last reply: results by the id of their call, and everything as text, in its order. */
  readonly news: { readonly outcomes: readonly Outcome[]; readonly text: string };
  /** How many replies the conversation holds. */
  readonly replies: number;
  readonly raw: string;
  /** Whether the host has the service check each call of a tool, as in its auto mode. */
  readonly isChecked: boolean;
};

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function blocksOf(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(fieldsOf) : [];
}

function textOf(content: unknown): string {
  return blocksOf(content)
    .map((block) => String(block.text ?? ''))
    .join('');
}

function newsOf(messages: readonly Fields[]): ModelRequest['news'] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const blocks = messages.slice(last + 1).flatMap(({ content }) => blocksOf(content));
  return {
    outcomes: blocks
      .filter(({ type }) => type === 'tool_result')
      .map((block) => ({
        id: String(block.tool_use_id),
        isError: block.is_error === true,
        text: textOf(block.content),
      })),
    text: blocks.map((block) => (block.type === 'text' ? String(block.text) : textOf(block.content))).join('\n'),
  };
}

function decode(raw: string, beta: string): ModelRequest & { readonly stream: boolean } {
  const body = fieldsOf(JSON.parse(raw));
  const messages = (Array.isArray(body.messages) ? body.messages : []).map(fieldsOf);
  const blocks = messages.map((message) => blocksOf(message.content));
  const results = blocks.flat().filter((block) => block.type === 'tool_result');
  return {
    model: String(body.model),
    system: textOf(body.system),
    texts: blocks.map((list) => list.filter((block) => block.type === 'text').map((block) => String(block.text))),
    tools: (Array.isArray(body.tools) ? body.tools : []).map((tool) => String(fieldsOf(tool).name)),
    results: results.length,
    resultTexts: results.map((result) => textOf(result.content)),
    news: newsOf(messages),
    replies: messages.filter(({ role }) => role === 'assistant').length,
    raw,
    isChecked: beta.includes('dangerous-tool-use'),
    stream: body.stream === true,
  };
}

/** What the service says of calls that it was asked to check and finds nothing wrong with. */
function passed({ content }: Extract<Reply, { content: unknown }>): Fields {
  const calls = content.filter((block) => block.type === 'tool_use');
  const verdicts = calls.map(({ id }) => [id, { type: 'evaluated', outcome: 'not_flagged' }]);
  return {
    type: 'dangerous_tool_use',
    status: { type: 'available', tool_uses: Object.fromEntries(verdicts) },
  };
}

function send(
  response: ServerResponse,
  request: ModelRequest & { readonly stream: boolean },
  reply: Reply,
  number: number,
): void {
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(JSON.stringify({ type: 'error', error: { type: reply.error, message: reply.error } }));
    return;
  }
  const stop = reply.content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
  const message = {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    stop_sequence: null,
  };
  if (!request.stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        ...message,
        content: reply.content,
        stop_reason: stop,
        usage: { input_tokens: 100, output_tokens: 20 },
      }),
    );
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (type: string, data: Fields) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  event('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 100, output_tokens: 1 } },
  });
  reply.content.forEach((block, index) => {
    const empty =
      block.type === 'text'
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: block.id, name: block.name, input: {} };
    const delta =
      block.type === 'text'
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    event('content_block_start', { index, content_block: empty });
    event('content_block_delta', { index, delta });
    event('content_block_stop', { index });
  });
  const checked = request.isChecked ? { safeguard_results: [passed(reply)] } : {};
  event('message_delta', {
    delta: { stop_reason: stop, stop_sequence: null, ...checked },
    usage: { output_tokens: 20 },
  });
  event('message_stop', {});
  response.end();
}

/** A model that answers each request as `script` says. */
export class ModelServer {
  readonly url: string;
  readonly requests: ModelRequest[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  static async start(t: Cleanup, script: Script): Promise<ModelServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const model = new ModelServer(
      `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    );
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', async () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        const path = (request.url ?? '').split('?')[0];
        if (path === '/v1/messages/count_tokens')
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":100}');
        else if (path !== '/v1/messages') response.writeHead(404).end('{}');
        else {
          const decoded = decode(raw, String(request.headers['anthropic-beta'] ?? ''));
          const number = model.requests.push(decoded);
          const reply = await script(decoded);
          if (reply !== undefined && !response.destroyed) send(response, decoded, reply, number);
        }
      });
    });
    finallyDo(t, () => {
      server.closeAllConnections();
      server.close();
    });
    return model;
  }
}

/** A reply that runs one command. */
export function bash(command: string, number: number): Reply {
  return {
    content: [{ type: 'tool_use', id: `toolu_${number}`, name: 'Bash', input: { command, description: 'a step' } }],
  };
}

export function say(text: string): Reply {
  return { content: [{ type: 'text', text }] };
}

/** A script that takes its steps in turn, one for each tool result; requests that offer no tools are answered aside. */
export function steps(list: readonly (string | Reply)[]): (request: ModelRequest) => Reply {
  return (request) => {
    if (request.tools.length === 0) return say('aside');
    const step = list[Math.min(request.results, list.length - 1)];
    if (step === undefined) return say('nothing left to do');
    return typeof step === 'string' ? bash(step, request.results) : step;
  };
}
