// `tool logs`: one issue's attempts with their output, read from the state directory; the daemon need not run.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BASE_CODES } from '../base/rules/base-codes.ts';
import { failure, isFailure, ToolError } from '../base/rules/errors.ts';
import { joinLines } from '../base/rules/text.ts';
import { readWorkflow } from '../daemon/config/read-workflow.ts';
import { findStateDir } from '../daemon/config/state-place.ts';
import { readStateDirHolder } from '../daemon/journal/state-dir.ts';
import { CONFIG_CODES } from '../daemon/rules/codes/config-codes.ts';
import { EVERY, isEvery, placeOf, slugKey } from '../daemon/rules/repositories.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import {
  type AttemptOutputFile,
  FAILED_KEPT,
  ISSUES_KEPT,
  listAttemptOutputs,
} from '../daemon/runners/attempt-output.ts';
import { detectRemote } from '../git/git-remote.ts';
import { formatSlug, type RepoSlug } from '../git/rules/repository.ts';
import { warn } from './failed-command.ts';
import type { IssueName } from './issue-name.ts';
import { CLI_CODES } from './rules/cli-codes.ts';
import { NOTICE_CODES } from './rules/notice-codes.ts';

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
function placeIn({ stateDir, tracker }: Workflow, named: RepoSlug | null): string {
  const { repositories } = tracker;
  const known = repositories ?? [tracker.slug];
  const isKnown = (one: RepoSlug) => named !== null && slugKey(one) === slugKey(named);
  const found = known.find(isKnown) ?? known.find(({ owner, repo }) => repo === EVERY && owner === named?.owner);
  if (repositories === null && (named === null || found !== undefined)) return stateDir;
  if (named !== null && found !== undefined) return placeOf(stateDir, isEvery(found) ? named : found);
  throw failure(CLI_CODES.issue_repository_unknown, {
    known: known.map(formatSlug),
    got: named === null ? 'without its repository' : `of ${formatSlug(named)}`,
  });
}

/** Whether nothing is wrong but variables that the daemon alone has: an operator at a terminal holds none of its secrets. */
function isUnset(error: ToolError): boolean {
  const problems = isFailure(error, BASE_CODES.settings_invalid) ? error.values.problems : '';
  const { code } = CONFIG_CODES.variable_unset;
  return typeof problems === 'object' && problems.every((one) => typeof one === 'object' && one.of.code === code);
}

/** @param named the repository, where it is one of many */
export async function stateDirOf(
  path: string,
  { repository: named }: IssueName,
  given: string | undefined,
): Promise<string> {
  if (given !== undefined) return named === null ? resolve(given) : placeOf(resolve(given), named);
  const source = { env: process.env, detectRemote };
  try {
    return placeIn(await readWorkflow(path, source), named);
  } catch (error) {
    if (!(error instanceof ToolError) || error.refusal.of === CLI_CODES.issue_repository_unknown) throw error;
    const words = joinLines(error.message);
    const found = await findStateDir(path, source, named ?? undefined);
    if (found === undefined) throw failure(CLI_CODES.state_directory_unknown, { said: words }, { cause: error });
    if (!isUnset(error)) warn(NOTICE_CODES.state_directory_guessed, { said: words, path: found });
    return found;
  }
}

export async function logsCommand(name: IssueName, path: string, options: LogsOptions): Promise<void> {
  const stateDir = await stateDirOf(path, name, options.stateDir);
  const issue = name.number;
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
