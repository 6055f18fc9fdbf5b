// Hands the work of an issue over: branch, pull request, comment, labels. Each step is an effect that can be repeated.

import type { Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { assertNever, messageOf } from '../../base/rules/errors.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import { perform, wasCutOff } from '../effects.ts';
import type { AttemptOutputs, Journal, KeptWork, Tracker, WorkGate, Workspaces, WorkspaceTask } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { evidenceLine } from '../rules/evidence-line.ts';
import { reactionTo } from '../rules/failure-answers.ts';
import { markerOf } from '../rules/message.ts';
import { dropQuestion, pullRequestKey, questionKey, type Step } from '../rules/next-step.ts';
import type { PullRequest } from '../rules/record.ts';
import { shownReview } from '../rules/review.ts';
import type { Entry } from '../rules/state.ts';
import type { Workflow } from '../rules/workflow.ts';
import { withEvidence } from './evidence-text.ts';
import { followStoppedComment } from './follow-text.ts';
import { questionComment } from './message-text.ts';
import { withReview } from './review-text.ts';
import { gaveUpComment, pullRequestBody, pullRequestTitle } from './tracker-texts.ts';

export type PublisherOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly workspaces: Workspaces;
  readonly gate: WorkGate;
  readonly attemptOutputs: Pick<AttemptOutputs, 'open'>;
  readonly log: Logger;
};

type EffectStep = Exclude<Step, { kind: 'observe' | 'review' | 'send_back' | 'conclude' | 'take_base' | 'serialize' }>;

/** The text of a pull request below what the checks and the reviewer said. */
function withShown(body: string, entry: Entry, sha: string | null): string {
  const review = shownReview(entry);
  const reviewed = review === null ? body : withReview(body, review);
  const { evidence, askedDone, claim: words } = entry;
  return evidence?.commit === sha ? withEvidence(reviewed, evidence, { askedDone, words }) : reviewed;
}

/** A workspace task for what happens outside of an attempt: nothing listens to it. */
export function quietTask(entry: Entry): WorkspaceTask {
  return {
    issue: entry.number,
    life: entry.life,
    attempt: entry.attempt,
    branch: entry.branch,
    env: {},
    output: () => undefined,
  };
}

/** Says what was measured, and writes it down: the commit is not measured again. */
export async function noteEvidence(
  { journal, log }: Pick<PublisherOptions, 'journal' | 'log'>,
  issue: number,
  evidence: Evidence,
): Promise<void> {
  const { unmeasured } = evidence;
  if (unmeasured === null) log.log('info', 'publish', `issue #${issue}: ${evidenceLine(evidence)}`, { issue });
  else log.log('warn', 'publish', refusal(WORK_CODES.gate_unusable, { issue, said: unmeasured }), { issue });
  await journal.append({ type: 'measured', issue, evidence });
}

