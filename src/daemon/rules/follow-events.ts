// Words of people on a followed pull request, and the events that an agent is told of; pure.

import type { Check, CheckPermission, PullRequestStatus, Remark, Review, ReviewThread } from './pull-request-status.ts';

/** What people wrote on a pull request, and `/tool` comments on its issue. */
export type Words = {
  readonly reviews: readonly Review[];
  readonly threads: readonly ReviewThread[];
  readonly comments: readonly Remark[];
};

/** An older open pull request of ours that conflicts with this one. */
export type Rival = { readonly number: number; readonly paths: readonly string[] };

/** What was read of a pull request. Words of people who may not write to the repository, and our own, are left out. */
export type PullRequestSight = Words & {
  readonly status: PullRequestStatus;
  readonly checks: readonly Check[];
  /** What the credential may not read of the checks. */
  readonly unread: readonly CheckPermission[];
  /** How long the checks have stood there like this, ms. */
  readonly checksStandMs: number;
  /** How long one of them has been red, ms. */
  readonly redMs: number;
  readonly rivals: readonly Rival[];
};

export type FollowEvent =
  | { readonly kind: 'check'; readonly check: Check }
  | { readonly kind: 'conflict' }
  /** The rules of the branch want its base in it. */
  | { readonly kind: 'behind' }
  | { readonly kind: 'review'; readonly review: Review }
  /** `isAgain`: it was told, and the agent has not answered. */
  | { readonly kind: 'thread'; readonly thread: ReviewThread; readonly isAgain: boolean }
  /** `isReview`: it is the text of a review. */
  | { readonly kind: 'comment'; readonly comment: Remark; readonly isReview: boolean };

const COMMAND = /^\s*\/tool(?![\w-])/i;

/** Whether a text begins with `/tool`: bots speak to the agent in no other way. */
export function isCommand(body: string): boolean {
  return COMMAND.test(body);
}

/**
 * Whether a comment speaks to the agent: it begins with `/tool`, or with the name of the daemon's account. Bots greet the
 * author of a pull request by name.
 * @param account login of the daemon's account; null: not known
 */
export function isCall({ body, author }: Pick<Remark, 'author' | 'body'>, account: string | null): boolean {
  if (isCommand(body)) return true;
  if (account === null || account === '' || author?.type === 'Bot') return false;
  const [words, name] = [body.trimStart().toLowerCase(), account.toLowerCase()];
  // An app is called by its name as well as by that of its account.
  const names = [`@${name}`, `@${name.replace(/\[bot\]$/, '')}`];
  return names.some((one) => words.startsWith(one) && !/^[\w[-]/.test(words.slice(one.length)));
}

/** The last review of each person that says yes or no. */
export function verdicts(reviews: readonly Review[]): readonly Review[] {
  const last = new Map<string, Review>();
  for (const review of reviews)
    if (review.verdict !== 'commented') last.set(review.author?.login.toLowerCase() ?? `#${review.id}`, review);
  return [...last.values()];
}

function eventKey(event: FollowEvent): string | null {
  switch (event.kind) {
    case 'review':
      return `review:${event.review.id}`;
    case 'comment':
      return `${event.isReview ? 'review' : 'comment'}:${event.comment.id}`;
    case 'thread':
      return `${threadKey(event.thread)}${event.isAgain ? ':again' : ''}`;
    default:
      return null;
  }
}

function threadKey({ id, comments }: ReviewThread): string {
  return `thread:${comments.at(-1)?.id ?? id}`;
}

/** Threads in which people have the last word. */
function unanswered(threads: readonly ReviewThread[]): readonly ReviewThread[] {
  return threads.filter(
    ({ isResolved, isAnswered, comments }) => !isResolved && isAnswered !== true && comments.length > 0,
  );
}

/** What was not told yet. */
export function wordsOfPeople(
  words: Words,
  handled: readonly string[],
  account: string | null,
): readonly FollowEvent[] {
  const asked = verdicts(words.reviews).filter(({ verdict }) => verdict === 'changes_requested');
  const events: FollowEvent[] = [
    ...asked.map((review): FollowEvent => ({ kind: 'review', review })),
    ...unanswered(words.threads).map((thread): FollowEvent => ({ kind: 'thread', thread, isAgain: false })),
    ...words.reviews
      .filter((review) => !asked.includes(review) && isCall(review, account))
      .map((comment): FollowEvent => ({ kind: 'comment', comment, isReview: true })),
    ...words.comments
      .filter((comment) => isCall(comment, account))
      .map((comment): FollowEvent => ({ kind: 'comment', comment, isReview: false })),
  ];
  return events.filter((event) => !handled.includes(eventKey(event) ?? ''));
}

/** Threads that were told once, and to which the agent gave no answer. */
export function threadsAgain({ threads }: Words, handled: readonly string[]): readonly FollowEvent[] {
  return unanswered(threads).flatMap((thread): FollowEvent[] => {
    const key = threadKey(thread);
    const isDue = handled.includes(key) && !handled.includes(`${key}:again`);
    return isDue ? [{ kind: 'thread', thread, isAgain: true }] : [];
  });
}

/** Keys of words that were told: they start nothing again. */
export function keysOf(events: readonly FollowEvent[]): readonly string[] {
  return events.flatMap((event) => eventKey(event) ?? []);
}

/** Who asked for changes, and is asked to look again. */
export function reviewersOf(events: readonly FollowEvent[]): readonly string[] {
  const logins = events.flatMap((event) => (event.kind === 'review' ? (event.review.author?.login ?? []) : []));
  return [...new Set(logins)];
}
