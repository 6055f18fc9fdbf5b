// Over 400 lines: its cases share one remote repository.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { runProgram } from '../../src/base/processes/program.ts';
import { isFailure, ToolError } from '../../src/base/rules/errors.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { Mirror } from '../../src/daemon/workspaces/mirror/mirror.ts';
import { NO_PUSH } from '../../src/git/clone.ts';
import { cloneEnvironment, tryGit } from '../../src/git/git.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { failsWith, isOf } from '../support/codes.ts';
import { commitFiles, gitAs, startForge } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';
import { setUpWorkspaces as setUp } from '../support/workspaces.ts';

const { signal } = new AbortController();

const branchIn = async (path: string) => (await gitAs(path, 'branch', '--show-current')).trim();

test('the first attempt starts from the latest main, on the issue’s branch; pushing from there is impossible', async (t) => {
  const { work, bare, workspaces, task, ready, root } = await setUp(t);
  const place = await ready(task());
  assert.deepEqual(place, { path: join(root, 'issue-1'), created: true });
  assert.equal(await branchIn(place.path), 'tool/issue-1');
  assert.equal(readFileSync(join(place.path, 'README.md'), 'utf8'), '# project\n\nA line.\n');
  assert.equal((await gitAs(place.path, 'remote', 'get-url', '--push', 'origin')).trim(), NO_PUSH);
  const pushed = await tryGit(['push', 'origin', 'HEAD'], { cwd: place.path });
  assert.match(pushed.stderr, /no-push/);
  const origin = (await gitAs(place.path, 'remote', 'get-url', 'origin')).trim();
  const direct = await runProgram('git', ['push', origin, 'HEAD:refs/heads/planted'], {
    cwd: place.path,
    env: cloneEnvironment(process.env),
  });
  assert.match(direct.stderr, /nobody pushes here/, 'the mirror takes no push either');
  assert.equal((await tryGit(['fetch', 'origin'], { cwd: place.path })).exitCode, 0);
  await commitFiles(work, { 'later.txt': 'x' }, 'later');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const other = await ready(task(1, 1, 2));
  assert.ok(existsSync(join(other.path, 'later.txt')));
  assert.deepEqual(await workspaces.collect(task(), signal), { head: null, savedAs: null });
});

test('a root that a cleaner took away is made again; one that is somebody else’s by now is refused', async (t) => {
  const { task, ready, root } = await setUp(t);
  await ready(task());
  rmSync(root, { recursive: true });
  assert.deepEqual(await ready(task()), { path: join(root, 'issue-1'), created: true });
  rmSync(root, { recursive: true });
  mkdirSync(root);
  writeFileSync(join(root, 'theirs.txt'), '');
  await failsWith(ready(task()), WORKSPACES_CODES.workspace_root_taken, { why: 'holds files that are not ours' });
});

