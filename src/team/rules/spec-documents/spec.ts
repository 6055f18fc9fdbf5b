// SPEC documents: what their ids, places and states are.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import { SPEC_CODES } from '../codes/spec-codes.ts';
import { slugOf } from '../team-name.ts';

const SPEC_ID = /^SPEC(?:-[A-Z0-9]+)+-\d{3}$/;

/** `awaiting_approval`: it is written, and the user was asked. Only a person approves, only a sync completes. */
export type SpecStatus = 'draft' | 'awaiting_approval' | 'approved' | 'completed';

export const SPEC_STATUSES: readonly SpecStatus[] = ['draft', 'awaiting_approval', 'approved', 'completed'];

/** Whether what a SPEC says of its own approval is to be believed. */
export type Approval = {
  readonly status: SpecStatus | null;
  /** Whether it was approved as it stands. */
  readonly counts: boolean;
  /** In words: by what, or what is in the way and what mends it. */
  readonly why: string;
};

/** Why there is nothing to approve any more: what is completed stays so until its words change. */
export function completedAlready(id: string, { status, counts }: Approval): Refusal | null {
  return status === 'completed' && counts ? refusal(SPEC_CODES.spec_completed, { spec: id }) : null;
}

/** `SPEC-<NAME>-<NNN>`. */
export function isSpecId(id: string): boolean {
  return SPEC_ID.test(id);
}

/** The ids of SPECs that a text names, each once, in their order. */
export function specIdsIn(text: string): readonly string[] {
  return [...new Set(text.match(/\bSPEC(?:-[A-Z0-9]+)+-\d{3}\b/g) ?? [])];
}

/** How a person commits what was built, so that a sync knows what it is for. */
export function commitCommand(id: string): string {
  return `\`git add -A && git commit -m "<what was built> (${id})"\``;
}

/** The directory of a SPEC, from the project's root. */
export function specDirectory(id: string): string {
  return `.tool/specs/${id}`;
}

/** The SPEC whose `spec.md` a path is; null when it is none's. */
export function specOfPath(path: string): string | null {
  const [, id = ''] = /(?:^|\/)\.tool\/specs\/([^/]+)\/spec\.md$/.exec(path) ?? [];
  return isSpecId(id) ? id : null;
}

/** Some editors begin a file with a mark that is no part of its text. */
const FRONT = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const STATUS_LINE = /^status:[ \t]*["']?([a-z_]+)["']?[ \t]*$/m;

/** One that states none that is known: it gives way to one that does. */
const ANY_STATUS = /^status:.*$/m;

const UPDATED_LINE = /^updated:[ \t]*["']?[\d-]*["']?[ \t]*$/;

/** The status that the front matter of a `spec.md` states; null when it states none that is known. */
export function statusOfSpec(text: string): SpecStatus | null {
  const found = STATUS_LINE.exec(FRONT.exec(text)?.[1] ?? '')?.[1];
  return SPEC_STATUSES.find((status) => status === found) ?? null;
}

/** The text with that status in its front matter, which is added where it is missing. */
export function withStatus(text: string, status: SpecStatus): string {
  const front = FRONT.exec(text);
  if (front === null) return `---\nstatus: ${status}\n---\n${text}`;
  const [whole, inner = ''] = front;
  const line = `status: ${status}`;
  const stated = [STATUS_LINE, ANY_STATUS].find((one) => one.test(inner));
  const changed = stated === undefined ? `${inner}\n${line}` : inner.replace(stated, line);
  return whole.replace(inner, () => changed) + text.slice(whole.length);
}

/** The text with that date as its last change, where it names one. */
export function withUpdated(text: string, date: string): string {
  const front = FRONT.exec(text);
  if (front === null) return text;
  const [whole, inner = ''] = front;
  const changed = inner.replace(/^updated:.*$/m, () => `updated: ${date}`);
  return whole.replace(inner, () => changed) + text.slice(whole.length);
}

/** The part of `spec.md` that an approval is about: all but the two lines that code alone changes. */
export function approvedPart(text: string): string {
  const plain = text.replace(/\r\n/g, '\n');
  const front = FRONT.exec(plain);
  if (front === null) return plain;
  const [whole, inner = ''] = front;
  // Only what code writes there: nothing else hides behind these words.
  const left = inner.split('\n').filter((line) => !STATUS_LINE.test(line) && !UPDATED_LINE.test(line));
  return `---\n${left.join('\n')}\n---\n${plain.slice(whole.length)}`;
}

/** Words that say nothing of what a feature is. */
const EMPTY = new Set(
  'a,an,and,are,as,at,be,by,can,could,do,for,from,has,have,her,his,i,in,into,is,it,its,may,must,of,on,or,our,own,people,shall,should,so,that,the,their,them,there,they,this,to,users,user,want,we,when,which,will,with,would,you,your'.split(
    ',',
  ),
);

const NAME_WORDS = 3;
const NAME_MAX = 24;

/** The `<NAME>` of a feature: the first words of it that say something, in capitals. */
export function specName(feature: string): string {
  const words = slugOf(feature).split('-');
  const telling = words.filter((word) => !EMPTY.has(word));
  const [first = '', ...more] = telling.length > 0 ? telling : words;
  return more
    .slice(0, NAME_WORDS - 1)
    .reduce((name, word) => (name.length + 1 + word.length > NAME_MAX ? name : `${name}-${word}`), first)
    .slice(0, NAME_MAX)
    .toUpperCase();
}

const LAST = 999;

/** The next id of that name, after the highest that is taken; null when there are no numbers left. */
export function nextSpecId(name: string, taken: readonly string[]): string | null {
  const start = `SPEC-${name}-`;
  const numbers = taken
    .filter((id) => id.startsWith(start) && /^\d{3}$/.test(id.slice(start.length)))
    .map((id) => Number(id.slice(start.length)));
  const next = Math.max(0, ...numbers) + 1;
  return next > LAST ? null : `${start}${String(next).padStart(3, '0')}`;
}
