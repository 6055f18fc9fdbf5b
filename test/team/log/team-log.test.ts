// Over 400 lines: one file format; its cases share the records and the kills.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { logFiles } from '../../../src/team/log/team-file.ts';
import { TeamHistory } from '../../../src/team/log/team-history.ts';
import { FileTeamLog } from '../../../src/team/log/team-log.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { serializeTeam } from '../../../src/team/rules/log/snapshot.ts';
import type { TeamState } from '../../../src/team/rules/log/state.ts';
import { isOf, wordsLike } from '../../support/codes.ts';
import { scriptFile } from '../../support/compiled.ts';
import { runWithSmallFiles } from '../../support/file-limit.ts';
import { rec } from '../../support/team.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

function open(t: Cleanup, directory: string, maxBytes?: number): FileTeamLog {
  const log = new FileTeamLog({ directory, now: () => 1_000_000, ...(maxBytes === undefined ? {} : { maxBytes }) });
  finallyDo(t, () => log.close());
  return log;
}

const plain = (state: TeamState) => JSON.stringify(serializeTeam(state));
const subjects = (log: FileTeamLog) => [...log.state.tasks.values()].map(({ subject }) => subject);
const task = (subject: string) => rec('task_created', { subject });

/** An error for people: with its code, and words that hold all of these. */
const says =
  (...words: readonly string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof ToolError, String(error));
    for (const word of words) assert.ok(error.message.includes(word), `${error.message} has no ${word}`);
    return true;
  };

test('what counts and what does not is told, and everybody folds the same', async (t) => {
  const directory = tempDir(t);
  const one = open(t, directory);
  const first = await one.append(rec('created'));
  assert.equal(first.refusal, null);
  assert.equal(first.at, 1_000_000);
  const two = open(t, directory);
  assert.equal(two.state.session, 'created');
  const refused = await two.append(rec('created'));
  assert.match(refused.refusal ?? '', wordsLike(LOG_CODES.team_exists));
  assert.notEqual(refused.id, first.id);
  assert.equal((await one.append(task('a'), { flush: false })).refusal, null);
  assert.deepEqual(subjects(two), []);
  two.refresh();
  assert.deepEqual(subjects(two), ['a']);
  assert.equal(plain(two.state), plain(one.state));
  assert.equal(plain(open(t, directory).state), plain(one.state));
});

test('the state is new as soon as the call returns', async (t) => {
  const log = open(t, tempDir(t));
  const appended = log.append(rec('created'));
  assert.equal(log.state.session, 'created');
  await appended;
});

test('each record that is read is told, with why it does not count', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory);
  for (const record of [rec('created'), rec('created'), task('a')]) await log.append(record);
  const told: string[] = [];
  const other = new FileTeamLog({
    directory,
    now: () => 1,
    onRecord: (record, refusal) => told.push(`${record.type} ${refusal === null}`),
  });
  finallyDo(t, () => other.close());
  assert.deepEqual(told, ['created true', 'created false', 'task_created true']);
});

test('a log that has grown goes on in new files; whoever has an older one open follows', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory, 2000);
  await log.append(rec('created'));
  const left = open(t, directory, 2000);
  const before = open(t, directory, 2000);
  for (let n = 1; n <= 200; n++) assert.equal((await log.append(task(`t${n}`), { flush: n % 2 === 0 })).refusal, null);
  assert.ok(logFiles(directory).length > 2, logFiles(directory).join(' '));
  assert.deepEqual(
    logFiles(directory),
    logFiles(directory).map((_, index) => (index === 0 ? 'log.jsonl' : `log.${index + 1}.jsonl`)),
  );
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.endsWith('.tmp')),
    [],
  );
  before.refresh();
  assert.equal(plain(before.state), plain(log.state));
  assert.equal((await left.append(task('late'))).refusal, null);
  assert.equal(subjects(left).at(-1), 'late');
  assert.match((await left.append(rec('created'))).refusal ?? '', wordsLike(LOG_CODES.team_exists));
  log.refresh();
  assert.equal(subjects(log).length, 201);
  const fresh = open(t, directory);
  assert.equal(plain(fresh.state), plain(left.state));
  assert.equal(fresh.state.continuedIn, null);
});

