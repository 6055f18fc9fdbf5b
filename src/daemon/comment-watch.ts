// Watches the comments on issues at work: answers to a question, and messages to an agent that works.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal, textOf } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { clip } from '../base/rules/text.ts';
import { areHeard } from './heard-words.ts';
import type { IssueComment, Journal, Tracker } from './ports.ts';
import { MAX_MESSAGE, timeWords } from './publish/message-text.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { isCommand } from './rules/follow-events.ts';
import type { Issue } from './rules/issue.ts';
import type { Look } from './rules/look.ts';
import { markerOf, type Question } from './rules/message.ts';
import { isUnpublished, questionKey } from './rules/next-step.ts';
import { isInReview } from './rules/review.ts';
import type { Entry } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';

export type CommentWatchOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly clock: Clock;
  readonly log: Logger;
  /** An issue at work as it was read last. */
  readonly held: (issue: number) => Issue | undefined;
  /** Takes the steps that an issue without an attempt has before it, or has its next attempt begin. */
  readonly settle: (issue: number) => void;
  /** Comments could not be read. */
  readonly onUnread: () => void;
};

/** The version whose comments were read. `met`: when it was seen first, in elapsed time. */
type Reading = { readonly version: string; readonly met: number; readonly readAt: number };

/** The service tells versions apart by the second: what is written in the second of a reading makes no new version. */
const SAME_VERSION_MS = 2_000;

export class CommentWatch {
  readonly #options: CommentWatchOptions;
  readonly #readings = new Map<number, Reading>();
  #watching = false;
  #isAskedAgain = false;

  constructor(options: CommentWatchOptions) {
    this.#options = options;
  }

  /** Looks at every issue whose agent asks or works. A call while that is under way makes it look once more afterwards. */
  async watchAll(signal: AbortSignal): Promise<void> {
    this.#isAskedAgain = true;
    if (this.#watching) return;
    this.#watching = true;
    try {
      while (this.#isAskedAgain && !signal.aborted) {
        this.#isAskedAgain = false;
        const { entries } = this.#options.journal.state;
        for (const issue of this.#readings.keys()) if (!entries.has(issue)) this.#readings.delete(issue);
        for (const entry of [...entries.values()]) if (!signal.aborted) await this.#watch(entry, signal);
      }
    } finally {
      this.#watching = false;
    }
  }

  /** Looks at the issues whose agents ask on a pull request that a delivery names. */
  async watchPulls({ pulls, allPulls }: Look, signal: AbortSignal): Promise<void> {
    for (const { phase, follow, pullRequest } of this.#options.journal.state.entries.values()) {
      const isAsked = phase === 'asking' && follow !== null && pullRequest !== null;
      if (isAsked && (allPulls || pulls.includes(pullRequest.number))) return this.watchAll(signal);
    }
  }

  async #watch(entry: Entry, signal: AbortSignal): Promise<void> {
    const { number: issue } = entry;
    const version = this.#options.held(issue)?.updatedAt;
    if (version === undefined || !this.#isWatched(entry, version)) return;
    await this.#orLater(issue, signal, async () => {
      await this.#read(entry, version, signal);
      await this.#endWait(issue);
    });
  }

