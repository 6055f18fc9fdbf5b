// The daemon's own copy of the repository.

import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { isFailure } from '../../src/base/rules/errors.ts';
import { SingleFlight } from '../../src/base/single-flight.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { Mirror } from '../../src/daemon/workspaces/mirror/mirror.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();

/** Another process's view of the same mirror, with a clock that stands still until it is moved. */
function reopened(mirror: { readonly path: string }, remoteUrl: string) {
  const clock = { at: 0, now: () => clock.at, elapsed: () => clock.at, sleep: async () => undefined };
  const silenceMs = () => 600_000;
  const made = new Mirror({
    path: mirror.path,
    remoteUrl,
    secret: async () => null,
    env: process.env,
    clock,
    silenceMs,
  });
  return { mirror: made, clock };
}

test('a default branch of another name is found, when the old one is gone and when it is not', async (t) => {
  const { bare, work, mirror, ready, task } = await setUpWorkspaces(t);
  await mirror.refresh(signal);
  assert.equal(await mirror.defaultBranch(signal), 'main');
  await gitAs(bare, 'branch', '--move', 'main', 'trunk');
  await mirror.refresh(signal);
  assert.equal(await mirror.defaultBranch(signal), 'trunk');
  const { path } = await ready(task());
  assert.ok(existsSync(join(path, 'README.md')));

  const { mirror: other, clock } = reopened(mirror, bare);
  await other.refresh(signal);
  assert.equal(await other.defaultBranch(signal), 'trunk');
  await gitAs(work, 'push', '--quiet', bare, 'main:refs/heads/develop');
  await gitAs(bare, 'symbolic-ref', 'HEAD', 'refs/heads/develop');
  clock.at += 60_000;
  await other.refresh(signal);
  assert.equal(await other.defaultBranch(signal), 'trunk', 'it is not asked each time');
  clock.at += 600_000;
  await other.refresh(signal);
  assert.equal(await other.defaultBranch(signal), 'develop');
});

test('locks that a power cut left are removed when a process first uses the mirror', async (t) => {
  const { bare, work, mirror } = await setUpWorkspaces(t);
  await mirror.refresh(signal);
  for (const lock of ['refs/heads/main.lock', 'packed-refs.lock', 'shallow.lock', 'HEAD.lock', 'config.lock'])
    writeFileSync(join(mirror.path, lock), '');
  const sha = await commitFiles(work, { 'later.txt': 'x' }, 'later');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { mirror: other } = reopened(mirror, bare);
  await other.refresh(signal);
  assert.equal(await other.branchHead('main'), sha);
});

test('what workspaces are cloned from is made anew when it cannot be brought up to date', async (t) => {
  const { bare, work, mirror, ready, task } = await setUpWorkspaces(t);
  await mirror.refresh(signal);
  const spoil = [
    () => writeFileSync(join(mirror.source, 'refs/heads/main.lock'), ''),
    () => writeFileSync(join(mirror.source, 'HEAD.lock'), ''),
    () => writeFileSync(join(mirror.source, 'packed-refs'), 'no refs\n'),
    () => writeFileSync(join(mirror.source, 'config'), '[not a config'),
    () => rmSync(mirror.source, { recursive: true }),
  ];
  for (const [index, act] of spoil.entries()) {
    act();
    const sha = await commitFiles(work, { 'later.txt': `${index}\n` }, 'later');
    await gitAs(work, 'push', '--quiet', bare, 'main');
    const { mirror: other } = reopened(mirror, bare);
    await other.refresh(signal);
    assert.equal((await gitAs(other.source, 'rev-parse', 'main')).trim(), sha);
  }
  assert.ok((await ready(task())).created);
});

test('workspaces have the remote’s tags, and nothing of what other agents left', async (t) => {
  const { bare, mirror, workspaces, ready, task } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await gitAs(bare, 'tag', 'v1', 'main');
  await commitFiles(path, { 'secret.txt': 'of the first\n' }, 'left by the first');
  const { head } = await workspaces.collect(task(), signal);
  // As after an upgrade: the mirror has been at work for long, what workspaces come from is not there yet.
  rmSync(mirror.source, { recursive: true });
  const second = await ready(task(1, 1, 2));
  assert.equal((await gitAs(second.path, 'tag')).trim(), 'v1');
  await assert.rejects(gitAs(second.path, 'cat-file', '-t', head ?? ''));
});