test('later attempts keep commits and uncommitted files, and take main in where that merges cleanly', async (t) => {
  const { work, bare, workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  writeFileSync(join(path, 'half.txt'), 'half done\n');
  await commitFiles(work, { 'theirs.txt': 'theirs\n' }, 'theirs');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const again = await ready(task(2));
  assert.equal(again.created, false);
  for (const file of ['mine.txt', 'half.txt', 'theirs.txt']) assert.ok(existsSync(join(path, file)), file);
  const { head } = await workspaces.collect(task(2), signal);
  assert.equal(head, (await gitAs(path, 'rev-parse', 'HEAD')).trim());
  assert.equal(await workspaces.peek(task(2), signal), head);
});

test('a nested repository never becomes a link in what is published; a submodule does', async (t) => {
  const { workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  for (const nested of ['app', '.claude/worktrees/one']) {
    mkdirSync(join(path, nested), { recursive: true });
    await gitAs(join(path, nested), 'init', '--quiet');
    await commitFiles(join(path, nested), { 'main.js': 'work\n' }, 'inside');
  }
  await commitFiles(path, { 'readme.txt': 'outside\n' }, 'outside');
  assert.match(await gitAs(path, 'ls-files', '--stage'), /^160000 .*app$/m);
  await assert.rejects(
    workspaces.collect(task(), signal),
    isOf(WORKSPACES_CODES.nested_repository_linked, {
      links: ['.claude/worktrees/one', 'app'],
      first: '.claude/worktrees/one',
    }),
  );
  // What the words say to do.
  rmSync(join(path, 'app', '.git'), { recursive: true });
  await gitAs(path, 'rm', '--quiet', '--cached', 'app', '.claude/worktrees/one');
  await gitAs(path, 'add', 'app');
  await gitAs(path, 'commit', '--quiet', '-m', 'with its files');
  const { head } = await workspaces.collect(task(), signal);
  assert.match(await gitAs(path, 'ls-tree', '-r', '--name-only', head ?? ''), /^app\/main\.js$/m);
  await gitAs(path, 'add', '--force', '.claude/worktrees/one');
  await commitFiles(
    path,
    { '.gitmodules': '[submodule "one"]\n\tpath = .claude/worktrees/one\n\turl = ../one.git\n' },
    's',
  );
  assert.notEqual((await workspaces.collect(task(), signal)).head, head);
});

test('a main that does not merge cleanly is left out, and that is said', async (t) => {
  const { work, bare, task, ready, said } = await setUp(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'README.md': 'mine\n' }, 'mine');
  await commitFiles(work, { 'README.md': 'theirs\n' }, 'theirs');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  await ready(task(2));
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), 'mine\n');
  assert.match(said.join(''), /refs\/remotes\/origin\/main .*; it is left out/);
  assert.equal((await gitAs(path, 'status', '--porcelain')).trim(), '');
});

test('a half-made workspace is never used again', async (t) => {
  const { workspaces, task, ready, root } = await setUp(t);
  const first = task();
  await workspaces.prepare(first, signal);
  await workspaces.afterCreate(first, signal);
  writeFileSync(join(root, 'issue-1', 'left.txt'), 'from a process that was killed');
  const place = await ready(first);
  assert.equal(place.created, true);
  assert.equal(existsSync(join(root, 'issue-1', 'left.txt')), false);
  rmSync(join(root, 'issue-1', '.git'), { recursive: true });
  assert.equal((await ready(task(2))).created, true, 'nor one whose clone is gone');
});

test('uncommitted work is saved as a ref before a new life resets it, and it outlives the workspace', async (t) => {
  const { workspaces, task, ready, mirror, said } = await setUp(t);
  const { path } = await ready(task());
  writeFileSync(join(path, 'idea.txt'), 'an idea\n');
  writeFileSync(join(path, 'README.md'), 'changed\n');
  await ready(task(1, 2));
  assert.equal(await branchIn(path), 'tool/issue-1-2');
  assert.equal(existsSync(join(path, 'idea.txt')), false);
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), '# project\n\nA line.\n');
  assert.match(said.join(''), /saved as refs\/toolcrew\/saved\/issue-1-2-1/);
  const show = (file: string) => gitAs(mirror.path, 'show', `refs/toolcrew/saved/issue-1-2-1:${file}`);
  assert.equal(await show('idea.txt'), 'an idea\n');
  assert.equal(await show('README.md'), 'changed\n');
  writeFileSync(join(path, 'second.txt'), 'another\n');
  await workspaces.remove(task(1, 2), signal);
  assert.equal(existsSync(path), false);
  assert.equal(await gitAs(mirror.path, 'show', 'refs/toolcrew/saved/issue-1-2-1-2:second.txt'), 'another\n');
});

test('an attempt that committed nothing has its changes saved', async (t) => {
  const { workspaces, task, ready, mirror } = await setUp(t);
  const { path } = await ready(task());
  writeFileSync(join(path, 'half.txt'), 'half\n');
  const { head, savedAs } = await workspaces.collect(task(), signal);
  assert.equal(head, null);
  assert.equal(await gitAs(mirror.path, 'show', `${savedAs}:half.txt`), 'half\n');
  assert.ok(existsSync(join(path, 'half.txt')), 'the files stay as they are');
});

