import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { type FileProblem, WorkflowFile } from '../../../src/daemon/config/workflow-file.ts';
import type { Remote } from '../../../src/git/rules/repository.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { tempDir } from '../../support/temp.ts';

const REPO = 'tracker: { repo: o/r }';
const NONE: Remote = { kind: 'none', says: 'has no Git remote to read it from' };

/** The file at a path, opened. */
function open(
  path: string,
  onReload: (problem: FileProblem | null) => void,
  {
    clock = new FakeClock(),
    detectRemote = async () => NONE,
  }: Partial<Parameters<typeof WorkflowFile.open>[0] & Parameters<typeof WorkflowFile.open>[0]['source']> = {},
): Promise<WorkflowFile> {
  const source = { env: { HOME: '/home/me' }, detectRemote };
  return WorkflowFile.open({ path, source, override: (workflow) => workflow, clock, onReload });
}

test('a changed file is read again; an invalid one leaves the last good one in use and says so', async (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  const write = (yaml: string) => writeFileSync(path, `---\n${REPO}\n${yaml}\n---\nx`);
  write('agent: { max_attempts: 2 }');
  const reloads: (string | null)[] = [];
  const file = await open(path, (problem) => reloads.push(problem?.words ?? null));
  await file.check();
  assert.deepEqual(reloads, [], 'nothing changed');
  write('agent: { max_attempts: 5 }\nserver: { port: 1234 }\ntool: { isolation: required }');
  await file.check();
  assert.equal(file.current.agent.maxAttempts, 5);
  assert.equal(file.current.server.port, 8888, 'the server is where it is until the next start');
  assert.equal(file.current.tool.isolation, 'auto');
  assert.deepEqual(file.pendingRestart, ['tool.isolation', 'server']);
  write('agent: { max_atempts: 5 }');
  await file.check();
  await file.check();
  assert.equal(reloads.length, 2, 'said once');
  assert.match(file.error ?? '', /agent\.max_atempts: .*\bagent\.max_attempts\b/);
  assert.equal(file.current.agent.maxAttempts, 5);
  write('agent: { max_attempts: 1 }');
  await file.check();
  assert.equal(file.error, null);
  assert.deepEqual(file.pendingRestart, []);
  assert.equal(file.current.agent.maxAttempts, 1);
});

test('a file that is gone is said once, an editor’s two steps are not; what comes back is read, be it the same', async (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  const text = `---\n${REPO}\n---\nx`;
  writeFileSync(path, text);
  const said: (string | null)[] = [];
  const file = await open(path, (problem) => said.push(problem?.words ?? null));
  rmSync(path);
  assert.equal(await file.check(), false);
  writeFileSync(path, text);
  assert.equal(await file.check(), true);
  assert.deepEqual(said, []);
  rmSync(path);
  for (const soon of [false, true, true]) assert.equal(await file.check(), soon);
  assert.deepEqual(said, [`${path} is gone`]);
  assert.equal(file.error, `${path} is gone`);
  assert.equal(file.current.prompt, 'x');
  writeFileSync(path, text);
  await file.check();
  assert.deepEqual(said, [`${path} is gone`, null]);
  assert.equal(file.error, null);
});

test('a file that changes is noticed by itself', async (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  writeFileSync(path, `---\n${REPO}\n---\nfirst`);
  const stop = new AbortController();
  const file = await open(
    path,
    () => {
      assert.equal(file.current.prompt, 'second');
      stop.abort();
    },
    { clock: systemClock },
  );
  const watched = file.watch(stop.signal);
  writeFileSync(path, `---\n${REPO}\n---\nsecond`);
  await watched;
});

/** A remote whose answers are given one by one, in any order. */
function slowRemote() {
  const asked: ((repo: string) => void)[] = [];
  const detectRemote = (_: string, signal?: AbortSignal) =>
    new Promise<Remote>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      const origin = 'https://github.com';
      asked.push((repo) => resolve({ kind: 'repository', host: 'github.com', origin, slug: { owner: 'o', repo } }));
    });
  return { asked, detectRemote };
}

const begun = (turns: number, prompt: string) => `---\nagent: { max_turns: ${turns} }\n---\n${prompt}`;

test('of two changes in quick order the last one stays, whichever answer of git comes last', async (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  writeFileSync(path, begun(1, 'first'));
  const { asked, detectRemote } = slowRemote();
  const reloads: (string | null)[] = [];
  const opening = open(path, (problem) => reloads.push(problem?.words ?? null), { detectRemote });
  asked[0]?.('r');
  const file = await opening;
  writeFileSync(path, begun(2, 'second'));
  const second = file.check();
  writeFileSync(path, begun(3, 'third'));
  const third = file.check();
  asked[2]?.('r');
  assert.equal(await third, true);
  assert.equal(file.current.prompt, 'third');
  asked[1]?.('other');
  assert.equal(await second, true);
  assert.deepEqual([file.current.prompt, file.current.agent.maxTurns, file.pendingRestart], ['third', 3, []]);
  assert.deepEqual(reloads, [null]);
});

test('the same text before and after another is read with the last answer of git', async (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  writeFileSync(path, `---\n${REPO}\n---\nnamed`);
  const { asked, detectRemote } = slowRemote();
  const file = await open(path, () => undefined, { detectRemote });
  const checks = ['a', 'b', 'a'].map((prompt) => {
    writeFileSync(path, begun(1, prompt));
    return file.check();
  });
  for (const [index, repo] of [
    [2, 'r'],
    [1, 'late'],
    [0, 'later'],
  ] as const)
    asked[index]?.(repo);
  await Promise.all(checks);
  assert.equal(file.current.prompt, 'a');
  assert.deepEqual(file.pendingRestart, []);
});

test('git is asked only where the file names no repository', async (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  const { asked, detectRemote } = slowRemote();
  writeFileSync(path, `---\n${REPO}\n---\nx`);
  const file = await open(path, () => undefined, { detectRemote });
  for (const tracker of ['{ repositories: [o/a, o/b] }', '{ repo: not one }', '{ repositories: 5 }']) {
    writeFileSync(path, `---\ntracker: ${tracker}\n---\nx`);
    await file.check();
  }
  assert.match(file.error ?? '', /tracker\.repositories/);
  assert.doesNotMatch(file.error ?? '', /tracker\.repo:/);
  assert.equal(asked.length, 0);
});

test('watching ends while git is asked, and nothing is read any more', async (t) => {
  const path = join(tempDir(t), 'WORKFLOW.md');
  writeFileSync(path, `---\n${REPO}\n---\nx`);
  const stop = new AbortController();
  const reloads: unknown[] = [];
  const asking = new EventEmitter();
  const slow = slowRemote();
  const detectRemote = (directory: string, signal?: AbortSignal) => {
    asking.emit('git');
    return slow.detectRemote(directory, signal);
  };
  const file = await open(path, (problem) => reloads.push(problem), { clock: systemClock, detectRemote });
  const watched = file.watch(stop.signal);
  writeFileSync(path, begun(1, 'unnamed'));
  await once(asking, 'git');
  stop.abort();
  await watched;
  assert.deepEqual([reloads, file.error, file.current.prompt], [[], null, 'x']);
});
