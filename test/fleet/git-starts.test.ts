// Count of git's starts for an attempt, and of the namespaces among them: each set of those is five processes or more.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { WorkCarrier } from '../../src/fleet/work-carrier.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { finallyDo, tempDir } from '../support/temp.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const NO_MODULES = { submodules: false };

/** Commands of git that this process starts from now on; those that git starts itself are not among them. */
function watchGit(t: TestContext) {
  const directory = tempDir(t);
  const log = join(directory, 'log');
  const { PATH = '' } = process.env;
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  // What the played hosting service starts has none of the daemon's settings.
  const verb = `(while [ "$1" = -c ]; do shift 2; done; echo "$1" >> ${log})`;
  const note = `case "$*" in *core.hooksPath=/dev/null*) ${verb} ;; esac`;
  writeFileSync(join(directory, 'git'), `#!/bin/sh\n${note}\nexec ${git} "$@"\n`, { mode: 0o755 });
  process.env.PATH = `${directory}:${PATH}`;
  finallyDo(t, () => {
    process.env.PATH = PATH;
  });
  let wrapped = 0;
  const wrap = (file: string, args: readonly string[]): readonly [string, readonly string[]] => {
    wrapped += 1;
    return [file, args];
  };
  const reset = () => {
    wrapped = 0;
    writeFileSync(log, '');
  };
  reset();
  const taken = () => {
    // The default branch is asked for as often as the clock of the mirror says, which here runs fast.
    const verbs = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .filter((one) => one !== 'ls-remote');
    const told = { verbs, namespaces: wrapped };
    reset();
    return told;
  };
  return { isolation: { active: true, wrap }, taken };
}

async function setUp(t: TestContext, agentsElsewhere: boolean) {
  const { isolation, taken } = watchGit(t);
  const world = await setUpWorkspaces(t, {}, undefined, undefined, { isolation, agentsElsewhere });
  const carrier = new WorkCarrier({ mirror: world.mirror, places: world.workspaces.places });
  const pack = (attempt: number) => {
    const place = join(world.directory, 'fleet', String(attempt));
    mkdirSync(place, { recursive: true });
    return carrier.pack(world.task(attempt), join(place, 'handed-out.bundle'), NO_MODULES, signal);
  };
  return { ...world, carrier, pack, taken };
}

/** A clone on a worker, with the agent's commit in a bundle. */
async function worked(t: TestContext, mirror: string, head: string) {
  const directory = tempDir(t);
  const clone = join(directory, 'clone');
  await gitAs(directory, 'clone', '--quiet', mirror, clone);
  await gitAs(clone, 'checkout', '--quiet', '-b', 'tool/issue-1');
  const sha = await commitFiles(clone, { 'work.txt': 'done\n' }, 'Work');
  const bundle = join(directory, 'handed-in.bundle');
  await gitAs(clone, 'bundle', 'create', '--quiet', bundle, 'refs/heads/tool/issue-1', `^${head}`);
  return { sha, bundle };
}

const FETCH = ['fetch', 'for-each-ref'];

test('with agents elsewhere, an interrupted attempt is begun again without a question to its clone', async (t) => {
  const { workspaces, task, ready, pack, taken } = await setUp(t, true);
  await ready(task());
  const { head } = await pack(1);
  taken();
  for (const attempt of [2, 3]) {
    assert.deepEqual(await workspaces.collect(task(attempt - 1), signal), { head: null, savedAs: null });
    await ready(task(attempt));
    assert.equal(await workspaces.peek(task(attempt), signal), null);
    assert.equal((await pack(attempt)).head, head);
    assert.deepEqual(taken(), { verbs: FETCH, namespaces: 0 });
  }
});

test('where agents run, an interrupted attempt is begun again with two sets of namespaces', async (t) => {
  const { workspaces, task, ready, taken } = await setUp(t, false);
  await ready(task());
  taken();
  assert.deepEqual(await workspaces.collect(task(), signal), { head: null, savedAs: null });
  await ready(task(2));
  assert.equal(await workspaces.peek(task(2), signal), null);
  assert.deepEqual(taken(), { verbs: ['toolcrew-both', ...FETCH, 'toolcrew-both'], namespaces: 2 });
});

test('with agents elsewhere, an attempt is begun with no question but that for what is new', async (t) => {
  const { task, ready, pack, taken } = await setUp(t, true);
  const { path } = await ready(task());
  await pack(1);
  taken();
  await ready(task(1, 1, 2));
  // Twice, since the clock of the mirror runs fast.
  assert.deepEqual(taken(), { verbs: [...FETCH, ...FETCH], namespaces: 0 });
  assert.deepEqual(readdirSync(path), []);
});

test('with agents elsewhere, work that is handed in and published needs no namespaces', async (t) => {
  const { workspaces, mirror, task, ready, carrier, pack, taken } = await setUp(t, true);
  const { path } = await ready(task());
  const { head, base } = await pack(1);
  const { sha, bundle } = await worked(t, mirror.path, head);
  taken();
  await carrier.adopt(task(), bundle, { head: sha, files: null }, { base, maxBundleBytes: 1e6 }, signal);
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  await workspaces.push(task(), sha, [], signal);
  assert.deepEqual(readdirSync(path), []);
  await workspaces.remove(task(), signal);
  const checks = ['fetch', 'merge-base', 'ls-tree', 'update-ref'];
  assert.deepEqual(taken(), { verbs: [...checks, 'log', 'push', 'update-ref'], namespaces: 0 });
  assert.equal(existsSync(path), false);
});

test('what lies in a clone after a reader was there, or was handed in, is looked for and saved', async (t) => {
  const { workspaces, mirror, task, ready, carrier, pack, said } = await setUp(t, true);
  const { path } = await ready(task());
  const { head } = await pack(1);
  await workspaces.stateOf(task(), signal);
  writeFileSync(join(path, 'left.txt'), 'left\n');
  assert.equal((await workspaces.collect(task(), signal)).savedAs, 'refs/toolcrew/saved/issue-1-1-1');
  await gitAs(path, 'clean', '--quiet', '--force', '-d');
  assert.equal((await workspaces.collect(task(), signal)).savedAs, null);

  const blob = (await gitAs(path, 'rev-parse', 'HEAD:README.md')).trim();
  const input = `100644 blob ${blob}\tcopy.md\n`;
  const tree = execFileSync('git', ['mktree'], { cwd: mirror.path, input, encoding: 'utf8' }).trim();
  const files = (await gitAs(mirror.path, 'commit-tree', tree, '-p', head, '-m', 'Files')).trim();
  await carrier.write(task(2), { head, files }, signal);
  assert.equal((await pack(2)).files === null, false);
  await workspaces.remove(task(2), signal);
  assert.match(said.join(''), /uncommitted changes saved as refs\/toolcrew\/saved\/issue-1-1-2\n/);
});
