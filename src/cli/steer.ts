// `tool pause`, `resume`, `cancel`, `retry` and `tell`: commands on one issue, over the control socket of the daemon that runs.

import { errorCode, failure, isFailure } from '../base/rules/errors.ts';
import { visibleLines } from '../base/rules/text.ts';
import { readStateDirHolder } from '../daemon/journal/state-dir.ts';
import type { Steer } from '../daemon/rules/record.ts';
import type { Order } from '../daemon/rules/steering.ts';
import { isOwnSocket, readControlPlace } from '../daemon/runners/control-socket.ts';
import { requestDaemon } from './issue.ts';
import { formatIssue, type IssueName } from './issue-name.ts';
import { stateDirOf } from './logs.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { steerWords } from './rules/steer-words.ts';

export type SteerOptions = { readonly json?: boolean; readonly stateDir?: string };

async function give(
  order: { readonly command: Order; readonly text?: string },
  issue: IssueName,
  path: string,
  options: SteerOptions,
): Promise<void> {
  const directory = await stateDirOf(path, issue, options.stateDir);
  const place = readControlPlace(directory);
  if (place === undefined) throw failure(CLI_CODES.daemon_not_running, { directory });
  const { socket, key } = place;
  // A coordinator that waits for another one answers without the lock.
  const isHeld = () => readStateDirHolder(directory) !== undefined;
  const notRunning = () => failure(CLI_CODES.daemon_not_running, { directory });
  if (!isOwnSocket(directory, socket))
    throw isHeld()
      ? failure(CLI_CODES.daemon_unreachable, { address: socket, said: 'no socket of its owner is there' })
      : notRunning();
  const answer = await requestDaemon({ ...order, issue: issue.number }, { TOOL_SOCKET: socket, TOOL_KEY: key }).catch(
    (error: unknown) => {
      // Whoever died with the order may have carried it out.
      const isUnheard = isFailure(error, CLI_CODES.daemon_unreachable) && errorCode(error.cause) === 'ECONNREFUSED';
      throw isUnheard && !isHeld() ? notRunning() : error;
    },
  );
  const done = steerWords(order.command, answer.standing);
  const text = options.json === true ? JSON.stringify(answer, null, 2) : `issue ${formatIssue(issue)} ${done}`;
  process.stdout.write(`${visibleLines(text)}\n`);
}

export function steerCommand(command: Steer, issue: IssueName, path: string, options: SteerOptions): Promise<void> {
  return give({ command }, issue, path, options);
}

export function tellCommand(issue: IssueName, text: string, path: string, options: SteerOptions): Promise<void> {
  return give({ command: 'tell', text }, issue, path, options);
}
