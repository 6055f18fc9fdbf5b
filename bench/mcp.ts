// The team server: its start, an operation, the size of its listing.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
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
const server = (cwd: string, HOME: string) =>
  execa(process.execPath, [SERVER], {
    ...{ cwd, env: { PATH: process.env.PATH, HOME }, extendEnv: false },
    ...{ stderr: 'inherit', buffer: false, reject: false },
  });

class Client {
  readonly #process: ReturnType<typeof server>;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #count = 0;

  constructor(t: Cleanup, root: string, home: string) {
    this.#process = server(root, home);
    finallyDo(t, () => this.#process.stdin.end());
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      const message: Message = JSON.parse(line);
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    });
  }

  ask(method: string, params: unknown): Promise<Message> {
    this.#count += 1;
    const id = this.#count;
    const answer = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  async start(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  call(name: string, input: unknown): Promise<Message> {
    return this.ask('tools/call', { name, arguments: input });
  }

  stop(): void {
    this.#process.stdin.end();
  }
}

/** A project whose checks take no time. */
function project(t: Cleanup): string {
  const root = tempDir(t);
  mkdirSync(join(root, '.tool', 'config'), { recursive: true });
  const hooks = '    hooks:\n      task_completed:\n        enabled: false\n';
  writeFileSync(
    join(root, '.tool', 'config', 'workflow.yaml'),
    `workflow:\n  team:\n    enabled: true\n    require_plan_approval: false\n${hooks}`,
  );
  return root;
}

/** A team with so many tasks, and its server. */
class Stocked {
  readonly client: Client;
  #tasks = 0;
  #ended = 0;

  private constructor(client: Client) {
    this.client = client;
  }

  /** @param before tasks of another team that it had before: code that ran often is faster, whatever it works on */
  static async create(t: Cleanup, tasks: number, before: number): Promise<Stocked> {
    const stocked = new Stocked(new Client(t, project(t), tempDir(t)));
    await stocked.client.start();
    if (before > 0) {
      await stocked.#begin('tool-run-spec-before-001', before);
      await stocked.completeAllBut(0);
      await stocked.#timed('TeamDelete', { team_name: 'tool-run-spec-before-001' });
    }
    await stocked.#begin('tool-run-spec-bench-001', tasks);
    return stocked;
  }

  async #begin(team_name: string, tasks: number): Promise<void> {
    await this.#timed('TeamCreate', { team_name });
    this.#tasks = 0;
    this.#ended = 0;
    while (this.#tasks < tasks) await this.create();
  }

  async ping(): Promise<number> {
    const from = performance.now();
    await this.client.ask('ping', {});
    return performance.now() - from;
  }

  create(): Promise<number> {
    this.#tasks += 1;
    return this.#timed('TaskCreate', { subject: `Task ${this.#tasks}`, description: 'What is to be done' });
  }

  complete(): Promise<number> {
    this.#ended += 1;
    return this.#timed('TaskUpdate', { taskId: String(this.#ended), status: 'completed' });
  }

  async completeAllBut(left: number): Promise<void> {
    while (this.#ended < this.#tasks - left) await this.complete();
  }

  async #timed(name: string, input: unknown): Promise<number> {
    const from = performance.now();
    const { result } = await this.client.call(name, input);
    if (result?.isError === true) throw new Error(JSON.stringify(result));
    return performance.now() - from;
  }
}

function bareStart(): number {
  const from = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - from;
}

export function mcp(): Promise<readonly Row[]> {
  return withCleanup(async (t) => {
    const root = project(t);
    const home = tempDir(t);
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
    const few = await Stocked.create(t, FEW, MANY);
    const listing = Buffer.byteLength(JSON.stringify((await few.client.ask('tools/list', {})).result?.tools));
    const many = await Stocked.create(t, MANY, 0);
    /** Turn by turn: an empty request, the operation beside few, and the operation beside many. */
    const measuring = async (operation: (stocked: Stocked) => Promise<number>) => {
      const times = { ping: [] as number[], few: [] as number[], many: [] as number[] };
      for (let count = 0; count < MEASURED; count++) {
        times.ping.push(await few.ping());
        // Whoever goes first is served no better.
        for (const which of count % 2 === 0 ? (['few', 'many'] as const) : (['many', 'few'] as const))
          times[which].push(await operation(which === 'few' ? few : many));
      }
      const ratio = median(ratiosOf(times.few, times.ping));
      return { ...times, ratio, growth: median(times.many) / median(times.few) };
    };
    const created = await measuring((stocked) => stocked.create());
    for (const stocked of [few, many]) await stocked.completeAllBut(MEASURED + 1);
    const updated = await measuring((stocked) => stocked.complete());
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
        figure: ratioOf(created.ratio, spread(created.few, 'ms', 2)),
        floor: `${spread(created.ping, 'ms', 2)}: an empty request`,
        target: `≤ ${CREATE_TARGET} ×`,
        met: created.ratio <= CREATE_TARGET,
      },
      {
        what: `team server: TaskCreate at ${MANY} tasks, on disk when answered`,
        figure: ratioOf(created.growth, spread(created.many, 'ms', 2)),
        floor: `${spread(created.few, 'ms', 2)}: the same at ${FEW} tasks, turn by turn`,
        target: `≤ ${MANY_TARGET} ×`,
        met: created.growth <= MANY_TARGET,
      },
      {
        what: `team server: TaskUpdate beside ${FEW} finished tasks, on disk when answered`,
        figure: ratioOf(updated.ratio, spread(updated.few, 'ms', 2)),
        floor: `${spread(updated.ping, 'ms', 2)}: an empty request`,
        target: `≤ ${UPDATE_TARGET} ×`,
        met: updated.ratio <= UPDATE_TARGET,
      },
      {
        what: `team server: TaskUpdate beside ${MANY} finished tasks, on disk when answered`,
        figure: ratioOf(updated.growth, spread(updated.many, 'ms', 2)),
        floor: `${spread(updated.few, 'ms', 2)}: the same beside ${FEW}, turn by turn`,
        target: `≤ ${MANY_TARGET} ×`,
        met: updated.growth <= MANY_TARGET,
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