test('a file that follows on a long snapshot grows four times as long before it is followed', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory, 2000);
  await log.append(rec('created', { subject: 'x'.repeat(5000) }));
  assert.deepEqual(logFiles(directory), ['log.jsonl', 'log.2.jsonl']);
  const bytes = statSync(join(directory, 'log.2.jsonl')).size;
  while (logFiles(directory).length === 2) await log.append(task('y'));
  assert.ok(statSync(join(directory, 'log.2.jsonl')).size > 4 * bytes - 400);
});

test('whoever died between the end of a file and the next one left nothing undone', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory);
  for (const record of [rec('created'), task('a'), rec('continued')]) await log.append(record);
  assert.deepEqual(logFiles(directory), ['log.jsonl'], 'the next file is made by the next who writes');
  const reader = open(t, directory);
  reader.refresh();
  assert.deepEqual(subjects(reader), ['a']);
  assert.deepEqual(logFiles(directory), ['log.jsonl'], 'reading writes nothing');
  const [one, two] = [open(t, directory), open(t, directory)];
  assert.equal((await one.append(task('b'))).refusal, null);
  assert.equal((await two.append(task('c'))).refusal, null);
  assert.deepEqual(logFiles(directory), ['log.jsonl', 'log.2.jsonl']);
  reader.refresh();
  for (const each of [reader, two, open(t, directory)]) assert.deepEqual(subjects(each), ['a', 'b', 'c']);
});

test('a file that was only begun under another name is none', async (t) => {
  const directory = tempDir(t);
  await open(t, directory).append(rec('created'));
  for (const name of ['log.2.jsonl.abc.tmp', 'log.1.jsonl', 'log.02.jsonl', 'log.0.jsonl', 'other.jsonl'])
    writeFileSync(join(directory, name), '{"half');
  assert.deepEqual(logFiles(directory), ['log.jsonl']);
  assert.equal(open(t, directory).state.session, 'created');
});

test('a torn last record, cut at each of its bytes: it counts when it is whole, and nothing else is touched', async (t) => {
  const directory = tempDir(t);
  const path = join(directory, 'log.jsonl');
  const log = open(t, directory);
  for (const record of [rec('created'), task('first')]) await log.append(record);
  const before = readFileSync(path).length;
  await log.append(task('lást'));
  const bytes = readFileSync(path);
  for (let length = before; length <= bytes.length; length++) {
    const place = tempDir(t);
    writeFileSync(join(place, 'log.jsonl'), bytes.subarray(0, length));
    const cut = open(t, place);
    const isWhole = length >= bytes.length - 1;
    // Two newlines stand between records: with the first alone nothing is torn.
    const isTorn = !isWhole && length > before + 1;
    const there = isWhole ? ['first', 'lást'] : ['first'];
    assert.deepEqual([subjects(cut), cut.tornLines], [there, isTorn ? 1 : 0], `${length - before} bytes`);
    assert.equal((await cut.append(task('after'))).refusal, null);
    assert.deepEqual(subjects(cut), [...there, 'after']);
    const again = open(t, place);
    assert.deepEqual([subjects(again), again.tornLines], [subjects(cut), isTorn ? 1 : 0], `${length - before} bytes`);
  }
});

test('a record of a newer program: nothing behind it is taken for read, and nothing more is written', async (t) => {
  const directory = tempDir(t);
  const path = join(directory, 'log.jsonl');
  const log = open(t, directory);
  await log.append(rec('created'));
  const line = (v: number, subject: string) =>
    `\n${JSON.stringify({ ...task(subject), v, id: `x${subject}`, at: 1 })}\n`;
  appendFileSync(path, line(1, 'a') + line(2, 'b') + line(1, 'c'));
  const newer = isOf(BASE_CODES.record_version_newer, { path, version: 2 });
  assert.throws(() => log.refresh(), newer);
  assert.throws(() => log.refresh(), newer, 'still');
  const size = statSync(path).size;
  await assert.rejects(log.append(task('d')), newer);
  assert.equal(statSync(path).size, size);
  const before = readdirSync('/proc/self/fd').length;
  for (let tries = 0; tries < 20; tries++) assert.throws(() => new FileTeamLog({ directory, now: () => 1 }), newer);
  assert.ok(readdirSync('/proc/self/fd').length < before + 10, 'a log that cannot be read is not left open');
});

