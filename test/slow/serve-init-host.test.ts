// `tool serve init`: what it makes of the place it is run in: the remote's host, the usual root, a directory that takes no file.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { offeredRoot } from '../../src/cli/init-answers.ts';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { claimRoot } from '../../src/daemon/workspaces/workspace-root.ts';
import { END, joined, lineLike, START } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { gitAs } from '../support/forge.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

async function cloneOf(t: Cleanup, remote: string) {
  const directory = tempDir(t);
  await gitAs(directory, 'init', '--quiet');
  await gitAs(directory, 'remote', 'add', 'origin', remote);
  return {
    directory,
    init: (...args: string[]) =>
      runTool(['serve', 'init', '--yes', ...args], { cwd: directory, env: cleanEnv(directory) }),
    written: () => readFileSync(join(directory, 'WORKFLOW.md'), 'utf8'),
  };
}

test('another host than github.com is written down, said, and named in the commands', async (t) => {
  const { init, written } = await cloneOf(t, 'ssh://git@git.example.com:2222/o/r.git');
  const { code, stdout } = await init();
  assert.equal(code, 0);
  assert.match(
    written(),
    /^ {2}repo: o\/r\n {2}# .* GitHub Enterprise server.*\n {2}api_url: https:\/\/git\.example\.com\/api\/v3$/m,
  );
  assert.match(stdout, /^ {2}gh label create tool-todo --repo git\.example\.com\/o\/r /m);
  assert.match(stdout, / at https:\/\/git\.example\.com\/o\/r\/labels:$/m);
  assert.match(
    stdout,
    /^git\.example\.com is taken for a GitHub Enterprise server, .* give --repo github\.com\/o\/r\.$/m,
  );
  const other = await init('--force', '--repo', 'github.com/o/r');
  assert.doesNotMatch(written() + other.stdout, /api_url|Enterprise/);
  assert.match(other.stdout, /--repo o\/r /);
  await init('--force', '--repo', 'team.ghe.com/o/r');
  assert.match(written(), /^ {2}api_url: https:\/\/api\.team\.ghe\.com$/m);
});

test('a remote that names no repository of a service is said, without the password in it', async (t) => {
  const cases: readonly [string, string][] = [
    ['/srv/git/project.git', 'the Git remote origin at /srv/git/project.git'],
    ['https://me:secret@host.example/only', 'the Git remote origin at https://host.example/only'],
  ];
  for (const [remote, words] of cases) {
    const { init } = await cloneOf(t, remote);
    const { code, stderr } = await init();
    assert.equal(code, 2);
    assert.ok(stderr.includes(`got nothing, and this directory has ${words}, which names no <owner>/<repo>`), stderr);
  }
  const { directory, init } = await cloneOf(t, 'https://github.com/o/r.git');
  await gitAs(directory, 'remote', 'rename', 'origin', 'one');
  await gitAs(directory, 'remote', 'add', 'two', 'https://github.com/o/r2.git');
  assert.match(
    (await init()).stderr,
    /has the Git remotes one, two, none of them called origin\. \(option_invalid\)$/m,
  );
});

test('a usual root that another repository has gives way to one of the repository’s own, and that is said', (t) => {
  const usual = join(tempDir(t), 'usual');
  assert.deepEqual(offeredRoot('github.com/o/r', usual), { root: usual, note: null });
  claimRoot(usual, 'github.com/o/other', '/elsewhere');
  mkdirSync(join(usual, 'issue-1'));
  assert.deepEqual(offeredRoot('github.com/o/r', usual), {
    root: `${usual}-o-r`,
    note: `${usual} holds the workspaces of github.com/o/other, not of github.com/o/r: workspaces are made in ${usual}-o-r.`,
  });
  assert.equal(offeredRoot('github.com/o/other', usual).note, null);
});

test('where it may not write, that is one line, and nothing is left', async (t) => {
  const { directory, init } = await cloneOf(t, 'https://github.com/o/r.git');
  const path = join(directory, 'WORKFLOW.md');
  mkdirSync(path);
  const { code, stdout, stderr } = await init('--force');
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
  assert.match(
    stderr,
    joined(
      START,
      'tool: ',
      lineLike(CLI_CODES.workflow_file_unwritable, { path: /\S*WORKFLOW\.md/, said: /E[A-Z]+: .*/ }),
      '\n',
      END,
    ),
  );
  assert.deepEqual(readdirSync(directory).sort(), ['.git', 'WORKFLOW.md']);
});

test('a WORKFLOW.md that is a link stays one', async (t) => {
  const { directory, init, written } = await cloneOf(t, 'https://github.com/o/r.git');
  writeFileSync(join(directory, 'real.md'), 'mine');
  symlinkSync('real.md', join(directory, 'WORKFLOW.md'));
  assert.equal((await init('--force')).code, 0);
  assert.equal(readFileSync(join(directory, 'real.md'), 'utf8'), written());
  assert.ok(existsSync(join(directory, 'real.md')) && written().startsWith('---'));
});

const NAMESPACE = ['--user', '--map-root-user', '--mount'];
const { failed } = execaSync({ reject: false })`unshare ${NAMESPACE} true`;
const possible = failed ? { skip: 'no namespaces here' } : {};

/** With a /tmp of its own, in which the usual root is another repository's. */
const OCCUPIED = `set -e
mount --bind "$1" /mnt
mount -t tmpfs none /tmp
mkdir -p /tmp/tool-harness-test/.toolcrew /tmp/tool-harness-test/issue-1 /tmp/project
echo '{"repository":"github.com/o/other"}' > /tmp/tool-harness-test/.toolcrew/root.json
cd /tmp/project
node /mnt/dist/cli.js serve init --yes --repo o/r
grep root: WORKFLOW.md`;

test('--yes takes the root of the repository’s own when the usual one is another’s', possible, () => {
  const args = [...NAMESPACE, 'sh', '-c', OCCUPIED, 'sh', process.cwd()];
  const { stdout, stderr } = execaSync({ env: cleanEnv('/tmp'), extendEnv: false, reject: false })`unshare ${args}`;
  assert.equal(stderr, '');
  assert.match(
    stdout,
    /^\/tmp\/tool-harness-test holds the workspaces of github\.com\/o\/other, not of github\.com\/o\/r: /m,
  );
  assert.match(stdout, /^ {2}root: \/tmp\/tool-harness-test-o-r$/m);
});
