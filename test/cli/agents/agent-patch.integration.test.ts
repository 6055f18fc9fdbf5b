// The agent that needs no model: diffs in issues, taken to pull requests by the daemon.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after, suite } from 'node:test';
import { fence } from '../../../src/base/rules/text.ts';
import { CLI_CODES } from '../../../src/cli/rules/cli-codes.ts';
import { lineLike } from '../../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../../support/daemon.ts';
import { commitFiles, FILES, gitAs, startForge } from '../../support/forge.ts';

const COUNT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';
const WINDOWS = 'first\r\nsecond\r\nthird\r\n';

/** The project's tests: what they do is decided by files that a patch adds. */
const TESTS = `test ! -e bad.txt || { echo "expected 2, got 3"; exit 1; }
test ! -e slow.txt || { echo "half way"; while [ ! -e go ]; do sleep 0.02; done; }`;

const file = { after };
const forge = await startForge(file, {
  ...FILES,
  'count.txt': COUNT,
  'windows.txt': WINDOWS,
  'old.txt': 'old\n',
  'before.txt': COUNT.toUpperCase(),
  'with space.txt': 'a\n',
});
const inMain = await diffOf(async (path) => writeFileSync(join(path, 'in-main.txt'), 'x\n'));
await commitFiles(forge.work, { 'in-main.txt': 'x\n' }, 'Merged by hand');
await gitAs(forge.work, 'push', '--quiet', forge.bare, 'main');
const daemon = await Daemon.start(file, forge, {
  yaml: `agent: { max_concurrent_agents: 4, max_attempts: 1 }\ntool: { runtime: patch, command: ${JSON.stringify(TESTS)} }`,
});

/** The diff that a change of the project makes. */
async function diffOf(change: (path: string) => Promise<void>): Promise<string> {
  await change(forge.work);
  await gitAs(forge.work, 'add', '--all');
  const diff = await gitAs(forge.work, 'diff', '--cached', '--find-renames');
  await gitAs(forge.work, 'reset', '--quiet', '--hard');
  return diff;
}

const replaced = (path: string, from: string, to: string) =>
  diffOf(async (work) => writeFileSync(join(work, path), readFileSync(join(work, path), 'utf8').replaceAll(from, to)));

/** Has the daemon take an issue with these diffs to its end. */
async function play(title: string, diffs: readonly string[], words = 'As said:') {
  return playBody(title, [words, ...diffs.map((diff) => fence(diff, 'diff'))].join('\n\n'));
}

async function playBody(title: string, body: string) {
  const issue = await forge.open(title, { body });
  await daemon.logged(new RegExp(`issue #${issue} state changed to`));
  const branch = `tool/issue-${issue}`;
  return {
    issue,
    labels: await forge.labelsOf(issue),
    comments: await forge.comments(issue),
    pull: (await forge.pulls()).find((pull) => pull.head === branch),
    /** What the branch changes. */
    changes: async () =>
      (await gitAs(forge.bare, 'diff', '--name-status', '--find-renames', `main...${branch}`)).trim(),
    read: (path: string) => gitAs(forge.bare, 'show', `${branch}:${path}`),
    pushed: (await gitAs(forge.bare, 'branch', '--list', branch)) !== '',
  };
}

// One after the other: they share a work tree.
const DIFFS = {
  readme: await replaced('README.md', 'A line.', 'Another line.'),
  greet: await replaced('src/greet.js', 'Hello', 'Hi'),
  count: await replaced('count.txt', 'two', 'TWO'),
  windows: await replaced('windows.txt', 'second', '2nd'),
  files: await diffOf(async (work) => {
    writeFileSync(join(work, 'new.txt'), 'new\n');
    await rm(join(work, 'old.txt'));
    await rename(join(work, 'before.txt'), join(work, 'after.txt'));
    writeFileSync(join(work, 'with space.txt'), 'b\n');
  }),
};

const adds = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;

