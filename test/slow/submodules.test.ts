// Submodules: filled from the daemon's own copies, without its credential.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { ToolError } from '../../src/base/rules/errors.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { ModuleCopies } from '../../src/daemon/workspaces/mirror/module-copies.ts';
import { NO_PUSH } from '../../src/git/clone.ts';
import { agentRunning } from '../support/agents.ts';
import { joined, lineLike, START, wordsLike } from '../support/codes.ts';
import { Daemon } from '../support/daemon.ts';
import { bareRepository, commitFiles, DAEMON_TOKEN, gitAs, startForge } from '../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();

/** A commit that no repository has. */
const NOBODYS = 'd'.repeat(40);

type Link = { readonly path: string; readonly url: string; readonly sha: string; readonly name?: string };

/** Commits links and their .gitmodules, as `git submodule add` would. */
async function link(work: string, links: readonly Link[], message = 'submodules'): Promise<string> {
  const text = links.map(
    ({ path, url, name = path }) => `[submodule "${name}"]\n\tpath = ${path}\n\turl = ${JSON.stringify(url)}\n`,
  );
  writeFileSync(join(work, '.gitmodules'), text.join(''));
  await gitAs(work, 'add', '.gitmodules');
  for (const { path, sha } of links) {
    mkdirSync(join(work, path), { recursive: true });
    await gitAs(work, 'update-index', '--add', '--cacheinfo', `160000,${sha},${path}`);
  }
  await gitAs(work, 'commit', '--quiet', '-m', message);
  return headOf(work);
}

const headOf = async (path: string) => (await gitAs(path, 'rev-parse', 'HEAD')).trim();

