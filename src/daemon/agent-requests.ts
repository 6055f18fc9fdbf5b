// Requests of an agent to the daemon, for its own attempt and issue only.

import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { failure, messageOf } from '../base/rules/errors.ts';
import { clip, digest, oneLine } from '../base/rules/text.ts';
import type { AgentRequestHandler, Journal, RequestPlace, Tracker, Workspaces, WorkspaceTask } from './ports.ts';
import type { Publisher } from './publish/publish.ts';
import { cutBody, MAX_BODY } from './publish/tracker-texts.ts';
import { FOLLOW_CODES } from './rules/codes/follow-codes.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { Issue } from './rules/issue.ts';
import { openPullRequest, questionStep } from './rules/next-step.ts';
import type { Entry } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';

export type AgentRequestOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly workspaces: Workspaces;
  readonly publisher: Publisher;
  readonly log: Logger;
  readonly issue: Issue;
  readonly task: WorkspaceTask;
};

const MAX_COMMENTS = 20;
const MAX_COMMENTS_SHOWN = 50;
const MAX_REPLIES = 50;

type Answer = Readonly<Record<string, unknown>>;

/** Answers the requests of one attempt, one after the other. */
export function createAgentRequestHandler(options: AgentRequestOptions): AgentRequestHandler {
  const { journal, tracker, workspaces, publisher, log, issue, task } = options;
  /** The question of this attempt. */
  let question: string | null = null;
  /** Keys of the answers of this attempt in review threads. */
  const replies = new Set<string>();

  const entryOf = (): Entry => {
    const entry = journal.state.entries.get(issue.number);
    if (entry === undefined || entry.phase !== 'running' || entry.attempt !== task.attempt) {
      throw failure(WORK_CODES.attempt_over, { attempt: task.attempt, issue: issue.number });
    }
    return entry;
  };

  /** For what hands work over. */
  const requireNoQuestion = () => {
    if (entryOf().question?.isOpen === true) throw failure(WORK_CODES.question_open, { issue: issue.number });
  };

  const requireIssue = (asked: number) => {
    if (asked !== issue.number) {
      const what = refusal(WORK_CODES.other_issue_asked, { issue: issue.number, asked });
      log.log('warn', 'socket', what, { issue: issue.number });
      throw failure(WORK_CODES.wrong_issue, { issue: issue.number, asked });
    }
  };

  const show = async (signal: AbortSignal): Promise<Answer> => {
    const rows: Answer[] = [];
    for (const comment of await tracker.readComments(issue.number, signal)) {
      // Comments of people who may not write here are not passed on: whoever sets work going must be trusted.
      const trusted =
        options.workflow().tracker.trust === 'anyone' ||
        (comment.author !== null && (await tracker.mayWrite(comment.author, signal)));
      if (trusted)
        rows.push({ author: comment.author?.login ?? null, created_at: comment.createdAt, body: comment.body });
    }
    return {
      number: issue.number,
      title: issue.title,
      body: issue.body,
      url: issue.url,
      labels: issue.labels,
      author: issue.author?.login ?? null,
      attempt: task.attempt,
      branch: task.branch,
      comments: rows.slice(-MAX_COMMENTS_SHOWN),
    };
  };

  /** Effects of the comments of this agent, also of those that an earlier daemon posted for it. */
  const commentsOf = (place: RequestPlace | undefined) => {
    const prefix = `comment:${place?.attempt ?? task.attempt}:`;
    const made = Object.entries(entryOf().effects).filter(([key]) => key.startsWith(prefix));
    return { prefix, made: new Map(made) };
  };

  const comment = async (body: string, signal: AbortSignal, place: RequestPlace | undefined): Promise<Answer> => {
    const text = cutBody(body);
    const { prefix, made } = commentsOf(place);
    const end = `:${digest(text)}`;
    // It may stand there although no answer came: the same words again are the same comment.
    const isSame = (state: string) => state === 'started' || place?.isRepeated === true;
    const known = [...made].find(([key, state]) => key.endsWith(end) && isSame(state));
    const key = known?.[0] ?? `${prefix}${place?.number ?? made.size + 1}${end}`;
    if (made.get(key) === 'finished') return { commented: true };
    if (!made.has(key) && made.size >= MAX_COMMENTS) throw failure(WORK_CODES.comment_limit, { limit: MAX_COMMENTS });
    await publisher.comment(entryOf(), key, text, signal, { mayStand: place?.isRepeated === true });
    return { commented: true };
  };

  const head = async (signal: AbortSignal): Promise<string> => {
    const sha = await workspaces.peek(task, signal);
    if (sha === null) throw failure(WORK_CODES.nothing_committed, { branch: task.branch });
    return sha;
  };

  const pullRequest = async (title: string, body: string, signal: AbortSignal): Promise<Answer> => {
    const sha = await head(signal);
    const { follow, pullRequest: followed } = entryOf();
    if (follow !== null && followed !== null) return { ...followed, branch: task.branch };
    requireNoQuestion();
    await journal.append({
      type: 'asked_pull_request',
      issue: issue.number,
      title: clip(title, 300),
      // One more than fits: the note on what was cut is written with the pull request.
      body: clip(body, MAX_BODY + 1),
    });
    const open = openPullRequest(entryOf());
    // Where checks have to pass first, an agent reviews, or other changes come first, it is opened after the attempt.
    const { gate, agent, review } = options.workflow();
    const isLater = gate.mode === 'required' || review.agent !== null || agent.serializePaths.length > 0;
    if (open === null && isLater) return { number: null, url: null, branch: task.branch };
    if (journal.state.entries.get(issue.number)?.effects[`push:${sha}`] !== 'finished')
      await publisher.push(entryOf(), sha, signal);
    const known = openPullRequest(entryOf());
    const { number, url } = known ?? (await publisher.openPullRequest(entryOf(), sha, signal));
    return { number, url, branch: task.branch };
  };

  const done = async (signal: AbortSignal, place: RequestPlace | undefined): Promise<Answer> => {
    const sha = await workspaces.peek(task, signal);
    const hasPosted = () => [...commentsOf(place).made.values()].includes('finished');
    if (sha === null && !hasPosted()) throw failure(WORK_CODES.nothing_committed, { branch: task.branch });
    requireNoQuestion();
    await journal.append({ type: 'asked_done', issue: issue.number });
    return { accepted: true, committed: sha !== null };
  };

  const ask = async (body: string, signal: AbortSignal): Promise<Answer> => {
    const text = cutBody(body);
    entryOf();
    if (question !== null && question !== text) throw failure(WORK_CODES.question_limit, { attempt: task.attempt });
    if (question === null) {
      question = text;
      const label = options.workflow().tracker.questionLabel;
      await journal.append({ type: 'asked_question', issue: issue.number, text, label });
      const words = `issue #${issue.number}: the agent asks: ${oneLine(text)}`;
      log.log('info', 'agent', words, { issue: issue.number });
    }
    try {
      for (let step = questionStep(entryOf()); step !== undefined; step = questionStep(entryOf()))
        await publisher.step(entryOf(), step, signal);
    } catch (error) {
      // It is recorded: what is missing follows when the attempt has ended.
      entryOf();
      const what = refusal(WORK_CODES.question_postponed, { issue: issue.number, said: messageOf(error) });
      log.log('warn', 'publish', what, { issue: issue.number });
    }
    return { asked: true };
  };

  const reply = async (thread: number, body: string, signal: AbortSignal): Promise<Answer> => {
    const entry = entryOf();
    if (entry.follow === null || entry.pullRequest === null)
      throw failure(FOLLOW_CODES.no_pull_request_open, { issue: issue.number });
    const text = cutBody(body);
    // Another attempt of the same round repeats no answer.
    const key = `reply:${entry.follow.rounds}:${thread}:${digest(text)}`;
    if (replies.add(key).size > MAX_REPLIES) throw failure(WORK_CODES.comment_limit, { limit: MAX_REPLIES });
    await publisher.reply(entry, key, thread, text, signal);
    return { replied: true };
  };

  const answer: AgentRequestHandler = (request, signal, place) => {
    if (request.type === 'reply') return reply(request.thread, request.body, signal);
    if (request.type === 'pull_request') return pullRequest(request.title, request.body, signal);
    requireIssue(request.issue);
    if (request.type === 'ask') return ask(request.body, signal);
    if (request.type === 'show') return show(signal);
    if (request.type === 'comment') return comment(request.body, signal, place);
    return done(signal, place);
  };

  let last: Promise<unknown> = Promise.resolve();
  return (...asked) => {
    const next = last.then(() => answer(...asked));
    last = next.catch(() => undefined);
    return next;
  };
}
