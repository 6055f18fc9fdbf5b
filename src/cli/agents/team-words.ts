// Texts of people for a team at work: they become messages of the lead to all members, and instructions of members that start later.

import { messageOf } from '../../base/rules/errors.ts';
import { readTeamWords, type TeamWords } from '../../daemon/runners/team-wire.ts';
import type { TeamContext } from '../../team/operations/context.ts';
import { operate } from '../../team/operations/operations.ts';
import type { TeamLog } from '../../team/ports.ts';
import { EVERYBODY, LEAD } from '../../team/rules/message.ts';

const LOOK_MS = 500;

/** Sessions in which members still take up work. */
const AT_WORK: ReadonlySet<string> = new Set(['assigned', 'spawned', 'working', 'fallback']);

type Sent = { readonly keys: readonly string[]; readonly seq: number };

export class WordsForTeam {
  readonly #context: TeamContext;
  readonly #log: TeamLog;
  /** Called with the keys of texts that a member was shown. */
  readonly #onHeard: (keys: readonly string[]) => void;
  readonly #say: (words: string) => void;
  readonly #timer: NodeJS.Timeout;
  #texts: readonly string[] = [];
  #waiting: readonly TeamWords[] = [];
  #sent: readonly Sent[] = [];
  #isLooking = false;

  constructor(
    context: TeamContext,
    log: TeamLog,
    onHeard: (keys: readonly string[]) => void,
    say: (words: string) => void,
  ) {
    this.#context = context;
    this.#log = log;
    this.#onHeard = onHeard;
    this.#say = say;
    // An earlier process may have sent some.
    this.#texts = log.state.messages.flatMap(({ from, to, type, content }) =>
      from === LEAD && to === EVERYBODY && type === 'progress' && typeof content === 'string' ? [content] : [],
    );
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  /** All texts so far. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  /** Takes the lines that the daemon writes, up to the end. */
  async listen(next: () => Promise<string>): Promise<void> {
    for (let line = await next(); line !== ''; line = await next()) {
      const words = readTeamWords(line);
      if (words !== null) this.#waiting = [...this.#waiting, words];
    }
  }

  /** What fails is tried again at the next look. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#send();
      this.#reportHeard();
    } catch (error) {
      this.#say(messageOf(error));
    } finally {
      this.#isLooking = false;
    }
  }

  get #isAtWork(): boolean {
    const { session, members } = this.#log.state;
    return AT_WORK.has(session) && [...members.values()].some(({ phase }) => phase === 'working' || phase === 'idle');
  }

  async #send(): Promise<void> {
    const [first, ...rest] = this.#waiting;
    if (first === undefined || !this.#isAtWork) return;
    const { team } = this.#log.state;
    const message = { recipient: EVERYBODY, type: 'progress', content: first.text };
    await operate(this.#context, 'SendMessage', message, { kind: 'environment', team, teammate: null });
    this.#log.refresh();
    const sent = this.#log.state.messages.findLast(({ content }) => content === first.text);
    this.#waiting = rest;
    this.#texts = [...this.#texts, first.text];
    this.#sent = [...this.#sent, { keys: first.keys, seq: sent?.seq ?? 0 }];
  }

  /** A member that is asked to end reads its mail without a turn. */
  #reportHeard(): void {
    if (!this.#isAtWork) return;
    const { messages, members, unread } = this.#log.state;
    const isHeard = ({ seq }: Sent) =>
      [...members.values()].some(
        ({ name, phase, shutdown }) =>
          (phase === 'working' || phase === 'idle') &&
          shutdown === null &&
          messages[seq - 1] !== undefined &&
          unread.get(name)?.includes(seq) !== true,
      );
    for (const one of this.#sent.filter(isHeard)) this.#onHeard(one.keys);
    this.#sent = this.#sent.filter((one) => !isHeard(one));
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