test('a branch that the daemon pushed is fetched for clones when it is asked for, or with something else', async (t) => {
  const { bare, work, mirror, workspaces, ready, task } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'one.txt': '1\n' }, 'one');
  await workspaces.collect(task(), signal);
  await workspaces.push(task(), sha, [], signal);
  const shown = async (branch: string) =>
    (await gitAs(mirror.source, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`)).trim();
  const refresh = async (branch?: string) => {
    mirror.outdate();
    await mirror.refresh(signal, branch);
    return shown(task().branch);
  };

  assert.equal(await refresh(), '', 'a push alone costs no fetch');
  assert.equal(await refresh('tool/issue-2'), '', 'nor does an issue without a branch');
  assert.equal(await refresh(task().branch), sha);

  await gitAs(bare, 'update-ref', '-d', `refs/heads/${task().branch}`);
  assert.equal(await refresh(task().branch), '', 'a branch that was deleted is gone when its issue starts again');

  await workspaces.push(task(), sha, [sha], signal);
  const main = await commitFiles(work, { 'later.txt': 'x' }, 'later');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  assert.equal(await refresh(), sha);
  assert.equal(await shown('main'), main);
});

test('a person’s settings of git change nothing in what a commit is taken for', async (t) => {
  const { directory, mirror, workspaces, ready, task } = await setUpWorkspaces(t);
  const home = join(directory, 'home');
  mkdirSync(home);
  writeFileSync(join(home, '.gitconfig'), '[log]\n\tshowSignature = true\n[i18n]\n\tlogOutputEncoding = UTF-16\n');
  const before = process.env.HOME;
  process.env.HOME = home;
  t.after(() => {
    process.env.HOME = before;
  });
  const { path } = await ready(task());
  await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  const raw = await gitAs(path, 'cat-file', 'commit', 'HEAD');
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n =abcd\n -----END PGP SIGNATURE-----';
  const input = raw.replace('\n\n', `\n${signature}\n\n`);
  const sha = execaSync({ cwd: path, input })`git hash-object -t commit -w --stdin`.stdout;
  await gitAs(path, 'reset', '--quiet', '--hard', sha);
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  assert.deepEqual(await mirror.comparison.commitMessages(sha, signal), ['one']);
});

test('a commit that was taken while the mirror was made anew is taken once more', async (t) => {
  const { bare, mirror, ready, task } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  const { mirror: other, clock } = reopened(mirror, bare);
  await other.refresh(signal);
  const go = join(path, '..', 'go');
  const launch = (file: string, args: readonly string[]) =>
    ['/bin/sh', ['-c', `while [ ! -e ${go} ]; do sleep 0.02; done; exec "$@"`, 'sh', file, ...args]] as const;
  const taking = other.take({ path, launch, timeoutMs: 20_000 }, sha, 'refs/toolcrew/work/issue-1/x', signal);
  other.distrust();
  clock.at += 60_000;
  await other.refresh(signal);
  writeFileSync(go, '');
  await taking.catch(() => undefined);
  const isThere = (await gitAs(mirror.path, 'for-each-ref', 'refs/toolcrew/work')) !== '';
  assert.equal(await other.holds(sha), isThere);
});

test('branches that are pushed together stand or fall each for itself', async (t) => {
  const { bare, work, mirror } = await setUpWorkspaces(t);
  await mirror.refresh(signal);
  const sha = await commitFiles(work, { 'mine.txt': 'mine' }, 'mine');
  const foreign = await commitFiles(work, { 'theirs.txt': 'theirs' }, 'theirs');
  await gitAs(mirror.path, 'fetch', '--quiet', work, 'HEAD:refs/toolcrew/work/issue-9/x');
  // Somebody takes a branch that the mirror has not seen yet.
  await gitAs(work, 'push', '--quiet', bare, `${foreign}:refs/heads/tool/issue-3`);
  const results = await Promise.allSettled(
    [1, 2, 3, 4].map((issue) => mirror.push(`tool/issue-${issue}`, sha, [], signal)),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  const refused = results[2]?.status === 'rejected' ? results[2].reason : null;
  assert.ok(isFailure(refused, WORKSPACES_CODES.branch_has_foreign_commits), String(refused));
  for (const issue of [1, 2, 4]) {
    assert.equal((await gitAs(bare, 'rev-parse', `tool/issue-${issue}`)).trim(), sha);
    assert.equal((await gitAs(mirror.path, 'rev-parse', `refs/toolcrew/pushed/tool/issue-${issue}`)).trim(), sha);
  }
  assert.equal((await gitAs(bare, 'rev-parse', 'tool/issue-3')).trim(), foreign);
});

test('a repository with very many branches is read whole', async (t) => {
  const { bare, directory } = await setUpWorkspaces(t);
  const main = (await gitAs(bare, 'rev-parse', 'main')).trim();
  const rows = Array.from({ length: 60_000 }, (_, index) => {
    const name = `${index % 2 === 0 ? 'feature' : 'topic'}/number-${100_000 + index}-with-a-description`;
    return `${main} refs/heads/${name}\n`;
  }).sort((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1));
  const packed =
    rows.filter((row) => row.includes('/feature/')).join('') +
    `${main} refs/heads/main\n` +
    rows.filter((row) => row.includes('/topic/')).join('');
  writeFileSync(join(bare, 'packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${packed}`);
  const { mirror } = reopened({ path: join(directory, 'large.git') }, bare);
  await mirror.refresh(signal);
  assert.equal(await mirror.branchHead('main'), main);
  assert.equal(await mirror.branchHead('topic/number-159999-with-a-description'), main);
});

