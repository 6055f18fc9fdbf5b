// The temporary place of a demo: its directory, the programs that are started for it, and how all of it ends, whatever ends it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { leashed } from '../../base/processes/leash.ts';
import { processesOfRun, processesWithVariable, RUN_VARIABLE } from '../../base/processes/processes.ts';
import { type RunningProgram, startProgram } from '../../base/processes/program.ts';
import { type EndSignal, SIGNAL_CODES, SIGNALS } from '../signals.ts';

/** A signal for a whole group of processes may end what is waited for before this process hears of it. */
const HEAR_MS = 50;
const KILL_MS = 5_000;
/** How long a program of the demo may take to end in order. */
const GRACE_MS = 15_000;
const LOOK_MS = 20;
/** A program may still be writing while its directory goes. */
const RETRIES = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const;

type Closer = () => Promise<void> | void;

export class DemoStage {
  /** All that the demo makes lies in it. */
  readonly root: string;
  readonly #interrupted = new AbortController();
  readonly #closers: Closer[] = [];
  readonly #outerMark = process.env[RUN_VARIABLE];
  /** What Git is started with by this process has it in its environment. */
  readonly #mark: string;
  #code: number | null = null;
  #isKept = false;

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#hear);
    this.root = mkdtempSync(join(tmpdir(), 'toolcrew-demo-'));
    const name = basename(this.root);
    this.#mark = this.#outerMark === undefined ? name : `${this.#outerMark}.${name}`;
    process.env[RUN_VARIABLE] = this.#mark;
  }

  /** Aborts when the demo is to end. */
  get signal(): AbortSignal {
    return this.#interrupted.signal;
  }

  /** The exit code of the signal that ended it before its time; null: none did. */
  get code(): number | null {
    return this.#code;
  }

  /** What programs of the demo get of the environment: what they need to run, and temporary files where they go with the demo. */
  get env(): Record<string, string> {
    const { PATH, HOME, LANG } = process.env;
    const passed = Object.entries({ PATH, HOME, LANG });
    return {
      ...Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
      TMPDIR: this.root,
    };
  }

  /**
   * Starts a program with nothing of this program's environment but what programs need, and out of reach of the terminal: it is told to
   * end once, at the end of the demo, however that comes, and has time to end what it started.
   */
  async start(
    file: string,
    args: readonly string[],
    { cwd = process.cwd(), env }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<RunningProgram> {
    const options = { cwd, env: { ...this.env, ...env }, graceMs: GRACE_MS, leash: true };
    const program = await startProgram(...leashed(file, args, GRACE_MS / 1000), options);
    program.stdin.end();
    // What nobody listens to holds it up no more than what somebody does.
    for (const output of [program.stdout, program.stderr]) output.resume();
    this.atEnd(async () => {
      program.terminate();
      await program.exit;
    });
    return program;
  }

  /** Called at the end, the last one first. */
  atEnd(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Everything stays up until somebody ends it; that is the demo's own end then. */
  async keepUp(): Promise<void> {
    if (this.#code !== null) return;
    this.#isKept = true;
    await new Promise<void>((done) => this.signal.addEventListener('abort', () => done(), { once: true }));
  }

  readonly #hear = (signal: EndSignal) => {
    if (this.signal.aborted) {
      // Asked twice: nobody wants to wait for an end in order.
      this.#code = SIGNAL_CODES[signal];
      this.#endAtOnce();
      process.exit(this.#code);
    }
    if (!this.#isKept) this.#code = SIGNAL_CODES[signal];
    this.#interrupted.abort();
    // Nobody waits for what Git is still at.
    sendAll(processesOfRun(this.#mark), 'SIGTERM');
  };

  /** Programs of the demo and all that they started, wherever they went, have its directory in their environment. */
  #left(): readonly number[] {
    return [...processesWithVariable(`TMPDIR=${this.root}`), ...processesOfRun(this.#mark)];
  }

  #endAtOnce(): void {
    const until = Date.now() + KILL_MS;
    const clock = new Int32Array(new SharedArrayBuffer(4));
    for (let left = this.#left(); left.length > 0 && Date.now() < until; left = this.#left()) {
      sendAll(left, 'SIGKILL');
      Atomics.wait(clock, 0, 0, LOOK_MS);
    }
    rmSync(this.root, RETRIES);
  }

  #restore(): void {
    if (this.#outerMark === undefined) delete process.env[RUN_VARIABLE];
    else process.env[RUN_VARIABLE] = this.#outerMark;
    // Somebody who asks a second time gets the same answer until the process is gone.
    if (this.#code === null) for (const name of SIGNALS) process.off(name, this.#hear);
  }

  /** Ends all that is left in order; then what did not end. */
  async close(): Promise<void> {
    try {
      for (const closer of this.#closers.reverse()) await closer();
    } finally {
      const until = Date.now() + KILL_MS;
      for (let left = this.#left(); left.length > 0 && Date.now() < until; left = this.#left()) {
        sendAll(left, 'SIGKILL');
        await delay(LOOK_MS);
      }
      rmSync(this.root, RETRIES);
      this.#restore();
    }
  }
}

function sendAll(pids: readonly number[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }
}

/** Has the work done on a stage of its own. After a signal the process ends with that signal's code, whatever failed on the way. */
export async function withDemoStage(work: (stage: DemoStage) => Promise<void>): Promise<void> {
  const stage = new DemoStage();
  try {
    await work(stage);
  } catch (error) {
    if (stage.code === null) await delay(HEAR_MS);
    if (stage.code === null) throw error;
  } finally {
    await stage.close();
    if (stage.code !== null) process.exitCode = stage.code;
  }
}
