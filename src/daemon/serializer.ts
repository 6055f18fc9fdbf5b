// Publishes changes of the same serialized paths one after the other: holds back, lets go, takes in the base.

import type { Logger } from '../base/ports.ts';
import { refusal, textOf } from '../base/rules/codes.ts';
import { isFailure } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { perform } from './effects.ts';
import { reasonOf } from './intake.ts';
import { OpenPulls, type OpenPullsOptions } from './open-pulls.ts';
import type { AttemptOutputs, TakenBase, Workspaces } from './ports.ts';
import { baseConflictText } from './publish/follow-text.ts';
import { quietTask } from './publish/publish.ts';
import { Rivals } from './rivals.ts';
import { SERIAL_CODES } from './rules/codes/serial-codes.ts';
import { WORKSPACES_CODES } from './rules/codes/workspaces-codes.ts';
import { type Issue, issueOf, priorityOf } from './rules/issue.ts';
import type { Look } from './rules/look.ts';
import type { OpenPull, Touch } from './rules/record.ts';
import { awaitedPulls, heldBackBy, nextRelease, openPullOf, touchesOf } from './rules/serialize.ts';
import type { Entry } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';

export type SerializerOptions = OpenPullsOptions & {
  readonly workflow: () => Workflow;
  readonly workspaces: Pick<Workspaces, 'changedPaths' | 'takeBase' | 'branches' | 'conflicts' | 'defaultBranch'>;
  readonly attemptOutputs: Pick<AttemptOutputs, 'open'>;
  readonly log: Logger;
  /** An issue at work as it was read last. */
  readonly held: (issue: number) => Issue | undefined;
  /** Takes the steps that an issue without an attempt has before it. */
  readonly settle: (issue: number) => void;
};

/** So many paths of a conflict are named. */
const PATHS_SHOWN = 20;

export class Serializer {
  readonly #options: SerializerOptions;
  readonly #openPulls: OpenPulls;
  readonly rivals: Rivals;

  constructor(options: SerializerOptions) {
    this.#options = options;
    this.#openPulls = new OpenPulls(options);
    this.rivals = new Rivals(options.journal, options.workspaces);
  }

  /** Records which serialized paths the commit touches: the journal decides whether it waits. */
  async check(entry: Entry, sha: string, signal: AbortSignal): Promise<void> {
    const { journal, workspaces, workflow, log } = this.#options;
    const { number: issue } = entry;
    const paths = await workspaces.changedPaths(quietTask(entry), sha, signal);
    const touched = touchesOf(paths, workflow().agent.serializePaths);
    if (entry.follow === null) await this.#lookAtOwn(entry, sha, touched, signal);
    if (touched.length > 0) await this.#survey(entry, signal);
    signal.throwIfAborted();
    await journal.append({ type: 'touched', issue, sha, touched });
    const isHeldBack = () => journal.state.entries.get(issue)?.phase === 'held_back';
    if (!isHeldBack()) return;
    // While nobody waited, nobody asked: what it waits for may be over.
    await this.#openPulls.look(awaitedPulls(journal.state, issue), signal);
    await this.release();
    const now = journal.state.entries.get(issue);
    if (now === undefined || !isHeldBack()) return;
    log.log('info', 'publish', `issue #${issue} waits: ${reasonOf([heldBackBy(journal.state, now)])}`, { issue });
  }

