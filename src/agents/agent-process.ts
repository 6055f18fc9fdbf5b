// Starting an agent's process and reading it line by line; what every runner shares.

import type { Readable } from 'node:stream';
import { endProcessesOfRun } from '../base/processes/processes.ts';
import { type ProgramExit, startAgentProgram } from '../base/processes/program.ts';
import type { RunHooks } from './ports.ts';

export type AgentProcess = {
  readonly pid: number;
  /** Writes to the agent's standard input. */
  write(text: string): void;
  /** Closes its standard input. */
  endInput(): void;
  terminate(): void;
  /** Resolves when the process and everything it started has ended. */
  readonly ended: Promise<ProgramExit>;
};

/** A program as an agent is started with it. */
export type AgentProgram = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: string;
  /** Whether it runs in namespaces of its own. */
  readonly isIsolated: boolean;
};

/** Who listens to an agent. */
export type AgentListener = {
  readonly onLine: (line: string) => void;
  readonly onErrorText: (text: string) => void;
  /** Called for output that is no whole line yet. */
  readonly onPart?: () => void;
  /** It is there; nobody has been told yet. */
  readonly onAgent?: (agent: AgentProcess) => void;
};

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const GRACE_MS = 10_000;

/** Calls `onLine` for each line of a stream; of a line that is longer than the bound, the rest is dropped. */
function readLines(stream: Readable, onLine: (line: string) => void, onPart?: () => void): Promise<void> {
  return new Promise((resolve) => {
    let parts: Buffer[] = [];
    let bytes = 0;
    const flush = () => {
      if (bytes > 0) onLine(Buffer.concat(parts).toString('utf8').replace(/\r$/, ''));
      parts = [];
      bytes = 0;
    };
    const take = (part: Buffer) => {
      const kept = part.subarray(0, MAX_LINE_BYTES - bytes);
      if (kept.length === 0) return;
      parts.push(kept);
      bytes += kept.length;
    };
    stream.on('data', (chunk: Buffer) => {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
        take(chunk.subarray(start, end));
        flush();
        start = end + 1;
      }
      take(chunk.subarray(start));
      if (start < chunk.length) onPart?.();
    });
    stream.once('close', () => {
      flush();
      resolve();
    });
    stream.once('error', () => resolve());
  });
}

/** Starts an agent; whoever asked ends it. Rejects when it cannot be started. */
export async function startAgent(
  options: AgentProgram,
  listener: AgentListener,
  signal: AbortSignal,
): Promise<AgentProcess> {
  const { file, args, cwd, env } = options;
  const program = await startAgentProgram(file, args, { cwd, env, signal, graceMs: GRACE_MS });
  const read = Promise.all([
    readLines(program.stdout, listener.onLine, listener.onPart),
    readLines(program.stderr, listener.onErrorText, listener.onPart),
  ]);
  return {
    pid: program.pid,
    write: (text) => {
      program.stdin.write(text);
    },
    endInput: () => {
      program.stdin.end();
    },
    terminate: program.terminate,
    ended: program.exit.then(async (exit) => {
      await read;
      // What left the process group carries the run's mark all the same; namespaces end with their first process.
      if (!options.isIsolated) await endProcessesOfRun(options.run, 1_000);
      return exit;
    }),
  };
}

/**
 * Runs an agent to its end, and all that it started; rejects when it cannot be started, or not be told of.
 * @param begin called when its start has been told: what it is to do is written with that
 */
export async function runAgent(
  program: AgentProgram,
  listener: AgentListener,
  hooks: Pick<RunHooks, 'signal' | 'onStarted'>,
  begin: (agent: AgentProcess) => void,
): Promise<ProgramExit> {
  let agent: AgentProcess | undefined;
  try {
    agent = await startAgent(program, listener, hooks.signal);
    listener.onAgent?.(agent);
    await hooks.onStarted(agent.pid);
    begin(agent);
    return await agent.ended;
  } catch (error) {
    // Nobody waits for it any more: it must not go on beside its successor.
    agent?.terminate();
    await agent?.ended;
    throw error;
  }
}
