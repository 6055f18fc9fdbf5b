import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { createAgentHome } from '../../../src/agents/agent-home.ts';
import { issueDirectory } from '../../../src/agents/issue-directory.ts';
import { removeTree } from '../../../src/base/files/remove-tree.ts';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import { FAILED_KEPT, FileAttemptOutputs, ISSUES_KEPT } from '../../../src/daemon/runners/attempt-output.ts';
import { wordsLike } from '../../support/codes.ts';
import { runWithSmallFiles } from '../../support/file-limit.ts';
import { tempDir } from '../../support/temp.ts';

/** What a build leaves that guards its cache: nothing in it can be removed before its permissions are changed. */
function lock(path: string): void {
  mkdirSync(join(path, 'pkg', 'mod'), { recursive: true });
  writeFileSync(join(path, 'pkg', 'mod', 'file'), 'x');
  for (const directory of [join(path, 'pkg', 'mod'), join(path, 'pkg'), path]) chmodSync(directory, 0o500);
}

/** Runs `act` as a user for whom permissions count; the one who runs the tests may be one for whom they do not. */
async function asOrdinaryUser(act: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0 || process.seteuid === undefined) return act();
  process.seteuid(65534);
  try {
    await act();
  } finally {
    process.seteuid(0);
  }
}

function transcriptsIn(stateDir: string, hasFailed: (issue: number) => boolean = () => false) {
  const said: string[] = [];
  const outputs = new FileAttemptOutputs(
    stateDir,
    () => [],
    (message) => said.push(message),
    hasFailed,
  );
  return { transcripts: outputs, said };
}

test('a tree without write permission is removed, links in it are not followed', async (t) => {
  const directory = tempDir(t);
  chmodSync(directory, 0o777);
  await asOrdinaryUser(async () => {
    const path = join(directory, 'cache');
    lock(path);
    await removeTree(path);
    assert.equal(existsSync(path), false);
    await removeTree(path);
  });
});

test('homes that hold a locked cache do not stop the next attempt, and go with the issue', async (t) => {
  const stateDir = tempDir(t);
  chmodSync(stateDir, 0o777);
  const home = (attempt: number) =>
    createAgentHome({ stateDir, issue: 1, attempt, run: 'r', tmp: '/tmp', env: {}, passed: [], carry: null });
  await asOrdinaryUser(async () => {
    const first = await home(1);
    lock(join(first.path, 'go'));
    await home(1);
    lock(join(first.path, 'go'));
    const second = await home(2);
    assert.equal(existsSync(first.path), false);
    lock(join(second.path, 'go'));
    const { transcripts: outputs, said } = transcriptsIn(stateDir);
    await outputs.forget(1);
    assert.equal(existsSync(join(issueDirectory(stateDir, 1), 'homes')), false, 'out of the way at once');
    await outputs.settled();
    assert.deepEqual(readdirSync(join(stateDir, 'issues')), ['1']);
    assert.deepEqual(said, []);
  });
});

test('an issue that failed keeps its output longer than one that is done', async (t) => {
  const stateDir = tempDir(t);
  const failed = 2 * FAILED_KEPT;
  const { transcripts: outputs, said } = transcriptsIn(stateDir, (issue) => issue <= failed && issue % 2 === 0);
  for (let issue = 1; issue <= failed + 2; issue++) {
    outputs.open(issue, 1, 1).close();
    const directory = issueDirectory(stateDir, issue);
    for (const path of [join(directory, '1-1.log'), directory]) utimesSync(path, issue, issue);
  }
  await outputs.forget(1);
  await outputs.settled();
  const kept = readdirSync(join(stateDir, 'issues')).map(Number);
  assert.equal(kept.filter((issue) => issue <= failed && issue % 2 === 0).length, FAILED_KEPT);
  const others = kept.filter((issue) => issue > failed || issue % 2 === 1).sort((one, other) => one - other);
  assert.equal(others.length, ISSUES_KEPT);
  assert.equal(others[0], failed + 2 - 2 * ISSUES_KEPT + 3);
  assert.deepEqual(said, []);
});

test('the issues that nothing was written to for longest go; one at work stays, however old and low its number', async (t) => {
  const stateDir = tempDir(t);
  const { transcripts: outputs, said } = transcriptsIn(stateDir);
  const at = (issue: number, seconds: number) => {
    const directory = issueDirectory(stateDir, issue);
    for (const path of [...readdirSync(directory).map((name) => join(directory, name)), directory])
      utimesSync(path, seconds, seconds);
  };
  for (let issue = 1; issue <= 205; issue++) {
    const transcript = outputs.open(issue, 1, 1);
    transcript.write('hello\n');
    transcript.close();
    // The low numbers are the new ones.
    at(issue, 1_000_000 - issue);
  }
  const running = outputs.open(205, 1, 2);
  mkdirSync(join(issueDirectory(stateDir, 205), 'homes', '2'), { recursive: true });
  at(205, 1);
  await outputs.forget(7);
  await outputs.forget(205);
  await outputs.settled();
  const kept = readdirSync(join(stateDir, 'issues')).map(Number);
  assert.equal(kept.length, 201);
  assert.ok(kept.includes(1) && kept.includes(205) && !kept.includes(204) && !kept.includes(201));
  assert.ok(existsSync(join(issueDirectory(stateDir, 205), 'homes', '2')), 'the home of an agent at work');
  running.close();
  await outputs.settled();
  assert.equal(existsSync(join(issueDirectory(stateDir, 205), 'homes')), false, 'forgotten when its attempt has ended');
  assert.deepEqual(said, []);
});

test('nothing to clean up, and what cannot be written: said, never thrown', async (t) => {
  const stateDir = tempDir(t);
  const { transcripts: outputs, said } = transcriptsIn(stateDir);
  await outputs.forget(1);
  await outputs.settled();
  assert.deepEqual(said, []);
  writeFileSync(join(stateDir, 'issues'), 'in the way');
  const transcript = outputs.open(1, 1, 1);
  transcript.write('lost');
  transcript.close();
  await outputs.forget(1);
  await outputs.settled();
  assert.match(said[0] ?? '', wordsLike(WORK_CODES.output_incomplete, { path: /\S*1-1\.log/, said: /ENOTDIR/ }));
  rmSync(join(stateDir, 'issues'));
  outputs.open(1, 1, 2).close();
  assert.ok(existsSync(issueDirectory(stateDir, 1)), 'made again');
});

test('a full disk is said once for an attempt, and its agent works on', async (t) => {
  // A limit on the size of files is a full disk for one process.
  const stateDir = tempDir(t);
  const script = `
    import { FileAttemptOutputs } from './src/daemon/runners/attempt-output.ts';
    process.on('SIGXFSZ', () => {});
    const said = [];
    const transcript = new FileAttemptOutputs(process.argv[2], () => [], (message) => said.push(message)).open(1, 1, 1);
    for (let n = 0; n < 200; n++) transcript.write('x'.repeat(100));
    transcript.close();
    console.log(JSON.stringify(said));
  `;
  const said: string[] = JSON.parse(await runWithSmallFiles(script, stateDir));
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', wordsLike(WORK_CODES.output_incomplete, { path: /\S*1-1\.log/, said: /EFBIG/ }));
  assert.match(readFileSync(join(issueDirectory(stateDir, 1), '1-1.log'), 'utf8'), /^x{4000}/);
});
