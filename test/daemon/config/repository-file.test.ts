// A repository's own WORKFLOW.md in real git: read at a commit, the last good one kept.

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { textOf } from '../../../src/base/rules/codes.ts';
import { RepositoryFile } from '../../../src/daemon/config/repository-file.ts';
import { Comparison } from '../../../src/daemon/workspaces/mirror/comparison.ts';
import { cloneEnvironment, tryGit } from '../../../src/git/git.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { commitFiles, gitAs } from '../../support/forge.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';
import { workflowWith } from '../../support/world.ts';

const { signal } = new AbortController();

async function start(t: Cleanup, settings: readonly ('prompt' | 'labels')[] = ['prompt', 'labels']) {
  const work = tempDir(t);
  await gitAs(work, 'init', '--quiet', '--initial-branch=main');
  await commitFiles(work, { 'README.md': 'x' }, 'First');
  const env = cloneEnvironment(process.env);
  const comparison = new Comparison({
    try: (args, ending, maxBytes) =>
      tryGit(args, { cwd: work, env, signal: ending, ...(maxBytes !== undefined && { maxBytes }) }),
    tip: async () => '',
    relate: async () => undefined,
  });
  const lines: string[] = [];
  const clock = new FakeClock();
  const head = async () =>
    (await gitAs(work, 'for-each-ref', '--format=%(objectname)', 'refs/heads/main')).trim() || null;
  const at = { isAway: false };
  const mirror = {
    refresh: async () => {
      if (at.isAway) throw new Error('away');
    },
    outdate: () => undefined,
    defaultBranch: async () => 'main',
    branchHead: head,
    comparison,
  };
  const operator = { ...workflowWith(), fromRepository: { settings, hooks: false } };
  const background: Promise<void>[] = [];
  const make = (path = join(work, '.git', 'kept'), fetched = Promise.resolve()) =>
    new RepositoryFile({
      ...{ workflow: () => operator, mirror, clock, path, fetched },
      log: { log: (level, _, said) => void lines.push(`${level} ${typeof said === 'string' ? said : textOf(said)}`) },
      background: (run) => void background.push(run(signal)),
    });
  const write = (text: string) => commitFiles(work, { 'WORKFLOW.md': text }, 'Change');
  return { work, lines, clock, at, file: make(), make, write, head, operator, background };
}

test('without a file, and where nothing may be set, the file of the operator holds', async (t) => {
  const { file, lines, operator } = await start(t);
  await file.pin(signal);
  assert.equal(file.workflow, operator);
  const closed = await start(t, []);
  await closed.write('Mine.');
  await closed.file.pin(signal);
  await closed.file.look(signal);
  assert.equal(closed.file.workflow, closed.operator);
  assert.deepEqual([...lines, ...closed.lines], []);
});

test('the file of the commit holds; what it may not set is said once for each content', async (t) => {
  const { file, write, lines, work } = await start(t);
  const commit = await write('---\ntracker: { done_label: shipped, draft: true }\n---\nMine.\n');
  await file.pin(signal);
  assert.equal(file.workflow.own?.commit, commit);
  assert.equal(file.workflow.labels.done, 'shipped');
  assert.deepEqual(
    file.status.warnings.map(({ of, values }) => [of.code, values.keys]),
    [['repository_keys_refused', ['tracker.draft']]],
  );
  const later = await commitFiles(work, { 'other.txt': 'x' }, 'Other');
  await file.pin(signal);
  assert.equal(file.workflow.own?.commit, later);
  assert.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    ['warn', 'info'],
  );
  assert.equal(lines[1], `info prompt, done_label from WORKFLOW.md at ${commit.slice(0, 7)}`);
});

test('of many keys that are not allowed the first twenty are named', async (t) => {
  const { file, write } = await start(t);
  const keys = Array.from({ length: 500 }, (_, index) => `key_${index}: 1`);
  await write(`---\n${keys.join('\n')}\n---\nMine.\n`);
  await file.pin(signal);
  const [warning] = file.status.warnings;
  const named = warning?.values.keys;
  assert.ok(Array.isArray(named));
  assert.deepEqual([named.length, named[0], named[19], named[20]], [21, 'key_0', 'key_19', 'and 480 more']);
});

