// A worktree that its writer has made to point at settings of its own, which have programs started: none is.

import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readCommitDiffs, readDiff } from '../../src/gate/readers/diff.ts';
import { treeFingerprint } from '../../src/gate/run/tree-fingerprint.ts';
import { createRunGit } from '../../src/git/worktree-git.ts';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { projectOf, TEAM, textOf } from '../support/team-worktrees.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

/** What in a settings file names a program. */
const SETTINGS = (program: string) => `[core]
\trepositoryformatversion = 0
\tfsmonitor = ${program}
\thooksPath = ${program}-hooks
\tsshCommand = ${program}
\tpager = ${program}
\teditor = ${program}
[filter "x"]
\tclean = ${program}
\tsmudge = ${program}
\trequired = true
[diff]
\texternal = ${program}
[diff "x"]
\tcommand = ${program}
\ttextconv = ${program}
[merge "x"]
\tdriver = ${program}
[gpg]
\tprogram = ${program}
[commit]
\tgpgSign = true
`;

type Planted = {
  readonly root: string;
  readonly path: string;
  /** A Git directory with those settings. */
  readonly own: string;
};

/** How a writer, or anything that it has started, brings git to read them. */
const WAYS: Readonly<Record<string, (at: Planted) => void>> = {
  'its .git file points elsewhere': ({ path, own }) => writeFileSync(join(path, '.git'), `gitdir: ${own}\n`),
  'its .git is a directory': ({ path, own }) => {
    rmSync(join(path, '.git'), { recursive: true, force: true });
    cpSync(own, join(path, '.git'), { recursive: true });
  },
  'its part of the Git directory points elsewhere': ({ root, path, own }) =>
    writeFileSync(join(root, '.git', 'worktrees', path.split('/').at(-1) ?? '', 'commondir'), `${own}\n`),
};

/** A writer's worktree with a change, in a repository that has filters of its own; what must never run leaves a trace. */
async function planted(t: Cleanup) {
  const { root, git, base, teamWorktrees } = projectOf(t, {
    files: { 'src/api/a.js': '1\n', '.gitattributes': '*.up filter=up\n', 'b.up': 'SHOUTED\n' },
  });
  git('config', 'filter.up.clean', 'tr a-z A-Z');
  git('config', 'filter.up.smudge', 'tr A-Z a-z');
  await teamWorktrees.begin(TEAM);
  const place = tempDir(t);
  const [program, trace, own] = [join(place, 'program'), join(place, 'trace'), join(place, 'own')];
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >>'${trace}'\ncat\n`);
  chmodSync(program, 0o755);
  mkdirSync(`${program}-hooks`);
  for (const hook of ['pre-commit', 'post-checkout', 'post-index-change', 'reference-transaction', 'post-commit'])
    cpSync(program, join(`${program}-hooks`, hook));
  cpSync(join(root, '.git'), own, { recursive: true });
  writeFileSync(join(own, 'config'), SETTINGS(program));
  cpSync(`${program}-hooks`, join(own, 'hooks'), { recursive: true });
  const traces = () => (existsSync(trace) ? readFileSync(trace, 'utf8') : '');
  return { root, git, base, teamWorktrees, own, traces };
}

const ATTRIBUTES = { '.gitattributes': '*.up filter=up\n* diff=x merge=x\n*.js filter=x\n' };

test('what is planted starts programs, where git goes by it', async (t) => {
  const { root, teamWorktrees, own, traces } = await planted(t);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  WAYS['its part of the Git directory points elsewhere']?.({ root, path, own });
  writeTree(path, { ...ATTRIBUTES, 'src/api/a.js': '2\n' });
  gitIn(path)('add', '-A');
  assert.match(traces(), /program/);
});

for (const [how, happens] of Object.entries(WAYS)) {
  test(`no such program is started, and the work goes by the repository's own settings: ${how}`, async (t) => {
    const { root, git, teamWorktrees, own, traces } = await planted(t);
    const { path } = await teamWorktrees.open(TEAM, 'a');
    const again = () => {
      happens({ root, path, own });
      writeTree(path, { ...ATTRIBUTES, 'src/api/a.js': '2\n', 'src/api/new.up': 'quiet\n' });
    };
    again();
    assert.ok((await teamWorktrees.save(TEAM, 'a', 'Two')) !== null);
    happens({ root, path, own });
    await teamWorktrees.update(TEAM, 'a');
    const { tip, commits } = await teamWorktrees.commits(TEAM, 'a');
    assert.deepEqual(
      commits.map(({ subject, files }) => [subject, files]),
      [['Two', ['.gitattributes', 'src/api/a.js', 'src/api/new.up']]],
    );
    happens({ root, path, own });
    assert.equal((await teamWorktrees.merge(TEAM, 'a', 'All', tip ?? '')).kind, 'merged');
    assert.equal(git('show', `tool/${TEAM}:src/api/new.up`), 'QUIET\n', 'the filter of the repository itself');
    happens({ root, path, own });
    writeTree(path, { 'src/api/a.js': '3\n' });
    const sha = (await teamWorktrees.save(TEAM, 'a', 'Three')) ?? '';
    happens({ root, path, own });
    await teamWorktrees.refuse(TEAM, 'a', sha, ['src/api/a.js']);
    assert.equal(textOf(path, 'src/api/a.js'), '2\n');
    again();
    await teamWorktrees.close(TEAM, 'a');
    assert.equal(traces(), '');
    assert.equal(existsSync(path), false);
  });

  test(`nor where it came about after the worktree was looked at: ${how}`, async (t) => {
    const { root, teamWorktrees, own, traces } = await planted(t);
    const { path } = await teamWorktrees.open(TEAM, 'a');
    happens({ root, path, own });
    writeTree(path, { ...ATTRIBUTES, 'src/api/a.js': '2\n' });
    const runGit = createRunGit(process.env, { common: join(root, '.git'), mark: {} });
    for (const args of [
      ['status', '--short'],
      ['add', '-A'],
      ['commit', '--quiet', '-m', 'x'],
      ['diff', 'HEAD'],
      ['checkout', '--', '.'],
    ])
      await runGit.try(path, args);
    assert.equal(traces(), '');
  });

  test(`nor by what measures the work: ${how}`, async (t) => {
    const { root, git, base, teamWorktrees, own, traces } = await planted(t);
    const { path } = await teamWorktrees.open(TEAM, 'a');
    writeTree(path, { ...ATTRIBUTES, 'src/api/a.js': '2\n', 'src/api/new.up': 'quiet\n' });
    await teamWorktrees.save(TEAM, 'a', 'Two');
    await teamWorktrees.merge(TEAM, 'a', 'Two');
    const { path: view, head } = await teamWorktrees.openReadOnly(TEAM, 'gate');
    happens({ root, path: view, own });
    const { signal } = new AbortController();
    assert.equal(await treeFingerprint({ root: view, leftOut: [], signal }), git('rev-parse', `${head}^{tree}`).trim());
    const range = { root: view, base, head, signal };
    assert.deepEqual((await readDiff(range)).files.map(({ path: file }) => file).sort(), [
      '.gitattributes',
      'src/api/a.js',
      'src/api/new.up',
    ]);
    assert.equal((await readCommitDiffs(range)).length, 1);
    assert.equal(traces(), '');
  });
}
