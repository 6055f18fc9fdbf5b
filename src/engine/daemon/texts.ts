// The texts that the daemon writes to the tracker.

import type { Entry } from '../../domain/daemon/state.ts';
import { spentOf } from '../../domain/daemon/state.ts';
import type { StateLabels } from '../../domain/issue.ts';
import { clip, fence, oneLine, visibleLines } from '../../domain/text.ts';
import type { KeptWork } from '../ports.ts';

const CLOSING = /\b(close[sd]?|fix(e[sd])?|resolve[sd]?)\s+#(\d+)\b/gi;

/** The service takes 65,536 characters. */
const MAX_BODY = 65_000;

function closes(body: string, issue: number): boolean {
  return [...body.matchAll(CLOSING)].some((match) => Number(match[3]) === issue);
}

/** The title of a pull request: what the agent asked for, else its first commit's subject, else the issue's title. */
export function pullRequestTitle(asked: string | undefined, messages: readonly string[], entry: Entry): string {
  const subject = messages[0]?.split('\n')[0];
  const titles = [asked, subject, entry.title].map((title) => oneLine(title ?? '', 200));
  return titles.find((title) => title !== '') ?? `Issue #${entry.number}`;
}

/** Its body: the agent's words or the commits' messages, the closing keyword, the repository's template. */
export function pullRequestBody(
  asked: string | undefined,
  messages: readonly string[],
  entry: Entry,
  template: string | null,
): string {
  const words = asked?.trim() || messages.map((message) => message.trim()).join('\n\n---\n\n');
  const own = clip(visibleLines(words), 40_000);
  const parts = [own];
  if (!closes(own, entry.number)) parts.push(`Closes #${entry.number}`);
  const heading = template?.split('\n').find((line) => line.trim() !== '');
  if (template !== null && template.trim() !== '' && heading !== undefined && !own.includes(heading.trim()))
    parts.push(template.trim());
  const body = parts.filter((part) => part !== '').join('\n\n');
  return body.length <= MAX_BODY ? body : `${clip(body, MAX_BODY)}\n\nThe rest is cut off: the service takes no more.`;
}

/** So many places of unfinished work are named. */
const MAX_PLACES = 60;

const WHERE_REFS_ARE =
  'The refs are in `repo.git` in the state directory of the daemon (`state.dir`). To see one: `git --git-dir=repo.git show REF`.';

/** Where unfinished work lies, a paragraph each; none when there is none. */
function keptParagraphs({ directories, heads, refs }: KeptWork): readonly string[] {
  const rows = [
    ...directories.map((path) => `directory ${path}`),
    ...heads.map((head) => `${head} (in the workspace)`),
    ...refs.map((ref) => `ref ${ref}`),
  ].map((row) => oneLine(row, 300));
  if (rows.length === 0) return [];
  const more = rows.length > MAX_PLACES ? [`and ${rows.length - MAX_PLACES} more`] : [];
  const list = fence([...rows.slice(0, MAX_PLACES), ...more].join('\n'));
  return [
    `Unfinished work is kept on the machine of the daemon:\n\n${list}`,
    ...(refs.length === 0 ? [] : [WHERE_REFS_ARE]),
  ];
}

/** Why an issue was given up, where its unfinished work lies, and how it goes on. */
export function gaveUpComment(entry: Entry, states: StateLabels, kept: KeptWork): string {
  const spent = spentOf(entry);
  const cost = spent.cost_usd > 0 ? `, $${spent.cost_usd.toFixed(2)}` : '';
  const attempts = entry.attempt === 1 ? 'one attempt' : `${entry.attempt} attempts`;
  return [
    `This issue could not be finished: ${attempts} on branch \`${entry.branch}\`${cost}.`,
    `The last one ended so:\n\n${fence(clip(visibleLines(entry.lastError ?? 'nobody knows why'), 6000))}`,
    ...keptParagraphs(kept),
    `To have it tried again, put the label \`${states.active[0] ?? 'tool-todo'}\` back on. The work goes on where it stopped; what you write here before that can be read by the agent if you may write to this repository.`,
  ].join('\n\n');
}

/** Names what was kept of a workspace that is gone. @param saved a line for each thing */
export function savedComment(saved: readonly string[]): string {
  return [
    'The workspace of this issue is removed. This was not published and is kept by the daemon:',
    saved.map((line) => `- ${oneLine(line, 300)}`).join('\n'),
    WHERE_REFS_ARE,
  ].join('\n\n');
}

/** What an agent is told when it ended a turn with nothing handed in. */
export function continuation(branch: string): string {
  return [
    `Nothing is committed on the branch ${branch} yet, and you have not said that you are done. Go on with the task.`,
    'When the work is finished: commit it on this branch, then run `tool pr create --title "…" --body-file FILE`.',
    'If nothing has to change: say why with `tool issue comment --body-file FILE`, then run `tool issue done`.',
  ].join('\n');
}
