// Starting programs: each in a process group of its own, ended as a group, its output bounded.

import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { BASE_CODES } from '../rules/base-codes.ts';
import { errorCode, failure, messageOf } from '../rules/errors.ts';
import { makeWithExeca } from './execa-process.ts';
import { type MakeProcess, makeWithNode } from './node-process.ts';
import { signalGroup } from './processes.ts';
import { SilenceLimit } from './silence-limit.ts';

export type ProgramOptions = {
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** Handed over on file descriptor 3 and nowhere else: neither arguments nor environment of a process show it. */
  readonly secret?: string;
  /** File descriptor 3 is a pipe that ends with this process, however that ends. Not beside a secret. */
  readonly leash?: boolean;
  /** File descriptor 3 is a pipe on which programs mark how far they came. */
  readonly marks?: boolean;
};

export type ProgramExit = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null };

export type RunningProgram = {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Bytes that came on file descriptor 3. */
  readonly marks: () => number;
  /** Resolves when the process has ended and its output was read; what its group left running is ended first. */
  readonly exit: Promise<ProgramExit>;
  /** Ends the process group: SIGTERM, then SIGKILL. Calling it twice is fine. False: the process has ended. */
  terminate(): boolean;
};

const GRACE_MS = 5_000;
/** A program this young may not hear signals yet, like one whose namespaces are being set up: it is asked once more. */
const YOUNG_MS = 500;
/** How long nothing may come after the process has ended, where a process that left the group holds its output open. */
const DRAIN_MS = 500;
/** So often something may come all the same. */
const DRAINS = 4;

type Child = ChildProcess & {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
};

function hasStarted(child: ChildProcess): child is Child {
  return child.pid !== undefined && child.stdin !== null && child.stdout !== null && child.stderr !== null;
}

/** Bytes that came, and whether some wait for whoever reads them. */
function outputOf(streams: readonly Readable[]): { readonly bytes: number; readonly isWaiting: boolean } {
  const bytes = streams.reduce((sum, stream) => sum + (stream instanceof Socket ? stream.bytesRead : 0), 0);
  return { bytes, isWaiting: streams.some((one) => one.readableFlowing !== null && one.readableLength > 0) };
}

/**
 * Calls `end` once the output of a program that has ended is silent. Time alone does not say that: this process may have
 * been busy meanwhile, and what came waits to be read.
 * @returns stops it
 */
function onceSilent(streams: readonly Readable[], end: () => void): () => void {
  let before = outputOf(streams).bytes;
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const wait = (left: number) => {
    timer = setTimeout(() => {
      // What has come is read before this.
      turn = setImmediate(() => {
        const { bytes, isWaiting } = outputOf(streams);
        if (left === 0 || (bytes === before && !isWaiting)) return end();
        before = bytes;
        wait(left - 1);
      });
    }, DRAIN_MS);
  };
  wait(DRAINS);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}

/** @param make execa or node; in bundles without packages beside them, the build puts node in the place of execa */
async function launch(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
  make: MakeProcess,
): Promise<{ readonly child: Child }> {
  try {
    const { cwd, env, secret, leash, marks } = options;
    const hasFourthPipe = secret !== undefined || leash === true || marks === true;
    const { child, failed } = await make(file, args, { cwd, env, hasFourthPipe });
    // What execa makes is also a promise of its end: within an object nothing waits for that.
    if (hasStarted(child)) return { child };
    throw await failed;
  } catch (error) {
    const said = whyNot(file, error, options.cwd);
    throw failure(BASE_CODES.program_not_started, { program: file, said }, { cause: error });
  }
}

/** The system has one word for both: no such program, no such directory. */
function whyNot(file: string, error: unknown, cwd: string): string {
  if (errorCode(error) !== 'ENOENT') return messageOf(error);
  if (!existsSync(cwd)) return `there is no directory ${cwd}`;
  return file.includes('/') ? 'there is no such program' : 'there is no such program on the PATH; is it installed?';
}

/** Starts a program. Rejects when it cannot be started. */
export function startProgram(file: string, args: readonly string[], options: ProgramOptions): Promise<RunningProgram> {
  return start(file, args, options, makeWithExeca);
}

/** Starts one of many that run for hours, the agents of `serve`: node keeps 9 kB for each, execa 89. Rejects like `startProgram`. */
export function startAgentProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<RunningProgram> {
  return start(file, args, options, makeWithNode);
}

