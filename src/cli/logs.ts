// `tool logs`: one issue's attempts with their output, read from the state directory; the daemon need not run.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { failure, ToolError } from '../base/rules/errors.ts';
import { joinLines } from '../base/rules/text.ts';
import { readWorkflow } from '../daemon/config/read-workflow.ts';
import { findStateDir } from '../daemon/config/state-place.ts';
import { readStateDirHolder } from '../daemon/journal/state-dir.ts';
import {
  type AttemptOutputFile,
  FAILED_KEPT,
  ISSUES_KEPT,
  listAttemptOutputs,
} from '../daemon/runners/attempt-output.ts';
import { detectRemote } from '../git/git-remote.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

export type LogsOptions = { readonly follow?: boolean; readonly json?: boolean; readonly stateDir?: string };

const LOOK_MS = 200;

function heading(file: AttemptOutputFile): string {
  return `=== attempt ${file.attempt}${file.life === 1 ? '' : ` (life ${file.life})`}\n`;
}

/** Prints what a file holds from `offset` on; gives the new offset. */
function printFrom(path: string, offset: number): number {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(64 * 1024);
    let at = offset;
    for (
      let count = readSync(fd, buffer, 0, buffer.length, at);
      count > 0;
      count = readSync(fd, buffer, 0, buffer.length, at)
    ) {
      process.stdout.write(buffer.subarray(0, count));
      at += count;
    }
    return at;
  } finally {
    closeSync(fd);
  }
}

/** Outputs are read whatever is wrong with the file, if it can be told where they are. */
export function stateDirOf(path: string): string {
  const source = { env: process.env, detectRemote };
  try {
    return readWorkflow(path, source).workflow.stateDir;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const words = joinLines(error.message);
    const found = findStateDir(path, source);
    if (found === undefined) throw failure(CLI_CODES.state_directory_unknown, { said: words }, { cause: error });
    process.stderr.write(`tool: warning: ${words}; reading from ${found} (--state-dir names another one)\n`);
    return found;
  }
}

export async function logsCommand(issue: number, path: string, options: LogsOptions): Promise<void> {
  const stateDir = options.stateDir === undefined ? stateDirOf(path) : resolve(options.stateDir);
  const files = listAttemptOutputs(stateDir, issue);
  if (options.json === true) {
    const rows = files.map(({ life, attempt, path: file }) => ({
      issue,
      life,
      attempt,
      path: file,
      bytes: statSync(file).size,
    }));
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const mayCome = options.follow === true && readStateDirHolder(stateDir) !== undefined;
  if (files.length === 0 && !mayCome)
    throw failure(CLI_CODES.issue_output_missing, {
      issue,
      directory: stateDir,
      issues: ISSUES_KEPT,
      failed: FAILED_KEPT,
    });
  const offsets = new Map<string, number>();
  const print = () => {
    for (const file of listAttemptOutputs(stateDir, issue)) {
      if (!offsets.has(file.path)) process.stdout.write(heading(file));
      offsets.set(file.path, printFrom(file.path, offsets.get(file.path) ?? 0));
    }
  };
  let closed = false;
  process.stdout.once('error', () => {
    closed = true;
  });
  // Following ends with the daemon, since nothing comes after it, or with the reader.
  for (;;) {
    const goesOn = options.follow === true && readStateDirHolder(stateDir) !== undefined && !closed;
    print();
    if (!goesOn) return;
    await delay(LOOK_MS);
  }
}