test('what an agent planted in its clone is not run: hooks, helpers, filters, monitors, redirections', async (t) => {
  const { workspaces, task, ready, directory } = await setUp(t);
  const { path } = await ready(task());
  const traces = join(directory, 'pwned');
  const program = join(directory, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${traces}\ncat\n`);
  chmodSync(program, 0o755);
  for (const hook of ['post-checkout', 'pre-commit', 'post-merge', 'reference-transaction', 'post-index-change']) {
    mkdirSync(join(path, '.git', 'hooks'), { recursive: true });
    writeFileSync(join(path, '.git', 'hooks', hook), `#!/bin/sh\necho ${hook} >> ${traces}\n`);
    chmodSync(join(path, '.git', 'hooks', hook), 0o755);
  }
  const config: readonly [string, string][] = [
    ['core.fsmonitor', program],
    ['core.hooksPath', join(path, '.git', 'hooks')],
    ['core.sshCommand', program],
    ['core.editor', program],
    ['core.pager', program],
    ['diff.external', program],
    ['credential.helper', program],
    ['filter.evil.clean', program],
    ['filter.evil.smudge', program],
    ['remote.origin.url', `ext::${program}`],
    ['remote.origin.uploadpack', program],
    ['merge.evil.driver', program],
    ['gpg.program', program],
    ['commit.gpgsign', 'true'],
    ['include.path', join(directory, 'included')],
  ];
  writeFileSync(join(directory, 'included'), `[core]\n\tfsmonitor = ${program}\n`);
  for (const [key, value] of config) await gitAs(path, '-c', 'core.fsmonitor=false', 'config', key, value);
  writeFileSync(join(path, '.git', 'info', 'attributes'), '* filter=evil diff=evil merge=evil\n');
  writeFileSync(join(path, '.gitattributes'), '* filter=evil\n');
  writeFileSync(join(path, '.git', 'commondir'), directory);
  writeFileSync(join(path, 'new.txt'), 'x\n');
  rmSync(traces, { force: true });
  const { savedAs } = await workspaces.collect(task(), signal);
  assert.ok(savedAs !== null);
  await ready(task(2));
  await ready(task(1, 2));
  await workspaces.remove(task(1, 2), signal);
  assert.equal(existsSync(traces), false, existsSync(traces) ? readFileSync(traces, 'utf8') : '');
});

test('a Git directory that leads elsewhere is not followed', async (t) => {
  const { workspaces, task, ready, directory, work } = await setUp(t);
  const { path } = await ready(task());
  rmSync(join(path, '.git'), { recursive: true });
  symlinkSync(join(work, '.git'), join(path, '.git'));
  await assert.rejects(
    workspaces.collect(task(), signal),
    (error) => error instanceof ToolError && error.kind === 'hook' && error.message.startsWith(path),
  );
  assert.equal(await workspaces.peek(task(), signal), null);
  const before = readFileSync(join(work, '.git', 'config'), 'utf8');
  await ready(task(2));
  assert.equal(readFileSync(join(work, '.git', 'config'), 'utf8'), before);
  assert.ok(existsSync(directory));
});

