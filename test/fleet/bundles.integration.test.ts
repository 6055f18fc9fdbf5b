// Bundles between machines, over HTTP: what is what it says goes into the workspace, all else is refused by name.
// Over 400 lines: one coordinator with a real repository serves all cases.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { systemClock } from '../../src/base/clock.ts';
import { ToolError } from '../../src/base/rules/errors.ts';
import { WorkspaceManifests } from '../../src/daemon/workspaces/workspace-manifests.ts';
import { WorkspacePlaces } from '../../src/daemon/workspaces/workspace-places.ts';
import { ROOT_DATA } from '../../src/daemon/workspaces/workspace-root.ts';
import type { AttemptQueue } from '../../src/fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../../src/fleet/coordinator/coordinator.ts';
import { RemoteAttempt } from '../../src/fleet/coordinator/remote-attempt.ts';
import { WorkerRequests } from '../../src/fleet/coordinator/worker-requests.ts';
import { jobProof } from '../../src/fleet/proofs.ts';
import type { FleetJob } from '../../src/fleet/rules/job.ts';
import type { Order } from '../../src/fleet/wire.ts';
import { unpackOrigin, WorkCarrier } from '../../src/fleet/work-carrier.ts';
import { Superseded } from '../../src/fleet/worker/coordinator-answers.ts';
import { CoordinatorClient } from '../../src/fleet/worker/coordinator-client.ts';
import { NOTHING_KEPT } from '../support/fleet-coordinator.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const KEY = 'a-key-of-sixteen-or-more';
const { signal } = new AbortController();
const BRANCH = 'tool/issue-1';
const LIMIT = 256 * 1024;

const ORDER: Omit<Order, 'head' | 'files' | 'base' | 'default_branch'> = {
  ...{ issue: 1, life: 1, attempt: 1, slug: { owner: 'o', repo: 'r' }, branch: BRANCH, max_bundle_bytes: LIMIT },
  ...{ prompt: 'p', issue_text: 't', round: null, budget_usd: null, author: null },
  hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 1 },
  gate: { mode: 'off', timeoutMs: 1_000, maxRounds: 1 },
  tool: {
    ...{ runtime: 'command', command: ['x'], agent: null, mode: 'agent', permissionMode: 'default', isolation: 'off' },
    ...{ stallTimeoutMs: 0, turnTimeoutMs: 1, startTimeoutMs: 0, allowedTools: [], env: [] },
  },
};

