import assert from 'node:assert/strict';
import test from 'node:test';
import { formatSlug, parseRemoteUrl, parseSlug, sameHost } from '../../../src/git/rules/repository.ts';

test('slugs', () => {
  assert.deepEqual(parseSlug('owner/repo.js'), { owner: 'owner', repo: 'repo.js' });
  for (const bad of ['', 'owner', 'owner/', '/repo', 'a/b/c', 'o wner/repo', '-a/b', 'a/..', 'a/.', 'a/b?c'])
    assert.equal(parseSlug(bad), undefined, bad);
  assert.equal(formatSlug({ owner: 'a', repo: 'b' }), 'a/b');
});

test('a slug is read from every form of remote', () => {
  const cases: readonly [string, string, string][] = [
    ['https://github.com/o/r.git', 'github.com', 'o/r'],
    ['https://github.com/o/r', 'github.com', 'o/r'],
    ['https://user:token@Git.Example.com:8443/o/r.git/', 'git.example.com:8443', 'o/r'],
    ['ssh://git@github.com/o/r.git', 'github.com', 'o/r'],
    ['git@github.com:o/r.git', 'github.com', 'o/r'],
    ['github.com:o/r', 'github.com', 'o/r'],
    ['http://127.0.0.1:3000/o/r.git\n', '127.0.0.1:3000', 'o/r'],
    ['ssh://git@Git.Example.com:2222/o/r.git', 'git.example.com', 'o/r'],
    ['git@ssh.github.com:o/r.git', 'github.com', 'o/r'],
  ];
  for (const [url, host, slug] of cases) {
    const parsed = parseRemoteUrl(url);
    assert.equal(parsed?.host, host, url);
    assert.equal(parsed && formatSlug(parsed.slug), slug, url);
  }
  for (const bad of ['/srv/git/o/r.git', '../r', 'file://host/o/r.git', 'https://github.com/only', ''])
    assert.equal(parseRemoteUrl(bad), undefined, bad);
});

test('where the host of a remote answers to HTTP', () => {
  const origins = ['https://h.example/o/r', 'http://h.example:3000/o/r', 'ssh://git@h.example:22/o/r', 'h.example:o/r'];
  assert.deepEqual(
    origins.map((url) => parseRemoteUrl(url)?.origin),
    ['https://h.example', 'http://h.example:3000', 'https://h.example', 'https://h.example'],
  );
});

test('a host is the same one with another port; loopback has several names', () => {
  assert.ok(sameHost('Git.example.com:2222', 'git.example.com'));
  assert.ok(sameHost('localhost:1', '127.0.0.1:2'));
  assert.ok(!sameHost('gitlab.com', 'github.com'));
});
