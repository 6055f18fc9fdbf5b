import assert from 'node:assert/strict';
import test from 'node:test';
import { readableEnd, StreamEnd } from '../../../src/daemon/github/log-end.ts';

test('the end of a stream is kept, and never more than that and one chunk', () => {
  const end = new StreamEnd(1_000);
  let most = 0;
  for (let n = 0; n < 10_000; n++) {
    end.push(Buffer.from(`line ${String(n).padStart(6, '0')} é\n`));
    most = Math.max(most, end.size);
  }
  assert.ok(most < 1_020, `${most} bytes were held`);
  const lines = end.text.trimEnd().split('\n');
  assert.equal(lines.at(-1), 'line 009999 é');
  assert.ok(lines.length > 60 && lines.every((line) => /^line \d{6} é$/.test(line)), 'it begins at a line');
});

test('a short stream is kept whole, with its first line', () => {
  const end = new StreamEnd(1_000);
  end.push(Buffer.from('one\ntw'));
  end.push(Buffer.from('o\n'));
  assert.equal(end.text, 'one\ntwo\n');
});

test('a chunk that is longer than what is kept stays whole', () => {
  const end = new StreamEnd(10);
  end.push(Buffer.from('dropped\n'));
  end.push(Buffer.from(`${'x'.repeat(100)}\nlast\n`));
  assert.equal(end.text, 'last\n');
});

const CASES: readonly [string, string, string][] = [
  ['times', '\ufeff2026-11-29T02:00:00.1234567Z one\n2026-11-29T02:00:01.0000000Z   two', 'one\n  two'],
  ['a time within a line', 'at 2026-11-29T02:00:00.1234567Z', 'at 2026-11-29T02:00:00.1234567Z'],
  ['colours', '\u001b[31;1mred\u001b[0m', 'red'],
  ['colours before a time', '\u001b[36m2026-11-29T02:00:00.1Z x\u001b[0m', 'x'],
  ['links', '\u001b]8;;https://example.com\u0007text\u001b]8;;\u0007', 'text'],
  ['line breaks of Windows, tabs', 'a\r\n\tb\r\n', 'a\n\tb'],
  ['control characters', 'a\u0000b\u0007c\u009bd\u007fe', 'abcde'],
  ['text that runs backwards', 'a\u202eb\u2066c\u200bd', 'abcd'],
];

for (const [what, log, expected] of CASES)
  test(`${what} in a log`, () => {
    assert.equal(readableEnd(log, 100), expected);
  });

test('so many characters of the end, none of them half', () => {
  assert.equal(readableEnd('abcdef', 3), 'def');
  assert.equal(readableEnd('ab😀def', 4), 'def');
});
