// Entries in JSON files of other people: what goes in comes out again, and all around it stays as it was.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  findEntry,
  insertEntries,
  type JsonEntry,
  NOTHING_MERGED,
  removeEntries,
} from '../../src/install/json-merge.ts';
import { readJsonObject } from '../../src/install/json-text.ts';
import { INSTALL_CODES } from '../../src/install/rules/install-codes.ts';
import { isOf } from '../support/codes.ts';

const member = (path: string[], value: unknown): JsonEntry => ({ place: 'member', path, value });
const element = (path: string[], value: unknown, mark?: string): JsonEntry => ({
  place: 'element',
  path,
  value,
  ...(mark === undefined ? {} : { mark }),
});

const OURS: readonly JsonEntry[] = [
  member(['env', 'OURS'], '1'),
  element(['permissions', 'allow'], 'mcp__team__Inbox'),
  element(['permissions', 'allow'], 'mcp__team__TaskGet'),
  element(['hooks', 'PreToolUse'], { matcher: 'Write', hooks: [{ type: 'command', command: 'guard.js' }] }, 'guard.js'),
  element(['hooks', 'Stop'], { hooks: [{ type: 'command', command: 'stop.js' }] }, 'stop.js'),
];

const put = (text: string, entries = OURS, mayReplace = false) =>
  insertEntries(text, entries, NOTHING_MERGED, 'f.json', () => mayReplace);

const THEIRS = {
  env: { THEIRS: 'x' },
  permissions: { allow: ['Bash(ls)', 'Read'], deny: [] },
  hooks: { PreToolUse: [{ matcher: '*', hooks: [] }], Notification: [] },
};

const LAYOUTS: Readonly<Record<string, string>> = {
  'two spaces': `${JSON.stringify(THEIRS, null, 2)}\n`,
  'four spaces': `${JSON.stringify(THEIRS, null, 4)}\n`,
  tabs: `${JSON.stringify(THEIRS, null, '\t')}\n`,
  'carriage returns': `${JSON.stringify(THEIRS, null, 2).replaceAll('\n', '\r\n')}\r\n`,
  'no line break at the end': JSON.stringify(THEIRS, null, 2),
  'one line': JSON.stringify(THEIRS),
  'one line with blanks': '{ "env": { "A": "b" }, "hooks": { } , "x" : [ 1, 2 ] }\n',
  'a byte order mark': `\uFEFF${JSON.stringify(THEIRS, null, 2)}\n`,
  'an empty object': '{}',
  'an empty object on two lines': '{\n}\n',
  'an empty object with blanks': '{   }\n\n\n',
  'empty things inside': '{\n  "env": {},\n  "permissions": { "allow": [ ] },\n  "hooks": {\n  }\n}\n',
  'no indentation': '{\n"a": 1,\n"env": {\n"b": "c"\n}\n}\n',
  'lists on one line': '{\n  "permissions": { "allow": ["Read"] },\n  "hooks": {"Stop": [{"hooks": []}]}\n}\n',
  'escapes and braces in text': '{"a\\"}":"{\\\\","b":"]}","env":{"q\\u00e9":"\\"}"}}',
  'odd spacing': '{\n\n  "a" :1,   "env":\n{ "b"\n: "c" }\n\n   }\n',
};

for (const [name, text] of Object.entries(LAYOUTS)) {
  test(`${name}: what is put in is there, is put in once, and comes out to the byte`, () => {
    const done = put(text);
    const value = JSON.parse(done.text.replace(/^\uFEFF/, ''));
    assert.equal(value.env.OURS, '1');
    assert.deepEqual(value.permissions.allow.slice(-2), ['mcp__team__Inbox', 'mcp__team__TaskGet']);
    assert.equal(value.hooks.PreToolUse.at(-1).matcher, 'Write');
    for (const entry of OURS) assert.equal(findEntry(done.text, entry, OURS, 'f.json'), 'present');
    assert.deepEqual(
      insertEntries(done.text, OURS, done.record, 'f.json', () => false),
      done,
    );
    assert.deepEqual(removeEntries(done.text, done.record, 'f.json'), { text, left: [] });
  });
}

test('what is put in looks like what is around it', () => {
  const two = put('{\n  "env": {\n    "A": "1"\n  }\n}\n', OURS.slice(0, 2)).text;
  assert.equal(
    two,
    '{\n  "env": {\n    "A": "1",\n    "OURS": "1"\n  },\n  "permissions": {\n    "allow": ["mcp__team__Inbox"]\n  }\n}\n',
  );
  assert.match(
    put('{\n  "a": [\n    "x"\n  ]\n}\n', OURS.slice(0, 2)).text,
    /"allow": \[\n {6}"mcp__team__Inbox"\n {4}\]/,
    'lists as they are there',
  );
  assert.equal(put('{"a":{"b":1}}', OURS.slice(0, 1)).text, '{"a":{"b":1},"env":{"OURS":"1"}}');
  assert.equal(put('{ "a": 1 }', OURS.slice(0, 1)).text, '{ "a": 1, "env": {"OURS": "1"} }');
  assert.ok(
    put('{\r\n\t"a": 1\r\n}')
      .text.split('\n')
      .slice(0, -1)
      .every((line) => line.endsWith('\r')),
  );
  assert.match(put('{\n\t"a": 1\n}').text, /\n\t"hooks": \{\n\t\t"PreToolUse": \[\n\t\t\t\{\n/);
});

test('whatever JSON it is, and whatever else is changed afterwards, exactly ours comes out', () => {
  const name = fc.constantFrom('env', 'hooks', 'permissions', 'a', 'b\n', '"');
  const object = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }));
  const fitting = object.map((value) => {
    const copy: Record<string, unknown> = { ...value };
    for (const key of ['env', 'hooks', 'permissions']) {
      if (typeof copy[key] !== 'object' || copy[key] === null || Array.isArray(copy[key])) delete copy[key];
    }
    return copy;
  });
  const layout = fc.constantFrom(undefined, 1, 2, '\t', 7);
  fc.assert(
    fc.property(fitting, layout, (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const done = put(text);
      assert.equal(removeEntries(done.text, done.record, 'f.json').text, text);
    }),
    { numRuns: 300 },
  );
});

