// `tool explain`: the story of one issue from the journal, and how it stands with the daemon that runs.

import * as z from 'zod';
import { failure, messageOf } from '../base/rules/errors.ts';
import { visibleLines } from '../base/rules/text.ts';
import { readWorkflow } from '../daemon/config/read-workflow.ts';
import { issueStory, storyText } from '../daemon/journal/issue-story.ts';
import { readStateDirHolder } from '../daemon/journal/state-dir.ts';
import { standingWords } from '../daemon/rules/issue-standing.ts';
import { detectRemote } from '../git/git-remote.ts';
import { formatSlug } from '../git/rules/repository.ts';
import type { IssueName } from './issue-name.ts';
import { stateDirOf } from './logs.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

export type ExplainOptions = { readonly json?: boolean; readonly stateDir?: string };

const ANSWER_MS = 5_000;

const details = z.object({
  running: z.object({ phase: z.string(), attempt: z.number() }).nullable(),
  retrying: z.object({ due_at: z.string().nullable(), waits_for: z.string().nullish() }).nullable(),
  following: z.object({ waits_for: z.string(), pull_request: z.object({ number: z.number() }).nullable() }).nullable(),
  asking: z.object({ since: z.string(), question: z.string() }).nullable(),
  queued: z.object({ reason: z.string() }).nullable(),
});

/** The token of the status server; null: it asks for none, or the file cannot be read. */
function tokenOf(path: string): string | null {
  try {
    return readWorkflow(path, { env: process.env, detectRemote }).workflow.server.token;
  } catch {
    return null;
  }
}

/** How the issue stands now, in words; null: the daemon does not know it. */
async function standing(url: string, token: string | null, { number, repository }: IssueName): Promise<string | null> {
  try {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const of = repository === null ? '' : `repositories/${formatSlug(repository)}/`;
    const response = await fetch(`${url}/api/v1/${of}issues/${number}`, { headers, signal });
    if (response.status === 404) return null;
    if (!response.ok) return `the daemon answers ${response.status}`;
    return standingWords(details.parse(await response.json()));
  } catch (error) {
    return `the daemon does not answer: ${messageOf(error)}`;
  }
}

export async function explainCommand(name: IssueName, path: string, options: ExplainOptions): Promise<void> {
  const stateDir = stateDirOf(path, name, options.stateDir);
  const issue = name.number;
  const story = issueStory(stateDir, issue);
  const holder = readStateDirHolder(stateDir);
  const url = holder?.url ?? null;
  const now = url === null ? null : await standing(url, tokenOf(path), name);
  if (story.length === 0 && now === null) throw failure(CLI_CODES.issue_unexplained, { issue, directory: stateDir });
  if (options.json === true) {
    const rows = story.map(({ at, words }) => ({ at: new Date(at).toISOString(), words }));
    process.stdout.write(`${JSON.stringify({ issue, story: rows, now }, null, 2)}\n`);
    return;
  }
  const last = now ?? (holder === undefined ? 'no daemon runs here' : null);
  const lines = [...story.map(storyText), ...(last === null ? [] : [`now: ${last}`])];
  process.stdout.write(`${lines.map(visibleLines).join('\n')}\n`);
}