export class Publisher {
  readonly #options: PublisherOptions;
  /** Issues that an earlier process began with: its last records may be lost. */
  readonly #found: ReadonlySet<number>;
  #tell: () => void = () => undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#found = new Set(options.journal.state.entries.keys());
  }

  /** Calls the listener whenever a measurement has said something. */
  onChange(listener: () => void): void {
    this.#tell = listener;
  }

  /** Measures the commit. A measurement that fails is no failure of the work. */
  async #measure(entry: Entry, sha: string, key: string, signal: AbortSignal): Promise<void> {
    const { journal, workspaces, gate, log, workflow } = this.#options;
    const { number: issue } = entry;
    await perform(journal, issue, 'gate', key, async () => {
      const base = await workspaces.baseOf(quietTask(entry), sha, signal);
      const output = this.#options.attemptOutputs.open(issue, entry.life, entry.attempt);
      const write = (text: string) => {
        output.write(text);
        this.#tell();
      };
      write('--- gate\n');
      try {
        const path = workspaces.pathOf(issue);
        const { timeoutMs } = workflow().gate;
        const request = { issue, path, commit: sha, base, timeoutMs, output: write };
        const evidence = await gate.measure(request, signal);
        await noteEvidence({ journal, log }, issue, evidence);
        this.#tell();
      } finally {
        output.close();
      }
    });
  }

  /** Writes what was measured and found into the pull request, in the place of what an earlier commit had there. */
  async #showEvidence(entry: Entry, key: string, signal: AbortSignal): Promise<void> {
    const { journal, tracker } = this.#options;
    const { pullRequest } = entry;
    await perform(journal, entry.number, 'evidence', key, async () => {
      if (pullRequest === null) return;
      await tracker.rewritePullRequest(pullRequest.number, (body) => withShown(body, entry, entry.head), signal);
    });
  }

  async push(entry: Entry, sha: string, signal: AbortSignal): Promise<void> {
    const { journal, workspaces } = this.#options;
    const others = entry.follow?.others ?? [];
    const ours = entry.pushed.filter((commit) => !others.includes(commit));
    await perform(
      journal,
      entry.number,
      'push',
      `push:${sha}`,
      () => workspaces.push(quietTask(entry), sha, ours, signal, others.at(-1)),
      () => ({ sha }),
    );
  }

  /** Opens the pull request for `sha` on the branch, or finds the one that is open. */
  async openPullRequest(entry: Entry, sha: string, signal: AbortSignal): Promise<PullRequest> {
    const { journal } = this.#options;
    return perform(
      journal,
      entry.number,
      'pull_request',
      pullRequestKey(entry),
      () => this.#findOrCreate(entry, sha, signal),
      ({ number, url }) => ({ number, url }),
    );
  }

  async #findOrCreate(entry: Entry, sha: string, signal: AbortSignal): Promise<PullRequest> {
    const { tracker, workspaces, workflow } = this.#options;
    const open = await tracker.findPullRequest(entry.branch, signal);
    if (open !== null) return open;
    const messages = await workspaces.commitMessages(quietTask(entry), sha, signal);
    const asked = entry.askedPullRequest ?? undefined;
    const body = pullRequestBody(asked?.body, messages, entry, await workspaces.pullRequestTemplate(signal));
    const request = {
      branch: entry.branch,
      base: await workspaces.defaultBranch(signal),
      title: pullRequestTitle(asked?.title, messages, entry),
      body: withShown(body, entry, sha),
      draft: workflow().tracker.draft,
    };
    try {
      return await tracker.createPullRequest(request, signal);
    } catch (error) {
      // Somebody may have opened it at this very moment; or the service had done so when the connection was cut.
      const reaction = reactionTo('pull_request', error);
      if (reaction.do !== 'retry') throw error;
      const now = await tracker.findPullRequest(entry.branch, signal);
      if (now !== null) return now;
      if (reaction.first === 'plain' && request.draft) {
        const what = refusal(WORK_CODES.draft_refused, { issue: entry.number });
        this.#options.log.log('warn', 'publish', what, { issue: entry.number });
        return tracker.createPullRequest({ ...request, draft: false }, signal);
      }
      if (reaction.first !== 'nothing') await this.#renew(entry, sha, signal);
      throw error;
    }
  }

  /** Before the next try: the branch may be gone from the remote, and the default branch may have another name. */
  async #renew(entry: Entry, sha: string, signal: AbortSignal): Promise<void> {
    const { workspaces } = this.#options;
    workspaces.outdate();
    await workspaces.refresh(signal);
    await this.push(entry, sha, signal);
  }

  /**
   * Posts a comment once: after a crash or a failure in the middle, the tracker is asked whether it stands there.
   * @param how `mayStand`: it is asked in any case; `on`: number of the issue or pull request, the entry's issue otherwise
   */
  async comment(
    entry: Entry,
    key: string,
    body: string,
    signal: AbortSignal,
    { on = entry.number, mayStand = false }: { readonly on?: number | undefined; readonly mayStand?: boolean } = {},
  ): Promise<void> {
    const { journal, tracker } = this.#options;
    const marker = markerOf(entry, key);
    const isUnsure = mayStand || wasCutOff(journal, entry.number, key);
    await perform(journal, entry.number, 'comment', key, async () => {
      if (isUnsure && (await tracker.hasComment(on, marker, signal))) return;
      await tracker.addComment(on, body, marker, signal);
    });
  }

  /** Answers in a review thread once. */
  async reply(entry: Entry, key: string, thread: number, body: string, signal: AbortSignal): Promise<void> {
    const { journal, tracker } = this.#options;
    const { pullRequest } = entry;
    const marker = markerOf(entry, key);
    await perform(journal, entry.number, 'reply', key, async () => {
      if (pullRequest !== null) await tracker.feed?.reply(pullRequest.number, thread, body, marker, signal);
    });
  }

  /** On the pull request, not on the issue: whoever reviews it reads there. */
  async #sayStopped(entry: Entry, key: string, signal: AbortSignal): Promise<void> {
    const body = followStoppedComment(entry.follow?.stopped ?? '');
    const mayStand = this.#found.has(entry.number);
    await this.comment(entry, key, body, signal, { on: entry.pullRequest?.number, mayStand });
  }

  /** Where what it holds cannot be read, the workspace is named all the same. */
  async #kept(entry: Entry, signal: AbortSignal): Promise<KeptWork> {
    const { workspaces, log } = this.#options;
    const issue = entry.number;
    try {
      return await workspaces.kept(quietTask(entry), signal);
    } catch (error) {
      signal.throwIfAborted();
      const what = refusal(WORK_CODES.kept_work_unreadable, { issue, said: messageOf(error) });
      log.log('warn', 'publish', what, { issue });
      return { directories: [workspaces.pathOf(issue)], heads: [], refs: [] };
    }
  }

  async #say(entry: Entry, key: string, signal: AbortSignal): Promise<void> {
    const { labels, follow } = this.#options.workflow();
    const { question } = entry;
    const mayStand = this.#found.has(entry.number);
    if (question !== null && key === questionKey(question.attempt)) {
      const onPull = entry.follow === null ? undefined : entry.pullRequest?.number;
      const body = questionComment(question, follow.answerTimeoutMs, onPull === undefined ? labels.failed : null);
      return this.comment(entry, key, body, signal, { on: onPull, mayStand });
    }
    if (entry.phase === 'following') return this.#sayStopped(entry, key, signal);
    const body = gaveUpComment(entry, labels, await this.#kept(entry, signal));
    return this.comment(entry, key, body, signal, { mayStand });
  }

  /** Takes the label of a question off an issue that is over; where that fails, the label stays. False: the signal ended it. */
  async dropQuestion(entry: Entry, signal: AbortSignal): Promise<boolean> {
    const { number: issue, question } = entry;
    const step = dropQuestion({ ...entry, question: question === null ? null : { ...question, isOpen: false } });
    if (step === undefined) return true;
    try {
      await this.step(entry, step, signal);
    } catch (error) {
      if (signal.aborted) return false;
      const what = refusal(WORK_CODES.question_label_kept, { issue, said: messageOf(error) });
      this.#options.log.log('warn', 'publish', what, { issue });
    }
    return true;
  }

  /** Performs one step of an issue whose attempts are over. */
  async step(entry: Entry, step: EffectStep, signal: AbortSignal): Promise<void> {
    const { journal, tracker } = this.#options;
    const issue = entry.number;
    switch (step.kind) {
      case 'gate':
        return this.#measure(entry, step.sha, step.key, signal);
      case 'evidence':
        return this.#showEvidence(entry, step.key, signal);
      case 'push':
        return this.push(entry, step.sha, signal);
      case 'pull_request':
        await this.openPullRequest(entry, entry.head ?? '', signal);
        return;
      case 'review_request': {
        const { pullRequest } = entry;
        return perform(journal, issue, 'review_request', step.key, async () => {
          if (pullRequest !== null) await tracker.feed?.requestReview(pullRequest.number, step.reviewers, signal);
        });
      }
      case 'comment':
        return this.#say(entry, step.key, signal);
      case 'label_add':
        return perform(journal, issue, 'label_add', step.key, () => tracker.addLabel(issue, step.label, signal));
      case 'label_remove':
        return perform(journal, issue, 'label_remove', step.key, () => tracker.removeLabel(issue, step.label, signal));
      default:
        return assertNever(step);
    }
  }
}
