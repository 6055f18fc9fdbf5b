import assert from 'node:assert/strict';
import test from 'node:test';
import { ownerOf } from '../../../src/guard/rules/ownership.ts';
import { proposeOwnership, withProposed } from '../../../src/guard/rules/suggest-ownership.ts';
import { DEFAULT_OWNERSHIP } from '../../../src/team/rules/default-ownership.ts';

test('a Python package is the builder’s, its tests stay the tester’s, and what has an owner is not proposed', () => {
  const files = ['pyproject.toml', 'shop/__init__.py', 'shop/cart.py', 'tests/test_cart.py', 'src/api/users.ts'];
  const proposed = proposeOwnership(files, DEFAULT_OWNERSHIP);
  assert.deepEqual(proposed, [{ owner: 'backend-dev', pattern: 'shop/**', files: 2 }]);
  const ownership = withProposed(DEFAULT_OWNERSHIP, proposed);
  const owners = files.map((file) => ownerOf(file, ownership).owner);
  assert.deepEqual(owners, [null, 'backend-dev', 'backend-dev', 'tester', 'backend-dev']);
  for (const { owner, patterns } of DEFAULT_OWNERSHIP) {
    const now = ownership.find((one) => one.owner === owner)?.patterns ?? [];
    assert.deepEqual(now.slice(0, patterns.length), patterns, owner);
  }
});

test('an empty project, and one of the usual directories, is proposed nothing', () => {
  assert.deepEqual(proposeOwnership([], DEFAULT_OWNERSHIP), []);
  assert.deepEqual(proposeOwnership(['src/api/a.ts', 'tests/a.test.ts'], DEFAULT_OWNERSHIP), []);
});