test('files that cannot be gone on with are named', (t) => {
  const created = `\n${JSON.stringify({ ...rec('created'), v: 1, id: 'a', at: 1 })}\n`;
  const continued = (next: string) =>
    `${created}\n${JSON.stringify({ type: 'continued', next, v: 1, id: 'b', at: 1 })}\n`;
  const snapshot = `\n${JSON.stringify({ type: 'snapshot', state: { team: 'x' }, v: 1, id: 's', at: 1 })}\n`;
  const cases: readonly (readonly [Record<string, string>, ...string[]])[] = [
    [{ 'log.jsonl': continued('log.jsonl') }, 'goes on in log.jsonl; expected log.2.jsonl.'],
    [{ 'log.jsonl': continued('log.7.jsonl') }, 'goes on in log.7.jsonl; expected log.2.jsonl.'],
    [{ 'log.jsonl': continued('../../other') }, 'goes on in ../../other'],
    [{ 'log.jsonl': created, 'log.2.jsonl': '' }, 'log.2.jsonl does not begin with a snapshot'],
    [{ 'log.jsonl': created, 'log.2.jsonl': created }, 'log.2.jsonl does not begin with a snapshot'],
    [{ 'log.jsonl': continued('log.2.jsonl'), 'log.2.jsonl': snapshot }, 'log.2.jsonl does not begin with a snapshot'],
    [{ 'log.jsonl': '\n{"v":1,"id":"x","at":1,"type":"other"}\n' }, 'at byte 1 that this program did not write'],
  ];
  for (const [files, ...words] of cases) {
    const directory = tempDir(t);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    assert.throws(() => new FileTeamLog({ directory, now: () => 1 }), says(directory, ...words));
  }
});

test('what cannot be a log is said with its path and why', (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'file'), '');
  mkdirSync(join(directory, 'team', 'log.jsonl'), { recursive: true });
  const cases: readonly (readonly [string, string])[] = [
    ['none', 'ENOENT'],
    ['file', 'ENOTDIR'],
    ['team', 'EISDIR'],
  ];
  for (const [name, why] of cases)
    assert.throws(
      () => new FileTeamLog({ directory: join(directory, name), now: () => 1 }),
      says(join(directory, name), why),
    );
  const empty = tempDir(t);
  assert.throws(() => new FileTeamLog({ directory: empty, now: () => 1, create: false }), says(empty, 'ENOENT'));
  assert.deepEqual(readdirSync(empty), []);
});

test('a log that somebody cut under an open one is said; nothing is built on it', async (t) => {
  const directory = tempDir(t);
  const path = join(directory, 'log.jsonl');
  for (const act of ['refresh', 'append'] as const) {
    rmSync(path, { force: true });
    const log = open(t, directory);
    for (const record of [rec('created'), task('a'), task('b')]) await log.append(record);
    truncateSync(path, 10);
    if (act === 'refresh') assert.throws(() => log.refresh(), isOf(BASE_CODES.log_cut, { path }));
    await assert.rejects(log.append(task('c')), isOf(BASE_CODES.log_cut, { path }));
    await assert.rejects(log.append(task('d')), isOf(BASE_CODES.log_cut, { path }));
  }
});

test('a full disk: the record that was not taken counts nowhere, those before stay, and the log goes on later', async (t) => {
  const directory = tempDir(t);
  const script = `
    import { FileTeamLog } from './src/team/log/team-log.ts';
    import { rec } from './test/support/team.ts';
    process.on('SIGXFSZ', () => {});
    const log = new FileTeamLog({ directory: process.argv[2], now: () => 1, maxBytes: 1000000 });
    await log.append(rec('created'));
    let failed = '';
    let counted = 0;
    for (; counted < 100 && failed === ''; counted++)
      await log.append(rec('task_created', { subject: String(counted) })).catch((error) => { failed = error.message; });
    console.log(JSON.stringify({ failed, counted: counted - 1, tasks: log.state.tasks.size }));
  `;
  const { failed, counted, tasks } = JSON.parse(await runWithSmallFiles(script, directory));
  assert.match(failed, /.*log\.jsonl: (.*EFBIG|the disk took \d+ of \d+ bytes)/);
  assert.ok(counted > 5);
  assert.equal(tasks, counted);
  const log = open(t, directory);
  assert.equal(subjects(log).length, counted);
  await log.append(task('room again'));
  assert.equal(subjects(log).at(-1), 'room again');
});

