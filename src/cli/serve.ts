// `tool serve`: the daemon in the foreground, ended in order by a signal.

import { isatty } from 'node:tty';
import { createDaemon } from '../compose.ts';
import { ToolError } from '../domain/errors.ts';
import { type EndSignal, SIGNAL_CODES, SIGNALS } from './signals.ts';

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
  const daemon = await createDaemon({
    workflowPath: path,
    env: process.env,
    ...(options.port === undefined ? {} : { port: options.port }),
    logFormat: options.logFormat,
    once: options.once === true,
    write,
  });
  let ended: EndSignal | undefined;
  let finish: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const onSignal = (signal: EndSignal) => {
    if (ended !== undefined) {
      // Asked twice: nobody wants to wait. What is left is ended by the next start.
      process.exit(SIGNAL_CODES[signal]);
    }
    ended = signal;
    daemon.say(
      `${signal}: agents at work are ended, the next start goes on with their issues; once more ends it at once`,
    );
    setTimeout(() => process.exit(SIGNAL_CODES[signal]), PATIENCE_MS).unref();
    finish();
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    await Promise.race([daemon.run(), asked]);
  } finally {
    await daemon.close();
    for (const signal of signals) process.off(signal, onSignal);
  }
  if (ended !== undefined) process.exitCode = SIGNAL_CODES[ended];
  else if (daemon.trouble !== null) throw new ToolError('tracker', `the poll failed: ${daemon.trouble}`);
}