  /** Looks at the issue of an agent whose turn has ended, as it is now. */
  look(issue: number, signal: AbortSignal): Promise<void> {
    const { tracker, journal } = this.#options;
    return this.#orLater(issue, signal, async () => {
      const version = (await tracker.readIssue(issue, signal))?.updatedAt;
      const entry = journal.state.entries.get(issue);
      if (version !== undefined && entry !== undefined && this.#isWatched(entry, version))
        await this.#read(entry, version, signal);
    });
  }

  /** What fails is said, and left to the next poll. */
  async #orLater(issue: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const what = refusal(WORK_CODES.comments_unreadable, { issue, said: messageOf(error) });
      if (signal.aborted) return;
      this.#options.log.log('warn', 'poller', what, { issue });
      this.#options.onUnread();
    }
  }

  /** A question waits from the moment that it stands there; finished work, until it is published. */
  #isWatched(entry: Entry, version: string): boolean {
    const { question, effects, phase } = entry;
    if (phase === 'asking') return question !== null && effects[questionKey(question.attempt)] === 'finished';
    const isOpen = phase === 'running' || phase === 'held_back' || isInReview(entry) || isUnpublished(entry);
    return isOpen && entry.version !== '' && version !== entry.version;
  }

  /** In a round on a pull request, the question and its answers may stand there as well. */
  async #read(entry: Entry, issueVersion: string, signal: AbortSignal): Promise<void> {
    const { journal, tracker, clock, log } = this.#options;
    const { number: issue } = entry;
    const onPull = entry.phase === 'asking' && entry.follow !== null ? (entry.pullRequest?.number ?? null) : null;
    const pull = onPull === null ? null : await tracker.feed?.read(onPull, signal);
    const version = pull ? `${issueVersion} ${pull.updatedAt}` : issueVersion;
    const known = this.#readings.get(issue);
    const isSame = known?.version === version;
    if (isSame && known.readAt - known.met >= SAME_VERSION_MS) return;
    const readAt = clock.elapsed();
    const all: IssueComment[] = [];
    for (const place of onPull === null ? [issue] : [issue, onPull])
      all.push(...(await tracker.readComments(place, signal)));
    // The ids of comments grow over the whole repository.
    const heard = await this.#heard(
      entry,
      all.sort((a, b) => a.id - b.id),
      signal,
    );
    // If the issue has moved on meanwhile, the next poll reads again.
    const now = journal.state.entries.get(issue);
    if (signal.aborted || now?.phase !== entry.phase || now.heard !== entry.heard) return;
    if (!this.#isWatched(now, issueVersion)) return;
    this.#readings.set(issue, { version, met: isSame ? known.met : readAt, readAt });
    if (heard.length === 0) return;
    const messages = heard.map(({ author, body }) => ({
      author: author?.login ?? 'somebody',
      text: clip(body, MAX_MESSAGE),
    }));
    const last = Math.max(...heard.map(({ id }) => id));
    await journal.append({ type: 'messages', issue, messages, heard: last });
    const names = [...new Set(messages.map(({ author }) => author))].join(', ');
    log.log('info', 'poller', `issue #${issue}: the agent gets a comment of ${names}`, { issue });
    this.#options.settle(issue);
  }

  /** New comments of people who may write to the repository. Where a question is open, one of them must come after it. */
  async #heard(entry: Entry, all: readonly IssueComment[], signal: AbortSignal): Promise<readonly IssueComment[]> {
    const { question } = entry;
    const asked = question?.isOpen === true ? await this.#asked(entry, all, question, signal) : null;
    const heard: IssueComment[] = [];
    let isAnswered = asked === null;
    for (const comment of all) {
      const isAnswer = asked?.has(comment.id) === true;
      const isNew = isAnswer || (entry.version !== '' && comment.createdAt > entry.version);
      if (!isNew || comment.id <= entry.heard || !(await this.#isHeard(comment, signal))) continue;
      heard.push(comment);
      isAnswered ||= isAnswer;
    }
    return isAnswered ? heard : [];
  }

  /** Ids of the comments after the one that asks; where that does not stand there, the time tells. */
  async #asked(
    entry: Entry,
    all: readonly IssueComment[],
    { attempt, at }: Question,
    signal: AbortSignal,
  ): Promise<ReadonlySet<number>> {
    const marker = `toolcrew:${markerOf(entry, questionKey(attempt))} `;
    // Anybody can write such a marker.
    const isAsked = async ({ author, body }: IssueComment) =>
      body.includes(marker) && author !== null && (await this.#options.tracker.mayWrite(author, signal));
    let place = -1;
    for (const [index, comment] of all.entries()) if (place === -1 && (await isAsked(comment))) place = index;
    const after = place === -1 ? all.filter(({ createdAt }) => Date.parse(createdAt) >= at) : all.slice(place + 1);
    return new Set(after.map(({ id }) => id));
  }

  /** Bots comment on much: theirs count when they begin with `/tool`. */
  async #isHeard(comment: IssueComment, signal: AbortSignal): Promise<boolean> {
    if (comment.author?.type === 'Bot' && !isCommand(comment.body)) return false;
    return areHeard(this.#options.tracker, comment, signal);
  }

  /** Nobody has answered for so long: the issue is given up. */
  async #endWait(issue: number): Promise<void> {
    const { journal, clock, log, workflow, settle } = this.#options;
    const entry = journal.state.entries.get(issue);
    const { answerTimeoutMs } = workflow().follow;
    if (entry?.phase !== 'asking' || entry.question === null || answerTimeoutMs === 0) return;
    if (clock.now() - entry.question.at < answerTimeoutMs) return;
    const what = refusal(WORK_CODES.question_unanswered, { time: timeWords(answerTimeoutMs) });
    log.log('warn', 'poller', what, { issue });
    await journal.append({ type: 'unanswered', issue, reason: textOf(what) });
    settle(issue);
  }
}
