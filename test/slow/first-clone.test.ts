// The first copy of a large repository over a network that breaks, is slow, or falls silent.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import test, { type TestContext } from 'node:test';
import { execaSync } from 'execa';
import { systemClock } from '../../src/base/clock.ts';
import { ToolError } from '../../src/base/rules/errors.ts';
import { Mirror } from '../../src/daemon/workspaces/mirror/mirror.ts';
import { FaultyProxy } from '../support/faulty-proxy.ts';
import { gitAs, startForge } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';

const { signal } = new AbortController();
const COMMITS = 60;
const COMMIT_BYTES = 20_000;
const BREAKS_AT = 150_000;

/** A connection that ends after so many bytes. */
function cutAfter(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (chunk.length <= left) {
        left -= chunk.length;
        done(null, chunk);
        return;
      }
      this.push(chunk.subarray(0, left));
      setImmediate(() => done(new Error('cut')));
    },
  });
}

/** A repository of which every commit has as many bytes that nothing compresses, behind a proxy. */
async function setUp(t: TestContext, commits: number, silenceMs = 600_000) {
  const { forge, work, bare } = await startForge(t);
  // All of them by one process; the work tree stays as it is.
  const now = Math.floor(Date.now() / 1000);
  const stream = Array.from({ length: commits }, (_, number) => {
    const message = `commit ${number}`;
    const head = `commit refs/heads/main\ncommitter x <x@example.com> ${now + number} +0000\ndata ${message.length}\n${message}\n`;
    const from = number === 0 ? 'from refs/heads/main^0\n' : '';
    const file = `M 100644 inline large.bin\ndata ${COMMIT_BYTES}\n`;
    return Buffer.concat([Buffer.from(`${head}${from}${file}`), randomBytes(COMMIT_BYTES), Buffer.from('\n')]);
  });
  execaSync({ cwd: work, input: Buffer.concat(stream) })`git fast-import --quiet`;
  await gitAs(work, 'tag', 'v1', 'HEAD~5');
  await gitAs(work, 'branch', 'older', 'HEAD~20');
  await gitAs(work, 'push', '--quiet', bare, 'main', 'v1', 'older');
  const proxy = await FaultyProxy.start(t, forge.url);
  const path = join(tempDir(t), 'repo.git');
  const open = () =>
    new Mirror({
      path,
      remoteUrl: `${proxy.url}${new URL(forge.cloneUrl).pathname}`,
      secret: async () => null,
      env: { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
      clock: systemClock,
      silenceMs: () => silenceMs,
    });
  return { proxy, path, open, bare };
}

async function isComplete(path: string, bare: string): Promise<void> {
  const refs = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags'];
  assert.equal(await gitAs(path, ...refs), await gitAs(bare, ...refs));
  await gitAs(path, 'fsck', '--full', '--strict');
  assert.equal((await gitAs(path, 'rev-parse', '--is-shallow-repository')).trim(), 'false');
  assert.equal(await gitAs(path, 'symbolic-ref', 'HEAD'), 'refs/heads/main\n');
}

test('a large clone that breaks again and again goes on in steps until it is whole', async (t) => {
  const { proxy, path, open, bare } = await setUp(t, COMMITS);
  let cuts = 0;
  proxy.through = (method) => {
    if (method !== 'POST') return undefined;
    const cut = cutAfter(BREAKS_AT);
    cut.once('error', () => cuts++);
    return cut;
  };
  await open().refresh(signal);
  await isComplete(path, bare);
  assert.ok(cuts > 0);
  assert.equal(existsSync(`${path}.new`), false);
});

test('steps that are finished are kept when the daemon ends between them', async (t) => {
  const { proxy, path, open, bare } = await setUp(t, COMMITS);
  let posts = 0;
  proxy.through = (method) => {
    if (method !== 'POST') return undefined;
    posts++;
    return cutAfter(posts < 12 ? BREAKS_AT : 1_000);
  };
  await assert.rejects(open().refresh(signal), (error) => error instanceof ToolError && error.kind === 'git');
  const packs = () => readdirSync(join(`${path}.new`, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
  const kept = packs();
  const depth = async (at: string) => Number(await gitAs(at, 'rev-list', '--count', 'main'));
  const before = await depth(`${path}.new`);
  assert.ok(before > 1 && before < COMMITS, String(before));
  assert.equal(existsSync(join(path, 'HEAD')), false);

  let bytes = 0;
  proxy.through = (method) =>
    method !== 'POST'
      ? undefined
      : new Transform({
          transform(chunk: Buffer, _, done) {
            bytes += chunk.length;
            done(null, chunk);
          },
        });
  await open().refresh(signal);
  await isComplete(path, bare);
  const after = readdirSync(join(path, 'objects', 'pack'));
  assert.deepEqual(
    kept.filter((name) => !after.includes(name)),
    [],
  );
  assert.ok(bytes < (COMMITS - before + 2) * COMMIT_BYTES * 1.1, 'what was there is not fetched again');
});

test('a half-made copy that cannot be read is begun anew', async (t) => {
  const { proxy, path, open, bare } = await setUp(t, 21);
  proxy.through = (method) => (method === 'POST' ? cutAfter(1_000) : undefined);
  await assert.rejects(open().refresh(signal), (error) => error instanceof ToolError && error.kind === 'git');
  assert.ok(existsSync(join(`${path}.new`, 'HEAD')));
  writeFileSync(join(`${path}.new`, 'HEAD'), 'spoilt');
  proxy.through = () => undefined;
  const mirror = open();
  await assert.rejects(mirror.refresh(signal));
  await mirror.refresh(signal);
  await isComplete(path, bare);
});

test('a slow clone lasts longer than the limit, a silent one does not', async (t) => {
  const silenceMs = 3_000;
  const { proxy, path, open, bare } = await setUp(t, 25, silenceMs);
  const pauseMs = 20;
  let pauses = 0;
  proxy.through = (method) =>
    method !== 'POST'
      ? undefined
      : new Transform({
          async transform(chunk: Buffer, _, done) {
            for (let at = 0; at < chunk.length; at += 1_000) {
              this.push(chunk.subarray(at, at + 1_000));
              pauses++;
              await systemClock.sleep(pauseMs, signal);
            }
            done();
          },
        });
  await open().refresh(signal);
  await isComplete(path, bare);
  assert.ok(pauses * pauseMs > 2 * silenceMs, String(pauses));

  const silent = await setUp(t, 21, 1_000);
  silent.proxy.choose = (method) => (method === 'POST' ? 'hang' : undefined);
  await assert.rejects(
    silent.open().refresh(signal),
    (error) => error instanceof ToolError && error.kind === 'git' && /no sign of life/.test(error.message),
  );
});
