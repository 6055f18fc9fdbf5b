// A repository whose settings change the form of whatever git prints: what is read of it stays the same.

import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { readCommitDiffs, readDiff } from '../../src/gate/readers/diff.ts';
import { createWorkTree } from '../../src/git/work-tree.ts';
import { createSpecHistory } from '../../src/team/spec-documents/spec-history.ts';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { commitAll, projectOf, TEAM } from '../support/team-worktrees.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const SPEC = 'SPEC-SHOP-001';

const SETTINGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['ui', 'diff', 'grep', 'status', 'branch'].map((part) => [`color.${part}`, 'always'])),
  'column.ui': 'always',
  'core.abbrev': '5',
  'core.quotePath': 'false',
  'diff.algorithm': 'histogram',
  'diff.context': '9',
  'diff.mnemonicPrefix': 'true',
  'diff.noprefix': 'true',
  'diff.relative': 'true',
  'diff.renames': 'copies',
  'diff.srcPrefix': 'x/',
  'diff.submodule': 'log',
  'format.pretty': 'oneline',
  'grep.column': 'true',
  'grep.fullName': 'true',
  'grep.patternType': 'fixed',
  'i18n.logOutputEncoding': 'latin1',
  'log.abbrevCommit': 'true',
  'log.date': 'relative',
  'log.decorate': 'full',
  'log.diffMerges': 'off',
  'log.follow': 'true',
  'log.showSignature': 'true',
  'status.relativePaths': 'false',
  'status.short': 'true',
};

/** Has the last commit bear a signature, which git has something to say of. */
function sign(root: string): void {
  const git = gitIn(root);
  const armor = '-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----';
  const input = git('cat-file', 'commit', 'HEAD').replace('\n\n', `\ngpgsig ${armor}\n\n`);
  git('update-ref', 'HEAD', execaSync({ cwd: root, input })`git hash-object -t commit -w --stdin`.stdout);
}

/** All that is read of a repository in which there is a bit of everything. */
async function told(t: Cleanup, isOdd: boolean) {
  const { root, git, teamWorktrees } = projectOf(t, { files: { 'src/api/a.js': '1\n', 'src/lib/ü.js': '1\n' } });
  if (isOdd) for (const [key, value] of Object.entries(SETTINGS)) git('config', key, value);
  writeTree(root, {
    [`.tool/specs/${SPEC}/spec.md`]: 'x\n',
    'src/api/a.js': '2\n',
    'src/lib/ü.js': '2\n',
    'tests/a.test.js': `// ${SPEC}\ntest('R1: ü', () => {});\n`,
  });
  commitAll(root, `Bär\n\nFor ${SPEC}.`);
  if (isOdd) {
    sign(root);
    const program = join(tempDir(t), 'differ');
    writeFileSync(program, '#!/bin/sh\necho differs\n');
    chmodSync(program, 0o755);
    git('config', 'diff.external', program);
  }
  const [head, base] = ['HEAD', 'HEAD~1'].map((name) => git('rev-parse', name).trim()) as [string, string];
  const short = (text: string) => text.replaceAll(head, 'HEAD').replaceAll(base, 'BASE');
  const history = createSpecHistory(root);
  const found = await history.base(SPEC, null, []);
  const facts = await history.facts(SPEC, base, ['R1', 'A1']);
  const range = { root, base, head, signal: new AbortController().signal };
  const byCommit = (await readCommitDiffs(range)).map(({ files }) => files);
  writeTree(root, { 'src/api/a.js': '3\n' });
  const uncommitted = await history.uncommitted();
  const tree = await createWorkTree({ root, objects: join(tempDir(t), 'objects') }).changed(base, head);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': '4\n', 'ü.txt': 'x\n' });
  await teamWorktrees.save(TEAM, 'a', 'Grün\n\nTask: 3\n');
  const { commits } = await teamWorktrees.commits(TEAM, 'a');
  await teamWorktrees.merge(TEAM, 'a', 'Merge\n\nTask: 3\n');
  const other = await teamWorktrees.open(TEAM, 'b');
  const diff = await readDiff(range);
  return {
    found: found.ok
      ? [short(found.base), found.words.replace(base.slice(0, 10), '').replace(head.slice(0, 10), '')]
      : found,
    facts,
    diff: diff.files,
    byCommit,
    uncommitted,
    tree,
    commits: commits.map(({ sha: _, ...rest }) => rest),
    changed: await teamWorktrees.changed(TEAM),
    other: other.branch,
  };
}

test('what is told of a repository is the same whatever its settings are', async (t) => {
  const plain = await told(t, false);
  assert.deepEqual(plain.facts.lines.length, 2);
  assert.equal(plain.byCommit.length, 1);
  assert.deepEqual(await told(t, true), plain);
});
