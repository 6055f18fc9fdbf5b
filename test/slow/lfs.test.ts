// Git LFS with the built daemon and a server of objects: agents see files, and what they add is on the server before the branch.
// Over 400 lines: its cases share one server of objects.

import assert from 'node:assert/strict';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, dirname, join } from 'node:path';
import test from 'node:test';
import { workflowText } from '../../src/cli/workflow-text.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { joined, lineLike, wordsLike } from '../support/codes.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { cleanEnv, Daemon, type DaemonOptions, runTool } from '../support/daemon.ts';
import { commitFiles, DAEMON_TOKEN, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { LfsServer, oidOf, pointerTo } from '../support/lfs-server.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';
import { TlsFront } from '../support/tls-front.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const ATTRIBUTES = '*.bin filter=lfs diff=lfs merge=lfs -text\n';
const BASE = 'the bytes of the base\n';
const NEW = 'the bytes of the agent\n';
const ADDS = `cat >/dev/null; cat base.bin; printf 'the bytes of the agent\\n' > new.bin; git add -A; git commit -qm Add`;

/** A repository with one file in LFS, and the server that has it. */
async function repositoryWithLfs(t: Cleanup, more: Readonly<Record<string, string>> = {}) {
  const forge = await startForge(t);
  const server = await LfsServer.start(t, forge.forge.url);
  server.put(BASE);
  await commitFiles(forge.work, { '.gitattributes': ATTRIBUTES, 'base.bin': pointerTo(BASE), ...more }, 'With LFS');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, 'main');
  return { forge, server };
}

/** What scripts and the agent of an attempt printed. */
function outputOf({ stateDir }: Daemon, issue = 1): string {
  const directory = join(stateDir, 'issues', String(issue));
  const logs = readdirSync(directory).filter((name) => name.endsWith('.log'));
  return logs.map((name) => readFileSync(join(directory, name), 'utf8')).join('');
}

async function once(t: Cleanup, forge: TestForge, server: LfsServer, script: string, more: DaemonOptions = {}) {
  await forge.open('Work with large files');
  const daemon = await Daemon.start(t, forge, {
    yaml: agentRunning(script),
    args: ['--once'],
    apiUrl: server.url,
    ...more,
  });
  const code = await daemon.exit();
  return { daemon, code };
}

/** Where the daemon's store has a file. */
function placeIn({ stateDir }: Daemon, content: string): string {
  const oid = oidOf(content);
  return join(stateDir, 'repo.lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid);
}

/** Puts a file into the daemon's store, or takes the one that is there, as last used so many days ago. */
function used(daemon: Daemon, content: string, daysAgo: number): void {
  const place = placeIn(daemon, content);
  mkdirSync(dirname(place), { recursive: true });
  if (!existsSync(place)) writeFileSync(place, content);
  const then = new Date(Date.now() - daysAgo * 24 * 60 * 60_000);
  utimesSync(place, then, then);
}

async function doctorsRow({ workflow, home }: Daemon, env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await runTool(['doctor', workflow, '--json'], {
    env: cleanEnv(home, { GITHUB_TOKEN: DAEMON_TOKEN, ...env }),
  });
  const { checks }: { checks: { name: string; status: string; says: string }[] } = JSON.parse(stdout);
  return checks.find(({ name }) => name === 'Git LFS');
}

const onBranch = (forge: TestForge, file: string, issue = 1) =>
  gitAs(forge.bare, 'show', `tool/issue-${issue}:${file}`);

/** A directory for the PATH with every program of this one's but git-lfs. */
function pathWithoutLfs(t: Cleanup): string {
  const directory = tempDir(t);
  const isProgram = (path: string) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  for (const place of (process.env.PATH ?? '').split(delimiter))
    for (const name of isProgram(place) ? readdirSync(place) : []) {
      if (name === 'git-lfs' || !isProgram(join(place, name))) continue;
      try {
        symlinkSync(join(place, name), join(directory, name));
      } catch {
        // The place before this one has a program of that name.
      }
    }
  return directory;
}

test('the agent reads the bytes; what it adds is a pointer on the branch and an object on the server', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const script = `${ADDS}; echo "changes: [$(git status --porcelain)]"; env; git config --list; git push origin HEAD || echo 'no push'`;
  const { daemon, code } = await once(t, forge, server, script);
  assert.equal(code, 0, daemon.log);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  const said = outputOf(daemon);
  assert.ok(said.includes(BASE), said);
  assert.ok(said.includes('changes: []'), said);
  assert.ok(said.includes('no push'), said);
  const basic = Buffer.from(`x-access-token:${DAEMON_TOKEN}`).toString('base64');
  for (const secret of [DAEMON_TOKEN, basic]) assert.ok(!(said + daemon.log).includes(secret));
  assert.equal(await onBranch(forge, 'new.bin'), pointerTo(NEW));
  assert.equal(await onBranch(forge, 'base.bin'), pointerTo(BASE));
  assert.equal(server.objects.get(oidOf(NEW))?.toString(), NEW);
  // The object is there before the branch that names it.
  const paths = server.seen.filter(({ method }) => method !== 'GET').map(({ path }) => path);
  const [uploaded, pushed] = [`/objects/${oidOf(NEW)}`, '/git-receive-pack'].map((end) =>
    paths.findIndex((path) => path.endsWith(end)),
  );
  assert.ok(uploaded !== undefined && pushed !== undefined && uploaded >= 0 && uploaded < pushed, paths.join('\n'));
  // No object was asked for that the branch of the base has already.
  assert.ok(!paths.some((path) => path.endsWith(`/objects/${oidOf(BASE)}`)));
});

