// A team's log under many writers: nothing is lost or torn, one wins, whoever is killed takes nothing along.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { logFiles } from '../../src/team/log/team-file.ts';
import { FileTeamLog } from '../../src/team/log/team-log.ts';
import { teamsDirectory } from '../../src/team/log/team-names.ts';
import { FileTeams } from '../../src/team/log/teams.ts';
import { LOG_CODES } from '../../src/team/rules/codes/log-codes.ts';
import { TASK_CODES } from '../../src/team/rules/codes/tasks-codes.ts';
import { serializeTeam } from '../../src/team/rules/log/snapshot.ts';
import { joined, START, wordsLike, wordsOf } from '../support/codes.ts';
import { programFile } from '../support/compiled.ts';
import { TEAM } from '../support/team.ts';
import { beginLog, runWriters, Writer } from '../support/team-writers.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

const WRITER = programFile('team-writer');

const WRITERS = Array.from({ length: 16 }, (_, index) => `w${index}`);
/** Each reads what all have written: the time grows with the square. */
const EACH = 200;
const KILLED = 100;

function open(directory: string): FileTeamLog {
  return new FileTeamLog({ directory, now: Date.now, create: false });
}

/** What the tasks are called, in their order. */
function subjects(log: FileTeamLog): readonly string[] {
  return [...log.state.tasks.values()].map(({ subject }) => subject);
}

for (const [name, what, maxBytes] of [
  ['one file', 'tasks', 64 * 1024 * 1024],
  ['one file, each record flushed', 'tasks-flushed', 64 * 1024 * 1024],
  ['many files', 'tasks', 20_000],
  ['many files, each record flushed', 'tasks-flushed', 20_000],
] as const)
  test(`16 processes × ${EACH} records into ${name}: none is lost or torn, each writer's are in its order`, async (t) => {
    const directory = tempDir(t);
    await beginLog(directory);
    await runWriters(
      WRITER,
      WRITERS.map((writer) => [what, directory, writer, String(EACH), String(maxBytes)]),
    );
    const log = open(directory);
    finallyDo(t, () => log.close());
    const all = subjects(log);
    assert.equal(all.length, WRITERS.length * EACH);
    assert.equal(log.tornLines, 0);
    for (const writer of WRITERS) {
      const own = all.filter((subject) => subject.startsWith(`${writer}:`));
      assert.deepEqual(
        own,
        Array.from({ length: EACH }, (_, n) => `${writer}:${n}`),
      );
    }
    const files = logFiles(directory);
    if (maxBytes > 1_000_000) assert.deepEqual(files, ['log.jsonl']);
    else assert.ok(files.length > 3, `${files.length} files`);
    // Every file but the last says where it goes on, and the next begins with what stood there.
    for (const file of files.slice(0, -1))
      assert.match(readFileSync(join(directory, file), 'utf8'), /"type":"continued"/);
  });

test('8 processes claim each of 100 tasks at once: exactly one gets it, the others are told who', async (t) => {
  const directory = tempDir(t);
  const names = Array.from({ length: 8 }, (_, index) => `m${index}`);
  const rounds = 100;
  await beginLog(directory, names, rounds);
  const writers = names.map((name) => new Writer(WRITER, ['claim', directory, name]));
  finallyDo(t, () => Promise.all(writers.map((writer) => writer.end())));
  await Promise.all(writers.map((writer) => writer.until(1)));
  const winners: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const writer of writers) writer.tell(String(round));
    await Promise.all(writers.map((writer) => writer.until(1 + round)));
    const said = writers.map(({ lines }) => lines[round] ?? '');
    const won = names.filter((_, index) => said[index] === `${round} won`);
    assert.equal(won.length, 1, said.join(', '));
    const [winner = ''] = won;
    winners.push(winner);
    for (const words of said)
      if (!words.endsWith(' won'))
        assert.match(
          words,
          joined(START, `${round} `, wordsOf(TASK_CODES.task_claimed, { task: String(round), holder: winner })),
        );
  }
  const log = open(directory);
  finallyDo(t, () => log.close());
  assert.deepEqual(
    [...log.state.tasks.values()].map(({ claim }) => claim?.member),
    winners,
  );
});

