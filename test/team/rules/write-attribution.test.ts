import assert from 'node:assert/strict';
import test from 'node:test';
import { deserializeTeam, serializeTeam } from '../../../src/team/rules/log/snapshot.ts';
import { unknownFacts, writtenFacts } from '../../../src/team/rules/write-attribution.ts';
import { LEAD, Story, TEAM, teamOf } from '../../support/team.ts';

const FILES = ['src/api/login.ts'];

/** A write of that member that was allowed. */
function wrote(told: Story, member: string, ...paths: readonly string[]): Story {
  const words = { about: 'Write', reason: 'its own', fingerprint: '' };
  return told.tell('decision', { hook: 'ownership', decision: 'accept', member, paths, ...words }).later(10);
}

/** Each path with the task under which it was changed. */
function tasksOf({ state }: Pick<Story, 'state'>, ...changed: readonly string[]): unknown {
  const { written } = writtenFacts(state, changed);
  return 'unmeasured' in written ? written : written.map(({ path, task }) => `${path}: ${task}`);
}

test('a file is of the task that its writer was at', () => {
  const told = teamOf(['backend-dev', 'tester'], 3).claim('1', 'backend-dev').claim('2', 'tester').later(10);
  wrote(told, 'backend-dev', 'src/a.js');
  wrote(told, 'tester', 'tests/a.test.js');
  told.complete('1', 'backend-dev').later(10).claim('3', 'backend-dev').later(10);
  wrote(told, 'backend-dev', 'src/b.js');
  assert.deepEqual(tasksOf(told, 'src/a.js', 'src/b.js', 'tests/a.test.js'), [
    'src/a.js: 1',
    'src/b.js: 3',
    'tests/a.test.js: 2',
  ]);
  // Another task goes on with it.
  wrote(told, 'backend-dev', 'src/a.js');
  assert.deepEqual(tasksOf(told, 'src/a.js'), ['src/a.js: 3']);
});

test('what was written under no task is of none, until a task takes it on', () => {
  const told = teamOf(['backend-dev'], 1).claim('1', 'backend-dev').later(10);
  wrote(told, 'backend-dev', 'src/a.js');
  told.complete('1', 'backend-dev').later(10);
  wrote(told, 'backend-dev', 'src/a.js');
  assert.deepEqual(tasksOf(told, 'src/a.js', 'src/never-seen.js'), ['src/a.js: null', 'src/never-seen.js: null']);
  told.tell('task_created', { subject: 'Answer', files: ['src/a.js', 'src/never-*.js'] }).claim('2', 'backend-dev');
  assert.deepEqual(tasksOf(told, 'src/a.js'), ['src/a.js: null']);
  told.later(10).complete('2', 'backend-dev').later(10);
  assert.deepEqual(tasksOf(told, 'src/a.js', 'src/never-seen.js'), ['src/a.js: 2', 'src/never-seen.js: 2']);
  // What comes after it is loose again.
  wrote(told, 'backend-dev', 'src/a.js');
  assert.deepEqual(tasksOf(told, 'src/a.js'), ['src/a.js: null']);
});

test('who begins no task was at the one that it ended next: a member, and a lead that works alone', () => {
  const told = teamOf(['backend-dev'], 1);
  told.tell('task_created', { subject: 'Own', owner: 'backend-dev', files: [] }).later(10);
  wrote(told, 'backend-dev', 'src/a.js');
  told.complete('2', 'backend-dev').later(10);
  assert.deepEqual(tasksOf(told, 'src/a.js'), ['src/a.js: 2']);

  const alone = new Story().tell('created');
  for (const subject of ['First', 'Second']) alone.tell('task_created', { subject, files: [] });
  alone.tell('fell_back').later(10);
  wrote(alone, LEAD, 'src/a.js');
  alone.complete('1', LEAD, 0).later(10);
  wrote(alone, LEAD, 'src/b.js');
  assert.deepEqual(tasksOf(alone, 'src/a.js', 'src/b.js'), ['src/a.js: 1', 'src/b.js: null']);
  alone.complete('2', LEAD, 0);
  assert.deepEqual(tasksOf(alone, 'src/a.js', 'src/b.js'), ['src/a.js: 1', 'src/b.js: 2']);
});

test('what a lease is taken for may be written by a program', () => {
  const told = teamOf(['tester'], 1).claim('1', 'tester').later(10);
  told.tell('lease_taken', { path: 'package-lock.json', until: told.at + 60_000 });
  assert.deepEqual(tasksOf(told, 'package-lock.json'), ['package-lock.json: 1']);
});

test('a refused write is none; what holds the rules and the documents of the team is no work', () => {
  const told = teamOf(['backend-dev'], 1).claim('1', 'backend-dev').later(10);
  told.tell('decision', { hook: 'ownership', decision: 'reject', member: 'backend-dev', paths: ['src/a.js'] });
  const changed = ['.claude/settings.json', '.tool/specs/SPEC-A-001/spec.md', '.mcp.json', '.tooling', 'src/a.js'];
  assert.deepEqual(tasksOf(told, ...changed), ['.tooling: null', 'src/a.js: null']);
});

test('the facts name the log and the SPEC, also where nothing can be told', () => {
  const { state } = new Story().tell('created', { subject: 'SPEC-AUTH-001' });
  assert.deepEqual(unknownFacts(state, 'no Git'), {
    source: `log of ${TEAM}`,
    spec: 'SPEC-AUTH-001',
    written: { unmeasured: 'no Git' },
  });
  assert.deepEqual(writtenFacts(state, []).written, []);
});

test('a log that is continued knows it, and one that an older version continued begins anew', () => {
  const told = teamOf(['backend-dev'], 1).claim('1', 'backend-dev').later(10);
  wrote(told, 'backend-dev', ...FILES);
  const frozen = serializeTeam(told.state);
  const thawed = deserializeTeam(JSON.parse(JSON.stringify(frozen)));
  assert.ok(thawed !== undefined);
  assert.deepEqual(tasksOf({ state: thawed }, ...FILES), ['src/api/login.ts: 1']);
  const { written: _, ...older } = JSON.parse(JSON.stringify(frozen));
  assert.equal(deserializeTeam(older)?.written.size, 0);
});