/** A coordinator with a workspace, a worker that has its attempt, and a repository that was made of the bundle. */
async function setUp(
  t: Cleanup,
  change: (workspace: string) => Promise<void> = async () => undefined,
  given: Readonly<Record<string, string>> = { 'a.txt': 'a' },
) {
  const world = await setUpWorkspaces(t, {}, 20_000, undefined, { files: given });
  const { mirror, root, directory } = world;
  const task = world.task();
  const { path } = await world.ready(task);
  await change(path);
  const isolation = { active: false, wrap: (file: string, args: readonly string[]) => [file, args] as const };
  const places = new WorkspacePlaces({ root, isolation }, new WorkspaceManifests(join(root, ROOT_DATA)));
  const carrier = new WorkCarrier({ mirror, places });
  const bundle = join(directory, 'attempt', 'handed-out.bundle');
  mkdirSync(dirname(bundle));
  const packed = await carrier.pack(task, bundle, { submodules: true }, signal);
  const { head, files, base, defaultBranch } = packed;
  const order: Order = {
    ...ORDER,
    ...{ head, files, base, default_branch: defaultBranch },
  };
  const job = {
    ...{ coordinator: '', insecure: false, repository: 'h/o/r', issue: 1, life: 1, attempt: 1, fence: 1, labels: [] },
    ...{ version: '1.0.0', lease_ms: 1_000 },
  };
  const attempt = new RemoteAttempt({
    ...{ job, order, bundle, handler: null, clock: systemClock, onEvidence: async () => undefined },
    hooks: {
      ...{ onStarted: async () => undefined, onEvent: () => undefined, output: () => undefined, signal },
      nextTurn: async () => null,
    },
    adopt: (from, work) => carrier.adopt(task, from, work, { base, maxBundleBytes: LIMIT }, signal),
  });
  // Nothing here asks the queue.
  const queue = {} as AttemptQueue;
  const settings = { queue, key: KEY, version: '1.0.0', leaseMs: 1_000, maxBundleBytes: LIMIT, insecure: false };
  const coordinator = new Coordinator({ ...settings, address: () => '' });
  for (const repository of ['h/o/r', 'h/o/other']) coordinator.keeps(repository, NOTHING_KEPT);
  coordinator.add(attempt);
  const workerRequests = new WorkerRequests(coordinator, { log: () => undefined });
  const server = createServer((request, response) => void workerRequests.serve(request.url ?? '', request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const clientOf = (key: string, worker: string, more: { token?: string; job?: FleetJob } = {}) => {
    const at = { ...(more.job ?? job), coordinator: `http://127.0.0.1:${port}` };
    const client = new CoordinatorClient({
      ...{ job: { ...at, proof: jobProof(key, at) }, key, worker, version: '1.0.0', clock: systemClock, signal },
      ...(more.token === undefined ? {} : { token: more.token }),
      onSilent: (said) => assert.fail(said),
    });
    finallyDo(t, () => client.close());
    return client;
  };
  finallyDo(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const client = clientOf(KEY, 'w');
  const taken = await client.take();
  const received = join(directory, 'received.bundle');
  await client.code(received);
  const origin = join(directory, 'origin-of-worker.git');
  mkdirSync(origin);
  await unpackOrigin(origin, received, taken, signal);
  const work = join(tempDir(t), 'work');
  await gitAs(directory, 'clone', '--quiet', origin, work);
  // As a workspace is put there.
  await gitAs(
    work,
    'checkout',
    '--quiet',
    '--track',
    '-B',
    BRANCH,
    `origin/${taken.files === null && head === base ? defaultBranch : BRANCH}`,
  );
  let bundles = 0;
  /** A bundle of these refs of the worker's clone, as a worker hands it in. */
  const bundleOf = async (...refs: string[]) => {
    bundles += 1;
    const made = join(directory, `${bundles}.bundle`);
    await gitAs(work, 'bundle', 'create', '--quiet', made, ...refs);
    return made;
  };
  const headOf = () => gitAs(path, 'rev-parse', BRANCH).then((text) => text.trim());
  return {
    ...world,
    task,
    path,
    carrier,
    order,
    client,
    clientOf,
    coordinator,
    attempt,
    work,
    origin,
    bundleOf,
    headOf,
    url: `http://127.0.0.1:${port}`,
  };
}

async function codeOf(acting: Promise<unknown>): Promise<string> {
  try {
    await acting;
  } catch (error) {
    if (error instanceof Superseded) return error.refusal.values.reason as string;
    if (error instanceof ToolError) return String(error.values.reason);
    throw error;
  }
  return 'taken';
}

test('commits and files come into the workspace, and go out with the next attempt', async (t) => {
  const { work, bundleOf, client, order, path, task, carrier, workspaces, directory, headOf } = await setUp(t);
  const head = await commitFiles(work, { 'new.txt': 'new\n' }, 'New');
  writeFileSync(join(work, 'loose.txt'), 'loose\n');
  await gitAs(work, 'add', '--all');
  await gitAs(work, 'commit', '--quiet', '-m', 'Uncommitted work');
  const files = (await gitAs(work, 'rev-parse', 'HEAD')).trim();
  await client.work(await bundleOf(BRANCH, `^${order.head}`), { head, files });
  assert.equal(await headOf(), head);
  assert.equal(readFileSync(join(path, 'new.txt'), 'utf8'), 'new\n');
  assert.match(await gitAs(path, 'status', '--porcelain'), /^\?\? loose\.txt\n$/);
  assert.deepEqual((await workspaces.collect(task, signal)).head, head);
  const again = await carrier.pack(
    { ...task, attempt: 2 },
    join(directory, 'again.bundle'),
    { submodules: true },
    signal,
  );
  assert.equal(again.head, head);
  assert.equal(await gitAs(directory, '--git-dir=state/repo.git', 'show', `${again.files}:loose.txt`), 'loose\n');
});

test('a bundle of another branch, of two, on another base, too large or spoilt is refused, and nothing changes', async (t) => {
  const { work, bundleOf, client, order, headOf, directory, mirror } = await setUp(t);
  const refs = await mirror.refsBelow('refs/');
  const head = await commitFiles(work, { 'new.txt': 'new\n' }, 'New');
  const one = { head, files: null };
  const good = await bundleOf(BRANCH, `^${order.head}`);
  await gitAs(work, 'branch', 'other');
  const other = await bundleOf('other', `^${order.head}`);
  assert.equal(await codeOf(client.work(other, one)), 'bundle_branch_wrong');
  assert.equal(await codeOf(client.work(await bundleOf(BRANCH, 'other'), one)), 'bundle_branch_wrong');
  // Its commit is not the one that the worker names.
  assert.equal(await codeOf(client.work(await bundleOf(BRANCH), { ...one, head: order.head })), 'bundle_branch_wrong');

  await gitAs(work, 'checkout', '--quiet', '--orphan', 'apart');
  const apart = await commitFiles(work, { 'apart.txt': 'x\n' }, 'Apart');
  await gitAs(work, 'branch', '--force', BRANCH);
  assert.equal(await codeOf(client.work(await bundleOf(BRANCH), { head: apart, files: null })), 'bundle_base_wrong');
  const later = await commitFiles(work, { 'later.txt': 'x\n' }, 'Later');
  await gitAs(work, 'branch', '--force', BRANCH);
  const lacking = await bundleOf(BRANCH, `^${apart}`);
  assert.equal(await codeOf(client.work(lacking, { head: later, files: null })), 'bundle_base_wrong');
  // Files that are no child of the commit.
  assert.equal(await codeOf(client.work(null, { head: order.head, files: order.base })), 'bundle_base_wrong');

  const large = join(directory, 'large.bundle');
  writeFileSync(large, Buffer.alloc(LIMIT + 1));
  assert.equal(await codeOf(client.work(large, one)), 'bundle_too_large');
  const spoilt = join(directory, 'spoilt.bundle');
  const text = readFileSync(good);
  writeFileSync(spoilt, text.subarray(0, text.length - 20));
  assert.equal(await codeOf(client.work(spoilt, one)), 'bundle_unreadable');
  writeFileSync(spoilt, 'no bundle');
  assert.equal(await codeOf(client.work(spoilt, one)), 'bundle_unreadable');
  assert.equal(await headOf(), order.head);
  const kept = (await mirror.refsBelow('refs/')).filter((ref) => !ref.endsWith('/handed-in'));
  assert.deepEqual(kept, refs);
});

test('a small bundle with very many or very large files is refused before one is written', async (t) => {
  const { work, client, order, path, headOf, directory } = await setUp(t);
  const made = (input: string, ...args: string[]) => execaSync({ cwd: work, input })`git ${args}`.stdout;
  const before = (await readdir(path)).sort();
  const treeOf = (rows: readonly string[]) => made(`${rows.join('\n')}\n`, 'mktree');
  const times = (mode: string, type: string, sha: string, count: number) =>
    treeOf(Array.from({ length: count }, (_, number) => `${mode} ${type} ${sha}\t${number}`));
  const inTree = (tree: string, parent: string) => made('Large', 'commit-tree', tree, '-p', parent);
  const handIn = async (head: string, files: string | null) => {
    const bundle = join(directory, 'bomb.bundle');
    await gitAs(work, 'update-ref', `refs/heads/${BRANCH}`, files ?? head);
    await gitAs(work, 'bundle', 'create', '--quiet', bundle, BRANCH, `^${order.head}`);
    assert.ok(statSync(bundle).size < 4_096);
    return codeOf(client.work(bundle, { head, files }));
  };
  const blob = made('x'.repeat(20_000), 'hash-object', '-w', '--stdin');
  const wide = times('040000', 'tree', times('100644', 'blob', blob, 100), 100);
  assert.equal(await handIn(inTree(wide, order.head), null), 'bundle_files_too_large');
  // Where the files are not committed, and where their commit takes them away again.
  assert.equal(await handIn(order.head, inTree(wide, order.head)), 'bundle_files_too_large');
  const head = inTree(wide, order.head);
  assert.equal(await handIn(head, inTree(`${order.head}^{tree}`, head)), 'bundle_files_too_large');
  // Nobody reads ten thousand million names to the end.
  let deep = made('', 'hash-object', '-w', '--stdin');
  deep = times('100644', 'blob', deep, 10);
  for (let level = 0; level < 9; level++) deep = times('040000', 'tree', deep, 10);
  assert.equal(await handIn(inTree(deep, order.head), null), 'bundle_files_too_large');
  assert.equal(await headOf(), order.head);
  assert.deepEqual((await readdir(path)).sort(), before);
});

test('files that the base has count for nothing', async (t) => {
  const large = 'x'.repeat(5 * LIMIT);
  const { work, client, order, bundleOf, headOf } = await setUp(t, async () => undefined, { 'large.txt': large });
  const head = await commitFiles(work, { 'new.txt': 'new\n' }, 'New');
  await client.work(await bundleOf(BRANCH, `^${order.head}`), { head, files: null });
  assert.equal(await headOf(), head);
});

test('hooks and filters that a bundle brings are never run', async (t) => {
  const { work, bundleOf, client, order, path, directory } = await setUp(t);
  const planted = join(directory, 'planted');
  mkdirSync(join(work, 'hooks'), { recursive: true });
  writeFileSync(join(work, 'hooks', 'post-checkout'), `#!/bin/sh\ntouch ${planted}\n`, { mode: 0o755 });
  await gitAs(work, 'config', 'core.hooksPath', 'hooks');
  const head = await commitFiles(work, { '.gitattributes': '*.txt filter=planted\n', 'a.txt': 'a\n' }, 'Planted');
  await client.work(await bundleOf(BRANCH, `^${order.head}`), { head, files: null });
  assert.ok(existsSync(join(path, 'a.txt')));
  assert.ok(!existsSync(planted));
});

test('two gigabytes are refused by what is said of them, and without a word by the bytes that come', async (t) => {
  const { url, attempt, order, headOf, directory } = await setUp(t);
  const headers = { authorization: `Bearer ${attempt.token}`, 'x-head': 'a'.repeat(40), 'x-files': '' };
  const sent = (length: string | null) => {
    const asked = request(`${url}/fleet/v1/attempts/${attempt.id}/work`, {
      ...{ method: 'POST', headers: length === null ? headers : { ...headers, 'content-length': length } },
    });
    const answered = new Promise<readonly unknown[]>((resolve, reject) => {
      asked.once('error', reject);
      asked.once('response', (response) => {
        response.setEncoding('utf8');
        response.once('data', (text: string) => resolve([response.statusCode, JSON.parse(text).error.code]));
      });
    });
    return { asked, answered: answered.finally(() => asked.destroy()) };
  };
  const declared = sent(String(2 * 1024 ** 3));
  declared.asked.flushHeaders();
  assert.deepEqual(await declared.answered, [413, 'bundle_too_large']);
  const unsaid = sent(null);
  unsaid.asked.write(Buffer.alloc(LIMIT + 1));
  assert.deepEqual(await unsaid.answered, [413, 'bundle_too_large']);
  assert.equal(await headOf(), order.head);
  assert.deepEqual(await readdir(join(directory, 'attempt')), ['handed-out.bundle']);
});

test('links of a bundle stay links, and nothing is written through them or into .git', async (t) => {
  const outside = tempDir(t);
  const { work, bundleOf, client, order, path, headOf } = await setUp(t, async () => undefined, { 'a.txt': 'a' });
  symlinkSync(outside, join(work, 'way'));
  symlinkSync('/etc/hostname', join(work, 'name'));
  const linked = await commitFiles(work, { 'new.txt': 'new\n' }, 'Links');
  await client.work(await bundleOf(BRANCH, `^${order.head}`), { head: linked, files: null });
  assert.equal(readlinkSync(join(path, 'way')), outside);
  rmSync(join(work, 'way'));
  const through = await commitFiles(work, { 'way/planted.txt': 'x\n' }, 'Through a link of before');
  await client.work(await bundleOf(BRANCH, `^${order.head}`), { head: through, files: null });
  assert.equal(readFileSync(join(path, 'way', 'planted.txt'), 'utf8'), 'x\n');
  assert.deepEqual(await readdir(outside), []);

  const made = (input: string, ...args: string[]) => execaSync({ cwd: work, input })`git ${args}`.stdout;
  const blob = made(`#!/bin/sh\ntouch ${outside}/planted\n`, 'hash-object', '-w', '--stdin');
  const inside = made(`100755 blob ${blob}\tpost-checkout\n`, 'mktree');
  /** As git itself makes none: the row of a tree. */
  const tree = (mode: string, name: string, sha: string) => {
    const row = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, 'hex')]);
    const args = ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'];
    return execaSync({ cwd: work, input: row })`git ${args}`.stdout;
  };
  const hooks = tree('40000', 'hooks', inside);
  const link = made('../../outside', 'hash-object', '-w', '--stdin');
  for (const bad of [
    tree('40000', '.git', hooks),
    tree('40000', '..', hooks),
    tree('120000', '.gitmodules', link),
    tree('100644', 'a/b', blob),
  ]) {
    const head = made('Bad', 'commit-tree', bad, '-p', order.head);
    await gitAs(work, 'update-ref', `refs/heads/${BRANCH}`, head);
    const given = await bundleOf(BRANCH, `^${order.head}`);
    assert.equal(await codeOf(client.work(given, { head, files: null })), 'bundle_unreadable');
  }
  assert.equal(await headOf(), through);
  assert.deepEqual(await readdir(outside), []);
});

