// `tool serve`: the daemon in the foreground, ended in order by a signal.

import { once } from 'node:events';
import { isatty } from 'node:tty';
import { failure } from '../base/rules/errors.ts';
import { createDaemon } from '../compose/daemon.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import { type EndSignal, SIGNAL_CODES, SIGNALS } from './signals.ts';
import { collectOften } from './v8-flags.ts';

export type ServeOptions = { readonly port?: number; readonly logFormat: 'text' | 'json'; readonly once?: boolean };

/** How long the agents have to end after the first signal. */
const PATIENCE_MS = 30_000;

/** Under `nohup` SIGHUP is ignored, but Node takes that back at its start: without any terminal it stays ignored. */
function endSignals(): readonly EndSignal[] {
  const isAtTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  if (isAtTerminal) return SIGNALS;
  process.on('SIGHUP', () => undefined);
  return SIGNALS.filter((signal) => signal !== 'SIGHUP');
}

export async function serveCommand(path: string, options: ServeOptions): Promise<void> {
  const signals = endSignals();
  // Whoever read the log may be gone; the daemon has other work than being read.
  for (const stream of [process.stderr, process.stdout]) stream.on('error', () => undefined);
  const write = (line: string) => {
    process.stderr.write(line);
  };
  const ending = new AbortController();
  let ended: EndSignal | undefined;
  const onSignal = (signal: EndSignal) => {
    if (ended !== undefined) {
      // Asked twice: nobody wants to wait. What is left is ended by the next start.
      process.exit(SIGNAL_CODES[signal]);
    }
    ended = signal;
    ending.abort(signal);
    setTimeout(() => process.exit(SIGNAL_CODES[signal]), PATIENCE_MS).unref();
  };
  // Before the start: a daemon that is ended while it starts also gives back its lock.
  for (const signal of signals) process.on(signal, onSignal);
  let trouble: string | null;
  try {
    const daemon = await createDaemon({
      workflowPath: path,
      env: process.env,
      ...(options.port === undefined ? {} : { port: options.port }),
      logFormat: options.logFormat,
      once: options.once === true,
      ended: ending.signal,
      write,
    });
    collectOften();
    try {
      if (!ending.signal.aborted) await Promise.race([daemon.run(), once(ending.signal, 'abort')]);
      trouble = daemon.trouble;
    } finally {
      await daemon.close();
    }
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
  if (ended !== undefined) process.exitCode = SIGNAL_CODES[ended];
  else if (trouble !== null) throw failure(WORK_CODES.poll_failed, { said: trouble });
}
