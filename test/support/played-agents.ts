// Agents whose model is played: each is written as one function, from its first request to its last word.

import type { Block, ModelRequest, Outcome, Reply, Script } from './model-server.ts';
import { say } from './model-server.ts';

export type Call = { readonly name: string; readonly input: unknown };

type Turn = { readonly request: ModelRequest; readonly answer: (reply: Reply) => void };

let calls = 0;

/** Ids are never given twice: hosts look calls up by them. */
function nextId(): string {
  calls += 1;
  return `toolu_${calls.toString().padStart(4, '0')}${Math.random().toString(36).slice(2, 10)}`;
}

/** A host rests some ten times before it ends a turn that a hook rejects. */
const MOST_RESTS = 60;

/** One agent's conversation. */
export class Conversation {
  readonly who: string;
  readonly #turns: Turn[] = [];
  #wanted: (() => void) | undefined;
  #turn: Turn | undefined;
  #isOver = false;

  constructor(who: string) {
    this.who = who;
  }

  /** What has come since the last reply. */
  get news(): ModelRequest['news'] {
    return this.request.news;
  }

  get request(): ModelRequest {
    if (this.#turn === undefined) throw new Error(`${this.who} has not been asked`);
    return this.#turn.request;
  }

  async begin(): Promise<void> {
    this.#turn = await this.#next();
  }

  /** Calls one tool; gives what came of it. */
  async use(name: string, input: unknown): Promise<Outcome> {
    const [outcome] = await this.all([{ name, input }]);
    if (outcome === undefined) throw new Error(`${this.who}: ${name} has no result`);
    return outcome;
  }

  /** Calls several in one message. */
  async all(list: readonly Call[]): Promise<readonly Outcome[]> {
    const content = list.map(({ name, input }): Block => ({ type: 'tool_use', id: nextId(), name, input }));
    await this.#reply({ content });
    const { outcomes } = this.news;
    return content.map((block) => {
      const outcome = outcomes.find(({ id }) => block.type === 'tool_use' && id === block.id);
      if (outcome === undefined)
        throw new Error(`${this.who}: no result of ${JSON.stringify(block)} in ${this.news.text}`);
      return outcome;
    });
  }

  /** Ends its turn; resolves when something wakes it, which may be never. */
  async say(text: string): Promise<string> {
    await this.#reply(say(text));
    return this.news.text;
  }

  /** Says the same until it was told that; what it heard instead fails the test, since other words would never come. */
  async hears(told: RegExp, words: string): Promise<string> {
    const heard: string[] = [];
    for (let rest = 0; rest < MOST_RESTS; rest += 1) {
      heard.push(await this.say(words));
      if (told.test(heard.at(-1) ?? '')) return heard.join('\n');
    }
    throw new Error(`not told ${told} in ${MOST_RESTS} rests, but:\n${heard.slice(-3).join('\n---\n')}`);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The last call, after which the host ends it. */
  endBy(name: string, input: unknown): void {
    this.#isOver = true;
    this.#turn?.answer({ content: [{ type: 'tool_use', id: nextId(), name, input }] });
    this.#turn = undefined;
  }

  /** The last word; whatever comes after it is answered as shortly. */
  end(text: string): void {
    this.#isOver = true;
    this.#turn?.answer(say(text));
    for (const turn of this.#turns.splice(0)) turn.answer(say('Done.'));
  }

  take(request: ModelRequest): Promise<Reply> {
    if (this.#isOver) return Promise.resolve(say('Done.'));
    return new Promise((answer) => {
      this.#turns.push({ request, answer });
      this.#wanted?.();
    });
  }

  async #reply(reply: Reply): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    turn?.answer(reply);
    this.#turn = await this.#next();
  }

  async #next(): Promise<Turn> {
    if (this.#turns.length === 0)
      await new Promise<void>((resolve) => {
        this.#wanted = resolve;
      });
    this.#wanted = undefined;
    const turn = this.#turns.shift();
    if (turn === undefined) throw new Error(`${this.who} was woken by nothing`);
    return turn;
  }
}

/** What an agent does, until its last word. */
export type Part = (agent: Conversation) => Promise<string>;

export const LEAD = 'team-lead';

/** A teammate's own text is the system prompt of its requests. */
function whoAsks({ system }: ModelRequest): string {
  return /You are `([\w-]+)`/.exec(system)?.[1] ?? LEAD;
}

/** What the host asks for itself; at a screen, what the user might type next, and what an agent is at. */
function isAside({ tools, news }: ModelRequest): boolean {
  return (
    tools.length === 0 ||
    news.text.includes('[SUGGESTION MODE') ||
    news.text.includes('Describe your most recent action')
  );
}

export type Play = {
  readonly script: Script;
  /** Rejects as soon as a part fails; never resolves. */
  readonly failed: Promise<never>;
  /** Who has begun and not come to its end. */
  readonly unfinished: () => readonly string[];
};

/** @param parts by the names of the teammates; the lead's by `team-lead` */
export function playAgents(parts: Readonly<Record<string, Part>>): Play {
  const conversations = new Map<string, Conversation>();
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);

  const run = async (conversation: Conversation, part: Part): Promise<void> => {
    try {
      await conversation.begin();
      conversation.end(await part(conversation));
    } catch (error) {
      fail(error);
      conversation.end('The script of this agent failed.');
    }
  };
  const conversationOf = (who: string): Conversation => {
    const known = conversations.get(who);
    if (known !== undefined) return known;
    const conversation = new Conversation(who);
    conversations.set(who, conversation);
    const part = parts[who];
    if (part === undefined) {
      fail(new Error(`${who} asks its model, and has no part`));
      conversation.end('');
    } else void run(conversation, part);
    return conversation;
  };
  return {
    failed,
    unfinished: () => [...conversations].flatMap(([who, { isOver }]) => (isOver ? [] : [who])),
    script: (request) => (isAside(request) ? say('aside') : conversationOf(whoAsks(request)).take(request)),
  };
}

export type Gate = { readonly open: () => void; readonly opened: Promise<void> };

/** Holds everybody back until somebody opens it. */
export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Holds everybody back until so many are there. */
export function barrier(size: number): () => Promise<void> {
  const { open, opened } = gate();
  let count = 0;
  return () => {
    count += 1;
    if (count === size) open();
    return opened;
  };
}