async function start(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
  make: MakeProcess,
): Promise<RunningProgram> {
  const { child } = await launch(file, args, options, make);
  const { pid, stdin, stdout, stderr } = child;
  const pipe: unknown = child.stdio[3];
  const outputs = [stdout, stderr];
  let marks = 0;
  if (pipe instanceof Socket) {
    pipe.on('error', () => undefined);
    if (options.secret !== undefined) pipe.end(options.secret);
    if (options.marks === true) {
      outputs.push(pipe);
      pipe.on('data', (bytes: Buffer) => {
        marks += bytes.length;
      });
    }
  }
  // A program that ends without reading its input is no error of ours.
  stdin.on('error', () => undefined);

  const startedAt = performance.now();
  let again: NodeJS.Timeout | undefined;
  let escalation: NodeJS.Timeout | undefined;
  let over = false;
  const terminate = () => {
    // Once it is over its number may be another's.
    if (over || escalation !== undefined) return !over;
    signalGroup(pid, 'SIGTERM');
    if (performance.now() - startedAt < YOUNG_MS) again = setTimeout(() => signalGroup(pid, 'SIGTERM'), YOUNG_MS);
    escalation = setTimeout(() => signalGroup(pid, 'SIGKILL'), options.graceMs ?? GRACE_MS);
    return true;
  };
  const exit = new Promise<ProgramExit>((resolve) => {
    child.once('exit', (exitCode: number | null, signal: NodeJS.Signals | null) => {
      over = true;
      clearTimeout(again);
      clearTimeout(escalation);
      options.signal?.removeEventListener('abort', terminate);
      if (pipe instanceof Socket && options.marks !== true) pipe.destroy();
      // The leader is gone; what it left in its group goes too.
      signalGroup(pid, 'SIGKILL');
      const end = { exitCode, signal };
      const stop = onceSilent(outputs, () => {
        for (const output of outputs) output.destroy();
        resolve(end);
      });
      child.once('close', () => {
        stop();
        resolve(end);
      });
    });
  });
  if (options.signal?.aborted === true) terminate();
  else options.signal?.addEventListener('abort', terminate, { once: true });
  return { pid, stdin, stdout, stderr, marks: () => marks, exit, terminate };
}

export type ProgramResult = ProgramExit & {
  readonly stdout: string;
  readonly stderr: string;
  /** The end came from the time limit. */
  readonly timedOut: boolean;
  /** Bytes that came on file descriptor 3. */
  readonly marks: number;
};

/** Keeps the first and the last part of a stream when it is longer than `maxBytes`. */
export function boundedOutput(stream: Readable, maxBytes: number, encoding: 'utf8' | 'latin1' = 'utf8'): () => string {
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  const half = Math.floor(maxBytes / 2);
  let headBytes = 0;
  let tailBytes = 0;
  let dropped = 0;
  stream.on('data', (chunk: Buffer) => {
    let rest = chunk;
    if (headBytes < half) {
      const part = rest.subarray(0, half - headBytes);
      head.push(part);
      headBytes += part.length;
      rest = rest.subarray(part.length);
    }
    if (rest.length === 0) return;
    tail.push(rest);
    tailBytes += rest.length;
    for (let first = tail[0]; first !== undefined && tailBytes - first.length >= half; first = tail[0]) {
      tail.shift();
      tailBytes -= first.length;
      dropped += first.length;
    }
  });
  return () => {
    const gap = dropped === 0 ? [] : [Buffer.from(`\n[${dropped} bytes left out]\n`)];
    return Buffer.concat([...head, ...gap, ...tail]).toString(encoding);
  };
}

/** Runs a program to its end. Rejects only when it cannot be started; its failure is in the result. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions & {
    readonly input?: string;
    readonly timeoutMs?: number;
    /** The time limit counts from the last output. */
    readonly countsSilence?: boolean;
    readonly maxBytes?: number;
    /** Of standard input and output. */
    readonly encoding?: 'utf8' | 'latin1';
  },
): Promise<ProgramResult> {
  const program = await startProgram(file, args, options);
  const { maxBytes = 4 * 1024 * 1024, encoding = 'utf8' } = options;
  const stdout = boundedOutput(program.stdout, maxBytes, encoding);
  const stderr = boundedOutput(program.stderr, maxBytes);
  program.stdin.end(options.input ?? '', encoding);
  let timedOut = false;
  const limit =
    options.timeoutMs === undefined
      ? undefined
      : new SilenceLimit(options.timeoutMs, () => {
          // Another process may still hold the output of one that ended in time.
          timedOut = program.terminate();
        });
  if (options.countsSilence === true)
    for (const stream of [program.stdout, program.stderr]) stream.on('data', () => limit?.heard());
  const end = await program.exit;
  limit?.end();
  return { ...end, stdout: stdout(), stderr: stderr(), timedOut, marks: program.marks() };
}
