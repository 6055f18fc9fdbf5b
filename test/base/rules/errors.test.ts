import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { KINDS } from '../../../src/base/rules/codes.ts';
import { assertNever, type ErrorKind, messageOf, ToolError } from '../../../src/base/rules/errors.ts';
import { saying } from '../../support/codes.ts';

test('the words of whatever was thrown', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  const cases: readonly [unknown, string][] = [
    [new Error('it broke'), 'it broke'],
    [new TypeError(), 'TypeError'],
    [new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')]), 'refused ::1; refused 127.0.0.1'],
    [new AggregateError([new Error('refused'), new Error('refused')]), 'refused'],
    [new AggregateError([new Error('refused')], 'none answers'), 'none answers'],
    ['text', 'text'],
    [7, '7'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('x'), 'Symbol(x)'],
    [{ code: 7 }, '{"code":7}'],
    ['', 'an error without words'],
    [new AggregateError([]), 'an error without words'],
    [loop, 'an error without words'],
    [Object.assign(new Error(), { name: '' }), 'an error without words'],
  ];
  for (const [thrown, words] of cases) assert.equal(messageOf(thrown), words);
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (thrown) => {
      assert.notEqual(messageOf(thrown), '');
    }),
  );
});

test('an error carries its kind, the exit code that goes with it, and what caused it', () => {
  const cause = new Error('cause');
  const error = new ToolError(saying('config', 'what is wrong'), { cause });
  assert.equal(error.cause, cause);
  assert.equal(`${error}`, 'ToolError: what is wrong');
  const usage: readonly ErrorKind[] = ['usage', 'config', 'credential', 'port_in_use', 'state_in_use', 'prerequisite'];
  for (const code of usage) assert.equal(new ToolError(saying(code, '')).exitCode, 2, code);
  const failures: readonly ErrorKind[] = [
    'tracker',
    'git',
    'hook',
    'agent',
    'daemon_unreachable',
    'refused',
    'internal',
  ];
  for (const code of failures) assert.equal(new ToolError(saying(code, '')).exitCode, 1, code);
  for (const code of Object.keys(KINDS)) assert.match(code, /^[a-z_]+$/);
});

test('a case that nobody thought of is named', () => {
  assert.throws(() => Reflect.apply(assertNever, undefined, [{ kind: 'new' }]), /unexpected case: \{"kind":"new"\}/);
});
