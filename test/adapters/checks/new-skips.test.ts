// Tests that a change has skipped, told from commits and from trees of a real repository.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { measureSkips } from '../../../src/adapters/checks/new-skips.ts';
import { createWorkTree } from '../../../src/adapters/git/work-tree.ts';
import { type Tree, writeTree } from '../../support/installed.ts';
import type { Cleanup } from '../../support/temp.ts';
import { commitAll, projectOf } from '../../support/workshop.ts';

/** What a commit has skipped, as `path:line`. */
async function skippedIn(t: Cleanup, before: Tree, after: Tree, gone: readonly string[] = []) {
  const { root, base } = projectOf(t, { files: { 'README.md': 'x\n', ...before } });
  for (const path of gone) rmSync(join(root, path));
  writeTree(root, after);
  const head = commitAll(root, 'Work');
  const skips = await measureSkips({ root, base, head }, null);
  return skips.map(({ path, line }) => `${path}:${line}`);
}

const OLD = "it.skip('old', () => {\n  f();\n});\n";

const CASES: readonly (readonly [string, string, string, readonly string[]])[] = [
  ['a.test.js', "it('a', f);\nit('b', f);\n", "it('a', f);\nit.skip('b', f);\n", ['a.test.js:2']],
  ['a.test.ts', "it('a', f);\n", "xit('a', f);\n", ['a.test.ts:1']],
  [
    'a.test.js',
    "describe('a', () => {\n  it('b', f);\n});\n",
    "describe.skip('a', () => {\n  it('b', f);\n});\n",
    ['a.test.js:1'],
  ],
  ['a.test.js', "test('a', f);\n", "test(\n  'a',\n  { skip: true },\n  f,\n);\n", ['a.test.js:3']],
  ['a.test.js', "test('a', (t) => {\n  g();\n});\n", "test('a', (t) => {\n  t.skip();\n  g();\n});\n", ['a.test.js:2']],
  [
    'tests/test_a.py',
    'def test_a():\n    assert 1\n',
    'import pytest\n\n@pytest.mark.skip(reason="x")\ndef test_a():\n    assert 1\n',
    ['tests/test_a.py:3'],
  ],
  [
    'tests/test_b.py',
    'def test_a():\n    pass\n',
    'pytestmark = pytest.mark.skip\ndef test_a():\n    pass\n',
    ['tests/test_b.py:1'],
  ],
  [
    'a_test.go',
    'func TestA(t *testing.T) {\n\tg()\n}\n',
    'func TestA(t *testing.T) {\n\tt.Skip()\n\tg()\n}\n',
    ['a_test.go:2'],
  ],
  ['src/lib.rs', '#[test]\nfn a() {\n}\n', '#[test]\n#[ignore]\nfn a() {\n}\n', ['src/lib.rs:2']],
  // What was skipped before stays so, wherever it stands now.
  ['a.test.js', OLD, `${OLD}it('new', f);\n`, []],
  ['a.test.js', OLD, OLD.replace('f()', 'g()'), []],
  ['a.test.js', OLD, `describe('group', () => {\n${OLD.replace(/^/gm, '  ')}});\n`, []],
  ['a.test.js', OLD, `it('new', f);\n${OLD}${OLD}`, ['a.test.js:2']],
  ['a.test.js', OLD, OLD.replace('.skip', ''), []],
  // A matter of circumstances, words, and no test.
  ['a.test.js', "it('a', f);\n", "it.skipIf(isOld)('a', f);\nit('skips the rest', f);\n", []],
  ['tests/test_a.py', 'def test_a():\n    pass\n', '@pytest.mark.skipif(OLD)\ndef test_a():\n    pass\n', []],
  ['src/skip.js', 'f();\n', "test.skip('a', f);\n", []],
];

for (const [path, before, after, found] of CASES)
  test(`${path}: ${JSON.stringify(before)} becomes ${JSON.stringify(after)}`, async (t) => {
    assert.deepEqual(await skippedIn(t, { [path]: before }, { [path]: after }), found);
  });

test('a new file may hold tests that are skipped; one that was moved holds those that it held', async (t) => {
  assert.deepEqual(await skippedIn(t, {}, { 'tests/new.test.js': OLD }), ['tests/new.test.js:1']);
  assert.deepEqual(await skippedIn(t, { 'a.test.js': OLD }, { 'b/a.test.js': OLD }, ['a.test.js']), []);
});

test('work that no commit holds is told by its trees; what is gone tells nothing', async (t) => {
  const { root } = projectOf(t, { files: { 'a.test.js': "it('a', f);\n" } });
  const objects = join(root, '.tool', 'cache', 'objects');
  const workTree = createWorkTree({ root, objects });
  const base = (await workTree.tree()) ?? '';
  writeTree(root, { 'a.test.js': "it.skip('a', f);\n" });
  const head = (await workTree.tree()) ?? '';
  const [skip] = await measureSkips({ root, base, head }, objects);
  assert.deepEqual(skip, { path: 'a.test.js', line: 1, text: "it.skip('a', f);" });
  assert.deepEqual(await measureSkips({ root, base: 'f'.repeat(40), head }, objects), []);
});
