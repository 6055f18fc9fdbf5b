// `tool pause`, `resume`, `cancel`, `retry` and `tell`: commands on one issue, over the control socket of the daemon that runs.

import { resolve } from 'node:path';
import { failure } from '../base/rules/errors.ts';
import { visibleLines } from '../base/rules/text.ts';
import { readStateDirHolder } from '../daemon/journal/state-dir.ts';
import type { Steer } from '../daemon/rules/record.ts';
import type { Order } from '../daemon/rules/steering.ts';
import { readControlPlace } from '../daemon/runners/control-socket.ts';
import { requestDaemon } from './issue.ts';
import { stateDirOf } from './logs.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

export type SteerOptions = { readonly json?: boolean; readonly stateDir?: string };

/** Effects of the commands, as a person reads them. */
const DONE: Readonly<Record<Order, string>> = {
  pause: 'is paused; tool resume goes on with it',
  resume: 'goes on when a slot is free',
  cancel: 'is cancelled; the daemon takes the active label off and keeps the work',
  retry: 'is tried again when a slot is free',
  tell: 'has the text; its agent gets it in the next turn',
};

async function give(
  order: { readonly command: Order; readonly issue: number; readonly text?: string },
  path: string,
  options: SteerOptions,
): Promise<void> {
  const directory = options.stateDir === undefined ? stateDirOf(path) : resolve(options.stateDir);
  const place = readControlPlace(directory);
  if (readStateDirHolder(directory) === undefined || place === undefined)
    throw failure(CLI_CODES.daemon_not_running, { directory });
  const answer = await requestDaemon(order, { TOOL_SOCKET: place.socket, TOOL_KEY: place.key });
  const text = options.json === true ? JSON.stringify(answer, null, 2) : `issue #${order.issue} ${DONE[order.command]}`;
  process.stdout.write(`${visibleLines(text)}\n`);
}

export function steerCommand(command: Steer, issue: number, path: string, options: SteerOptions): Promise<void> {
  return give({ command, issue }, path, options);
}

export function tellCommand(issue: number, text: string, path: string, options: SteerOptions): Promise<void> {
  return give({ command: 'tell', issue, text }, path, options);
}
