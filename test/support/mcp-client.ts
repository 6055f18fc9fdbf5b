// A small client of the team server: JSON-RPC, one line each, under whatever name.

import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { type Cleanup, finallyDo } from './temp.ts';

type Fields = Readonly<Record<string, unknown>>;
type Reply = { readonly result?: Fields; readonly error?: { readonly message: string } };
export type ToolResult = { readonly text: string; readonly isError: boolean };

/** The client that starts it, and what that says of itself. */
type As = { readonly name?: string; readonly version?: string };

const start = (cwd: string, env: Readonly<Record<string, string>>) =>
  execa(process.execPath, [join(process.cwd(), 'dist', 'hooks', 'team-server.js')], {
    ...{ cwd, env: { ...env, NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }, extendEnv: false },
    ...{ stderr: 'inherit', buffer: false, reject: false },
  });

export class McpClient {
  readonly child: ReturnType<typeof start>;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #count = 0;

  private constructor(root: string, env: Readonly<Record<string, string>>) {
    this.child = start(root, env);
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const { id, ...reply } = JSON.parse(line) as { id?: number } & Reply;
      if (id !== undefined) this.#waiting.get(id)?.(reply);
    });
  }

  static async start(
    t: Cleanup,
    root: string,
    env: Readonly<Record<string, string>>,
    { name = 'claude-code', version = '2.1.177' }: As = {},
  ): Promise<McpClient> {
    const client = new McpClient(root, env);
    finallyDo(t, () => client.close());
    const clientInfo = { name, version };
    await client.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    client.#send({ method: 'notifications/initialized' });
    return client;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  #send(message: Fields): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async ask(method: string, params: Fields = {}): Promise<Fields> {
    this.#count += 1;
    const id = this.#count;
    const reply = await new Promise<Reply>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, method, params });
    });
    this.#waiting.delete(id);
    if (reply.error !== undefined) throw new Error(reply.error.message);
    return reply.result ?? {};
  }

  /** @param toolUseId what a model's call carries, and a hook's does not */
  async call(name: string, input: Fields, toolUseId?: string): Promise<ToolResult> {
    const meta = toolUseId === undefined ? {} : { _meta: { 'claudecode/toolUseId': toolUseId } };
    const { content, isError } = await this.ask('tools/call', { name, arguments: input, ...meta });
    const [first] = content as readonly { readonly text: string }[];
    return { text: first?.text ?? '', isError: isError === true };
  }

  /** Ends it as a host does, and waits for its end. */
  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const closed = once(this.child, 'close');
    // A test that failed may have left it stopped.
    process.kill(this.pid, 'SIGCONT');
    this.child.stdin.end();
    await closed;
  }

  async kill(): Promise<void> {
    const closed = once(this.child, 'close');
    process.kill(this.pid, 'SIGKILL');
    await closed;
  }
}
