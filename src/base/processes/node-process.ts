// Processes as node itself makes them.

import { type ChildProcess, spawn } from 'node:child_process';

export type ProcessOptions = {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** File descriptor 3 is a pipe, as those of input and output are. */
  readonly hasFourthPipe: boolean;
};

export type MadeProcess = {
  /** Without a `pid` when it could not be started. */
  readonly child: ChildProcess;
  /** Why it could not be started; otherwise it never resolves. */
  readonly failed: Promise<unknown>;
};

/** Makes a process that leads a group of its own. @throws for arguments that no process can have */
export type MakeProcess = (file: string, args: readonly string[], options: ProcessOptions) => Promise<MadeProcess>;

export function pipesOf({ hasFourthPipe }: ProcessOptions) {
  const pipes = ['pipe', 'pipe', 'pipe'] as const;
  return hasFourthPipe ? ([...pipes, 'pipe'] as const) : pipes;
}

export const makeWithNode: MakeProcess = async (file, args, options) => {
  const { cwd, env } = options;
  const child = spawn(file, args, { cwd, env, detached: true, stdio: [...pipesOf(options)] });
  return { child, failed: new Promise((resolve) => child.once('error', resolve)) };
};
