// Assertions that repeat a sentence of the error table: their number only falls, since tests compare codes and values.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import ts from 'typescript';
import { ROOMS } from '../../scripts/errors-page.ts';

/** How many there are. Lower it when there are fewer; a new assertion takes `wordsOf` or `lineLike` of test/support/codes.ts. */
const MOST = 0;
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

function repeats(node: ts.Node): boolean {
  const text = textIn(node);
  if (text !== null && SENTENCES.some((sentence) => text.includes(sentence))) return true;
  return ts.forEachChild(node, (child) => repeats(child) || undefined) ?? false;
}

/** Lines of the assertions of a file that repeat a sentence. */
function repeating(name: string, text: string): readonly number[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
  const lines: number[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^assert\b/.test(text.slice(node.getStart(file), node.expression.end))) {
      if (repeats(node)) lines.push(file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1);
      return;
    }
    ts.forEachChild(node, look);
  };
  look(file);
  return lines;
}

test('an assertion that repeats a sentence of the error table is found, one that names its code is not', () => {
  const [sentence = ''] = SENTENCES;
  assert.ok(SENTENCES.length > 300, `${SENTENCES.length} sentences`);
  for (const literal of [`/^${sentence}: x$/`, `'x ${sentence}'`, `\`\${x} ${sentence}\``])
    assert.deepEqual(repeating('a.ts', `\nassert.match(a, ${literal});\n`), [2], literal);
  assert.deepEqual(repeating('a.ts', `say('${sentence}');\nassert.equal(codeIn(a), 'team_exists');\n`), []);
});

test('no more assertions than before repeat a sentence of the error table', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !OF_WORDS.test(file))
    .sort();
  const found = files.flatMap((file) => {
    const text = readFileSync(join('test', file), 'utf8');
    return repeating(file, text).map((line) => `test/${file}:${line}`);
  });
  assert.ok(files.length > 400, `${files.length} files`);
  assert.ok(found.length <= MOST, `expected at most ${MOST} assertions, got ${found.length}:\n${found.join('\n')}`);
});