test('a file that cannot be used leaves the last good one in use, also after a restart', async (t) => {
  const { file, make, write, work, head, lines } = await start(t);
  const good = await write('Good.\n');
  await file.pin(signal);
  const inUse = (one: RepositoryFile) => [one.workflow.prompt, one.status.warnings[0]?.of.code];
  const bad = [
    '{{ nothing }}',
    '---\na: [b\n---\n',
    '---\nactive_states: tool-done\n---\n',
    'x'.repeat(100_001),
    'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
    'a\0b',
  ];
  for (const text of bad) {
    await write(text);
    await file.pin(signal);
    assert.deepEqual(inUse(file), ['Good.\n', 'repository_file_invalid'], text.slice(0, 40));
    assert.equal(file.status.warnings[0]?.values.instead, `WORKFLOW.md at ${good.slice(0, 7)}`);
  }
  await gitAs(work, 'rm', '--quiet', 'WORKFLOW.md');
  symlinkSync('/etc/passwd', join(work, 'WORKFLOW.md'));
  await commitFiles(work, {}, 'Link');
  await file.pin(signal);
  assert.deepEqual(inUse(file), ['Good.\n', 'repository_file_invalid']);
  assert.match(lines.at(-1) ?? '', /expected a file, got a symbolic link/);
  const again = make();
  await again.pin(signal);
  assert.deepEqual(inUse(again), ['Good.\n', 'repository_file_invalid']);
  await gitAs(work, 'rm', '--quiet', 'WORKFLOW.md');
  await gitAs(work, 'update-index', '--add', '--cacheinfo', `160000,${(await head()) ?? ''},WORKFLOW.md`);
  await gitAs(work, 'commit', '--quiet', '-m', 'Submodule');
  await file.pin(signal);
  assert.match(lines.at(-1) ?? '', /expected a file, got a submodule/);
  await gitAs(work, 'rm', '--quiet', '--cached', 'WORKFLOW.md');
  await gitAs(work, 'commit', '--quiet', '-m', 'None');
  await file.pin(signal);
  assert.deepEqual(inUse(file), ['work', undefined], 'a file that was removed sets nothing');
});

test('polls look once a minute, and at once when somebody asks; a service that is away is said once', async (t) => {
  const { file, write, clock, lines, at, background } = await start(t);
  await write('One.\n');
  await file.look(signal);
  assert.equal(file.workflow.prompt, 'One.\n');
  await write('Two.\n');
  await file.look(signal);
  assert.equal(file.workflow.prompt, 'One.\n');
  file.outdate();
  await file.look(signal);
  assert.equal(file.workflow.prompt, 'Two.\n');
  await write('Three.\n');
  await clock.pass(60_000);
  await file.look(signal);
  await Promise.all(background);
  assert.equal(file.workflow.prompt, 'Three.\n');
  at.isAway = true;
  const before = lines.length;
  for (const _ of [1, 2]) {
    file.outdate();
    await file.look(signal);
  }
  assert.equal(lines.length, before + 1);
  await file.pin(signal);
});

test('after a restart without git, the file of the copy holds', async (t) => {
  const { make, at, write, lines } = await start(t);
  const commit = await write('Mine.\n');
  at.isAway = true;
  const file = make();
  await file.look(signal);
  assert.equal(file.workflow.prompt, 'Mine.\n');
  assert.match(lines.at(-1) ?? '', new RegExp(`away.*WORKFLOW\\.md at ${commit.slice(0, 7)}`));
  await file.pin(signal);
});

test('a reading waits for the first fetch, and says that it waits', async (t) => {
  const { make, write } = await start(t);
  await write('Mine.\n');
  const order: string[] = [];
  let end: () => void = () => undefined;
  const fetched = new Promise<void>((resolve) => {
    end = resolve;
  });
  const file = make(undefined, fetched);
  const looking = file.look(signal, () => void order.push('waits')).then(() => void order.push('read'));
  await new Promise(setImmediate);
  assert.deepEqual(order, ['waits']);
  order.push('fetched');
  end();
  await looking;
  assert.deepEqual(order, ['waits', 'fetched', 'read']);
  await file.look(signal, () => void order.push('waits'));
  assert.equal(order.length, 3);
});

test('a disk that takes no note of the good file is said once and stops nothing', async (t) => {
  const { make, write, work, lines } = await start(t);
  await write('Good.\n');
  const file = make(join(work, 'missing', 'kept'));
  await file.pin(signal);
  await write('{{ nothing }}');
  await file.pin(signal);
  assert.equal(file.workflow.prompt, 'Good.\n');
  assert.equal(lines.filter((line) => line.includes('ENOENT')).length, 1);
});

test('the problems of a file are a short line', async (t) => {
  const { file, write } = await start(t);
  await write(`---\nactive_states: [${'" ", '.repeat(2_000)}]\n---\n`);
  await file.pin(signal);
  assert.ok(String(file.status.warnings[0]?.values.said).length < 800);
});

test('an attempt does not start by a file that was never read', async (t) => {
  const { file, at, work } = await start(t);
  await gitAs(work, 'branch', '-m', 'main', 'other');
  at.isAway = true;
  await file.look(signal);
  await assert.rejects(file.pin(signal), /away/);
});
