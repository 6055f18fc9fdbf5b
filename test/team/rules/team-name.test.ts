import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { debugTeamName, planTeamName, runTeamName, slugOf } from '../../../src/team/rules/team-name.ts';

test('teams are called by their phase and what they work on', () => {
  assert.equal(planTeamName('User login with OAuth 2.0'), 'tool-plan-user-login-with-oauth-2-0');
  assert.equal(planTeamName('  Größe & Straße: Übersicht! '), 'tool-plan-grosse-strasse-ubersicht');
  assert.equal(debugTeamName('TypeError in parse()'), 'tool-debug-typeerror-in-parse');
  assert.equal(runTeamName('SPEC-AUTH-LOGIN-001'), 'tool-run-spec-auth-login-001');
  for (const id of ['SPEC-001', 'spec-auth-001', 'SPEC-AUTH-1', 'SPEC-AUTH-001\n', 'SPEC-AUTH-001; rm', ''])
    assert.equal(runTeamName(id), undefined, id);
});

test('words are kept whole while they fit; words that ASCII has no letters for get a name all the same', () => {
  assert.equal(slugOf('one two three four five six seven eight nine ten'), 'one-two-three-four-five-six-seven-eight');
  assert.equal(slugOf('x'.repeat(60)).length, 40);
  assert.match(slugOf('ログイン画面'), /^[0-9a-f]{8}$/);
  assert.notEqual(slugOf('ログイン画面'), slugOf('検索画面'));
});

test('whatever the words are, the slug is one: short, plain, the same each time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (words) => {
      const slug = slugOf(words);
      assert.match(slug, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      assert.ok(slug.length <= 40);
      assert.equal(slugOf(words), slug);
    }),
  );
});