  /** Whether the issue's own pull request is still open. One from before its paths were serialized is made known. */
  async #lookAtOwn(entry: Entry, sha: string, touched: readonly Touch[], signal: AbortSignal): Promise<void> {
    const { journal, tracker } = this.#options;
    const { number: issue, branch, pullRequest } = entry;
    const known = openPullOf(journal.state, entry);
    if (known !== undefined) return this.#openPulls.look([known], signal);
    if (pullRequest === null || touched.length === 0) return;
    const pull = await tracker.findPullRequest(branch, signal);
    if (pull === null) return;
    const { number, url } = pull;
    const pulls = [{ number, url, issue, branch, head: entry.pushed.at(-1) ?? sha, touched }];
    await journal.append({ type: 'surveyed', issue, globs: journal.state.surveyed, pulls });
  }

  /** Serialized paths that a branch of another issue touches. One without a commit of the base cannot be compared. */
  async #touchesOf(entry: Entry, branch: string, head: string, signal: AbortSignal): Promise<readonly Touch[]> {
    const { workspaces, workflow, log } = this.#options;
    try {
      const paths = await workspaces.changedPaths(quietTask(entry), head, signal);
      return touchesOf(paths, workflow().agent.serializePaths);
    } catch (error) {
      if (!isFailure(error, WORKSPACES_CODES.history_unrelated)) throw error;
      log.log('warn', 'publish', refusal(SERIAL_CODES.branch_not_compared, { branch }), { issue: entry.number });
      return [];
    }
  }

  /** Once for each set of globs: pull requests of which the journal does not know what they touch. */
  async #survey(entry: Entry, signal: AbortSignal): Promise<void> {
    const { journal, workspaces, workflow, tracker } = this.#options;
    const globs = workflow().agent.serializePaths;
    if (globs.every((glob) => journal.state.surveyed.includes(glob))) return;
    const { branchPrefix } = workflow().workspace;
    const known = new Map([...journal.state.open.values()].map((pull) => [pull.branch, pull]));
    const pulls: OpenPull[] = [];
    for (const [branch, head] of await workspaces.branches(branchPrefix)) {
      const issue = issueOf(branchPrefix, branch);
      if (issue === null || issue === entry.number) continue;
      const touched = await this.#touchesOf(entry, branch, head, signal);
      if (touched.length === 0) continue;
      const pull = known.get(branch) ?? (await tracker.findPullRequest(branch, signal));
      if (pull !== null) pulls.push({ number: pull.number, url: pull.url, issue, branch, head, touched });
    }
    await journal.append({ type: 'surveyed', issue: entry.number, globs, pulls });
  }

  /** Takes the base in after a wait. A conflict goes to the agent of the issue, so often as a followed pull request may. */
  async takeBase(entry: Entry, key: string, signal: AbortSignal): Promise<void> {
    const { journal, workspaces, workflow, log } = this.#options;
    const { number: issue, branch } = entry;
    const { conflicts } = await perform(
      journal,
      issue,
      'take_base',
      key,
      () => this.#takeBase(entry, signal),
      ({ head, conflicts: paths }) => ({ sha: head, conflicts: paths.length }),
    );
    if (conflicts.length === 0) return;
    const { maxRounds: rounds } = workflow().follow;
    const done = entry.serial?.rounds ?? 0;
    const paths = conflicts.slice(0, PATHS_SHOWN).map((path) => oneLine(path, 200));
    const isOver = done >= rounds;
    const why = isOver
      ? refusal(SERIAL_CODES.base_rounds_exhausted, { rounds, paths })
      : refusal(SERIAL_CODES.base_conflicts, { round: done + 1, rounds, paths });
    const told = baseConflictText(branch, await workspaces.defaultBranch(signal), paths);
    log.log('warn', 'publish', why, { issue });
    await journal.append({
      ...{ type: 'base_conflict', issue, reason: textOf(why), told },
      next: isOver ? 'give_up' : 'retry',
    });
  }

  async #takeBase(entry: Entry, signal: AbortSignal): Promise<TakenBase> {
    const { workspaces, attemptOutputs } = this.#options;
    const output = attemptOutputs.open(entry.number, entry.life, entry.attempt);
    output.write('--- take_base\n');
    try {
      return await workspaces.takeBase({ ...quietTask(entry), output: (text) => output.write(text) }, signal);
    } finally {
      output.close();
    }
  }

  /** Lets every issue go on that nothing holds back any more, by priority, then the oldest first. */
  async release(): Promise<void> {
    const { journal, workflow, held, settle, log } = this.#options;
    const { serializePaths, priorityLabels } = workflow().agent;
    const rankOf = (issue: number) => {
      const read = held(issue);
      return read === undefined ? priorityLabels.length : priorityOf(read, priorityLabels);
    };
    const next = () => nextRelease(journal.state, serializePaths, rankOf);
    for (let one = next(); one !== null; one = next()) {
      const { issue, touched } = one;
      await journal.append({ type: 'released', issue, touched });
      log.log('info', 'publish', `issue #${issue} waits no longer: the base is taken in`, { issue });
    }
    // One whose last step was just ending when it was released is begun at the next call.
    for (const { number, phase, serial } of journal.state.entries.values())
      if (phase === 'publishing' && serial?.isBehind === true) settle(number);
  }

  /** Asks of the pull requests that somebody waits for. @param look names those to ask of; null: all */
  async watch(look: Look | null, signal: AbortSignal): Promise<void> {
    const { journal } = this.#options;
    const pulls = new Map([...awaitedPulls(journal.state), ...this.rivals.found].map((pull) => [pull.number, pull]));
    const isMeant = ({ number }: OpenPull) => look === null || look.allPulls || look.pulls.includes(number);
    await this.#openPulls.look([...pulls.values()].filter(isMeant), signal);
    await this.release();
  }
}
