// The team server: its start, an operation, the size of its listing.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Cleanup, finallyDo, tempDir } from '../test/support/temp.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';

const STARTS = 11;
const FEW = 100;
const MANY = 5_000;
const MEASURED = 50;
const START_TARGET = 4;
const CREATE_TARGET = 10;
const UPDATE_TARGET = 20;
const MANY_TARGET = 1.5;
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
    // The project's own checks are no part of what an operation takes.
    const hooks = '    hooks:\n      task_completed:\n        enabled: false\n';
    writeFileSync(join(root, '.tool', 'config', 'workflow.yaml'), `workflow:\n  team:\n    enabled: true\n${hooks}`);
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
    let tasks = 0;
    const create = async (): Promise<number> => {
      tasks += 1;
      const from = performance.now();
      await client.call('TaskCreate', { subject: `Task ${tasks}`, description: 'What is to be done' });
      return performance.now() - from;
    };
    const ping = async (): Promise<number> => {
      const from = performance.now();
      await client.ask('ping', {});
      return performance.now() - from;
    };
    /** Each creation right after an empty request, from so many tasks on. */
    const creating = async (from: number) => {
      while (tasks < from) await create();
      const pings: number[] = [];
      const creates: number[] = [];
      for (let count = 0; count < MEASURED; count++) {
        pings.push(await ping());
        creates.push(await create());
      }
      return { pings, creates, ratio: median(creates) / median(pings) };
    };
    let ended = 0;
    const complete = async (): Promise<number> => {
      ended += 1;
      const from = performance.now();
      const { result } = await client.call('TaskUpdate', { taskId: String(ended), status: 'completed' });
      if (result?.isError === true) throw new Error(JSON.stringify(result));
      return performance.now() - from;
    };
    /** All but one are completed, the last ones each right after an empty request. */
    const completing = async () => {
      while (ended < tasks - MEASURED - 1) await complete();
      const pings: number[] = [];
      const updates: number[] = [];
      for (let count = 0; count < MEASURED; count++) {
        pings.push(await ping());
        updates.push(await complete());
      }
      return { pings, updates, ratio: median(updates) / median(pings) };
    };
    const few = await creating(FEW);
    const fewEnded = await completing();
    const many = await creating(MANY);
    const manyEnded = await completing();
    const start = median(ratiosOf(starts, bare));
    return [
      {
        what: 'team server: process start → answer to initialize',
        figure: ratioOf(start, spread(starts, 'ms')),
        floor: `${spread(bare, 'ms')}: bare node`,
        target: `≤ ${START_TARGET} ×`,
        met: start <= START_TARGET,
      },
      {
        what: `team server: TaskCreate at ${FEW} tasks, on disk when answered`,
        figure: ratioOf(few.ratio, spread(few.creates, 'ms', 2)),
        floor: `${spread(few.pings, 'ms', 2)}: an empty request`,
        target: `≤ ${CREATE_TARGET} ×`,
        met: few.ratio <= CREATE_TARGET,
      },
      {
        what: `team server: TaskCreate at ${MANY} tasks, on disk when answered`,
        figure: ratioOf(
          many.ratio / few.ratio,
          `${many.ratio.toFixed(1)} × an empty request; ${spread(many.creates, 'ms', 2)}`,
        ),
        floor: `${few.ratio.toFixed(1)} × an empty request: the same at ${FEW} tasks`,
        target: `≤ ${MANY_TARGET} ×`,
        met: many.ratio <= MANY_TARGET * few.ratio,
      },
      {
        what: `team server: TaskUpdate beside ${FEW} finished tasks, on disk when answered`,
        figure: ratioOf(fewEnded.ratio, spread(fewEnded.updates, 'ms', 2)),
        floor: `${spread(fewEnded.pings, 'ms', 2)}: an empty request`,
        target: `≤ ${UPDATE_TARGET} ×`,
        met: fewEnded.ratio <= UPDATE_TARGET,
      },
      {
        what: `team server: TaskUpdate beside ${MANY} finished tasks, on disk when answered`,
        figure: ratioOf(
          manyEnded.ratio / fewEnded.ratio,
          `${manyEnded.ratio.toFixed(1)} × an empty request; ${spread(manyEnded.updates, 'ms', 2)}`,
        ),
        floor: `${fewEnded.ratio.toFixed(1)} × an empty request: the same beside ${FEW}`,
        target: `≤ ${MANY_TARGET} ×`,
        met: manyEnded.ratio <= MANY_TARGET * fewEnded.ratio,
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
