import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { TeamFold } from '../../../../src/team/rules/log/fold.ts';
import { deserializeTeam, serializeTeam } from '../../../../src/team/rules/log/snapshot.ts';
import type { TeamState } from '../../../../src/team/rules/log/state.ts';
import { taskIndexOf } from '../../../../src/team/rules/task-index.ts';
import { teamOf } from '../../../support/team.ts';
import { anyLog } from '../../../support/team-arbitrary.ts';

function throughFile(state: TeamState): TeamState {
  const thawed = deserializeTeam(JSON.parse(JSON.stringify(serializeTeam(state))));
  assert.ok(thawed !== undefined);
  return thawed;
}

test('any state is the same after it was frozen, written, read and thawed', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const fold = new TeamFold();
      for (const record of log) fold.take(record);
      const thawed = throughFile(fold.state);
      assert.deepEqual({ ...thawed, tasks: taskIndexOf(thawed.tasks) }, fold.state);
      // The order in which things came about is kept as well.
      assert.deepEqual([...thawed.tasks.keys()], [...fold.state.tasks.keys()]);
      assert.deepEqual([...thawed.members.keys()], [...fold.state.members.keys()]);
    }),
    { numRuns: 500 },
  );
});

test('whoever folds on from a snapshot comes to the same state, by the same refusals', () => {
  fc.assert(
    fc.property(anyLog, fc.nat(70), (log, cut) => {
      const whole = new TeamFold();
      for (const record of log.slice(0, cut)) whole.take(record);
      const resumed = new TeamFold(throughFile(whole.state));
      for (const record of log.slice(cut)) assert.deepEqual(resumed.take(record), whole.take(record));
      assert.deepEqual(resumed.state, whole.state);
    }),
    { numRuns: 500 },
  );
});

test('a fold that goes on leaves the state alone that it began with', () => {
  fc.assert(
    fc.property(anyLog, fc.nat(70), (log, cut) => {
      const first = new TeamFold();
      for (const record of log.slice(0, cut)) first.take(record);
      const before = JSON.stringify(serializeTeam(first.state));
      const second = new TeamFold(first.state);
      for (const record of log.slice(cut)) second.take(record);
      assert.equal(JSON.stringify(serializeTeam(first.state)), before);
    }),
    { numRuns: 200 },
  );
});

test('contents that look like a frozen map stay what they are', () => {
  const contents = [{ $map: [] }, { $map: [['a', 1]] }, { list: [{ $map: [[1]] }] }, '{"$map":[]}'];
  const story = teamOf(['backend-dev', 'tester']);
  for (const content of contents) story.tell('message_sent', { content });
  assert.deepEqual(
    throughFile(story.state).messages.map(({ content }) => content),
    contents,
  );
});

test('what is no snapshot is not taken for one', () => {
  const frozen: Record<string, unknown> = JSON.parse(
    JSON.stringify(serializeTeam(teamOf(['tester', 'backend-dev']).tell('message_sent').state)),
  );
  assert.ok(deserializeTeam(frozen) !== undefined);
  // Older versions knew nothing of what was written, see write-attribution.test.ts, nor of these.
  for (const key of Object.keys(frozen).filter(
    (one) => !['written', 'commit', 'before', 'writesHeldBy'].includes(one),
  )) {
    const { [key]: _, ...rest } = frozen;
    assert.equal(deserializeTeam(rest), undefined, `without ${key}`);
  }
  const { commit: _, before: __, writesHeldBy: ___, ...older } = frozen;
  const old = deserializeTeam(older);
  assert.deepEqual([old?.commit, old?.before, old?.writesHeldBy], [null, null, null]);
  for (const key of ['members', 'tasks', 'unread', 'messages', 'decisions', 'writers'])
    for (const wrong of [null, 'text', 7, {}])
      assert.equal(deserializeTeam({ ...frozen, [key]: wrong }), undefined, key);
  for (const content of ['{', undefined, 7, { a: 1 }])
    assert.equal(deserializeTeam({ ...frozen, messages: [{ seq: 1, content, receipts: { $map: [] } }] }), undefined);
  for (const message of [null, 'text', []])
    assert.equal(deserializeTeam({ ...frozen, messages: [message] }), undefined);
  for (const other of [undefined, null, 'x', 7, [], {}]) assert.equal(deserializeTeam(other), undefined);
});
