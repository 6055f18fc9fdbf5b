// A bare repository that shares its objects with another one: what it has in common with it, and what it does where that cannot be.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { linkCopy } from '../../../../src/daemon/workspaces/mirror/linked-copy.ts';
import { cloneEnvironment, tryGit } from '../../../../src/git/git.ts';
import { commitFiles, gitAs } from '../../../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../../../support/temp.ts';

const FSCK = ['fsck', '--no-dangling', '--no-progress'];

/** A bare repository with a pack, loose objects and a second branch. */
async function setUp(t: Cleanup, format = 'sha1') {
  const directory = tempDir(t);
  const work = join(directory, 'work');
  const path = join(directory, 'source.git');
  mkdirSync(work);
  await gitAs(work, 'init', '--quiet', '--initial-branch=main', `--object-format=${format}`);
  await commitFiles(work, { 'a.txt': 'a\n' }, 'first');
  await gitAs(directory, 'clone', '--quiet', '--bare', work, path);
  await gitAs(path, 'repack', '-adq');
  await commitFiles(work, { 'b.txt': 'b\n' }, 'second');
  await gitAs(work, 'push', '--quiet', path, 'main', 'main:other');
  const sha = (await gitAs(work, 'rev-parse', 'HEAD')).trim();
  return { directory, work, source: { path, branch: 'main', sha }, to: join(directory, 'copies', '1.git') };
}

/** Files of objects, by their paths below `objects`. */
function objectsOf(path: string): readonly string[] {
  const place = join(path, 'objects');
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(place, name)).isFile())
    .sort();
}

function isWhole(path: string): Promise<boolean> {
  return tryGit(FSCK, { cwd: path, env: cloneEnvironment(process.env) }).then(({ exitCode }) => exitCode === 0);
}

const filesOf = (path: string) => gitAs(path, 'ls-tree', '-r', '--name-only', 'HEAD');

test('the copy has each object as the same file, and of the refs its branch alone', async (t) => {
  const { source, to, directory } = await setUp(t);
  await linkCopy(source, to);
  const names = objectsOf(source.path);
  for (const kind of [/^pack\/.*\.pack$/, /^[0-9a-f]{2}\//]) assert.ok(names.some((name) => kind.test(name)));
  assert.deepEqual(objectsOf(to), names);
  for (const name of names) {
    const [own, its] = [to, source.path].map((path) => statSync(join(path, 'objects', name)));
    assert.deepEqual([own?.dev, own?.ino], [its?.dev, its?.ino], name);
  }
  const refs = await gitAs(to, 'for-each-ref', '--format=%(refname) %(objectname)');
  assert.equal(refs, `refs/heads/main ${source.sha}\n`);
  assert.equal((await gitAs(to, 'symbolic-ref', 'HEAD')).trim(), 'refs/heads/main');
  assert.ok(!existsSync(`${to}.new`));
  // It needs nothing of what it was made from.
  rmSync(source.path, { recursive: true });
  assert.ok(await isWhole(to));
  await gitAs(directory, 'clone', '--quiet', to, 'clone');
  assert.equal(await filesOf(join(directory, 'clone')), 'a.txt\nb.txt\n');
});

test('what comes into the copy does not come into its source, and nobody pushes to it', async (t) => {
  const { source, to, work } = await setUp(t);
  await linkCopy(source, to);
  const before = objectsOf(source.path).map((name) => [name, readFileSync(join(source.path, 'objects', name), 'hex')]);
  const sha = await commitFiles(work, { 'c.txt': 'c\n' }, 'third');
  await assert.rejects(gitAs(work, 'push', '--quiet', to, 'main'), /nobody pushes here/);
  await gitAs(to, 'fetch', '--quiet', work, 'main:refs/heads/fetched');
  assert.equal((await gitAs(to, 'rev-parse', 'fetched')).trim(), sha);
  await gitAs(to, 'gc', '--quiet', '--prune=now');
  assert.ok(await isWhole(to));
  assert.deepEqual(
    objectsOf(source.path).map((name) => [name, readFileSync(join(source.path, 'objects', name), 'hex')]),
    before,
  );
});

test('a repository with another format of objects is read in the copy as well', async (t) => {
  const { source, to } = await setUp(t, 'sha256');
  await linkCopy(source, to);
  assert.equal(source.sha.length, 64);
  assert.equal((await gitAs(to, 'rev-parse', '--show-object-format', 'HEAD')).trim(), `sha256\n${source.sha}`);
  assert.ok(await isWhole(to));
});

test('of a damaged source the copy is as damaged, which git finds in both', async (t) => {
  const { source, to } = await setUp(t);
  const pack = objectsOf(source.path).find((name) => name.endsWith('.pack')) ?? assert.fail();
  const path = join(source.path, 'objects', pack);
  const bytes = readFileSync(path);
  bytes.writeUInt8((bytes.at(-30) ?? 0) ^ 0xff, bytes.length - 30);
  // Packs are read-only.
  rmSync(path);
  writeFileSync(path, bytes);
  await linkCopy(source, to);
  assert.deepEqual([await isWhole(source.path), await isWhole(to)], [false, false]);
});

for (const part of ['config', 'objects'])
  test(`of a source without its ${part} there is no copy, and a later try begins anew`, async (t) => {
    const { source, to, directory } = await setUp(t);
    const whole = join(directory, 'whole.git');
    await linkCopy(source, whole);
    rmSync(join(source.path, part), { recursive: true });
    await assert.rejects(linkCopy(source, to), { code: 'ENOENT' });
    assert.equal(existsSync(to), false);
    mkdirSync(join(`${to}.new`, 'objects', 'pack'), { recursive: true });
    writeFileSync(join(`${to}.new`, 'objects', 'pack', 'left'), '');
    await linkCopy({ ...source, path: whole }, to);
    assert.deepEqual(objectsOf(to), objectsOf(whole));
    assert.ok(await isWhole(to));
  });

const other = statSync('/dev/shm', { throwIfNoEntry: false });
const isElsewhere = other !== undefined && other.dev !== statSync(tmpdir()).dev;

test('on another file system the copy has files of its own', {
  skip: isElsewhere ? false : 'this machine has no second file system',
}, async (t) => {
  const { source } = await setUp(t);
  const place = mkdtempSync('/dev/shm/toolcrew-');
  finallyDo(t, () => rmSync(place, { recursive: true, force: true }));
  const to = join(place, '1.git');
  await linkCopy(source, to);
  const names = objectsOf(source.path);
  assert.deepEqual(objectsOf(to), names);
  for (const name of names) {
    const [own, its] = [to, source.path].map((path) => join(path, 'objects', name));
    assert.notEqual(statSync(own ?? '').dev, statSync(its ?? '').dev);
    assert.deepEqual(readFileSync(own ?? ''), readFileSync(its ?? ''));
  }
  rmSync(source.path, { recursive: true });
  assert.ok(await isWhole(to));
});

test('a directory that exists stays as it is, unless it is empty', async (t) => {
  const { source, to } = await setUp(t);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'work.txt'), 'work');
  await assert.rejects(linkCopy(source, to), { code: 'ENOTEMPTY' });
  assert.deepEqual(readdirSync(to), ['work.txt']);
  rmSync(join(to, 'work.txt'));
  await linkCopy(source, to);
  assert.equal(await filesOf(to), 'a.txt\nb.txt\n');
});