test('git’s first line is among the words of a failure', async (t) => {
  const { mirror, bare } = await setUpWorkspaces(t);
  await mirror.refresh(signal);
  const { mirror: other } = reopened(mirror, bare);
  const many = Array.from({ length: 12 }, (_, line) => `echo "line ${line}" >&2`).join('\n');
  writeFileSync(join(bare, 'hooks', 'update'), `#!/bin/sh\n${many}\nexit 1\n`, { mode: 0o755 });
  const sha = (await other.branchHead('main')) ?? '';
  await assert.rejects(other.push('new', sha, [], signal), /line 0\s*\n…\n.*line 11/s);
});

test('a damaged mirror is cloned anew, what was saved in it comes along', async (t) => {
  const { mirror, workspaces, ready, task } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  writeFileSync(join(path, 'half.txt'), 'half\n');
  const { savedAs } = await workspaces.collect(task(), signal);
  const blob = (await gitAs(mirror.path, 'rev-parse', 'main:src/greet.js')).trim();
  const objects = join(mirror.path, 'objects');
  // One file an object, so that one of them can be spoilt.
  for (const name of readdirSync(join(objects, 'pack'))) {
    const packed = join(objects, 'pack', name);
    const input = readFileSync(packed);
    rmSync(packed);
    if (name.endsWith('.pack')) execaSync({ cwd: mirror.path, input })`git unpack-objects -q`;
  }
  const file = join(objects, blob.slice(0, 2), blob.slice(2));
  chmodSync(file, 0o600);
  writeFileSync(file, 'spoilt');
  // The disk is spoilt where workspaces come from, too.
  rmSync(mirror.source, { recursive: true });
  cpSync(mirror.path, mirror.source, { recursive: true });
  const other = await ready(task(1, 1, 2));
  assert.ok(existsSync(join(other.path, 'src/greet.js')));
  assert.equal((await gitAs(mirror.path, 'fsck', '--no-dangling')).trim(), '');
  assert.equal(await gitAs(mirror.path, 'show', `${savedAs}:half.txt`), 'half\n');
});

test('who gives up waiting for a shared fetch does not end it for the others; the last one does', async () => {
  let begun = 0;
  let ended: AbortSignal | undefined;
  let finish: (() => void) | undefined;
  const shared = new SingleFlight<void>(
    (own) =>
      new Promise((resolve, reject) => {
        begun += 1;
        ended = own;
        finish = resolve;
        own.addEventListener('abort', () => reject(own.reason));
      }),
  );
  const [one, two] = [new AbortController(), new AbortController()];
  const first = shared.join(one.signal);
  const second = shared.join(two.signal);
  one.abort(new Error('the issue was closed'));
  await assert.rejects(first, /the issue was closed/);
  assert.equal(ended?.aborted, false);
  finish?.();
  await second;
  assert.equal(begun, 1);
  const third = shared.join(two.signal);
  await new Promise(setImmediate);
  two.abort(new Error('stopped'));
  await assert.rejects(third, /stopped/);
  assert.equal(ended?.aborted, true);
});
