// The forge and the daemon of a demo, as programs of their own see them.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../../base/package-root.ts';
import type { RunningProgram } from '../../base/processes/program.ts';
import { failure } from '../../base/rules/errors.ts';
import type { StateView } from '../../daemon/view.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import type { DemoStage } from './demo-stage.ts';
import type { Account } from './forge/accounts.ts';

export const OWNER = 'maintainer';
export const LABEL = 'tool-todo';
const DAEMON_TOKEN = 'demo-token-of-the-daemon';
const TIMEOUT_MS = 10 * 60_000;
const LOOK_MS = 100;

export const ACCOUNTS: readonly Account[] = [
  { login: OWNER, role: 'admin', type: 'User', token: 'demo-token-of-the-maintainer' },
  { login: 'toolcrew-bot', role: 'write', type: 'User', token: DAEMON_TOKEN },
  { login: 'stranger', role: 'none', type: 'User', token: 'demo-token-of-a-stranger' },
];

/** The command itself, as it was started here. */
export const CLI = [process.execPath, join(packageRoot(), 'dist', 'cli.js')] as const;

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise<void>((done) => server.close(() => done()));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function readState(port: number, signal: AbortSignal): Promise<StateView | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/state`, { signal });
    const state: StateView = JSON.parse(await response.text());
    return state;
  } catch {
    return undefined;
  }
}

/** The daemon as a program of its own. */
export class DemoDaemon {
  readonly port: number;
  /** Its workflow file. */
  readonly workflow: string;
  readonly #startedAt = performance.now();
  #log = '';
  #isOver = false;

  private constructor(port: number, workflow: string, program: RunningProgram) {
    this.port = port;
    this.workflow = workflow;
    void program.exit.then(() => {
      this.#isOver = true;
    });
    program.stderr.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString('utf8')).slice(-100_000);
    });
  }

  /** @param section what stands in its workflow file beside its places */
  static async start(
    stage: DemoStage,
    section: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<DemoDaemon> {
    const port = await freePort();
    const workflow = join(stage.root, 'WORKFLOW.md');
    writeFileSync(
      workflow,
      `---
${section}workspace: { root: ${JSON.stringify(join(stage.root, 'workspaces'))} }
state: { dir: ${JSON.stringify(join(stage.root, 'state'))} }
server: { port: ${port} }
---
`,
    );
    stage.signal.throwIfAborted();
    const [node, cli] = CLI;
    const env = { ...more, GITHUB_TOKEN: DAEMON_TOKEN };
    return new DemoDaemon(port, workflow, await stage.start(node, [cli, 'serve', workflow], { env }));
  }

  /** The end of what it logged. */
  get log(): string {
    return this.#log;
  }

  /** Shows each state that it tells of until one is the last; undefined when the demo was ended before. */
  async watch(
    signal: AbortSignal,
    show: (state: StateView) => void,
    isLast: (state: StateView) => boolean,
  ): Promise<StateView | undefined> {
    let state: StateView | undefined;
    while (!signal.aborted) {
      state = (await readState(this.port, signal)) ?? state;
      if (state !== undefined) show(state);
      if (state !== undefined && isLast(state)) return state;
      if (this.#isOver) throw failure(CLI_CODES.demo_failed, { said: 'the daemon ended by itself', log: this.#log });
      if (performance.now() - this.#startedAt > TIMEOUT_MS)
        throw failure(CLI_CODES.demo_failed, {
          said: `not over after ${TIMEOUT_MS / 60_000} minutes`,
          log: this.#log,
        });
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    return undefined;
  }
}