suite('the patch runtime', { concurrency: true }, () => {
  test('a diff that applies becomes a pull request that lists the files and closes the issue', async () => {
    const { issue, pull, labels, changes } = await play('Say another line', [DIFFS.readme]);
    assert.deepEqual(labels, ['tool-done']);
    assert.deepEqual(
      { title: pull?.title, body: pull?.body },
      {
        title: 'Say another line',
        body: `Applies the patch that stands in #${issue}.\n\n\`\`\`text\n README.md | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\`\`\`\n\nCloses #${issue}`,
      },
    );
    assert.equal(await changes(), 'M\tREADME.md');
    const { stdout } = await runTool(['logs', String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
    assert.match(stdout, new RegExp(`applied the diff\\n.* passed\\npull request #${pull?.number}\\n$`, 's'));
  });

  test('two diffs in one issue are one pull request', async () => {
    const { pull, changes } = await play('Twice', [DIFFS.greet, DIFFS.count]);
    assert.equal(await changes(), 'M\tcount.txt\nM\tsrc/greet.js');
    assert.match(pull?.body ?? '', /count\.txt +\| 2 \+-\n src\/greet\.js \| 2 \+-/);
  });

  test('files are made, deleted and renamed, whatever their names', async () => {
    const { changes } = await play('All at once', [DIFFS.files]);
    assert.equal(await changes(), 'R100\tbefore.txt\tafter.txt\nA\tnew.txt\nD\told.txt\nM\twith space.txt');
  });

  test('a file with CR LF keeps its line ends, which the text of an issue has lost', async () => {
    const body = fence(DIFFS.windows.replaceAll('\r', ''), 'diff').replaceAll('\n', '\r\n');
    const { read } = await playBody('For Windows', body);
    assert.equal(await read('windows.txt'), 'first\r\n2nd\r\nthird\r\n');
  });

  test('a diff of git format-patch, counts that were written by hand, and empty lines at the end do no harm', async () => {
    const mail = `From 0123 Mon Sep 17 00:00:00 2001\nFrom: m <m@localhost>\nSubject: [PATCH] x\n\n---\n count.txt | 2 +-\n\n${DIFFS.count}-- \n2.39.5\n`;
    const byHand = `${DIFFS.greet.replace(/^@@ .*$/m, '@@ -1,9 +1,8 @@')}\n\n`;
    const { changes } = await play('From here and there', [mail, byHand]);
    assert.equal(await changes(), 'M\tcount.txt\nM\tsrc/greet.js');
  });

  test('a diff that does not apply fails with git’s own words; nothing is pushed', async () => {
    const { labels, comments, pushed } = await play('Too late', [
      DIFFS.readme,
      DIFFS.greet.replace("-export const greet = (name) => 'Hello", "-export const greet = (name) => 'Good day"),
    ]);
    assert.deepEqual(labels, ['tool-failed']);
    assert.match(
      comments[0] ?? '',
      lineLike(CLI_CODES.patch_not_applied, {
        patch: /diff 2 of 2/,
        said: /error: patch failed: src\/greet\.js:1\nerror: src\/greet\.js: patch does not apply/,
      }),
    );
    assert.equal(pushed, false);
  });

  test('tests that fail end the attempt with their words; nothing is pushed', async () => {
    const { issue, labels, comments, pushed } = await play('Break it', [adds('bad.txt')]);
    assert.deepEqual(labels, ['tool-failed']);
    assert.match(comments[0] ?? '', /failed \(exit 1\): \(agent_program_failed\)\nexpected 2, got 3/);
    assert.equal(pushed, false);
    assert.equal(existsSync(join(daemon.root, `issue-${issue}`, 'bad.txt')), false, 'the next attempt begins clean');
  });

  test('what the tests print is heard while they run', async () => {
    const title = 'Take your time';
    const played = play(title, [adds('slow.txt')]);
    let workspace = '';
    await daemon.until('the tests speak', async () => {
      const row = (await daemon.state()).running.find((running) => running.title === title);
      workspace = row?.workspace ?? '';
      return row?.last_message === 'half way';
    });
    writeFileSync(join(workspace, 'go'), '');
    assert.equal(await (await played).changes(), 'A\tslow.txt');
  });

  test('an issue without a diff says what was expected', async () => {
    const { issue, comments, labels } = await play('Only words', []);
    assert.deepEqual(labels, ['tool-failed']);
    assert.match(comments[0] ?? '', new RegExp(`Issue #${issue} .*\\(patch_missing\\)$`, 'm'));
  });

  test('a diff that is in main already did nothing: it fails without a pull request, and that is said', async () => {
    const { labels, comments, pull } = await play('Merged meanwhile', [inMain]);
    assert.deepEqual(labels, ['tool-failed']);
    assert.equal(comments.length, 2);
    assert.match(
      comments.join('\n'),
      /The diff of this issue is in the default branch already: nothing had to change\.[\s\S]*one attempt[\s\S]*did nothing/,
    );
    assert.equal(pull, undefined);
  });

  for (const path of ['../outside', '.git/hooks/x'])
    test(`git refuses a diff that would write ${path}`, async () => {
      const { issue, labels, comments, pushed } = await play(`Out with ${path}`, [adds(path)]);
      assert.deepEqual(labels, ['tool-failed']);
      assert.ok(comments[0]?.includes(`error: invalid path '${path}'`), comments[0]);
      assert.equal(pushed, false);
      assert.equal(existsSync(join(daemon.root, `issue-${issue}`, path)), false);
    });
});
