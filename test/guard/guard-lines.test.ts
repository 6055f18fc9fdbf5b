// Lines that the program of the write guard and the scripts of Seatbelt print: each has its code and message of the table.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import type { Code } from '../../src/base/rules/codes.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import { GIT_SHIM, seatbeltProgram } from '../../src/guard/rules/seatbelt-scripts.ts';

const SOURCE = readFileSync('native/write-guard.c', 'utf8');
const SCRIPTS = [GIT_SHIM, seatbeltProgram('/usr/bin/sandbox-exec')].join('\n');

/** What a line is made of in C or in a script: its words, with each value as `%`, and its code. */
type Line = { readonly words: string; readonly code: string };

function lineOf(text: string): Line {
  const [, words = text, code = ''] = /^(.*) \((\w+)\)$/.exec(text) ?? [];
  return { words: words.replaceAll(/%(?:\.\d+)?s/g, '%'), code };
}

/** The lines of the program. Nothing but its macros writes to standard error. */
const PROGRAM = [...SOURCE.matchAll(/\b(?:TELL|FAIL)\(("[^\n"]*"|\w+),/g)]
  .map(([, literal = '']) => literal)
  .filter((literal) => literal !== 'line');

/** All forms of a message: an optional part is there or not. */
function formsOf({ message }: Code): readonly string[] {
  const forms = [message.replaceAll(/\[([^\]]*)\]/g, '$1'), message.replaceAll(/\[[^\]]*\]/g, '')];
  return forms.map((form) => form.replaceAll(/\{\w+\}/g, '%'));
}

const ENTRIES: Readonly<Record<string, Code>> = GUARD_LINE_CODES;

function assertOfTable({ words, code }: Line): void {
  const entry = ENTRIES[code];
  assert.ok(entry !== undefined, `no code of the table: ${words} (${code})`);
  assert.ok(formsOf(entry).includes(words), `${code}: expected ${formsOf(entry).join(' or ')}, got ${words}`);
}

test('each line of the program has a code and the message of that code', () => {
  assert.equal(SOURCE.match(/\bstderr\b|perror|\bv?warnx?\(|\bv?errx?\(/g)?.length, 1, 'only the macro prints');
  assert.ok(PROGRAM.length >= 20, `${PROGRAM.length} lines`);
  for (const literal of PROGRAM) assertOfTable(lineOf(literal.slice(1, -1)));
});

test('each line of the scripts has a code and the message of that code', () => {
  const lines = [...SCRIPTS.matchAll(/^ *(?:printf|echo) '([^']*)'.*>&2$/gm)].map(([, text = '']) => text);
  assert.equal(lines.length, SCRIPTS.match(/>&2/g)?.length);
  for (const text of lines) {
    const [, line = ''] = /^toolcrew: (.*?)(?:\\n)?$/.exec(text) ?? [];
    const { words, code } = lineOf(line);
    const entry = ENTRIES[code];
    assert.ok(entry !== undefined, `no code of the table: ${text}`);
    // A script writes values out: `git %` for a call.
    const pattern = formsOf(entry)[0]
      ?.split('%')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    assert.match(words, new RegExp(`^${pattern?.join('.+')}$`), code);
  }
});

test('the program prints each code of its part of the table', () => {
  const printed = new Set(PROGRAM.map((literal) => lineOf(literal.slice(1, -1)).code));
  assert.deepEqual([...printed].sort(), Object.keys(ENTRIES).sort());
});
