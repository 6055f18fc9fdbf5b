// `tool explain`: the story of one issue from the journal, and how it stands with the daemon that runs.

import * as z from 'zod';
import { failure, messageOf } from '../base/rules/errors.ts';
import { visibleLines } from '../base/rules/text.ts';
import { issueStory, storyText } from '../daemon/journal/issue-story.ts';
import { readStateDirHolder } from '../daemon/journal/state-dir.ts';
import { standingWords } from '../daemon/rules/issue-standing.ts';
import { readControlPlace } from '../daemon/runners/control-socket.ts';
import { requestDaemon } from './issue.ts';
import type { IssueName } from './issue-name.ts';
import { stateDirOf } from './logs.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

export type ExplainOptions = { readonly json?: boolean; readonly stateDir?: string };

const details = z.object({
  running: z
    .object({
      phase: z.string(),
      attempt: z.number(),
      last_error: z.string().nullable(),
      last_message: z.string().nullish(),
    })
    .nullable(),
  retrying: z.object({ due_at: z.string().nullable(), waits_for: z.string().nullish() }).nullable(),
  following: z.object({ waits_for: z.string(), pull_request: z.object({ number: z.number() }).nullable() }).nullable(),
  asking: z.object({ since: z.string(), question: z.string(), paused: z.boolean().optional() }).nullable(),
  queued: z.object({ reason: z.string() }).nullable(),
});

/** How the issue stands now, in words; null: the daemon does not know it. */
async function standing(directory: string, issue: number): Promise<string | null> {
  const place = readControlPlace(directory);
  if (place === undefined) return 'the daemon takes no commands here';
  try {
    const way = { TOOL_SOCKET: place.socket, TOOL_KEY: place.key };
    const { details: shown } = await requestDaemon({ command: 'show', issue }, way);
    if (shown === null) return null;
    const read = details.parse(shown);
    const { running } = read;
    // With a queue, they say that no worker has it yet.
    const last = running?.phase === 'agent' && running.last_message ? `; last words: ${running.last_message}` : '';
    return `${standingWords(read) ?? ''}${last}` || null;
  } catch (error) {
    return `the daemon does not answer: ${messageOf(error)}`;
  }
}

export async function explainCommand(name: IssueName, path: string, options: ExplainOptions): Promise<void> {
  const stateDir = await stateDirOf(path, name, options.stateDir);
  const issue = name.number;
  const story = issueStory(stateDir, issue);
  const isRunning = readStateDirHolder(stateDir) !== undefined;
  const now = isRunning ? await standing(stateDir, issue) : null;
  if (story.length === 0 && now === null)
    throw isRunning
      ? failure(CLI_CODES.issue_unexplained, { issue, directory: stateDir })
      : failure(CLI_CODES.issue_unexplained_now, { issue, directory: stateDir });
  if (options.json === true) {
    const rows = story.map(({ at, words }) => ({ at: new Date(at).toISOString(), words }));
    process.stdout.write(`${JSON.stringify({ issue, story: rows, now }, null, 2)}\n`);
    return;
  }
  const last = now ?? (isRunning ? null : 'no daemon runs here');
  const lines = [...story.map(storyText), ...(last === null ? [] : [`now: ${last}`])];
  process.stdout.write(`${lines.map(visibleLines).join('\n')}\n`);
}
