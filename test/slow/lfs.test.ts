// Git LFS with the built daemon and a server of objects: agents see files, and what they add is on the server before the branch.

import assert from 'node:assert/strict';
import { accessSync, constants, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import test from 'node:test';
import { workflowText } from '../../src/cli/workflow-text.ts';
import { agentRunning } from '../support/agents.ts';
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

for (const [what, settings] of [
  ['lfs.url', '[lfs]\n\turl = URL/evil\n'],
  ['lfs.pushurl', '[lfs]\n\tpushurl = URL/evil\n'],
  ['remote.origin.lfsurl', '[remote "origin"]\n\tlfsurl = URL/evil\n'],
] as const)
  test(`another host in ${what} of .lfsconfig is named and never asked; pointers stay`, async (t) => {
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.writeHead(401, { 'www-authenticate': 'Basic realm="evil"' }).end();
    });
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    finallyDo(t, () => new Promise((done) => other.close(done)));
    const address = other.address();
    const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const { forge, server } = await repositoryWithLfs(t, { '.lfsconfig': settings.replace('URL', `http://${host}`) });
    const script = 'cat >/dev/null; cat base.bin; echo work > work.txt; git add work.txt; git commit -qm Work';
    const { daemon, code } = await once(t, forge, server, script);
    assert.equal(code, 0, daemon.log);
    assert.deepEqual(seen, []);
    assert.ok(daemon.log.includes(host), daemon.log);
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
    assert.match(daemon.log, /issue #1: files of Git LFS stay pointers: /);
    assert.ok(outputOf(daemon).includes(pointerTo(BASE)), outputOf(daemon));
    assert.equal((await forge.pulls()).length, 1, daemon.log);
    assert.equal(await onBranch(forge, 'base.bin'), pointerTo(BASE));
  });

test('an upload that fails is waited for, and goes on in the next process', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  server.refusesWith = 403;
  await forge.open('Work with large files');
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(ADDS), apiUrl: server.url });
  await daemon.logged(/git lfs push failed/);
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
    assert.match((await forge.comments(1)).join(''), /git lfs push failed for new\.bin: /);
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
  assert.equal(daemon.log.split('there is no git-lfs on the PATH').length, 2, daemon.log);
  assert.ok(outputOf(daemon).includes(pointerTo(BASE)), outputOf(daemon));
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  const row = async (env: Readonly<Record<string, string>>) => {
    const { stdout } = await runTool(['doctor', daemon.workflow, '--json'], {
      env: cleanEnv(daemon.home, { GITHUB_TOKEN: DAEMON_TOKEN, ...env }),
    });
    const { checks }: { checks: { name: string; status: string; says: string }[] } = JSON.parse(stdout);
    return checks.find(({ name }) => name === 'Git LFS');
  };
  assert.equal((await row({ PATH }))?.status, 'fail');
  const there = await row({});
  assert.equal(there?.status, 'ok');
  assert.ok(there.says.includes(`${server.url}/maintainer/project.git/info/lfs`), there.says);
});

test('tracker.ca_file serves the objects too', async (t) => {
  const { forge, server } = await repositoryWithLfs(t);
  const front = await TlsFront.start(t, server.url);
  server.front = front.url;
  const { daemon, code } = await once(t, forge, server, ADDS, {
    apiUrl: front.url,
    tracker: `ca_file: "${front.caFile}"`,
  });
  assert.equal(code, 0, daemon.log);
  assert.ok(outputOf(daemon).includes(BASE), outputOf(daemon));
  assert.equal(server.objects.get(oidOf(NEW))?.toString(), NEW);
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