test('an object is downloaded once for all issues, and an agent that spoils its copy spoils no other', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const first = await forge.open('First');
  const second = await forge.open('Second');
  const script =
    'cat >/dev/null; cat base.bin; echo "$TOOL_ISSUE" > work.txt; git add work.txt; git commit -qm Work; for file in $(find .git/lfs/objects -type f); do chmod u+w $file; echo spoilt > $file; done';
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(script)}\nagent: { max_concurrent_agents: 1 }`,
    args: ['--once'],
    apiUrl: server.url,
  });
  assert.equal(await daemon.exit(), 0, daemon.log);
  for (const issue of [first, second]) assert.ok(outputOf(daemon, issue).includes(BASE), outputOf(daemon, issue));
  assert.equal(server.downloads(BASE), 1);
  assert.equal((await forge.pulls()).length, 2, daemon.log);
});

test("the wizard's file, with a program of its own after the clone, finds the bytes", async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const answers = { repo: 'maintainer/project', apiUrl: server.url, label: 'tool-todo', port: 0, maxAgents: 1 };
  await forge.open('Work with large files');
  const daemon = await Daemon.create(t, forge, { args: ['--once'], apiUrl: server.url });
  const clone = 'git clone --quiet "$TOOL_CLONE_URL" .\n';
  const text = workflowText({ ...answers, root: daemon.root }, false)
    .replace(clone, `${clone}    echo "installed: $(cat base.bin)"\n`)
    .replace(
      '\n  runtime: claude\n',
      `\n  runtime: command\n  command: ${JSON.stringify(['/bin/sh', '-e', '-c', ADDS])}\n`,
    )
    .replace('\npolling:\n', `\nstate: { dir: ${daemon.stateDir} }\npolling:\n`);
  daemon.overwrite(text);
  daemon.start();
  assert.equal(await daemon.exit(), 0, daemon.log);
  const said = outputOf(daemon);
  assert.ok(said.includes(`installed: ${BASE}`), said);
  assert.equal(await onBranch(forge, 'new.bin'), pointerTo(NEW));
  assert.equal(server.objects.get(oidOf(NEW))?.toString(), NEW);
});

// All settings that may name one are in test/daemon/rules/lfs.test.ts.
test('another host in .lfsconfig is named and never asked; pointers stay', async (t) => {
  const seen: string[] = [];
  const other = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="evil"' }).end();
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  finallyDo(t, () => new Promise((done) => other.close(done)));
  const address = other.address();
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const { forge, server } = await repositoryWithLfs(t, { '.lfsconfig': `[lfs]\n\turl = http://${host}/evil\n` });
  const script = 'cat >/dev/null; cat base.bin; echo work > work.txt; git add work.txt; git commit -qm Work';
  const { daemon, code } = await once(t, forge, server, script);
  assert.equal(code, 0, daemon.log);
  assert.deepEqual(seen, []);
  assert.ok(daemon.log.includes(host), daemon.log);
  assert.match(daemon.log, /warn: issue #\d+: .* \(lfs_pointers_left\)$/m);
  assert.ok(outputOf(daemon).includes(pointerTo(BASE)), outputOf(daemon));
  assert.equal((await forge.pulls()).length, 1, daemon.log);
});