test('a link planted in the place of a workspace is removed, not followed', async (t) => {
  const { ready, task, root, directory } = await setUp(t);
  const victim = join(directory, 'victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'precious.txt'), 'keep me');
  symlinkSync(victim, join(root, 'issue-1'));
  const { path, created } = await ready(task());
  assert.equal(created, true);
  assert.ok(existsSync(join(path, 'README.md')));
  assert.equal(readFileSync(join(victim, 'precious.txt'), 'utf8'), 'keep me');
});

test('a link to the outside in a workspace is removed with it, what it leads to stays', async (t) => {
  const { ready, task, workspaces, directory } = await setUp(t);
  const { path } = await ready(task());
  const victim = join(directory, 'victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'precious.txt'), 'keep me');
  symlinkSync(victim, join(path, 'out'));
  mkdirSync(join(path, 'locked', 'inner'), { recursive: true });
  chmodSync(join(path, 'locked'), 0o500);
  await workspaces.remove(task(), signal);
  assert.equal(existsSync(path), false);
  assert.equal(readFileSync(join(victim, 'precious.txt'), 'utf8'), 'keep me');
});

test('own scripts: their environment, their output, their failures, their time limit with everything they started', async (t) => {
  const { work, forge, task, workspaces, said, directory } = await setUp(t, {
    afterCreate: `git clone --quiet http://someone:secret@${'$'}FORGE/maintainer/project.git . && git config credential.helper store && echo cloned`,
    beforeRun:
      'echo "$TOOL_ISSUE $TOOL_ATTEMPT $TOOL_BRANCH $TOOL_REPO $TOOL_DEFAULT_BRANCH $HOOK $TOOL_SOCKET"; pwd; git checkout --quiet --detach',
    afterRun: 'echo after; exit 4',
    beforeRemove: 'sleep 100',
    timeoutMs: 10_000,
  });
  const one = { ...task(), env: { ...task().env, FORGE: new URL(forge.url).host } };
  const { path } = await workspaces.prepare(one, signal);
  await workspaces.afterCreate(one, signal);
  await workspaces.complete(one, signal);
  const config = readFileSync(join(path, '.git', 'config'), 'utf8');
  assert.doesNotMatch(config, /secret|helper/);
  assert.match(config, new RegExp(`pushurl = ${NO_PUSH}`));
  await workspaces.beforeRun(one, signal);
  assert.deepEqual(said.join('').split('\n').slice(0, 3), ['cloned', '1 1 tool/issue-1 o/r main env /socket', path]);
  assert.equal(
    await branchIn(path),
    'tool/issue-1',
    'whatever the script left, the agent stands on the issue’s branch',
  );
  await assert.rejects(
    workspaces.afterRun(one, signal),
    isOf(WORKSPACES_CODES.workflow_hook_failed, { hook: 'after_run', how: 'ended with exit code 4', said: 'after' }),
  );
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('stopped')), 100);
  await assert.rejects(workspaces.beforeRemove(one, stop.signal), /stopped/);
  assert.ok(existsSync(work) && existsSync(directory));
});

test('a hook that takes too long is ended and says which limit it broke', async (t) => {
  const { task, workspaces } = await setUp(t, { afterCreate: 'echo begun; sleep 100', timeoutMs: 200 });
  await workspaces.prepare(task(), signal);
  await failsWith(workspaces.afterCreate(task(), signal), WORKSPACES_CODES.hook_timed_out, {
    hook: 'after_create',
    ms: 200,
  });
});

test('a clone that fails is put down to the hosting login; one that leaves nothing is said', async (t) => {
  const { task, workspaces } = await setUp(t, { afterCreate: 'git clone --quiet http://127.0.0.1:9/x.git .' });
  await workspaces.prepare(task(), signal);
  await assert.rejects(
    workspaces.afterCreate(task(), signal),
    /after_create ended with exit code 128 \(if a clone failed: check `gh auth status`\): .*unable to access/s,
  );
  const empty = await setUp(t, { afterCreate: 'true' });
  await empty.workspaces.prepare(empty.task(), signal);
  await empty.workspaces.afterCreate(empty.task(), signal);
  await failsWith(empty.workspaces.complete(empty.task(), signal), WORKSPACES_CODES.after_create_no_clone);
});

test('a built-in clone that fails names git’s words and the login', async (t) => {
  const directory = tempDir(t);
  const { forge } = await startForge(t);
  const mirror = new Mirror({
    path: join(directory, 'repo.git'),
    remoteUrl: `${forge.url}/maintainer/nowhere.git`,
    secret: async () => null,
    env: process.env,
    clock: systemClock,
    silenceMs: () => 600_000,
  });
  await assert.rejects(mirror.refresh(signal), (error) => {
    assert.match(String(error), /not found|404/);
    return isOf(GIT_CODES.git_failed, { command: 'clone' })(error);
  });
  assert.equal(existsSync(join(directory, 'repo.git')), false);
});