test('a full disk while the log is continued: the record stands, and the next author is told', async (t) => {
  const directory = tempDir(t);
  const script = `
    import { FileTeamLog } from './src/team/log/team-log.ts';
    import { rec } from './test/support/team.ts';
    process.on('SIGXFSZ', () => {});
    const log = new FileTeamLog({ directory: process.argv[2], now: () => 1, maxBytes: 3400 });
    await log.append(rec('created', { subject: 'x'.repeat(2970) }));
    const one = await log.append(rec('task_created', { subject: 'y'.repeat(345) }));
    let failed = '';
    await log.append(rec('task_created', { subject: 'b' })).catch((error) => { failed = error.message; });
    console.log(JSON.stringify({ refusal: one.refusal, failed }));
  `;
  const { refusal, failed } = JSON.parse(await runWithSmallFiles(script, directory));
  assert.equal(refusal, null);
  assert.match(failed, wordsLike(BASE_CODES.log_not_written, { path: /\S*log\.2\.jsonl/, said: /EFBIG/ }));
  assert.deepEqual(logFiles(directory), ['log.jsonl']);
  assert.deepEqual(readdirSync(directory), ['log.jsonl']);
  const log = open(t, directory);
  assert.equal((await log.append(task('c'))).refusal, null);
  assert.deepEqual(
    subjects(log).map((subject) => subject.slice(0, 1)),
    ['y', 'c'],
  );
});

const NAMESPACE = ['--user', '--map-root-user', '--mount'];
const { failed } = execaSync({ reject: false })`unshare ${NAMESPACE} true`;
const possible = failed ? { skip: 'no namespaces here' } : {};

