// A fleet on this machine: Redis on a port of its own or another store, a coordinator, and workers as processes.

import { createServer, request as forward } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa, type Subprocess } from 'execa';
import { Redis } from 'ioredis';
import { cleanEnv, Daemon, RunningTool } from './daemon.ts';
import type { TestForge } from './forge.ts';
import { freePort } from './free-port.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

/** Found nowhere in the store. */
export const FLEET_KEY = 'canary-fleet-key-0123456789';
export const MODEL_KEY = 'canary-model-key-0123456789';

export class RedisServer {
  readonly port: number;
  readonly #directory: string;
  readonly #more: readonly string[];
  #child: Subprocess | undefined;

  private constructor(port: number, directory: string, more: readonly string[]) {
    this.port = port;
    this.#directory = directory;
    this.#more = more;
  }

  /** @param more arguments of redis-server */
  static async start(t: Cleanup, more: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), tempDir(t), more);
    finallyDo(t, () => server.stop());
    await server.begin();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Without persistence: what it had before is gone. */
  async begin(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const run = execa({ buffer: false, reject: false });
    const child = run`redis-server ${args} --dir ${this.#directory} ${this.#more}`;
    this.#child = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (/Ready to accept connections/.test(said)) resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`redis-server ended: ${said}`)));
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Everything that it holds, as text. */
  async dump(): Promise<string> {
    const client = new Redis(this.url);
    try {
      const parts: string[] = [];
      for (const key of await client.keys('*')) {
        parts.push(key);
        const read: Readonly<Record<string, () => Promise<unknown>>> = {
          string: () => client.get(key),
          hash: () => client.hgetall(key),
          list: () => client.lrange(key, 0, -1),
          set: () => client.smembers(key),
          zset: () => client.zrange(key, '0', '-1'),
          stream: () => client.xrange(key, '-', '+'),
        };
        parts.push(JSON.stringify(await read[await client.type(key)]?.()));
      }
      return parts.join('\n');
    } finally {
      client.disconnect();
    }
  }
}

/** A store, by its address. */
export type StoreAddress = { readonly url: string };

export type FleetOptions = {
  readonly yaml: string;
  readonly queue?: string;
  /** 3000 without it. */
  readonly leaseMs?: number;
  readonly prompt?: string;
  readonly pollMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** In the place of the hosting service's own. */
  readonly apiUrl?: string;
};

/** A coordinator that hands its attempts to this store. */
export function startCoordinator(
  t: Cleanup,
  forge: TestForge,
  store: StoreAddress,
  options: FleetOptions,
): Promise<Daemon> {
  return Daemon.start(t, forge, {
    // A password must not stand in a file.
    yaml: `queue: { url: "${store.url.includes('@') ? '$QUEUE_URL' : store.url}", key: $FLEET_KEY, lease_ms: ${options.leaseMs ?? 5000}${options.queue === undefined ? '' : `, ${options.queue}`} }\n${options.yaml}`,
    env: { FLEET_KEY, QUEUE_URL: store.url, ...options.env },
    ...(options.apiUrl === undefined ? {} : { apiUrl: options.apiUrl }),
    ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
    ...(options.prompt === undefined ? {} : { prompt: options.prompt }),
  });
}

export class Worker extends RunningTool {
  readonly name: string;
  readonly directory: string;

  constructor(
    name: string,
    directory: string,
    store: StoreAddress,
    more: readonly string[],
    env: Record<string, string>,
    launcher: readonly string[] = [],
  ) {
    const places = ['--state-dir', join(directory, 'state'), '--root', join(directory, 'root')];
    super(['worker', '--name', name, ...places, ...more], {
      launcher,
      env: cleanEnv(directory, { TOOL_FLEET_KEY: FLEET_KEY, TOOL_QUEUE_URL: store.url, MODEL_KEY, ...env }),
    });
    this.name = name;
    this.directory = directory;
  }
}

/** @param launcher words before those of the command, with the worker's directory in the place of `{}` */
export function startWorker(
  t: Cleanup,
  name: string,
  store: StoreAddress,
  more: readonly string[] = [],
  env: Record<string, string> = {},
  launcher: readonly string[] = [],
): Worker {
  const directory = tempDir(t);
  const words = launcher.map((word) => word.replaceAll('{}', directory));
  const worker = new Worker(name, directory, store, more, env, words);
  finallyDo(t, async () => {
    const isOver = await Promise.race([worker.ended.then(() => true), delay(0).then(() => false)]);
    if (isOver) return;
    worker.signal('SIGCONT');
    // The first drains, and the next ones end agents that would wait for ever.
    const ending = setInterval(() => worker.signal('SIGTERM'), 300);
    await worker.kill().finally(() => clearInterval(ending));
  });
  return worker;
}

/** A proxy before the coordinator that loses the first answer to each of these paths, after the coordinator gave it. */
export async function dropAnswers(t: Cleanup, paths: readonly RegExp[]) {
  const left = [...paths];
  const dropped: string[] = [];
  let port = 0;
  const server = createServer((request, response) => {
    const to = { host: '127.0.0.1', port, path: request.url, method: request.method, headers: request.headers };
    const onward = forward(to, (answer) => {
      const at = left.findIndex((path) => path.test(request.url ?? ''));
      if (at === -1) {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
        return;
      }
      left.splice(at, 1);
      dropped.push(request.url ?? '');
      answer.resume();
      answer.once('end', () => response.destroy());
    });
    onward.once('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const own = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${own}`,
    dropped,
    leadTo: (found: number) => {
      port = found;
    },
  };
}
