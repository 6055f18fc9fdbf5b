// The check of rooms and the check of commit subjects: what breaks a rule is named.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { tempDir } from '../support/temp.ts';

const { ROOMS }: { ROOMS: readonly string[] } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs');

function run(script: string, ...args: readonly string[]) {
  return execaSync(process.execPath, ['--import', 'tsx', `scripts/${script}`, ...args], { reject: false });
}

const house = () =>
  Object.fromEntries(
    ROOMS.flatMap((room) => [
      [`src/${room}/a.ts`, "import '../base/a.ts';\n"],
      [`src/${room}/README.md`, `# ${room}\n`],
    ]),
  );

test('a room without a README, with a long one, without files, or with too many lines is named', (t) => {
  const root = tempDir(t);
  writeTree(root, house());
  assert.deepEqual(run('rooms.ts', '--check', root).stdout, `rooms hold: ${ROOMS.length} looked at`);
  const { 'src/git/README.md': _, 'src/guard/a.ts': __, ...rest } = house();
  const bad = tempDir(t);
  writeTree(bad, { ...rest, 'src/gate/README.md': '# gate\n'.repeat(31), 'src/team/b.ts': '\n'.repeat(10) });
  const { exitCode, stderr } = run('rooms.ts', '--check', bad);
  assert.equal(exitCode, 1);
  assert.deepEqual(
    stderr
      .trim()
      .split('\n')
      .map((line) => line.split(': ')[0]),
    ['src/git/README.md', 'src/guard', 'src/gate/README.md', 'src/team'],
  );
});

test('the drawing has a row for each room, with its size and its imports by room', (t) => {
  const root = tempDir(t);
  writeTree(root, { ...house(), 'src/git/b.ts': "import type { A } from '../base/a.ts';\nexport * from './a.ts';\n" });
  const rows = run('rooms.ts', root).stdout.trim().split('\n');
  assert.deepEqual(rows[0]?.trim().split(/\s+/), ['room', 'files', 'lines', 'share', ...ROOMS]);
  const share = ((3 / (ROOMS.length + 2)) * 100).toFixed(1);
  assert.deepEqual(rows[2]?.trim().split(/\s+/), ['git', '2', '3', share, '%', '2', '·']);
});

test('commits after the check need a room, an imperative and at most 72 characters', (t) => {
  const root = tempDir(t);
  const git = gitIn(root);
  const commit = (subject: string) => git('commit', '-q', '--allow-empty', '-m', subject);
  git('init', '-q');
  writeTree(root, { 'src/guard/a.ts': '', 'scripts/check-commits.ts': '' });
  commit('Whatever came before');
  git('add', '.');
  commit('ci: check the subjects of commits');
  commit('guard: bring the table back');
  assert.deepEqual(run('check-commits.ts', root).stdout, 'subjects hold: 1 commits looked at');
  const shallow = join(tempDir(t), 'shallow');
  execaSync`git clone -q --depth=1 file://${root} ${shallow}`;
  const unseen = run('check-commits.ts', shallow);
  assert.equal(unseen.exitCode, 1);
  assert.match(unseen.stderr, /^not looked at: the history of a shallow clone/);
  const unpacked = tempDir(t);
  writeTree(unpacked, { 'src/guard/a.ts': '' });
  assert.match(run('check-commits.ts', unpacked).stdout, /^not looked at: .* no clone/);
  const wrong = ['Fix it', 'cellar: fix it', 'guard: fixed it', 'guard: Fix it', `guard: fix ${'it'.repeat(40)}`];
  for (const subject of wrong) commit(subject);
  const { exitCode, stderr } = run('check-commits.ts', root);
  assert.equal(exitCode, 1);
  const named = stderr.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
  assert.deepEqual(
    named.map((line) => line.slice(line.indexOf(' ') + 1)),
    wrong.reverse(),
  );
});
