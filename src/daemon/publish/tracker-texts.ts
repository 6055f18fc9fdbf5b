// The texts that the daemon writes to the tracker.

import { clip, fence, oneLine, visibleLines } from '../../base/rules/text.ts';
import type { KeptWork } from '../ports.ts';
import type { StateLabels } from '../rules/issue.ts';
import type { Entry } from '../rules/state.ts';
import { spentOf } from '../rules/state.ts';

const CLOSING = /\b(close[sd]?|fix(e[sd])?|resolve[sd]?)\s+#(\d+)\b/gi;

/** The service takes 65,536 characters; a marker may follow. */
export const MAX_BODY = 65_000;
const CUT_OFF = '\n\nThe rest is cut off: the service takes no more.';

/** As it is, or cut to `max` characters with a note that says so. */
export function cutBody(text: string, max = MAX_BODY): string {
  return text.length <= max ? text : `${clip(text, max - CUT_OFF.length)}${CUT_OFF}`;
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

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
  const own = visibleLines(words);
  const closing = (text: string) => (closes(text, entry.number) ? '' : `Closes #${entry.number}`);
  const heading = template?.split('\n').find((line) => line.trim() !== '');
  const added = template !== null && heading !== undefined && !own.includes(heading.trim()) ? template.trim() : '';
  const body = joined([own, closing(own), added]);
  if (body.length <= MAX_BODY) return body;
  // The keyword comes first: a code fence that the cut leaves open would hide it.
  const last = cutBody(added, MAX_BODY / 2);
  const cut = cutBody(own, MAX_BODY - joined([closing(''), '-', last]).length);
  return joined([closing(cut), cut, last]);
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
  const more = saved.length - MAX_PLACES;
  const listed =
    '`git --git-dir=repo.git for-each-ref refs/toolcrew/saved` lists every ref, the log of the daemon every line';
  return [
    'The workspace of this issue is removed. This was not published and is kept by the daemon:',
    [
      ...saved.slice(0, MAX_PLACES).map((line) => `- ${oneLine(line, 300)}`),
      ...(more > 0 ? [`- and ${more} more: ${listed}`] : []),
    ].join('\n'),
    WHERE_REFS_ARE,
  ].join('\n\n');
}

/** What an agent is told when it ended a turn with nothing handed in. */
export function continuation(branch: string): string {
  return [
    `Nothing is committed on the branch ${branch} yet, and you have not said that you are done. Go on with the task.`,
    'When the work is finished: commit it on this branch, then run `tool pr create --title "…" --body-file FILE`.',
    'If nothing has to change: say why with `tool issue comment --body-file FILE`, then run `tool issue done`. The issue then fails without another attempt.',
  ].join('\n');
}
