// JSON as text: where each value stands, so that one can be put in or taken out while all around it stays as it is.

import { failure, messageOf } from '../base/rules/errors.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

type Span = {
  /** Of its first character and behind its last one. */
  readonly start: number;
  readonly end: number;
};

export type Member = Span & { readonly key: string; readonly node: Node };

export type Node =
  | (Span & { readonly kind: 'object'; readonly items: readonly Member[] })
  | (Span & { readonly kind: 'array'; readonly items: readonly Node[] })
  | (Span & { readonly kind: 'plain' });

export type ObjectNode = Extract<Node, { kind: 'object' }>;
export type ArrayNode = Extract<Node, { kind: 'array' }>;

const BLANK = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const PLAIN = /[^\s,\]}]+/y;

/** Reads what `JSON.parse` has found to be right: it need not look for mistakes any more. */
class Scanner {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  /** The next character that is no blank. */
  #next(): string {
    this.#take(BLANK);
    return this.#text.charAt(this.#at);
  }

  value(): Node {
    const first = this.#next();
    const start = this.#at;
    if (first === '{') return { kind: 'object', start, items: this.#items('}', () => this.#member()), end: this.#at };
    if (first === '[') return { kind: 'array', start, items: this.#items(']', () => this.value()), end: this.#at };
    this.#take(first === '"' ? STRING : PLAIN);
    return { kind: 'plain', start, end: this.#at };
  }

  #items<T>(close: string, read: () => T): T[] {
    const items: T[] = [];
    this.#at += 1;
    while (this.#next() !== close) {
      items.push(read());
      if (this.#next() === ',') this.#at += 1;
    }
    this.#at += 1;
    return items;
  }

  #member(): Member {
    const start = this.#at;
    const key = String(JSON.parse(this.#take(STRING)));
    this.#next();
    this.#at += 1;
    const node = this.value();
    return { start, key, node, end: node.end };
  }
}

/**
 * The object that a JSON file holds, with the places of all in it.
 * @param name what errors call the file
 */
export function readJsonObject(text: string, name: string): ObjectNode {
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  try {
    JSON.parse(text.slice(start));
  } catch (error) {
    throw failure(INSTALL_CODES.json_not_valid, { file: name, said: messageOf(error) }, { cause: error });
  }
  const root = new Scanner(text, start).value();
  if (root.kind !== 'object')
    throw failure(INSTALL_CODES.json_wrong_kind, { file: name, expected: 'an object', got: wordOf(root) });
  return root;
}

export function wordOf(node: Node): string {
  return node.kind === 'array' ? 'a list' : node.kind === 'object' ? 'an object' : 'a plain value';
}

export function valueAt(text: string, node: Node): unknown {
  return JSON.parse(text.slice(node.start, node.end));
}

/** The member of that name; a name that is given twice is an error: which one counts is anybody's guess. */
export function memberOf(object: ObjectNode, key: string, name: string): Member | undefined {
  const found = object.items.filter((member) => member.key === key);
  if (found.length > 1) throw failure(INSTALL_CODES.json_key_repeated, { file: name, key, count: found.length });
  return found[0];
}