/** A server that turns everybody away and keeps what they showed. */
async function listener(t: Cleanup, answer: { readonly status: number; readonly location?: string }) {
  const shown: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    shown.push(request.headers.authorization);
    const { status, location } = answer;
    const to = location === undefined ? {} : { location: location + (request.url ?? '') };
    response.writeHead(status, { 'www-authenticate': 'Basic realm="x"', ...to }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => server.close());
  const address = server.address();
  return { shown, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` };
}

/** The project, with a private library that has a part of its own; `more` are further links. */
async function project(t: Cleanup, options: { readonly submodules?: boolean; readonly script?: boolean } = {}) {
  const [library, part] = [
    await bareRepository(tempDir(t), { 'lib.js': '1\n' }),
    await bareRepository(tempDir(t), { 'part.js': '1\n' }),
  ];
  const inner = await link(library.work, [{ path: 'inner', url: '../part.git', sha: await headOf(part.work) }]);
  await gitAs(library.work, 'push', '--quiet', 'origin', 'main');
  const script = { afterCreate: 'git clone --quiet "$TOOL_CLONE_URL" .' };
  const world = await setUpWorkspaces(t, options.script === true ? script : {}, 20_000, undefined, {
    submodules: options.submodules ?? true,
    others: {
      'maintainer/library': { repository: library.bare, isPrivate: true },
      'maintainer/part': { repository: part.bare, isPrivate: false },
    },
  });
  const publish = async (...links: readonly Link[]) => {
    const sha = await link(world.work, links);
    await gitAs(world.work, 'push', '--quiet', 'origin', 'main');
    world.mirror.outdate();
    return sha;
  };
  const warned = () =>
    world.logged.flatMap((line) => {
      const [, words] = /^warn: issue #1: (.*) \(submodule_not_filled\)$/.exec(line) ?? [];
      return words === undefined ? [] : [words];
    });
  return {
    ...world,
    warned,
    library,
    part,
    inner,
    publish,
    lib: { path: 'libs/lib', url: '../library.git', sha: inner },
  };
}

/** All files below, links not followed. */
function filesBelow(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(path, entry.name)) : entry.isFile() ? [join(path, entry.name)] : [],
  );
}

for (const script of [false, true])
  test(`filled recursively, a private one too, without a credential, in a clone of ${script ? 'a script' : 'ours'}`, async (t) => {
    const { ready, task, publish, lib, forge, warned, workspaces } = await project(t, { script });
    await publish(lib);
    const { path } = await ready(task());
    assert.deepEqual(warned(), []);
    assert.equal(readFileSync(join(path, 'libs/lib/lib.js'), 'utf8'), '1\n');
    assert.equal(readFileSync(join(path, 'libs/lib/inner/part.js'), 'utf8'), '1\n');
    assert.equal((await gitAs(path, 'status', '--porcelain')).trim(), '');
    const at = join(path, 'libs/lib');
    assert.equal((await gitAs(at, 'remote', 'get-url', 'origin')).trim(), `${forge.url}/maintainer/library.git`);
    assert.equal((await gitAs(at, 'remote', 'get-url', '--push', 'origin')).trim(), NO_PUSH);
    assert.match(await gitAs(path, 'submodule', 'status', '--recursive'), /^ \w+ libs\/lib.*\n \w+ libs\/lib\/inner/);
    for (const file of filesBelow(path)) assert.equal(readFileSync(file).includes(DAEMON_TOKEN), false, file);
    const sha = await commitFiles(path, { 'a.txt': '1\n' }, 'work beside it');
    assert.equal((await workspaces.collect(task(), signal)).head, sha);
    await ready(task(2));
    assert.match(await gitAs(path, 'submodule', 'status'), /^ /, 'the workspace’s settings still know it');
  });

test('one that cannot be had is named and left empty, the others are filled, and the issue starts', async (t) => {
  const { ready, task, publish, lib, inner, part, warned, said } = await project(t);
  const other = await listener(t, { status: 401 });
  await publish(
    { path: 'away', url: '../away.git', sha: inner },
    { path: 'foreign', url: `${other.url}/x.git`, sha: inner },
    { path: 'ext', url: 'ext::sh -c "touch planted"', sha: inner },
    { path: 'file', url: part.bare, sha: await headOf(part.work) },
    { path: 'double', name: 'one', url: '../part.git', sha: await headOf(part.work) },
    { path: 'double', name: 'other', url: `file://${part.bare}`, sha: await headOf(part.work) },
    { path: 'name', name: 'a/../../../x', url: '../library.git', sha: inner },
    { path: 'gone', url: '../part.git', sha: NOBODYS },
    { path: 'ssh', url: 'git@127.0.0.1:maintainer/part.git', sha: await headOf(part.work) },
    lib,
  );
  const { path } = await ready(task());
  const leftEmpty = (name: string) => wordsLike(WORKSPACES_CODES.submodule_not_filled, { path: name, state: 'empty' });
  for (const name of ['away', 'foreign', 'ext', 'file', 'name', 'gone']) {
    assert.deepEqual(readdirSync(join(path, name)), [], name);
    assert.equal(warned().filter((words) => leftEmpty(name).test(words)).length, 1, name);
  }
  assert.deepEqual(readdirSync(join(path, 'double')), [], 'git would take the address of either');
  assert.equal(warned().length, 8);
  for (const words of warned()) assert.ok(said.includes(`${words}\n`));
  assert.ok(existsSync(join(path, 'libs/lib/inner/part.js')));
  assert.ok(existsSync(join(path, 'ssh/part.js')), 'ssh on the same host is asked for over HTTP');
  assert.deepEqual(new Set(other.shown), new Set([undefined]), 'no other host sees a credential');
});

test('a link to a commit that nobody has: named; an empty one stays empty, a filled one as it is, and each attempt starts', async (t) => {
  const { ready, task, publish, lib, library, part, warned } = await project(t);
  const partUrl = '../part.git';
  const inner = await link(library.work, [{ path: 'inner', url: partUrl, sha: NOBODYS }]);
  await gitAs(library.work, 'push', '--quiet', 'origin', 'main');
  const links = { lib: { ...lib, sha: inner }, part: { path: 'part', url: partUrl, sha: await headOf(part.work) } };
  await publish(links.lib, links.part, { path: 'gone', url: partUrl, sha: NOBODYS });
  const { path } = await ready(task());
  const left = joined(START, wordsLike(WORKSPACES_CODES.submodule_not_filled, { path: /(\S+)/, state: /(.*?)/ }));
  const states = () => warned().map((line) => left.exec(line)?.slice(1).join(': '));
  const empty = ['gone: empty', 'libs/lib/inner: empty'];
  assert.deepEqual(states().sort(), empty);
  for (const words of warned()) assert.match(words, new RegExp(`/maintainer/part\\.git .* ${NOBODYS}$`));
  assert.deepEqual(readdirSync(join(path, 'gone')), []);
  assert.ok(existsSync(join(path, 'libs/lib/lib.js')) && existsSync(join(path, 'part/part.js')));
  await publish(links.lib, { ...links.part, sha: 'e'.repeat(40) }, { path: 'gone', url: partUrl, sha: NOBODYS });
  await ready(task(2));
  assert.deepEqual(states().slice(2).sort(), [...empty, 'part: as it is']);
  assert.ok(existsSync(join(path, 'part/part.js')));
});