test('a push: the one branch, twice is once, what is not ours is never overwritten', async (t) => {
  const { work, bare, workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  const first = await commitFiles(path, { 'a.txt': '1' }, 'one');
  const heads = async () =>
    (await gitAs(bare, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads')).trim().split('\n');
  await workspaces.push(task(), first, [], signal);
  await workspaces.push(task(), first, [first], signal);
  assert.ok((await heads()).includes(`refs/heads/tool/issue-1 ${first}`));
  await gitAs(path, 'commit', '--quiet', '--amend', '-m', 'one, rewritten');
  const rewritten = (await gitAs(path, 'rev-parse', 'HEAD')).trim();
  await workspaces.push(task(), rewritten, [first], signal);
  assert.ok(
    (await heads()).includes(`refs/heads/tool/issue-1 ${rewritten}`),
    'what we pushed ourselves may be replaced',
  );
  await gitAs(work, 'fetch', '--quiet', bare, 'tool/issue-1:tool/issue-1');
  await gitAs(work, 'checkout', '--quiet', 'tool/issue-1');
  const theirs = await commitFiles(work, { 'human.txt': 'x' }, 'by a person');
  await gitAs(work, 'push', '--quiet', bare, 'tool/issue-1');
  const third = await commitFiles(path, { 'b.txt': '2' }, 'two');
  await assert.rejects(
    workspaces.push(task(), third, [first, rewritten], signal),
    isOf(WORKSPACES_CODES.branch_has_foreign_commits, { branch: 'tool/issue-1', commit: theirs.slice(0, 12) }),
  );
  assert.ok((await heads()).includes(`refs/heads/tool/issue-1 ${theirs}`));
  await ready(task(2));
  const { head } = await workspaces.collect(task(2), signal);
  await workspaces.push(task(2), head ?? '', [first, rewritten], signal);
  assert.ok(
    (await heads()).includes(`refs/heads/tool/issue-1 ${head}`),
    'the next attempt took the person’s commit in',
  );
});

test('a push that the service’s own rule refuses is a refusal with its words', async (t) => {
  const { bare, workspaces, task, ready } = await setUp(t);
  writeFileSync(join(bare, 'hooks', 'update'), '#!/bin/sh\necho "no secrets, please" >&2\nexit 1\n');
  chmodSync(join(bare, 'hooks', 'update'), 0o755);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'a.txt': '1' }, 'one');
  await assert.rejects(
    workspaces.push(task(), sha, [], signal),
    (error: unknown) =>
      isFailure(error, WORKSPACES_CODES.push_rejected) && /no secrets, please/.test(String(error.values.said)),
  );
});

test('a branch in the way of the issue’s is told from a refusal of its commits', async (t) => {
  const { workspaces, task, ready, bare } = await setUp(t);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'a.txt': 'a\n' }, 'Work');
  await gitAs(bare, 'branch', 'tool', 'main');
  await failsWith(workspaces.push(task(), sha, [], signal), WORKSPACES_CODES.issue_branch_blocked, {
    blocking: 'tool',
    branch: 'tool/issue-1',
  });
  await gitAs(bare, 'branch', '-D', 'tool');
  await workspaces.push(task(), sha, [], signal);
});

test('commit messages and the pull-request template come from the branch and from main', async (t) => {
  const { work, bare, workspaces, task, ready } = await setUp(t);
  assert.equal(await workspaces.pullRequestTemplate(signal), null);
  await commitFiles(work, { '.github/pull_request_template.md': '## What\n' }, 'template');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { path } = await ready(task());
  await commitFiles(path, { 'a.txt': '1' }, 'One\n\nWhy.');
  const sha = await commitFiles(path, { 'b.txt': '1' }, 'Two');
  assert.deepEqual(await workspaces.commitMessages(task(), sha, signal), ['One\n\nWhy.', 'Two']);
  assert.equal(await workspaces.pullRequestTemplate(signal), '## What\n');
});

test('an agent that committed on a branch of its own is taken at its work', async (t) => {
  const { workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  await gitAs(path, 'checkout', '--quiet', '-b', 'my-own');
  const sha = await commitFiles(path, { 'a.txt': '1' }, 'one');
  assert.equal(await workspaces.peek(task(), signal), sha);
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  await gitAs(path, 'checkout', '--quiet', '--detach');
  await gitAs(path, 'pack-refs', '--all');
  assert.equal(await workspaces.peek(task(), signal), sha);
});

test('commits that change nothing are no work', async (t) => {
  const { workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  await gitAs(path, 'commit', '--quiet', '--allow-empty', '-m', 'nothing');
  assert.equal((await workspaces.collect(task(), signal)).head, null);
});
