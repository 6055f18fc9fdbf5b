import assert from 'node:assert/strict';
import test from 'node:test';
import { isPlainName, parseSubmodules, submoduleAddressOf } from '../../../src/git/rules/submodules.ts';

const REMOTE = 'https://github.com/o/r.git';

const placeOf = (url: string, parent = REMOTE) => {
  const place = submoduleAddressOf(url, parent, REMOTE);
  return place.kind === 'address' ? place.url : place.kind;
};

test('addresses: relative ones begin at their repository, ssh on the host becomes HTTP, credentials are left out', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['../s.git', 'https://github.com/o/s.git'],
    ['../../p/s', 'https://github.com/p/s'],
    ['../../../../../s.git', 'https://github.com/s.git'],
    ['./s', 'https://github.com/o/r.git/s'],
    ['https://me:secret@other.example/s.git#x', 'https://other.example/s.git'],
    ['http://other.example/s', 'http://other.example/s'],
    ['git@github.com:p/s.git', 'https://github.com/p/s.git'],
    ['ssh://git@github.com:22/p/s.git', 'https://github.com/p/s.git'],
  ];
  for (const [url, expected] of cases) assert.equal(placeOf(url), expected, url);
  assert.equal(placeOf('../s.git', 'https://other.example/a/b.git'), 'https://other.example/a/s.git');
});

test('no other transport, no path of this machine and no ssh elsewhere', () => {
  for (const url of [
    'git@elsewhere.example:p/s.git',
    'ssh://elsewhere.example/p/s.git',
    'ext::sh -c touch% /tmp/x',
    'file:///etc',
    '/etc',
    'git://github.com/p/s.git',
    '--upload-pack=touch /tmp/x',
    'http://',
    '',
  ])
    assert.equal(placeOf(url), 'refused', url);
});

test('a listing of .gitmodules: what lacks a path or an address is left out', () => {
  const rows = [
    'submodule.a.b.path\nx y',
    'submodule.a.b.url\n../s',
    'submodule.c.path\nc',
    'core.bare\ntrue',
    'odd',
    '',
  ];
  assert.deepEqual(parseSubmodules(rows.join('\0')), [{ name: 'a.b', path: 'x y', url: '../s' }]);
});

test('names that lead elsewhere, or that a command line would read otherwise, are refused', () => {
  for (const name of ['libs/a', 'a.b', 'ä b']) assert.equal(isPlainName(name), true, name);
  for (const name of ['../x', 'a/../b', 'a=b', 'a"b', 'a\nb', '-x', '']) assert.equal(isPlainName(name), false, name);
});