test("an agent's own .lfsconfig leads no upload elsewhere", async (t) => {
  const seen: string[] = [];
  const other = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(401).end();
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  finallyDo(t, () => new Promise((done) => other.close(done)));
  const address = other.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const { forge, server } = await repositoryWithLfs(t);
  const script = `printf '[lfs]\\nurl = ${url}\\npushurl = ${url}\\n' > .lfsconfig; git config lfs.url ${url}; git config lfs.pushurl ${url}; ${ADDS}`;
  const { daemon, code } = await once(t, forge, server, script);
  assert.equal(code, 0, daemon.log);
  assert.deepEqual(seen, []);
  assert.equal(server.objects.get(oidOf(NEW))?.toString(), NEW);
});

for (const [what, fail] of [
  ['a server that fails', (server: LfsServer) => Object.assign(server, { failsWith: 503 })],
  ['an object that is missing', (server: LfsServer) => server.objects.clear()],
] as const)
  test(`${what} is named, pointers stay, and the issue starts`, async (t) => {
    const { forge, server } = await repositoryWithLfs(t);
    fail(server);
    const script = 'cat >/dev/null; cat base.bin; echo work > work.txt; git add -A; git commit -qm Work';
    const { daemon, code } = await once(t, forge, server, script);
    assert.equal(code, 0, daemon.log);
    assert.match(daemon.log, joined('issue #1: ', lineLike(WORKSPACES_CODES.lfs_pointers_left)));
    assert.ok(outputOf(daemon).includes(pointerTo(BASE)), outputOf(daemon));
    assert.equal((await forge.pulls()).length, 1, daemon.log);
    assert.equal(await onBranch(forge, 'base.bin'), pointerTo(BASE));
  });

test('an upload that fails is waited for, and goes on in the next process', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  server.refusesWith = 403;
  await forge.open('Work with large files');
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(ADDS), apiUrl: server.url });
  await daemon.logged(wordsLike(GIT_CODES.git_failed, { command: 'lfs push', files: ['new.bin'] }));
  assert.deepEqual(await forge.pulls(), []);
  await assert.rejects(onBranch(forge, 'new.bin'));
  await daemon.stop();
  server.refusesWith = null;
  daemon.start(['--once']);
  assert.equal(await daemon.exit(), 0, daemon.log);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.equal(server.objects.get(oidOf(NEW))?.toString(), NEW);
  assert.equal(daemon.log.split('starting on issue #1').length, 2, 'the agent ran once');
});

for (const [how, refuse] of [
  ['when it is asked', (server: LfsServer) => Object.assign(server, { declinesWith: 422 })],
  ['when it comes', (server: LfsServer) => Object.assign(server, { refusesWith: 422 })],
  ['since it is too large', (server: LfsServer) => Object.assign(server, { refusesWith: 413 })],
] as const)
  test(`an object that the server refuses ${how} is told to the agent, and no branch is pushed`, async (t) => {
    const { forge, server } = await repositoryWithLfs(t);
    refuse(server);
    await forge.open('Work with large files');
    const daemon = await Daemon.start(t, forge, {
      yaml: `${agentRunning(ADDS)}\nagent: { max_attempts: 1 }`,
      apiUrl: server.url,
    });
    await daemon.until('the label', async () => (await forge.labelsOf(1)).includes('tool-failed'));
    assert.match(
      (await forge.comments(1)).join(''),
      wordsLike(WORKSPACES_CODES.lfs_push_refused, { files: ['new.bin'] }),
    );
    assert.deepEqual(await forge.pulls(), []);
  });

