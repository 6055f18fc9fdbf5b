// JSON as text: where each value stands, so that one can be put in or taken out while all around it stays as it is.

import { type Node as Parsed, parseTree } from 'jsonc-parser';
import { failure, messageOf } from '../base/rules/errors.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

type Span = {
  /** Of its first character and behind its last one. */
  readonly start: number;
  readonly end: number;
};

export type JsonMember = Span & { readonly key: string; readonly node: JsonNode };

export type JsonNode =
  | (Span & { readonly kind: 'object'; readonly items: readonly JsonMember[] })
  | (Span & { readonly kind: 'array'; readonly items: readonly JsonNode[] })
  | (Span & { readonly kind: 'plain' });

export type ObjectNode = Extract<JsonNode, { kind: 'object' }>;
export type ArrayNode = Extract<JsonNode, { kind: 'array' }>;

/** @param from where the text that was parsed begins in the file */
function placed(parsed: Parsed, from: number): JsonNode {
  const { type, offset, length, children = [] } = parsed;
  const span = { start: from + offset, end: from + offset + length };
  if (type === 'array') return { kind: 'array', ...span, items: children.map((child) => placed(child, from)) };
  if (type !== 'object') return { kind: 'plain', ...span };
  const items = children.flatMap(({ children: [key, value] = [] }): JsonMember[] => {
    if (key === undefined || value === undefined) return [];
    const node = placed(value, from);
    return [{ start: from + key.offset, end: node.end, key: String(key.value), node }];
  });
  return { kind: 'object', ...span, items };
}

/**
 * The object that a JSON file holds, with the places of all in it.
 * @param name what errors call the file
 */
export function readJsonObject(text: string, name: string): ObjectNode {
  const from = text.startsWith('\uFEFF') ? 1 : 0;
  const json = text.slice(from);
  try {
    JSON.parse(json);
  } catch (error) {
    throw failure(INSTALL_CODES.json_not_valid, { file: name, said: messageOf(error) }, { cause: error });
  }
  const parsed = parseTree(json);
  if (parsed === undefined) throw new Error(`${name}: JSON.parse read it, and jsonc-parser found nothing in it`);
  const root = placed(parsed, from);
  if (root.kind !== 'object')
    throw failure(INSTALL_CODES.json_wrong_kind, { file: name, expected: 'an object', got: kindText(root) });
  return root;
}

export function kindText(node: JsonNode): string {
  return node.kind === 'array' ? 'a list' : node.kind === 'object' ? 'an object' : 'a plain value';
}

export function nodeValue(text: string, node: JsonNode): unknown {
  return JSON.parse(text.slice(node.start, node.end));
}

/** The member of that name; a name that is given twice is an error: which one counts is anybody's guess. */
export function memberOf(object: ObjectNode, key: string, name: string): JsonMember | undefined {
  const found = object.items.filter((member) => member.key === key);
  if (found.length > 1) throw failure(INSTALL_CODES.json_key_repeated, { file: name, key, count: found.length });
  return found[0];
}
