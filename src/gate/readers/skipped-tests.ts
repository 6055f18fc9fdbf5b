// Line ranges of skipped tests in a file, from its syntax tree (JavaScript, TypeScript) or its indentation.

import { nestedValue } from '../detect/project-files.ts';
import { type Lines, skippedLines } from '../rules/skipped-lines.ts';

const SCRIPT = /\.[cm]?[jt]sx?$/;
const TESTS = /^(?:test|it|specify|describe|suite|context)$/;
const SKIPPED = /^x(?:test|it|specify|describe|context)$/;
/** A commented-out test. */
const COMMENTED = /\bx?(?:test|it|specify|describe|suite|context)(?:\.\w+)*\s*\(\s*['"`]/;

/** Line ranges that prove nothing: skipped tests, and comments outside tests. Empty if the file cannot be parsed. */
export async function skippedTests(path: string, text: string): Promise<readonly Lines[]> {
  if (!SCRIPT.test(path)) return skippedLines(path, text);
  try {
    const { parseCode } = await import('./syntax.ts');
    return skippedIn(parseCode(text, path));
  } catch {
    return [];
  }
}

function linesOf(node: unknown): Lines {
  return {
    from: Number(nestedValue(node, 'loc', 'start', 'line')),
    to: Number(nestedValue(node, 'loc', 'end', 'line')),
  };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function skippedIn(tree: unknown): readonly Lines[] {
  const found: Lines[] = [];
  const comments: Lines[] = [];
  /** Line ranges of statements that are or contain active tests. */
  const tests: Lines[] = [];
  /** Whether the node is or contains an active test. */
  const visit = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.map(visit).some(Boolean);
    if (typeof node !== 'object' || node === null || typeof nestedValue(node, 'type') !== 'string') return false;
    for (const key of ['leadingComments', 'innerComments', 'trailingComments'])
      for (const comment of list(nestedValue(node, key)))
        (COMMENTED.test(String(nestedValue(comment, 'value'))) ? found : comments).push(linesOf(comment));
    const mark = skipLineOf(expressionOf(node));
    const isOut = mark !== null;
    if (isOut) found.push({ ...withLead(node), mark });
    const holds = Object.entries(node).flatMap(([key, value]) => (key.endsWith('Comments') ? [] : visit(value)));
    const isTest = (isTestCall(node) && !isOut) || holds.some(Boolean);
    if (isTest && /(?:Statement|Declaration)$/.test(String(nestedValue(node, 'type')))) tests.push(withLead(node));
    return isTest;
  };
  visit(tree);
  const begin = linesOf(list(nestedValue(tree, 'body'))[0]).from;
  const isIn = ({ from, to }: Lines, around: Lines) => around.from <= from && to <= around.to;
  // Comments outside tests prove nothing, except at the head of the file. Without a known test, no comment is listed.
  const beside = comments.filter((one) => one.from >= begin && !tests.some((around) => isIn(one, around)));
  return tests.length === 0 ? found : [...found, ...beside];
}

function isTestCall(node: unknown): boolean {
  if (nestedValue(node, 'type') !== 'CallExpression') return false;
  return namesOf(nestedValue(node, 'callee')).some((name) => TESTS.test(name));
}

/** The expression of a statement, without `await`; any other node as it is. */
function expressionOf(node: unknown): unknown {
  const own = nestedValue(node, 'type') === 'ExpressionStatement' ? nestedValue(node, 'expression') : node;
  return nestedValue(own, 'type') === 'AwaitExpression' ? nestedValue(own, 'argument') : own;
}

/** The lines of a node, with the comments right above it. */
function withLead(node: unknown): Lines {
  const own = linesOf(node);
  const from = list(nestedValue(node, 'leadingComments'))
    .map(linesOf)
    .reduceRight((line, comment) => (comment.to === line - 1 ? comment.from : line), own.from);
  return { from, to: own.to };
}

/** The names in a callee: `it`, `skip`, `each` for `it.skip.each([])('…')`. */
function namesOf(callee: unknown): readonly string[] {
  const type = nestedValue(callee, 'type');
  if (type === 'CallExpression') return namesOf(nestedValue(callee, 'callee'));
  if (type === 'TaggedTemplateExpression') return namesOf(nestedValue(callee, 'tag'));
  if (type === 'MemberExpression')
    return [...namesOf(nestedValue(callee, 'object')), ...nameOf(nestedValue(callee, 'property'))];
  return nameOf(callee);
}

function nameOf(node: unknown): readonly string[] {
  const name = nestedValue(node, 'name');
  return typeof name === 'string' ? [name] : [];
}

/** The line that marks a call as a skipped test; null: the call is none. */
function skipLineOf(node: unknown): number | null {
  if (nestedValue(node, 'type') !== 'CallExpression') return null;
  const [first = '', ...more] = namesOf(nestedValue(node, 'callee'));
  if (!TESTS.test(first)) return SKIPPED.test(first) ? linesOf(node).from : null;
  if (more.some((name) => name === 'skip' || name === 'todo')) return linesOf(node).from;
  const [mark] = list(nestedValue(node, 'arguments')).flatMap((one) => saysSo(one) ?? skipsItself(one) ?? []);
  return mark === undefined ? null : linesOf(mark).from;
}

/** The option `skip` or `todo`, as in `{ skip: 'not yet' }`. Only literals count: other values may vary by run. */
function saysSo(argument: unknown): unknown {
  return list(nestedValue(argument, 'properties')).find((property) => {
    const name = nestedValue(property, 'key', 'name') ?? nestedValue(property, 'key', 'value');
    const value = nestedValue(property, 'value', 'value');
    const isText = nestedValue(property, 'value', 'type') === 'TemplateLiteral';
    return (name === 'skip' || name === 'todo') && (isText || Boolean(value));
  });
}

/** `t.skip()` or `this.skip()` among the statements of a test, and not behind a condition. */
function skipsItself(argument: unknown): unknown {
  const own = nestedValue(list(nestedValue(argument, 'params'))[0], 'name');
  return list(nestedValue(argument, 'body', 'body')).find((statement) => {
    const callee = nestedValue(expressionOf(statement), 'callee');
    const [called] = nameOf(nestedValue(callee, 'property'));
    if (called !== 'skip' && called !== 'todo') return false;
    const object = nestedValue(callee, 'object');
    return (
      nestedValue(object, 'type') === 'ThisExpression' || (own !== undefined && nestedValue(object, 'name') === own)
    );
  });
}