test('a pointer to nothing is never published', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const lines = pointerTo('nobody has this\n').trim().split('\n').join('\\n');
  const script = `cat >/dev/null; printf '${lines}\\n' > lost.bin; git add -A; git commit -qm Lost`;
  await forge.open('Work with large files');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(script)}\nagent: { max_attempts: 1 }`,
    apiUrl: server.url,
  });
  await daemon.until('the label', async () => (await forge.labelsOf(1)).includes('tool-failed'));
  assert.match((await forge.comments(1)).join(''), /lost\.bin: .*neither the workspace nor the server has/);
  assert.deepEqual(await forge.pulls(), []);
});

test('without git-lfs one line says so at start, doctor too, and the issue starts with pointers', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const PATH = pathWithoutLfs(t);
  const script = 'cat >/dev/null; cat base.bin; echo work > work.txt; git add work.txt; git commit -qm Work';
  const { daemon, code } = await once(t, forge, server, script, { env: { PATH } });
  assert.equal(code, 0, daemon.log);
  assert.equal(daemon.log.split('git-lfs is not on the PATH').length, 2, daemon.log);
  assert.ok(outputOf(daemon).includes(pointerTo(BASE)), outputOf(daemon));
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.equal((await doctorsRow(daemon, { PATH }))?.status, 'fail');
  const there = await doctorsRow(daemon);
  assert.equal(there?.status, 'ok');
  assert.ok(there.says.includes(`${server.url}/maintainer/project.git/info/lfs`), there.says);
});

test('of saved work the objects are kept with it, after the workspace is gone', async (t) => {
  const { signal } = new AbortController();
  const { workspaces, task, ready, mirror, work, bare } = await setUpWorkspaces(t);
  await commitFiles(work, { '.gitattributes': ATTRIBUTES, 'base.bin': pointerTo(BASE) }, 'With LFS');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { path } = await ready(task());
  writeFileSync(join(path, 'new.bin'), NEW);
  await workspaces.remove(task(), signal);
  const [ref = ''] = (await gitAs(mirror.path, 'for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved')).split(
    '\n',
  );
  assert.equal(await gitAs(mirror.path, 'show', `${ref}:new.bin`), pointerTo(NEW));
  const oid = oidOf(NEW);
  const object = join(mirror.lfs.store, 'objects', oid.slice(0, 2), oid.slice(2, 4), oid);
  assert.equal(readFileSync(object, 'utf8'), NEW);
});

test('unused objects leave the store once the server has them; a kill before its answer loses none', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const KEPT = 'saved, and on no server\n';
  const LOST = 'in no commit, and on no server\n';
  const OLD = 'of an old commit\n';
  const RECENT = 'of another old commit\n';
  const script = `if [ "$TOOL_ISSUE" = 2 ]; then cat >/dev/null; printf '${KEPT.trim()}\\n' > kept.bin; else ${ADDS}; fi`;
  await forge.open('Work with large files');
  await forge.open('Leaves work uncommitted');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(script)}\nagent: { max_attempts: 1 }`,
    apiUrl: server.url,
  });
  await daemon.until(
    'both',
    async () => (await forge.labelsOf(2)).includes('tool-failed') && (await forge.pulls()).length === 1,
  );
  await daemon.stop();
  for (const content of [BASE, NEW, KEPT]) assert.ok(existsSync(placeIn(daemon, content)), content);
  assert.ok(!server.objects.has(oidOf(KEPT)));
  for (const content of [OLD, RECENT]) server.put(content);
  for (const content of [BASE, NEW, KEPT, LOST, OLD]) used(daemon, content, 15);
  used(daemon, RECENT, 13);

  let answer = () => {};
  server.holds = new Promise((resolve) => {
    answer = resolve;
  });
  const before = server.questions;
  daemon.start();
  await daemon.until('a question', async () => server.questions > before);
  await daemon.stop('SIGKILL');
  for (const content of [BASE, NEW, KEPT, LOST, OLD, RECENT]) assert.ok(existsSync(placeIn(daemon, content)), content);
  answer();

  daemon.start();
  await daemon.logged(/removed 1 unused objects of Git LFS/);
  assert.ok(!existsSync(placeIn(daemon, OLD)));
  for (const content of [BASE, NEW, KEPT, LOST, RECENT]) assert.ok(existsSync(placeIn(daemon, content)), content);
  assert.deepEqual(
    readdirSync(daemon.stateDir).filter((name) => name.startsWith('repo.lfs')),
    ['repo.lfs'],
  );
  await daemon.stop();

  // Published work whose branch is gone may be downloaded again; what the default branch names stays.
  await gitAs(forge.bare, 'update-ref', '-d', 'refs/heads/tool/issue-1');
  daemon.start();
  await daemon.logged(/removed 1 unused objects of Git LFS.*removed 1 unused objects of Git LFS/s);
  assert.ok(!existsSync(placeIn(daemon, NEW)));
  for (const content of [BASE, KEPT, LOST, RECENT]) assert.ok(existsSync(placeIn(daemon, content)), content);

  // What was removed is downloaded when somebody needs it.
  await commitFiles(forge.work, { 'base.bin': pointerTo(OLD) }, 'Back to the old one');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, 'main');
  const third = await forge.open('Needs the old one');
  await daemon.until('the pull request', async () => (await forge.pulls()).length === 2);
  assert.ok(outputOf(daemon, third).includes(OLD), outputOf(daemon, third));
  assert.equal(server.downloads(OLD), 1);
});

