// Changes of the same serialized paths with a real daemon and real repositories: one after the other, each with the base in it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { isFailure } from '../../src/base/rules/errors.ts';
import { SERIAL_CODES } from '../../src/daemon/rules/codes/serial-codes.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { wordsOf } from '../support/codes.ts';
import { Daemon, runTool } from '../support/daemon.ts';
import { BASE, commitFiles, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();

async function merge(service: TestForge, number: number): Promise<void> {
  const { status } = await service.forge.call('maintainer', 'PUT', `${BASE}/pulls/${number}/merge`, {});
  assert.equal(status, 200);
}

test('two issues touch migrations: the second waits, takes the base in after the merge, and opens', async (t) => {
  const service = await startForge(t);
  const first = await service.open('The first');
  const second = await service.open('The second');
  const daemon = await Daemon.create(t, service);
  // Both write the same file first: only the agent can solve that.
  const script = [
    `cat > ${daemon.directory}/prompt-$TOOL_ISSUE-$TOOL_ATTEMPT`,
    'mkdir -p migrations',
    `if [ "$TOOL_ATTEMPT" = 1 ]; then echo "$TOOL_ISSUE" > migrations/0001.sql; echo "$TOOL_ISSUE" > "only $TOOL_ISSUE.txt"; else`,
    '  git merge -q origin/main || git checkout --theirs migrations/0001.sql',
    '  echo "$TOOL_ISSUE" > migrations/0002.sql',
    'fi',
    'git add -A; git commit -qm "Do $TOOL_ISSUE"',
  ].join('\n');
  daemon.write([agentRunning(script), 'agent: { serialize_paths: "migrations/**" }', 'gate: { mode: off }'].join('\n'));
  daemon.start();
  const row = async () => (await daemon.state()).queued.find(({ issue_number }) => issue_number === second);
  const waiting = async () => (await daemon.state()).waiting.reasons.change_awaits_pull_request;
  await daemon.until('the second waits', async () => (await waiting()) === 1);
  const [opened, ...others] = await service.pulls();
  assert.ok(opened !== undefined && others.length === 0);
  const blocking = { pull_request: opened.number, path: 'migrations/0001.sql', glob: 'migrations/**' };
  assert.equal((await row())?.reason, wordsOf(SERIAL_CODES.change_awaits_pull_request, blocking));
  const explained = await runTool(['explain', String(second), daemon.workflow]);
  assert.match(explained.stdout, /the change touches paths of agent\.serialize_paths: migrations\/0001\.sql/);
  const why = wordsOf(SERIAL_CODES.change_awaits_pull_request, blocking);
  assert.ok(explained.stdout.endsWith(`now: it waits: ${why}\n`), explained.stdout);
  assert.deepEqual(await service.labelsOf(first), ['tool-done']);
  await merge(service, opened.number);
  await daemon.until('the second is done', async () => (await service.labelsOf(second)).includes('tool-done'));
  const branch = `tool/issue-${second}`;
  const files = await gitAs(service.bare, 'ls-tree', '-r', '--name-only', branch);
  for (const path of ['migrations/0001.sql', 'migrations/0002.sql', `only ${first}.txt`, `only ${second}.txt`])
    assert.ok(files.includes(path), files);
  assert.equal(await gitAs(service.bare, 'show', `${branch}:migrations/0001.sql`), `${first}\n`);
  assert.equal(
    (await gitAs(service.bare, 'merge-base', 'main', branch)).trim(),
    (await gitAs(service.bare, 'rev-parse', 'main')).trim(),
  );
  assert.match(
    readFileSync(join(daemon.directory, `prompt-${second}-2`), 'utf8'),
    /These paths conflict:\n\n```text\nmigrations\/0001\.sql\n```/,
  );
  assert.equal(existsSync(join(daemon.directory, `prompt-${second}-3`)), false);
  assert.equal((await service.pulls()).length, 2);
  assert.equal(await daemon.stop(), 143, daemon.log);
});

test('git tells the paths of a change: added, removed, moved with both, and names of any kind', async (t) => {
  const { workspaces, task, ready, work, bare } = await setUpWorkspaces(t);
  await commitFiles(work, { 'old/gone.txt': 'gone\n', 'old/moved.txt': 'moved\nand\nkept\n' }, 'More');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { path } = await ready(task());
  await gitAs(path, 'rm', '--quiet', 'old/gone.txt');
  await commitFiles(path, { 'a "b"\n\té.txt': 'x\n' }, 'Add and remove');
  await gitAs(path, 'mv', 'old/moved.txt', 'new.txt');
  await gitAs(path, 'commit', '--quiet', '-m', 'Move');
  // What others change on the base meanwhile is no path of this change.
  await commitFiles(work, { 'later.txt': 'x\n' }, 'Later');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { head } = await workspaces.collect(task(), signal);
  const orphan = await gitAs(bare, 'commit-tree', 'main^{tree}', '-m', 'Another beginning');
  await gitAs(bare, 'update-ref', 'refs/heads/tool/issue-9', orphan.trim());
  workspaces.outdate();
  await workspaces.refresh(signal);
  await assert.rejects(workspaces.changedPaths(task(), orphan.trim(), signal), (error) =>
    isFailure(error, WORKSPACES_CODES.history_unrelated),
  );
  const paths = await workspaces.changedPaths(task(), head ?? '', signal);
  assert.deepEqual(paths, ['a "b"\n\té.txt', 'new.txt', 'old/gone.txt', 'old/moved.txt']);
});

test('the base is taken in by a merge; conflicts are told with their paths, and leave the work as it is', async (t) => {
  const { workspaces, task, ready, work, bare } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const own = await commitFiles(path, { 'own.txt': 'own\n' }, 'Own');
  await commitFiles(work, { 'other.txt': 'other\n' }, 'Other');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const clean = await workspaces.takeBase(task(), signal);
  assert.deepEqual(clean.conflicts, []);
  assert.notEqual(clean.head, own);
  assert.match(await gitAs(path, 'ls-files'), /other\.txt\nown\.txt\n/);
  assert.deepEqual(await workspaces.takeBase(task(), signal), clean, 'twice is once');
  await commitFiles(work, { 'own.txt': 'theirs\n' }, 'Theirs');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  assert.deepEqual(await workspaces.takeBase(task(), signal), { head: clean.head, conflicts: ['own.txt'] });
  await workspaces.push(task(), clean.head ?? '', [], signal);
  workspaces.outdate();
  await workspaces.refresh(signal);
  assert.deepEqual([...(await workspaces.branches('tool/'))], [['tool/issue-1', clean.head]]);
  const theirs = (await gitAs(work, 'rev-parse', 'HEAD')).trim();
  assert.deepEqual(await workspaces.conflicts(theirs, clean.head ?? '', signal), ['own.txt']);
  assert.deepEqual(
    await workspaces.conflicts('0'.repeat(40), clean.head ?? '', signal),
    [],
    'what is not here tells nothing',
  );
  await gitAs(work, 'checkout', '--quiet', '--detach', 'main~2');
  const stuck = await commitFiles(work, { 'other.txt': 'stuck\n', 'own.txt': 'stuck\n' }, 'In conflict with the base');
  await gitAs(work, 'push', '--quiet', bare, `${stuck}:refs/heads/stuck`);
  workspaces.outdate();
  await workspaces.refresh(signal);
  assert.deepEqual(
    await workspaces.conflicts(stuck, clean.head ?? '', signal),
    ['own.txt'],
    'what the base itself conflicts with is none of its own',
  );
});

test('a file that is not committed does not keep the base out: it is saved, and what still is in the way is told', async (t) => {
  const { workspaces, task, ready, work, bare, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'own.txt': 'own\n' }, 'Own');
  writeFileSync(join(path, 'README.md'), 'half done\n');
  writeFileSync(join(path, 'schema.sql'), 'generated\n');
  await commitFiles(work, { 'README.md': 'theirs\n', 'schema.sql': 'theirs\n' }, 'Theirs');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { head, conflicts } = await workspaces.takeBase(task(), signal);
  assert.deepEqual(conflicts, []);
  await gitAs(path, 'merge-base', '--is-ancestor', 'origin/main', head ?? '');
  assert.equal(readFileSync(join(path, 'schema.sql'), 'utf8'), 'theirs\n');
  assert.match(said.join(''), /uncommitted changes saved as refs\//);
  // A repository inside is not removed.
  await gitAs(path, 'init', '--quiet', 'inner');
  await commitFiles(join(path, 'inner'), { 'x.txt': 'x\n' }, 'Inner');
  await commitFiles(work, { inner: 'theirs\n' }, 'A file of that name');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  await assert.rejects(workspaces.takeBase(task(), signal), (error) =>
    isFailure(error, WORKSPACES_CODES.base_not_merged),
  );
});
