// Secrets that a piece of work adds: in its commits, and between the trees of one checkout.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { secretsIn } from '../../../src/gate/readers/secretlint.ts';
import { secretsOf } from '../../../src/gate/readers/secrets.ts';
import { DEFAULT_QUALITY } from '../../../src/gate/rules/quality.ts';
import { createWorkTree } from '../../../src/git/work-tree.ts';
import { gitIn } from '../../support/git.ts';
import { writeTree } from '../../support/installed.ts';
import { commitAll, projectOf } from '../../support/team-worktrees.ts';

const KEY = `AKIA${'Q3F7'.repeat(4)}`;
const NONE = DEFAULT_QUALITY.secrets;

test('what two trees differ by, and what each commit adds, is looked through for known forms', async (t) => {
  const { root } = projectOf(t, { files: { 'README.md': `${KEY}\n` } });
  const objects = join(root, '.tool', 'cache', 'objects');
  const workTree = createWorkTree({ root, objects });
  const before = (await workTree.tree()) ?? '';
  writeTree(root, {
    'src/a.js': `one\nconst key = '${KEY}';\n`,
    'src/b.js': "const apiKey = '0f1e2d3c4b5a69780f1e2d3c4b5a6978';\n",
  });
  const after = (await workTree.tree()) ?? '';
  const between = (settings = NONE) => secretsOf(root, objects, { base: before, head: after }, settings);
  assert.deepEqual(await between(), [{ commit: null, path: 'src/a.js', line: 2, kind: 'AWS Access Key ID' }]);
  assert.deepEqual(await between({ ...NONE, allowedPaths: ['src/**'] }), []);
  assert.deepEqual(await secretsOf(root, objects, { base: before, head: 'f'.repeat(40) }, NONE), []);
  const first = commitAll(root, 'With it');
  writeTree(root, { 'src/a.js': 'one\n' });
  const second = commitAll(root, 'Without it');
  const found = await secretsOf(root, objects, [first, second], NONE);
  assert.deepEqual(
    found.map(({ path, line, commit }) => [path, line, first.startsWith(commit ?? '-')]),
    [['src/a.js', 2, true]],
  );
});

/** Put together here, so that nothing that looks like a secret stands in this file. */
const PEM = [
  `${'-----BEGIN'} PRIVATE KEY-----`,
  ...Array.from({ length: 4 }, () => 'MIIEvQ'.repeat(10)),
  '-----END PRIVATE KEY-----',
  '',
].join('\n');

test('what was there before and was moved, or stands on a line that was changed, is not added', async (t) => {
  const { root } = projectOf(t, { files: { 'old/key.pem': PEM, 'a.js': `f('${KEY}');\n` } });
  const own = gitIn(root);
  own('mv', 'old', 'new');
  writeTree(root, { 'a.js': `f('${KEY}', 1);\n` });
  const moved = commitAll(root, 'Moved');
  assert.deepEqual(await secretsOf(root, join(root, 'none'), [moved], NONE), []);
  writeTree(root, {
    'b.pem': PEM.replaceAll('MII', 'MIJ'),
    'read.js': "const HEAD = '-----BEGIN PRIVATE KEY-----';\n",
  });
  const added = await secretsOf(root, join(root, 'none'), [commitAll(root, 'Another')], NONE);
  assert.deepEqual(
    added.map(({ path, line }) => [path, line]),
    [['b.pem', 1]],
  );
});

test('secrets of known forms are found with their value, and long lines in bounded time', async () => {
  const forms = {
    'GitHub Token': `${'gh'}p_${'a1B2c3D4e5f6'.repeat(3)}`,
    'Anthropic Claude API key': `${'sk'}-ant-api03-${'a1B2c3D4e5'.repeat(9)}abcAA`,
    'npm access token': `${'np'}m_${'a1B2c3D4e5f6'.repeat(3)}`,
    'PostgreSQL connection string': `postgres://app:${'s3cretpw12'}@db.example.org/x`,
  };
  for (const [kind, value] of Object.entries(forms)) {
    const [found] = await secretsIn(`one\nconst a = "${value}";\n`, 'a.js');
    assert.deepEqual([found?.kind, found?.value.includes(value.slice(0, 20))], [kind, true]);
  }
  const long = `${'token_'.repeat(20_000)}${'a.b://c:'.repeat(20_000)}`;
  assert.equal((await secretsIn(`${long} ${forms['GitHub Token']}`, 'a.js')).length, 1);
});