test('no object leaves the store while the server of the objects fails', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const OLD = 'of an old commit\n';
  server.put(OLD);
  await forge.open('Work with large files');
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(ADDS), apiUrl: server.url });
  await daemon.until('the pull request', async () => (await forge.pulls()).length === 1);
  await daemon.stop();
  used(daemon, OLD, 15);
  used(daemon, 'x'.repeat(2_000_000), 1);
  const says = (await doctorsRow(daemon))?.says ?? '';
  assert.ok(says.endsWith(`; 4 copies, 2.0 MB, in ${join(daemon.stateDir, 'repo.lfs')}`), says);
  server.failsWith = 503;
  const before = server.questions;
  daemon.start();
  await daemon.until('a question', async () => server.questions > before);
  await daemon.until('the end of the check', async () => !existsSync(join(daemon.stateDir, 'repo.lfs-check')));
  assert.ok(existsSync(placeIn(daemon, OLD)));
});

test('LFS objects go through a proxy with user and password, down and up', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const front = await TlsFront.start(t, server.url);
  const [url, objects] = ['forge.test', 'objects.test'].map((name) => front.url.replace('127.0.0.1', name));
  server.front = objects ?? '';
  const proxy = await ConnectProxy.start(t);
  const { daemon, code } = await once(t, forge, server, ADDS, {
    apiUrl: url ?? '',
    tracker: `ca_file: "${front.caFile}"`,
    env: { HTTPS_PROXY: proxy.url },
  });
  assert.equal(code, 0, daemon.log);
  assert.ok(outputOf(daemon).includes(BASE), outputOf(daemon));
  assert.equal(server.downloads(BASE), 1);
  assert.equal(server.objects.get(oidOf(NEW))?.toString(), NEW);
  assert.equal(await onBranch(forge, 'new.bin'), pointerTo(NEW));
  // One to download, one to upload.
  const tunnels = proxy.seen.filter((line) => line === `CONNECT ${new URL(objects ?? '').host}`);
  assert.ok(tunnels.length >= 2, proxy.seen.join('\n'));
  assert.ok(!(daemon.log + outputOf(daemon)).includes('p%40ss'), daemon.log);
});
