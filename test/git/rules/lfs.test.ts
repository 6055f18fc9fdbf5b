// Git LFS: what is a pointer, and where objects are.

import assert from 'node:assert/strict';
import test from 'node:test';
import { lfsServerOf, parsePointer, pointerText, withLfs } from '../../../src/git/rules/lfs.ts';

const OID = 'a'.repeat(64);
const REMOTE = 'https://host.example/o/r.git';

test('a pointer is a text of its form alone', () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${OID}\nsize 12\n`;
  assert.deepEqual(parsePointer(pointer), { oid: OID, size: 12 });
  assert.equal(pointerText({ oid: OID, size: 12 }), pointer);
  assert.deepEqual(parsePointer(pointer.replace('\noid', '\next-0-x sha256:1\noid')), { oid: OID, size: 12 });
  const others = [
    '',
    pointer.replace('git-lfs', 'other'),
    pointer.replace(OID, 'abc'),
    pointer.replace('size 12', 'size x'),
    `# ${pointer}`,
    pointer + 'x'.repeat(1024),
  ];
  for (const text of others) assert.equal(parsePointer(text), null);
});

test('objects are at the remote, or where .lfsconfig has them on the same host', () => {
  const place = (settings: Readonly<Record<string, string>>, remote = REMOTE) =>
    lfsServerOf(remote, new Map(Object.entries(settings)));
  const own = `${REMOTE}/info/lfs`;
  assert.deepEqual(place({}), { kind: 'here', download: own, upload: own });
  assert.deepEqual(place({}, 'https://host.example/o/r'), { kind: 'here', download: own, upload: own });
  const other = 'https://host.example/other/r.git/info/lfs';
  assert.deepEqual(place({ 'lfs.url': `${other}/` }), { kind: 'here', download: other, upload: other });
  assert.deepEqual(place({ 'lfs.pushurl': other }), { kind: 'here', download: own, upload: other });
  // A user in an address is not the daemon's.
  assert.deepEqual(place({ 'lfs.url': other.replace('//', '//user:word@') }), {
    kind: 'here',
    download: other,
    upload: other,
  });
});

test('an address elsewhere is named without its user', () => {
  const cases: readonly [string, string, string][] = [
    ['lfs.url', 'https://user:word@evil.example/x', 'evil.example'],
    ['lfs.pushurl', 'https://host.example.evil.example/x', 'host.example.evil.example'],
    ['lfs.url', 'http://host.example/x', 'host.example'],
    ['lfs.url', 'https://host.example:8443/x', 'host.example:8443'],
    ['lfs.url', 'https://host.example@evil.example/x', 'evil.example'],
    ['lfs.url', 'ssh://git@host.example/x', 'host.example'],
    ['lfs.url', 'git@host.example:o/r', 'host.example:o'],
    ['remote.origin.lfsurl', 'https://evil.example/x', 'evil.example'],
    ['remote.origin.lfspushurl', 'https://evil.example/x', 'evil.example'],
    ['lfs.url', '', 'no host at all'],
  ];
  for (const [key, address, host] of cases)
    assert.deepEqual(lfsServerOf(REMOTE, new Map([[key, address]])), { kind: 'elsewhere', host });
});

test('the settings of a clone get those of LFS once, as the last ones', () => {
  const text = withLfs('[core]\n\tbare = false');
  assert.match(text, /^\[core\]\n\tbare = false\n\[filter "lfs"\]\n/);
  assert.equal(withLfs(text), text);
});
