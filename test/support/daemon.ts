// The daemon as a user starts it: a process of its own, in a directory with a WORKFLOW.md.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa, type Subprocess } from 'execa';
import type { StateView } from '../../src/daemon/view.ts';
import { DAEMON_TOKEN, type TestForge } from './forge.ts';
import { freePort } from './free-port.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

export const CLI = join(process.cwd(), 'dist', 'cli.js');

/** Long enough for a machine that is ten times slower than those that this was written on. */
const LIMIT_MS = 300_000;
/** Between two looks at what is here; who is asked for it, the daemon or the service, has other work. */
const LOOK_MS = 20;
const ASK_MS = 80;

/** What a process needs to run and to be measured, and nothing of this one's own. */
export function cleanEnv(home: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', NODE_V8_COVERAGE } = process.env;
  return { PATH, HOME: home, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }), ...more };
}

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type ToolOptions = {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly input?: string;
  /** In a process group of its own, as a terminal starts it. */
  readonly detached?: boolean;
  /** Words before those of the command. It must become the command, which is signalled. */
  readonly launcher?: readonly string[];
};

/** Of a program that is read while it runs, and may take its time to end after SIGTERM. */
const LONG_RUNNING = { extendEnv: false, buffer: false, reject: false, forceKillAfterDelay: false } as const;

/** The command while it runs. */
export class RunningTool {
  readonly #child: Subprocess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], options: ToolOptions = {}) {
    const [program = '', ...words] = [...(options.launcher ?? []), process.execPath, CLI, ...args];
    const { cwd = process.cwd(), env = cleanEnv('/nonexistent'), detached = false, input = '' } = options;
    const child = execa(program, words, { ...LONG_RUNNING, cwd, env, detached, input });
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.ended = child.then(({ exitCode, signal }) => ({
      ...{ code: exitCode ?? null, signal: signal ?? null, stdout: this.stdout, stderr: this.stderr },
    }));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits for what it prints. */
  async printed(text: string | RegExp, limitMs = LIMIT_MS): Promise<void> {
    const deadline = Date.now() + limitMs;
    const there = () => {
      const all = this.stdout + this.stderr;
      return typeof text === 'string' ? all.includes(text) : text.test(all);
    };
    while (!there()) {
      if (Date.now() > deadline || this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`waited in vain for: ${text}\n${this.stdout}\n${this.stderr}`);
      await delay(20);
    }
  }

  /** Nothing where it has ended. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it, if it still runs. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    await this.ended;
  }
}

export function startTool(t: Cleanup, args: readonly string[], options: ToolOptions = {}): RunningTool {
  const tool = new RunningTool(args, options);
  finallyDo(t, () => tool.kill());
  return tool;
}

/** Runs the command to its end. */
export function runTool(args: readonly string[], options: ToolOptions = {}): Promise<Ended> {
  return new RunningTool(args, options).ended;
}

export type DaemonOptions = {
  /** YAML below the keys that every test needs. */
  readonly yaml?: string;
  readonly tracker?: string;
  readonly server?: string;
  readonly prompt?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly apiUrl?: string;
  readonly pollMs?: number;
};

export class Daemon {
  readonly directory: string;
  readonly home: string;
  readonly stateDir: string;
  readonly root: string;
  readonly workflow: string;
  readonly port: number;
  readonly #options: DaemonOptions;
  readonly #forge: TestForge;
  #child: Subprocess | undefined;
  log = '';

  private constructor(directory: string, port: number, forge: TestForge, options: DaemonOptions) {
    this.directory = directory;
    this.home = join(directory, 'home');
    this.stateDir = join(directory, 'state');
    this.root = join(directory, 'workspaces');
    this.workflow = join(directory, 'project', 'WORKFLOW.md');
    this.port = port;
    this.#forge = forge;
    this.#options = options;
    for (const path of [this.home, join(directory, 'project')]) mkdirSync(path, { recursive: true });
  }

