// Turns of one attempt: what the agent is told in each, and whether another one follows.

import type { Words } from '../agents/ports.ts';
import type { Round } from '../agents/rules/round.ts';
import type { Journal, Workspaces, WorkspaceTask } from './ports.ts';
import { messagesFor } from './publish/message-text.ts';
import { findingsFor, findingsText } from './publish/review-text.ts';
import { continuation } from './publish/tracker-texts.ts';
import { messagesOf } from './rules/asking.ts';
import { findingsKey } from './rules/review.ts';
import { roundOf, sentBackText, toldOf } from './rules/round.ts';
import type { Entry } from './rules/state.ts';

export type TurnsOptions = {
  readonly journal: Journal;
  readonly workspaces: Pick<Workspaces, 'peek'>;
  readonly task: WorkspaceTask;
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  /** Reads what people wrote on the issue since; never rejects. */
  readonly listen: () => Promise<void>;
};

/** So many turns of an attempt begin because somebody wrote to the agent. What comes then waits for the next attempt. */
const MOST_MESSAGE_TURNS = 20;

export class Turns {
  readonly #options: TurnsOptions;
  #count = 0;
  #toolsThisTurn = 0;
  #idle = 0;
  #messageTurns = 0;
  /** Keys of the messages and findings that the turn under way was given. */
  #given: readonly string[] = [];
  /** Keys of the messages that a team at work was given. */
  #sent: readonly string[] = [];

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  toolStarted(): void {
    this.#toolsThisTurn += 1;
  }

  /** What people wrote since, to be told in the next turn; null: nothing. */
  #messages(): string | null {
    const { journal, task } = this.#options;
    const messages = messagesOf(journal.state, task.issue);
    if (messages.length === 0) return null;
    const { text, keys } = messagesFor(messages);
    this.#given = keys;
    return text;
  }

  /** What people wrote since, for a team at work; null: nothing. */
  takeWords(): Words | null {
    const { journal, task } = this.#options;
    const known = [...this.#given, ...this.#sent];
    const messages = messagesOf(journal.state, task.issue).filter(({ key }) => !known.includes(key));
    if (messages.length === 0) return null;
    const words = messagesFor(messages);
    this.#sent = [...this.#sent, ...words.keys];
    return words;
  }

  /** Those of the keys that a team was given. */
  sentOf(keys: readonly string[]): readonly string[] {
    return this.#sent.filter((key) => keys.includes(key));
  }

  /** The prompt of the first turn, and the round that it is for. */
  first(template: string, entry: Entry): { readonly prompt: string; readonly round: Round } {
    const { journal, task } = this.#options;
    const messages = this.#messages();
    const review = findingsFor(journal.state.entries.get(task.issue));
    if (review !== null) this.#given = [...this.#given, findingsKey(review)];
    const findings = review === null ? null : findingsText(review);
    const told = [toldOf(entry), findings, messages].filter((part) => part !== null);
    // The template may not show why the last attempt failed, or show a later failure.
    const isShown = entry.sentBack === null || template.includes(entry.sentBack);
    const back = isShown ? [] : [sentBackText(entry)];
    return {
      prompt: [template, ...back, ...told].join('\n\n'),
      round: roundOf(entry, told.length === 0 ? null : told.join('\n\n')),
    };
  }

  /** An agent at work goes on, and was not shown what the first turn was given. */
  unheard(): void {
    this.#given = [];
  }

  /** The turn has ended well: what it was given has reached the agent. */
  async ended(): Promise<void> {
    const { journal, task } = this.#options;
    const keys = this.#given;
    this.#given = [];
    if (keys.length > 0) await journal.append({ type: 'delivered', issue: task.issue, keys });
  }

  /** After a turn that ended well: the prompt of the next one, or null. */
  async next(): Promise<string | null> {
    await this.ended();
    this.#count += 1;
    this.#idle = this.#toolsThisTurn === 0 ? this.#idle + 1 : 0;
    this.#toolsThisTurn = 0;
    const messages = this.#messageTurns < MOST_MESSAGE_TURNS ? this.#messages() : null;
    if (messages !== null) {
      this.#messageTurns += 1;
      return messages;
    }
    const next = await this.#continuation();
    if (next !== null) return next;
    await this.#options.listen();
    const late = this.#messageTurns < MOST_MESSAGE_TURNS ? this.#messages() : null;
    if (late !== null) this.#messageTurns += 1;
    return late;
  }

  /** What an agent is told that has not done its task yet. */
  async #continuation(): Promise<string | null> {
    const { journal, workspaces, task, maxTurns, signal } = this.#options;
    const entry = journal.state.entries.get(task.issue);
    const isOver =
      entry?.question?.isOpen === true ||
      entry?.askedDone === true ||
      entry?.askedPullRequest !== null ||
      (await workspaces.peek(task, signal)) !== null;
    // An agent that twice only talked will not begin to work at the third asking.
    return isOver || this.#count >= maxTurns || this.#idle >= 2 ? null : continuation(task.branch);
  }
}
