import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  asLine,
  clip,
  fence,
  headAndTail,
  joinLines,
  lastLines,
  oneLine,
  redact,
  visible,
  visibleLines,
} from '../../../src/base/rules/text.ts';

test('control, bidirectional and hidden characters are made visible', () => {
  const cases: readonly [string, string][] = [
    ['plain', 'plain'],
    ['a\u001b[31mred', 'a\\x1b[31mred'],
    ['a\nb\tc\r', 'a\\nb\\tc\\r'],
    ['nul\u0000', 'nul\\x00'],
    ['bell\u0007 del\u007f csi\u009b', 'bell\\x07 del\\x7f csi\\x9b'],
    ['evil\u202etxt', 'evil\\u{202e}txt'],
    ['zero\u200bwidth', 'zero\\u{200b}width'],
    ['mark\ufeff', 'mark\\u{feff}'],
    ['line\u2028para\u2029', 'line\\u{2028}para\\u{2029}'],
    ['👩‍💻 stays', '👩‍💻 stays'],
    ['größe 漢字', 'größe 漢字'],
  ];
  for (const [text, shown] of cases) assert.equal(visible(text), shown);
});

test('no control character survives, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(visible(text), /\p{Cc}|\u2028|\u2029|\u202e/u);
      assert.doesNotMatch(visibleLines(text), /(?![\n\t])\p{Cc}/u);
    }),
  );
});

test('lines stay lines where they may', () => {
  assert.equal(visibleLines('a\r\nb\tc\u0007\n'), 'a\nb\tc\\x07\n');
});

test('one line is one line', () => {
  assert.equal(oneLine('  a\n  b \n\nc '), 'a b c');
  assert.equal(oneLine('x'.repeat(300), 10).length, 10);
});

test('a clipped text keeps whole characters', () => {
  assert.equal(clip('abc', 3), 'abc');
  assert.equal(clip('abcd', 3), 'ab…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 20 }), (text, max) => {
      const short = clip(text, max);
      assert.ok(short.length <= max);
      assert.doesNotMatch(short, /\p{Surrogate}/u);
    }),
  );
});

test('the last lines of an output', () => {
  assert.equal(lastLines('a\n\nb\u001b\n  c  \n', 2), 'b\\x1b\n  c');
  assert.equal(lastLines('', 2), '');
});

test('a fence cannot be closed from within', () => {
  assert.equal(fence('plain'), '```text\nplain\n```');
  assert.equal(fence('has ``` in it', 'diff'), '````diff\nhas ``` in it\n````');
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('`', '\n', 'a', '~') }), (text) => {
      const lines = fence(text).split('\n');
      const ticks = lines.at(-1) ?? '';
      assert.match(ticks, /^`{3,}$/);
      assert.ok(lines.slice(1, -1).every((line) => !line.includes(ticks)));
    }),
  );
});

test('secrets are blotted out, short words are not', () => {
  assert.equal(redact('a ghp_secret1 b ghp_secret1', ['ghp_secret1']), 'a [secret] b [secret]');
  assert.equal(redact('the cat', ['cat']), 'the cat');
});

test('lines joined: after a colon comes what it announces, else they are told apart', () => {
  assert.equal(joinLines('f has 2 problems:\n  a: b\n  c: d\n'), 'f has 2 problems: a: b; c: d');
  assert.equal(joinLines('\r\none\r\n\r\ntwo'), 'one; two');
  assert.equal(joinLines('one'), 'one');
  assert.equal(asLine('did not apply:\nerror: a\tb\u001b[2J\rgone'), 'did not apply: error: a\\tb\\x1b[2J\\rgone');
});

test('of words that are too long their beginning and their end are shown', () => {
  assert.equal(headAndTail('short\nwords', 20), 'short words');
  assert.equal(headAndTail(`begin ${'x'.repeat(50)} 👩 end`, 21), 'begin x … xxxxx 👩 end');
  assert.equal([...headAndTail('y'.repeat(400))].length, 200);
});