test('what others change around it afterwards stays', () => {
  const done = put(`${JSON.stringify(THEIRS, null, 2)}\n`);
  const change = (text: string) =>
    text
      .replace('"THEIRS": "x"', '"THEIRS": "y"')
      .replace('"Bash(ls)",', '"Bash(ls)", "Bash(cat)",')
      .replace(/\n}\n$/, ',\n  "model": "opus"\n}\n');
  assert.equal(
    removeEntries(change(done.text), done.record, 'f.json').text,
    change(`${JSON.stringify(THEIRS, null, 2)}\n`),
  );
  const behind = done.text.replace('"mcp__team__TaskGet"', '"mcp__team__TaskGet",\n      "Bash(later)"');
  assert.deepEqual(JSON.parse(removeEntries(behind, done.record, 'f.json').text).permissions.allow, [
    'Bash(ls)',
    'Read',
    'Bash(later)',
  ]);
});

test('what others put into places that we made stays, and the places with it', () => {
  const done = put('{}');
  const more = done.text.replace('"OURS": "1"', '"OURS": "1",\n    "LATER": "2"');
  assert.deepEqual(JSON.parse(removeEntries(more, done.record, 'f.json').text), { env: { LATER: '2' } });
});

test('of what others have changed itself, it is said where it is, and it stays', () => {
  const done = put('{}');
  const changed = done.text.replace('"OURS": "1"', '"OURS": "0"').replace('"Write"', '"Write|Edit"');
  const { text, left } = removeEntries(changed, done.record, 'f.json');
  assert.deepEqual(left, ['hooks.PreToolUse: the one with guard.js', 'env.OURS: "0"']);
  assert.deepEqual(JSON.parse(text), {
    env: { OURS: '0' },
    hooks: { PreToolUse: [{ matcher: 'Write|Edit', hooks: [{ type: 'command', command: 'guard.js' }] }] },
  });
  const without = done.text.replace(/"OURS": "1"/, '');
  assert.deepEqual(removeEntries(without, done.record, 'f.json').left, [], 'what is gone is no change');
});

test('a member that is something else is replaced only when that is allowed, and comes back', () => {
  const text = '{"env":{"OURS":  [1,  2], "B":1}}';
  assert.equal(put(text, OURS.slice(0, 1)).text, text);
  const forced = put(text, OURS.slice(0, 1), true);
  assert.equal(forced.text, '{"env":{"OURS":  "1", "B":1}}');
  assert.equal(removeEntries(forced.text, forced.record, 'f.json').text, text);
});

test('what was there before is neither put in again nor taken out', () => {
  const text = '{"permissions":{"allow":["mcp__team__Inbox"]},"env":{"OURS":"1"}}';
  const done = put(text, OURS.slice(0, 2));
  assert.equal(done.text, text);
  assert.deepEqual(done.record.entries, []);
});

test('a file that holds something else in the place is refused by name', () => {
  const file = 'f.json';
  const wrong = (key: string | undefined, expected: string, got: string) =>
    isOf(INSTALL_CODES.json_wrong_kind, { file, key, expected, got });
  const cases: readonly [string, ReturnType<typeof isOf>][] = [
    ['{"hooks": []}', wrong('hooks', 'an object', 'a list')],
    ['{"hooks": {"PreToolUse": {}}}', wrong('hooks.PreToolUse', 'a list', 'an object')],
    ['{"env": "x"}', wrong('env', 'an object', 'a plain value')],
    ['{"env": {}, "env": {}}', isOf(INSTALL_CODES.json_key_repeated, { file, key: 'env', count: 2 })],
    ['[]', wrong(undefined, 'an object', 'a list')],
    ['{"a": 1,}', isOf(INSTALL_CODES.json_not_valid, { file })],
    ['{"a": 1} // why', isOf(INSTALL_CODES.json_not_valid, { file })],
  ];
  for (const [text, isMeant] of cases) assert.throws(() => put(text), isMeant, text);
});

test('the places that are read are those that JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const { items } = readJsonObject(text, 'f');
      assert.deepEqual(
        Object.fromEntries(items.map(({ key, node }) => [key, JSON.parse(text.slice(node.start, node.end))])),
        JSON.parse(text),
      );
    }),
  );
});
