// No test repeats a sentence of the error table: assertions, rows of cases, waits and played programs compare codes and values, or
// take their words from the table by `wordsOf`, `wordsLike` and `lineLike` of test/support/codes.ts.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import ts from 'typescript';
import { ROOMS } from '../../scripts/errors-page.ts';

const SHORTEST = 12;
/** Tests of the words themselves. */
const OF_WORDS = /^docs\//;

/** What stands in the messages between values, in at least two words. */
const SENTENCES = Object.values(ROOMS)
  .flatMap((parts) => Object.values(parts))
  .flatMap((part) => Object.values(part))
  .flatMap(({ message }) => message.split(/\{\w+\}|[[\]]/))
  .map((part) => part.trim().replace(/\.$/, ''))
  .filter((part) => part.length >= SHORTEST && part.includes(' '));

/** The text of a string, of a part of a template, or of a regular expression without its escapes; null: it is none of these. */
function textIn(node: ts.Node): string | null {
  if (ts.isRegularExpressionLiteral(node)) return node.text.replaceAll(/\\([^a-z0-9])/gi, '$1');
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    ? node.text
    : null;
}

/** Whether this text is of a sentence. */
function isSentence(node: ts.Node): boolean {
  const text = textIn(node);
  return text !== null && SENTENCES.some((sentence) => text.includes(sentence));
}

/** Where assertions have their own message, which they compare with nothing. */
const MESSAGE_AT: Readonly<Record<string, number>> = { assert: 1, 'assert.ok': 1, 'assert.fail': 0 };

type Lines = { readonly asserted: readonly number[]; readonly elsewhere: readonly number[] };

/** Lines of a file on which an assertion, or another text, repeats a sentence. Names of tests are no such text. */
function repeating(name: string, text: string): Lines {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
  const lines = { asserted: [] as number[], elsewhere: [] as number[] };
  const look = (node: ts.Node, assertion: ts.Node | null): void => {
    if (isSentence(node)) {
      const line = file.getLineAndCharacterOfPosition((assertion ?? node).getStart(file)).line + 1;
      const found = assertion === null ? lines.elsewhere : lines.asserted;
      if (assertion === null || !found.includes(line)) found.push(line);
    }
    if (!ts.isCallExpression(node)) {
      ts.forEachChild(node, (child) => look(child, assertion));
      return;
    }
    const called = text.slice(node.expression.getStart(file), node.expression.end);
    const isAssertion = /^assert\b/.test(called);
    const compared = node.arguments.filter((_, at) =>
      isAssertion ? at < (MESSAGE_AT[called] ?? 2) : called !== 'test' || at > 0,
    );
    for (const child of [node.expression, ...compared]) look(child, isAssertion ? (assertion ?? node) : assertion);
  };
  look(file, null);
  return lines;
}

test('an assertion that repeats a sentence of the error table is found, one that names its code is not', () => {
  const [sentence = ''] = SENTENCES;
  assert.ok(SENTENCES.length > 300, `${SENTENCES.length} sentences`);
  for (const literal of [`/^${sentence}: x$/`, `'x ${sentence}'`, `\`\${x} ${sentence}\``])
    assert.deepEqual(repeating('a.ts', `\nassert.match(a, ${literal});\n`), { asserted: [2], elsewhere: [] }, literal);
  const beside = `const a = '${sentence}';\nsay('${sentence}');\nassert.equal(codeIn(a), 'team_exists');\n`;
  assert.deepEqual(repeating('a.ts', beside), { asserted: [], elsewhere: [1, 2] });
  const named = `test('${sentence}', () => { assert.ok(a, '${sentence}'); assert.equal(a, b, '${sentence}'); });\n`;
  assert.deepEqual(repeating('a.ts', named), { asserted: [], elsewhere: [] });
  assert.deepEqual(
    repeating('a.ts', `assert.rejects(a, () => {\n  assert.equal(a, '${sentence}');\n});\n`).asserted,
    [1],
  );
});

test('no test repeats a sentence of the error table', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !OF_WORDS.test(file))
    .sort();
  const all = files.map((file) => ({ file, lines: repeating(file, readFileSync(join('test', file), 'utf8')) }));
  const placesOf = (kind: keyof Lines) =>
    all.flatMap(({ file, lines }) => lines[kind].map((line) => `test/${file}:${line}`));
  assert.ok(files.length > 400, `${files.length} files`);
  assert.deepEqual(placesOf('asserted'), []);
  assert.deepEqual(placesOf('elsewhere'), []);
});