test('the token of an attempt in another repository gets nothing', async (t) => {
  const { client, clientOf, coordinator, attempt } = await setUp(t);
  const { options } = attempt;
  const job = { ...options.job, repository: 'h/o/other' };
  const other = new RemoteAttempt({ ...options, job });
  coordinator.add(other);
  const { token } = other.take('v', 'nonce');
  assert.equal(await codeOf(clientOf(KEY, 'v', { token }).turn()), 'attempt_superseded');
  assert.equal(await codeOf(clientOf(KEY, 'w', { token: client.token, job }).turn()), 'attempt_superseded');
});

test('another key, another token and an attempt that is over get nothing', async (t) => {
  const { client, clientOf, coordinator, attempt, bundleOf, work, order } = await setUp(t);
  await assert.rejects(clientOf('another-key-of-sixteen', 'v').take(), /key of the fleet/);
  assert.equal(await codeOf(clientOf(KEY, 'v').take()), 'attempt_taken');
  assert.equal(await codeOf(clientOf(KEY, 'v').turn()), 'attempt_superseded');
  const head = await commitFiles(work, { 'new.txt': 'new\n' }, 'New');
  const bundle = await bundleOf(BRANCH, `^${order.head}`);
  await attempt.lose();
  coordinator.remove(attempt);
  assert.equal(await codeOf(client.work(bundle, { head, files: null })), 'attempt_superseded');
  assert.equal(await codeOf(client.turn()), 'attempt_superseded');
});