  static async create(t: Cleanup, forge: TestForge, options: DaemonOptions = {}): Promise<Daemon> {
    const daemon = new Daemon(tempDir(t), await freePort(), forge, options);
    daemon.write(options.yaml ?? '', options.prompt);
    finallyDo(t, () => daemon.kill());
    return daemon;
  }

  static async start(t: Cleanup, forge: TestForge, options: DaemonOptions = {}): Promise<Daemon> {
    const daemon = await Daemon.create(t, forge, options);
    daemon.start();
    return daemon;
  }

  /** Writes the workflow file. Without a word on the gate there is none: most tests are about something else. */
  write(yaml: string, prompt = 'Work on #{{ issue.number }}: {{ issue.title }}\n\n{{ issue.body }}\n'): void {
    const text = `---
tracker: { repo: maintainer/project, api_url: "${this.#options.apiUrl ?? this.#forge.forge.url}"${this.#options.tracker === undefined ? '' : `, ${this.#options.tracker}`} }
polling: { interval_ms: ${this.#options.pollMs ?? 300} }
workspace: { root: ${this.root} }
state: { dir: ${this.stateDir} }
server: { port: ${this.port}${this.#options.server === undefined ? '' : `, ${this.#options.server}`} }
${/^gate:/m.test(yaml) ? '' : 'gate: { mode: off }\n'}${yaml}
---
${prompt}`;
    this.overwrite(text);
  }

  /** The workflow file as it stands. */
  read(): string {
    return readFileSync(this.workflow, 'utf8');
  }

  overwrite(text: string): void {
    writeFileSync(this.workflow, text);
  }

  /** @param entry what node runs: the built command, or a test's own program in its place. */
  start(
    more: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    entry: readonly string[] = [CLI],
  ): void {
    const args = [...entry, 'serve', this.workflow, ...(this.#options.args ?? []), ...more];
    const child = execa(process.execPath, args, {
      ...LONG_RUNNING,
      cwd: join(this.directory, 'project'),
      env: cleanEnv(this.home, { GITHUB_TOKEN: DAEMON_TOKEN, ...this.#options.env, ...env }),
      stdin: 'ignore',
    });
    const hear = (chunk: Buffer) => {
      this.log += chunk.toString();
    };
    child.stderr.on('data', hear);
    child.stdout.on('data', hear);
    this.#child = child;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get ended(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Resolves with the exit code, or the signal. */
  async exit(): Promise<number | NodeJS.Signals | null> {
    const child = this.#child;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once('exit', resolve));
    return child.exitCode ?? child.signalCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
    this.#child?.kill(signal);
    return this.exit();
  }

  /** Whoever reads the log goes away. */
  deafen(): void {
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }

  async kill(): Promise<void> {
    if (!this.ended) await this.stop('SIGTERM');
  }

  /** Waits until something is so. What never comes ends the test at its limit, with the log. */
  async until(what: string, condition: () => boolean | Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const answer = condition();
      if (await answer) return;
      if (Date.now() > deadline) throw new Error(`waited in vain for: ${what}\n${this.log}`);
      if (this.ended && !(await condition()))
        throw new Error(`the daemon ended while waiting for: ${what}\n${this.log}`);
      await delay(typeof answer === 'boolean' ? LOOK_MS : ASK_MS);
    }
  }

  async logged(text: string | RegExp): Promise<void> {
    await this.until(String(text), () => (typeof text === 'string' ? this.log.includes(text) : text.test(this.log)));
  }

  async state(): Promise<StateView> {
    await this.until('the status server', () => this.log.includes('status on'));
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/state`);
    const view: StateView = JSON.parse(await response.text());
    return view;
  }

  async refresh(): Promise<void> {
    await fetch(`http://127.0.0.1:${this.port}/api/v1/refresh`, { method: 'POST' });
  }

  /** The log's lines of one source, without the tag. */
  lines(): string[] {
    return this.log.split('\n').filter((line) => line !== '');
  }
}