test(`${KILLED} writers killed at any moment: what one was told is in the log, the rest is whole or counted as torn`, async (t) => {
  const directory = tempDir(t);
  await beginLog(directory);
  const told: string[] = [];
  let killed = 0;
  // A small generator of its own: the same moments in each run.
  let seed = 20_241;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const runOne = async (name: string) => {
    const writer = new Writer(WRITER, ['tell', directory, name, '1000000', '30000']);
    await writer.until(random(12));
    // Somewhere in what follows: in a write, a flush, a continuation.
    for (let ticks = random(40); ticks > 0; ticks--) await new Promise((resolve) => setImmediate(resolve));
    writer.child.kill('SIGKILL');
    await writer.ended;
    killed += 1;
    told.push(...writer.lines);
  };
  let next = 0;
  const lane = async () => {
    while (next < KILLED) await runOne(`k${next++}`);
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  const log = open(directory);
  finallyDo(t, () => log.close());
  const all = subjects(log);
  const known = new Set(all);
  assert.equal(killed, KILLED);
  assert.ok(told.length > KILLED, `${told.length} were told`);
  assert.deepEqual(
    told.filter((subject) => !known.has(subject)),
    [],
    'told, and lost',
  );
  assert.equal(known.size, all.length, 'none counts twice');
  assert.ok(logFiles(directory).length > 1);
  // Each is in its writer's order, without a gap: at most its last was not told.
  for (const name of new Set(all.map((subject) => subject.split(':')[0] ?? ''))) {
    const own = all.filter((subject) => subject.startsWith(`${name}:`));
    assert.deepEqual(
      own,
      own.map((_, n) => `${name}:${n}`),
    );
    assert.ok(own.length <= told.filter((subject) => subject.startsWith(`${name}:`)).length + 2, name);
  }
  await log.append({
    type: 'task_created',
    subject: 'after',
    description: '',
    owner: null,
    files: [],
    blocked_by: [],
    by: 'x',
  });
  assert.equal(subjects(log).at(-1), 'after');
});

test('8 processes create the same team, 30 times: one does, and all know which', async (t) => {
  const root = tempDir(t);
  const writers = Array.from({ length: 8 }, (_, index) => new Writer(WRITER, ['create', root, `s${index}`]));
  finallyDo(t, () => Promise.all(writers.map((writer) => writer.end())));
  await Promise.all(writers.map((writer) => writer.until(1)));
  const teams = new FileTeams({ root, now: Date.now });
  for (let round = 1; round <= 30; round++) {
    for (const writer of writers) writer.tell(TEAM);
    await Promise.all(writers.map((writer) => writer.until(1 + round)));
    const said = writers.map(({ lines }) => lines[round] ?? '');
    assert.equal(said.filter((words) => words.startsWith('won')).length, 1, said.join('; '));
    assert.equal(new Set(said.map((words) => words.split('led by ')[1])).size, 1, said.join('; '));
    const log = teams.open(TEAM);
    assert.ok(log !== undefined);
    assert.equal((await log.append({ type: 'deleted', forced: false, by: 'team-lead' })).refusal, null);
    await log.close();
    // Every other time nobody comes to put it away: whoever begins the next does.
    if (round % 2 === 0) teams.archive(TEAM);
  }
});

test('a team is deleted and put away while 6 processes write: each record is refused or in the log that was put away', async (t) => {
  const root = tempDir(t);
  const teams = new FileTeams({ root, now: Date.now, maxBytes: 8_000 });
  for (let round = 0; round < 10; round++) {
    const directory = join(teamsDirectory(root), TEAM);
    mkdirSync(directory, { recursive: true });
    await beginLog(directory);
    const writers = Array.from(
      { length: 6 },
      (_, index) => new Writer(WRITER, ['tell-some', directory, `a${index}`, '1000000', '8000']),
    );
    await Promise.all(writers.map((writer) => writer.until(20)));
    const log = teams.open(TEAM);
    assert.ok(log !== undefined);
    assert.equal((await log.append({ type: 'deleted', forced: false, by: 'team-lead' })).refusal, null);
    await log.close();
    const place = teams.archive(TEAM);
    await Promise.all(writers.map((writer) => writer.ended));
    assert.deepEqual(teams.list(), []);
    const archived = open(place);
    const known = new Set(subjects(archived));
    const before = JSON.stringify(serializeTeam(archived.state));
    await archived.close();
    for (const { lines } of writers) {
      const last = lines.at(-1) ?? '';
      const ends = [wordsLike(LOG_CODES.team_deleted), wordsLike(LOG_CODES.team_log_put_away)];
      assert.ok(
        ends.some((end) => end.test(last)),
        last,
      );
      for (const subject of lines.slice(0, -1)) assert.ok(known.has(subject), `${subject} is nowhere`);
    }
    const again = open(place);
    assert.equal(JSON.stringify(serializeTeam(again.state)), before);
    await again.close();
  }
});