test('who shows no token may send sixteen kilobytes', async (t) => {
  const { url } = await setUp(t);
  const statusOf = async (bytes: number) => {
    const answer = await fetch(`${url}/fleet/v1/take`, { method: 'POST', body: 'x'.repeat(bytes) });
    return [answer.status, ((await answer.json()) as { error: { code: string } }).error.code];
  };
  assert.deepEqual(await statusOf(16 * 1024), [422, 'fleet_request_invalid']);
  assert.deepEqual(await statusOf(16 * 1024 + 1), [413, 'fleet_request_too_large']);
});

test('the token of an attempt stands in the headers, and the time for a bundle is for its work alone', async (t) => {
  const { attempt, coordinator } = await setUp(t);
  const workerRequests = new WorkerRequests(coordinator, { log: () => undefined });
  const standing = (verb: string, token: string | null, id = attempt.id) => {
    const headers = { authorization: `Bearer ${token}` };
    return workerRequests.standingOf(`/fleet/v1/attempts/${id}/${verb}`, { headers } as IncomingMessage);
  };
  const { token } = attempt;
  assert.deepEqual(
    [standing('work', token), standing('beat', token), standing('work', 'other'), standing('work', token, 'x')],
    ['bundle', 'known', 'unknown', 'unknown'],
  );
  await attempt.lose();
  coordinator.remove(attempt);
  assert.deepEqual([standing('work', token), standing('end', token)], ['known', 'known']);
});

test('a repository with submodules or Git LFS is not handed out', async (t) => {
  const withModules = setUp(t, async (workspace) => {
    await commitFiles(workspace, { '.gitmodules': '[submodule "a"]\n\tpath = a\n\turl = ../a\n' }, 'Modules');
  });
  await assert.rejects(
    withModules,
    (error) => error instanceof ToolError && error.code === 'fleet_repository_unsupported',
  );
  const withLfs = setUp(t, async (workspace) => {
    await commitFiles(workspace, { '.gitattributes': '*.bin filter=lfs\n' }, 'Large files');
  });
  await assert.rejects(withLfs, (error) => error instanceof ToolError && error.code === 'fleet_repository_unsupported');
});
