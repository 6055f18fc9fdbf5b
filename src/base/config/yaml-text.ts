// The one place that reads YAML: within bounds, every problem with its line and column.

import {
  type Alias,
  type CST,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  parseDocument,
  visit,
} from 'yaml';
import { messageOf } from '../rules/errors.ts';
import { clip, visible } from '../rules/text.ts';

/** `line` and `column` from 1; null when it is about the whole text. */
export type YamlProblem = { readonly words: string; readonly line: number | null; readonly column: number | null };

export type YamlRead =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly problems: readonly [YamlProblem, ...YamlProblem[]] };

/** No file of ours goes deeper than ten. */
const MAX_DEPTH = 100;

/** One slip makes many that follow from it. */
const MAX_PROBLEMS = 20;

/**
 * Whether anything in the text is nested deeper than what can be composed: composing recurses, and a stack that ends
 * within a regular expression ends the whole process. The tokens are made, and walked here, without recursion.
 */
function isTooDeep(text: string): boolean {
  const open: { readonly token: CST.Token; readonly depth: number }[] = [];
  for (const token of new Parser().parse(text)) {
    open.push({ token, depth: 0 });
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { token, depth } = next;
      if (depth > MAX_DEPTH) return true;
      if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, depth });
      if (!('items' in token)) continue;
      for (const { key, value } of token.items)
        for (const inner of [key, value]) if (inner) open.push({ token: inner, depth: depth + 1 });
    }
  }
  return false;
}

/** Our words for what the parser says of its own functions. */
const WORDS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'expected one document, got another one after a line of ---',
};

function problemsOf(document: Document.Parsed, counter: LineCounter): YamlProblem[] {
  const problems: YamlProblem[] = [];
  const add = (words: string, offset: number | undefined) => {
    const { line, col: column } = offset === undefined ? { line: null, col: null } : counter.linePos(offset);
    problems.push({ words: visible(words), line, column });
  };
  for (const { code, message, pos } of [...document.errors, ...document.warnings].slice(0, MAX_PROBLEMS))
    add(WORDS[code] ?? message.trim(), pos[0]);
  if (problems.length > 0) return problems;
  visit(document, {
    Alias: (_, alias: Alias, ancestors) => {
      const name = clip(alias.source, 60);
      const target = alias.resolve(document);
      if (target === undefined)
        add(`*${name} is an alias of nothing (a text that begins with * needs quotes)`, alias.range?.[0]);
      else if (ancestors.includes(target)) add(`*${name} is an alias of what it stands in`, alias.range?.[0]);
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === '__proto__') add('__proto__ is no name of a key', key.range?.[0]);
    },
  });
  return problems;
}

function whole(words: string): YamlRead {
  return { ok: false, problems: [{ words, line: null, column: null }] };
}

/** Parses one document: duplicate keys, unknown tags, endless or unknown aliases and a second document are problems. Never throws. */
export function readYaml(text: string): YamlRead {
  try {
    if (isTooDeep(text)) return whole(`expected at most ${MAX_DEPTH} levels within each other, got more`);
    const counter = new LineCounter();
    const document = parseDocument(text, {
      prettyErrors: false,
      uniqueKeys: true,
      // A set, a date or bytes are nothing that a file of ours holds.
      resolveKnownTags: false,
      logLevel: 'error',
      lineCounter: counter,
    });
    const [first, ...more] = problemsOf(document, counter);
    if (first !== undefined) return { ok: false, problems: [first, ...more] };
    return { ok: true, data: document.toJS({ maxAliasCount: 50 }) };
  } catch (error) {
    return whole(messageOf(error));
  }
}

/** The data of what can be read of a text that may be wrong; undefined at the worst. Never throws. */
export function readYamlLoosely(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : parseDocument(text, { logLevel: 'silent' }).toJS({ maxAliasCount: 50 });
  } catch {
    return undefined;
  }
}

/**
 * The line, from 1, of each key and of each item of a list in a text that `readYaml` takes.
 * @param nameOf what a path is called in the result
 */
export function keyLines(text: string, nameOf: (path: readonly PropertyKey[]) => string): ReadonlyMap<string, number> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, logLevel: 'silent' });
  const lines = new Map<string, number>();
  const walk = (node: unknown, path: readonly PropertyKey[]): void => {
    const rows: readonly (readonly [PropertyKey, unknown, unknown])[] = isMap(node)
      ? node.items.map(({ key, value }) => [String(key), key, value])
      : isSeq(node)
        ? node.items.map((item, index) => [index, item, item])
        : [];
    for (const [key, at, value] of rows) {
      const inner = [...path, key];
      if (isNode(at) && at.range) lines.set(nameOf(inner), counter.linePos(at.range[0]).line);
      walk(value, inner);
    }
  };
  walk(document.contents, []);
  return lines;
}