test('a credential does not follow where the host leads elsewhere', async (t) => {
  const thief = await listener(t, { status: 401 });
  const host = await listener(t, { status: 302, location: thief.url });
  const copies = new ModuleCopies({
    directory: tempDir(t),
    remoteUrl: `${host.url}/o/r.git`,
    secret: async () => 'username=x-access-token\npassword=secret\n',
    env: process.env,
    clock: systemClock,
    silenceMs: () => 20_000,
  });
  await assert.rejects(copies.bring(`${host.url}/o/s.git`, 'a'.repeat(40), signal));
  assert.ok(thief.shown.length > 0);
  assert.deepEqual(new Set(thief.shown), new Set([undefined]));
});

test('a server that is silent is named once, and the issue starts; the next one does not wait for it', async (t) => {
  let asked = 0;
  const server = createServer(() => (asked += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => server.close());
  finallyDo(t, () => server.closeAllConnections());
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const copies = new ModuleCopies({
    directory: tempDir(t),
    remoteUrl: `${origin}/o/r.git`,
    secret: async () => null,
    env: process.env,
    clock: systemClock,
    silenceMs: () => 500,
  });
  const bring = () => copies.bring(`${origin}/o/s.git`, 'a'.repeat(40), signal);
  const first = await bring().catch((error: unknown) => error);
  assert.ok(first instanceof ToolError);
  assert.equal(await bring().catch((error: unknown) => error), first);
  assert.equal(asked, 1);
});

test('a workspace whose first filling was cut off is made anew: no agent starts in half a submodule', async (t) => {
  const stop = new AbortController();
  const server = createServer((_request, response) => {
    if (stop.signal.aborted) response.writeHead(404).end();
    else stop.abort();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => server.close());
  finallyDo(t, () => server.closeAllConnections());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/x.git`;
  const { ready, task, publish, lib, inner, workspaces } = await project(t);
  await publish(lib, { path: 'silent', url, sha: inner });
  const { path } = await workspaces.prepare(task(), signal);
  await workspaces.afterCreate(task(), signal);
  await workspaces.complete(task(), signal);
  await assert.rejects(workspaces.beforeRun(task(), stop.signal));
  // As it is when git is killed with the files half written.
  rmSync(join(path, 'libs/lib/lib.js'));
  assert.equal((await ready(task(2))).created, true);
  assert.ok(existsSync(join(path, 'libs/lib/lib.js')));
  assert.equal((await ready(task(3))).created, false);
});

test('workspace.submodules: false leaves them empty, without a word', async (t) => {
  const { ready, task, publish, lib, warned } = await project(t, { submodules: false });
  await publish(lib);
  const { path } = await ready(task());
  assert.deepEqual(readdirSync(join(path, 'libs/lib')), []);
  assert.deepEqual(warned(), []);
});

test('what is left in a submodule that was filled is saved and named before the workspace goes; a clean one costs no ref', async (t) => {
  const { ready, task, publish, lib, workspaces, mirror, said } = await project(t);
  await publish(lib);
  const saved = async () =>
    (await gitAs(mirror.path, 'for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved')).trim();
  await ready(task());
  await workspaces.remove(task(), signal);
  assert.equal(await saved(), '');
  const { path } = await ready(task(1, 2));
  const inside = await commitFiles(join(path, 'libs/lib'), { 'lib.js': '2\n' }, 'inside');
  writeFileSync(join(path, 'libs/lib/inner/half.js'), 'half\n');
  await commitFiles(path, { 'a.txt': '1\n' }, 'linked');
  await workspaces.remove(task(1, 2), signal);
  assert.equal(existsSync(path), false);
  const refs = (await saved()).split('\n');
  for (const ref of refs) assert.ok(said.join('').includes(ref), ref);
  const kept = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.ok(kept.includes(inside));
  const files = await Promise.all(refs.map((ref) => gitAs(mirror.path, 'ls-tree', '-r', '--name-only', ref)));
  assert.ok(files.some((text) => text.includes('half.js')));
});

test('a later attempt: a clean submodule follows its link, one with work in it stays, a new one is filled', async (t) => {
  const { ready, task, publish, lib, library, part } = await project(t);
  await publish(lib);
  const { path } = await ready(task());
  await ready(task(1, 1, 2));
  const second = join(path, '..', 'issue-2');
  const own = await commitFiles(join(second, 'libs/lib'), { 'own.js': '1\n' }, 'own');
  const newer = await commitFiles(library.work, { 'lib.js': '2\n', '.gitmodules': '' }, 'newer');
  await gitAs(library.work, 'push', '--quiet', 'origin', 'main');
  await publish({ ...lib, sha: newer }, { path: 'part', url: '../part.git', sha: await headOf(part.work) });
  await ready(task(2));
  assert.equal(await headOf(join(path, 'libs/lib')), newer);
  assert.ok(existsSync(join(path, 'part/part.js')));
  assert.match(await gitAs(path, 'submodule', 'status', 'part'), /^ /);
  await ready(task(2, 1, 2));
  assert.equal(await headOf(join(second, 'libs/lib')), own);
});

test('a copy that is spoilt is made anew; a commit that no branch holds is asked for by its name', async (t) => {
  const { part, forge, directory } = await project(t);
  const remoteUrl = forge.cloneUrl;
  const root = join(directory, 'copies');
  const open = () =>
    new ModuleCopies({
      directory: root,
      remoteUrl,
      secret: async () => null,
      env: process.env,
      clock: systemClock,
      silenceMs: () => 20_000,
    });
  const url = `${forge.url}/maintainer/part.git`;
  assert.notEqual(await open().bring(url, await headOf(part.work), signal), null);
  const [name = ''] = readdirSync(root);
  rmSync(join(root, name, 'objects'), { recursive: true });
  const loose = await commitFiles(part.work, { 'loose.js': '1\n' }, 'loose');
  await gitAs(part.work, 'push', '--quiet', 'origin', 'HEAD:refs/hidden/loose');
  assert.notEqual(await open().bring(url, loose, signal), null);
  assert.equal(await open().bring(url, 'e'.repeat(40), signal), null);
});

test('the built daemon: an agent sees the files of a private submodule, also after it lost them, and is told of an empty one', async (t) => {
  const library = await bareRepository(tempDir(t), { 'lib.js': 'of the library\n' });
  const forge = await startForge(t, undefined, {
    others: { 'maintainer/library': { repository: library.bare, isPrivate: true } },
  });
  const sha = await headOf(library.work);
  await link(forge.work, [
    { path: 'lib', url: '../library.git', sha },
    { path: 'away', url: '../away.git', sha },
    { path: 'gone', url: '../library.git', sha: NOBODYS },
  ]);
  await gitAs(forge.work, 'push', '--quiet', 'origin', 'main');
  const issue = await forge.open('Use it');
  const script = [
    'cat >/dev/null',
    // The first attempt takes the files away: the second one finds them again.
    'if [ "$TOOL_ATTEMPT" = 1 ]; then cat lib/lib.js; rm -rf lib; mkdir lib; exit 1; fi',
    'cat lib/lib.js > seen.txt; git add -A; git commit -qm "Use it"',
  ].join('\n');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(script)}\nagent: { max_attempts: 2, max_retry_backoff_ms: 100 }`,
  });
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  const left = (path: string, said = /.*/) =>
    lineLike(WORKSPACES_CODES.submodule_not_filled, { path, state: 'empty', said });
  assert.match(daemon.log, joined(`issue #${issue}: `, left('away')));
  assert.match(daemon.log, left('gone', new RegExp(`\\S+ .* ${NOBODYS}`)));
  const branch = `refs/heads/tool/issue-${issue}`;
  assert.equal(await gitAs(forge.bare, 'show', `${branch}:seen.txt`), 'of the library\n');
  for (const [name, linked] of [
    ['lib', sha],
    ['gone', NOBODYS],
  ])
    assert.equal((await gitAs(forge.bare, 'rev-parse', `${branch}:${name}`)).trim(), linked, `${name} is as it was`);
  assert.equal(await daemon.stop(), 143, daemon.log);
});
