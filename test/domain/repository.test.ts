import assert from 'node:assert/strict';
import test from 'node:test';
import { formatSlug, parseRemoteUrl, parseSlug } from '../../src/domain/repository.ts';

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
  ];
  for (const [url, host, slug] of cases) {
    const parsed = parseRemoteUrl(url);
    assert.equal(parsed?.host, host, url);
    assert.equal(parsed && formatSlug(parsed.slug), slug, url);
  }
  for (const bad of ['/srv/git/o/r.git', '../r', 'https://github.com/only', ''])
    assert.equal(parseRemoteUrl(bad), undefined, bad);
});
