import assert from 'node:assert/strict';
import test from 'node:test';
import { apiUrlOf, cloneUrlOf, hostOf } from '../../../src/daemon/github/clone-url.ts';
import { Limits } from '../../../src/daemon/github/limits.ts';

const NOW = Date.UTC(2026, 0, 1);

test('what an answer’s headers mean', () => {
  const cases: readonly [string, number, Record<string, string>, string, number | null][] = [
    ['a good answer', 200, { 'x-ratelimit-remaining': '0' }, '', null],
    ['an ordinary 403', 403, {}, 'Resource not accessible', null],
    ['seconds', 429, { 'retry-after': '30' }, '', 30_000],
    ['a date', 429, { 'retry-after': new Date(NOW + 90_000).toUTCString() }, '', 90_000],
    ['a past date is a second', 429, { 'retry-after': new Date(NOW - 90_000).toUTCString() }, '', 1_000],
    ['429 without a word', 429, {}, '', 60_000],
    ['the quota', 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 + 300) }, '', 300_000],
    ['secondary', 403, { 'x-ratelimit-remaining': '100' }, 'You have exceeded a secondary rate limit', 60_000],
    ['not for ever', 429, { 'retry-after': '999999999' }, '', 3_600_000],
    ['nonsense', 429, { 'retry-after': 'soon' }, '', 60_000],
  ];
  for (const [name, status, headers, message, pause] of cases) {
    const limits = new Limits({ now: () => NOW, elapsed: () => 0 });
    const until = limits.observe(status, headers, message);
    assert.equal(until === null ? null : until - NOW, pause, name);
    assert.equal(limits.pausedUntil, until, name);
  }
});

test('the quota of another resource is not shown as that of the REST service', () => {
  const limits = new Limits({ now: () => NOW, elapsed: () => 0 });
  const quota = (resource: string, remaining: number) => ({
    'x-ratelimit-resource': resource,
    'x-ratelimit-remaining': String(remaining),
  });
  limits.observe(200, quota('core', 4_000), '');
  limits.observe(200, quota('graphql', 7), '');
  assert.equal(limits.snapshot.remaining, 4_000);
  limits.observe(200, { 'x-ratelimit-remaining': '3999' }, '');
  assert.equal(limits.snapshot.remaining, 3_999);
});

test('a pause is as long as the service says, whatever the clock here shows and whoever sets it', () => {
  const HOUR = 3_600_000;
  for (const ahead of [-HOUR, 0, 2 * HOUR]) {
    const clock = { wall: NOW + ahead, passed: 0 };
    const limits = new Limits({ now: () => clock.wall, elapsed: () => clock.passed });
    const headers = {
      date: new Date(NOW).toUTCString(),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(NOW / 1000 + 300),
    };
    const until = limits.observe(403, headers, '');
    assert.equal((until ?? 0) - clock.wall, 300_000);
    for (const set of [5 * HOUR, -9 * HOUR]) {
      clock.wall += set;
      assert.equal((limits.pausedUntil ?? 0) - clock.wall, 300_000);
    }
    clock.passed = 300_000;
    assert.equal(limits.pausedUntil, null);
  }
});

test('where a repository is cloned from', () => {
  const slug = { owner: 'o', repo: 'r' };
  assert.equal(cloneUrlOf('https://api.github.com', slug), 'https://github.com/o/r.git');
  assert.equal(cloneUrlOf('https://git.example.com/api/v3', slug), 'https://git.example.com/o/r.git');
  assert.equal(cloneUrlOf('https://api.team.ghe.com', slug), 'https://team.ghe.com/o/r.git');
  assert.equal(cloneUrlOf('http://127.0.0.1:4000', slug), 'http://127.0.0.1:4000/o/r.git');
});

test('what a host is called: to the hosting client as in the address of a clone', () => {
  for (const [api, host] of [
    ['https://api.github.com', 'github.com'],
    ['https://api.acme.ghe.com', 'acme.ghe.com'],
    ['https://git.example.com:8443/api/v3', 'git.example.com:8443'],
    ['https://api.example.com/api/v3', 'api.example.com'],
  ] as const) {
    assert.equal(hostOf(api), host);
    assert.equal(new URL(cloneUrlOf(api, { owner: 'o', repo: 'r' })).host, host);
  }
});

test('where the API of a remote’s host is', () => {
  const cases: readonly [string, string][] = [
    ['github.com', 'https://api.github.com'],
    ['team.ghe.com', 'https://api.team.ghe.com'],
    ['git.example.com:8443', 'https://git.example.com:8443/api/v3'],
  ];
  for (const [host, api] of cases) {
    assert.equal(apiUrlOf({ host, origin: `https://${host}` }), api);
    assert.equal(hostOf(api), host);
  }
});