test('a directory that is read-only is said with its path and why', possible, async (t) => {
  const directory = tempDir(t);
  await open(t, directory).append(rec('created'));
  const begins = scriptFile(`
    import { FileTeamLog } from './src/team/log/team-log.ts';
    import { FileTeams } from './src/team/log/teams.ts';
    for (const begin of [
      () => new FileTeamLog({ directory: process.argv[2], now: () => 1 }),
      () => new FileTeams({ root: process.argv[2], now: () => 1 }).begin('tool-run-x'),
    ]) {
      try { begin(); console.log('it began'); } catch (error) { console.log(error.name, error.kind, error.message); }
    }
  `);
  const node = [process.execPath, begins, directory];
  const mount = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`;
  const { stdout, stderr } = execaSync({ reject: false })`unshare ${NAMESPACE} sh -c ${mount} ${directory} ${node}`;
  const [log, begin] = stdout.split('\n');
  assert.match(log ?? '', /^ToolError state_unusable [Cc]annot open .*log\.jsonl: EROFS: /, stderr);
  assert.match(
    begin ?? '',
    wordsLike(BASE_CODES.state_unwritable, { path: /\S*\.tool\/teams\/tool-run-x/, said: /EROFS: / }),
    stderr,
  );
  assert.match(begin ?? '', /^ToolError state_unusable /);
  assert.ok((log ?? '').includes(directory) && (begin ?? '').includes(directory));
  assert.equal(open(t, directory).state.session, 'created');
});

test('a next file that vanished is made again from what was folded', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory);
  for (const record of [rec('created'), task('a'), rec('continued'), task('b')]) await log.append(record);
  unlinkSync(join(directory, 'log.2.jsonl'));
  const other = open(t, directory);
  assert.deepEqual(subjects(other), ['a']);
  await other.append(task('c'));
  assert.ok(existsSync(join(directory, 'log.2.jsonl')));
});

test('a log that somebody removed under an open one is put back whole, and others go on in it', async (t) => {
  const directory = join(tempDir(t), 'team');
  mkdirSync(directory);
  const log = open(t, directory);
  for (const record of [rec('created'), task('a')]) await log.append(record);
  for (const [act, expected] of [
    [() => log.refresh(), ['a']],
    [() => log.append(task('b')), ['a', 'b']],
  ] as const) {
    rmSync(directory, { recursive: true });
    await act();
    assert.deepEqual(readdirSync(directory), ['log.jsonl']);
    assert.deepEqual(subjects(open(t, directory)), expected);
    assert.deepEqual(subjects(log), expected);
  }
  await open(t, directory).append(task('c'));
  log.refresh();
  assert.deepEqual(subjects(log), ['a', 'b', 'c']);
});

test('a later file that somebody removed is said', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory);
  for (const record of [rec('created'), rec('continued'), task('a')]) await log.append(record);
  for (const file of logFiles(directory)) rmSync(join(directory, file));
  assert.throws(() => log.refresh(), isOf(LOG_CODES.team_log_removed, { path: join(directory, 'log.2.jsonl') }));
});

test('a log of a deleted team that was put away stays there', async (t) => {
  const directory = join(tempDir(t), 'team');
  mkdirSync(directory);
  const log = open(t, directory);
  await log.append(rec('created'));
  await open(t, directory).append(rec('deleted'));
  renameSync(directory, `${directory}-away`);
  const { refusal } = await log.append(task('a'));
  assert.ok(refusal !== null);
  log.refresh();
  assert.equal(existsSync(directory), false);
});

test('a closed log is not read or written: its descriptor may be another file’s', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory);
  await log.append(rec('created'));
  await log.close();
  const path = join(directory, 'log.jsonl');
  const before = readFileSync(path);
  assert.throws(() => log.refresh(), says(path, 'was closed'));
  await assert.rejects(log.append(task('a')), says(path, 'was closed'));
  assert.deepEqual(readFileSync(path), before);
  const history = new TeamHistory({ directory, from: 'snapshot' });
  await history.close();
  assert.throws(() => history.refresh(), says(path, 'was closed'));
});

test('a history whose next file vanishes as it is opened stays on the one before', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory);
  await log.append(rec('created'));
  const history = new TeamHistory({ directory, from: 'snapshot' });
  finallyDo(t, () => history.close());
  for (const record of [task('a'), rec('continued'), task('b')]) await log.append(record);
  const next = join(directory, 'log.2.jsonl');
  const whole = readFileSync(next);
  rmSync(next);
  mkdirSync(next);
  assert.throws(() => history.refresh(), says(next, 'EISDIR'));
  rmdirSync(next);
  writeFileSync(next, whole);
  history.refresh();
  assert.deepEqual(
    [...history.state.tasks.values()].map(({ subject }) => subject),
    ['a', 'b'],
  );
});

test('a log gets its name with its first record: whoever is killed, refused or without space before that leaves none', async (t) => {
  const directory = tempDir(t);
  const log = open(t, directory);
  assert.deepEqual(readdirSync(directory), []);
  assert.match((await log.append(task('too early'))).refusal ?? '', wordsLike(LOG_CODES.team_not_created));
  assert.deepEqual(readdirSync(directory), []);
  const script = `
    import { FileTeamLog } from './src/team/log/team-log.ts';
    import { rec } from './test/support/team.ts';
    process.on('SIGXFSZ', () => {});
    const log = new FileTeamLog({ directory: process.argv[2], now: () => 1 });
    await log.append(rec('created', { subject: 'x'.repeat(5000) })).catch((error) => console.log(error.message));
  `;
  assert.match(await runWithSmallFiles(script, directory), /.*log\.jsonl\.\w+\.tmp: /);
  assert.deepEqual(readdirSync(directory), []);
  const other = open(t, directory);
  assert.equal((await other.append(rec('created'))).refusal, null);
  assert.match(
    (await log.append(rec('created'))).refusal ?? '',
    wordsLike(LOG_CODES.team_exists),
    'the other has begun it',
  );
  await log.append(task('a'));
  other.refresh();
  assert.equal(plain(other.state), plain(log.state));
  assert.deepEqual(readdirSync(directory), ['log.jsonl']);
});

test('a log whose beginning is lost is damaged, and not an empty one', async (t) => {
  const directory = tempDir(t);
  const path = join(directory, 'log.jsonl');
  const log = open(t, directory);
  for (const record of [rec('proposed'), rec('created'), task('a')]) await log.append(record);
  const whole = readFileSync(path, 'utf8');
  const lines = whole.split('\n').filter((line) => line !== '');
  const cut = isOf(LOG_CODES.team_log_headless, { path, directory });
  for (const text of [
    '',
    '\n',
    whole.slice(0, 40),
    `\n${lines[2]}\n`,
    `\n${lines[0]}\n\n{"type":"cr\n\n${lines[2]}\n`,
  ]) {
    writeFileSync(path, text);
    for (const create of [true, false])
      assert.throws(() => new FileTeamLog({ directory, now: () => 1, create }), cut, JSON.stringify(text));
    assert.throws(() => new TeamHistory({ directory, from: 'beginning' }), cut, JSON.stringify(text));
  }
  // Whoever created it was killed, or found no space, in the middle of that: it was proposed, and is to be created yet.
  writeFileSync(path, `\n${lines[0]}\n${lines[1]?.slice(0, 30)}`);
  const again = open(t, directory);
  assert.equal(again.tornLines, 1);
  assert.equal((await again.append(rec('created'))).refusal, null);
});
