// The team server: its start, an operation, the size of its listing.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Cleanup, finallyDo, tempDir } from '../test/support/temp.ts';
import { median, type Row, spread, withCleanup } from './figures.ts';

const STARTS = 11;
const TASKS = 200;
const SERVER = join(process.cwd(), 'dist', 'hooks', 'team-server.js');

type Message = { readonly id?: number; readonly result?: Readonly<Record<string, unknown>> };

/** A client with nothing of its own to wait for. */
class Client {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #count = 0;

  constructor(t: Cleanup, root: string, home: string) {
    this.#process = spawn(process.execPath, [SERVER], {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', HOME: home },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    finallyDo(t, () => this.#process.stdin?.end());
    const { stdout } = this.#process;
    if (stdout === null) throw new Error('no standard output');
    createInterface({ input: stdout }).on('line', (line) => {
      const message: Message = JSON.parse(line);
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    });
  }

  ask(method: string, params: unknown): Promise<Message> {
    this.#count += 1;
    const id = this.#count;
    const answer = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  async start(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.#process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  call(name: string, input: unknown): Promise<Message> {
    return this.ask('tools/call', { name, arguments: input });
  }

  stop(): void {
    this.#process.stdin?.end();
  }
}

function bareStart(): number {
  const from = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - from;
}

export function mcp(): Promise<readonly Row[]> {
  return withCleanup(async (t) => {
    const root = tempDir(t);
    const home = tempDir(t);
    mkdirSync(join(root, '.tool', 'config'), { recursive: true });
    writeFileSync(join(root, '.tool', 'config', 'workflow.yaml'), 'workflow:\n  team:\n    enabled: true\n');
    const starts: number[] = [];
    const bare: number[] = [];
    for (let count = 0; count < STARTS; count++) {
      bare.push(bareStart());
      const from = performance.now();
      const client = new Client(t, root, home);
      await client.start();
      starts.push(performance.now() - from);
      client.stop();
    }
    const client = new Client(t, root, home);
    await client.start();
    const listing = Buffer.byteLength(JSON.stringify((await client.ask('tools/list', {})).result?.tools));
    await client.call('TeamCreate', { team_name: 'tool-run-spec-bench-001' });
    const pings: number[] = [];
    const creates: number[] = [];
    for (let count = 0; count < TASKS; count++) {
      const before = performance.now();
      await client.ask('ping', {});
      const between = performance.now();
      await client.call('TaskCreate', { subject: `Task ${count}`, description: 'What is to be done' });
      pings.push(between - before);
      creates.push(performance.now() - between);
    }
    return [
      {
        what: 'team server: process start → answer to initialize',
        figure: spread(starts, 'ms'),
        floor: `${spread(bare, 'ms')}: bare node`,
        target: '≤ 150 ms',
        met: median(starts) <= 150,
      },
      {
        what: 'team server: TaskCreate, on disk when answered',
        figure: spread(creates, 'ms', 2),
        floor: `${spread(pings, 'ms', 2)}: an empty request`,
        target: '≤ 1.5 ms',
        met: median(creates) <= 1.5,
      },
      {
        what: 'team server: listing of its tools',
        figure: `${(listing / 1024).toFixed(1)} KB`,
        floor: '–',
        target: '≤ 12 KB',
        met: listing <= 12 * 1024,
      },
    ];
  });
}
