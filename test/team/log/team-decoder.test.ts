import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { decodeTeamRecord } from '../../../src/team/log/team-decoder.ts';
import { RECORDS, TRUST5 } from '../../support/team.ts';
import { anyRecord } from '../../support/team-arbitrary.ts';

const throughFile = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Values of all kinds; those that are of the same kind as a field's own are left out where it is tried. */
const KINDS: Readonly<Record<string, unknown>> = {
  text: 'no such word',
  number: 7.5,
  flag: true,
  null: null,
  list: [[]],
  object: { a: 1 },
};

/** Fields that take more than what the good record shows: their kinds besides. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  'proposed.pattern': ['null'],
  'created.pattern': ['null'],
  'created.session': ['null'],
  'created.key_hash': ['null'],
  'created.base': ['null', 'text'],
  'task_created.owner': ['text', 'null'],
  'task_updated.result': ['text', 'null'],
  'message_sent.in_reply_to': ['null'],
  'member_spawned.key_hash': ['null'],
  'member_spawned.pid': ['null'],
  'message_sent.content': ['object'],
  'member_used.task': ['null'],
  'decision.member': ['null'],
  'gate_measured.task': ['null'],
  'gate_measured.coverage': ['null'],
  'base_measured.coverage': ['null'],
  'restarted.session': ['null'],
  'restarted.key_hash': ['text', 'null'],
  'snapshot.state': Object.keys(KINDS),
};

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const kinds: Readonly<Record<string, string>> = { string: 'text', boolean: 'flag', number: 'number' };
  return kinds[typeof value] ?? 'object';
}

/** Fields whose text is one of a few words. */
const WORDS = /^(proposed|created)\.phase$|\.status$|\.how$|\.kind$|\.decision$|\.event$/;
/** Fields whose number has to be whole. */
const FRACTIONS = ['lease_taken.until', 'gate_measured.coverage', 'base_measured.coverage', 'member_used.cost_usd'];

for (const [type, good] of Object.entries(RECORDS)) {
  test(`${type}: comes back as it was written, and whole or not at all`, () => {
    assert.deepEqual(decodeTeamRecord(throughFile(good)), good);
    for (const [field, value] of Object.entries(good)) {
      const { [field]: _, ...rest } = throughFile(good) as Record<string, unknown>;
      assert.equal(decodeTeamRecord(rest), undefined, `without ${field}`);
      const place = `${type}.${field}`;
      for (const [kind, wrong] of Object.entries(KINDS)) {
        if (ALSO[place]?.includes(kind) === true) {
          assert.ok(decodeTeamRecord({ ...good, [field]: wrong }) !== undefined, `${place}: ${kind}`);
          continue;
        }
        const isSame = kind === kindOf(value) && field !== 'type';
        if (isSame && kind === 'text' && !WORDS.test(place)) continue;
        if (isSame && kind === 'number' && FRACTIONS.includes(place)) continue;
        if (isSame && kind === 'flag') continue;
        assert.equal(decodeTeamRecord({ ...good, [field]: wrong }), undefined, `${place}: ${kind}`);
      }
    }
  });
}

test('parts of records are looked at as well', () => {
  const [draft] = RECORDS.proposed.drafts;
  const [check] = RECORDS.gate_measured.checks;
  assert.ok(draft !== undefined && check !== undefined);
  for (const field of Object.keys(draft))
    assert.equal(
      decodeTeamRecord({ ...RECORDS.proposed, drafts: [draft, { ...draft, [field]: 7 }] }),
      undefined,
      field,
    );
  for (const field of Object.keys(check))
    assert.equal(decodeTeamRecord({ ...RECORDS.gate_measured, checks: [{ ...check, [field]: 7 }] }), undefined, field);
  assert.equal(decodeTeamRecord({ ...RECORDS.gate_measured, checks: [{ ...check, check: 'spelling' }] }), undefined);
  for (const seqs of [['1'], [1.5], [null]]) assert.equal(decodeTeamRecord({ ...RECORDS.mail_seen, seqs }), undefined);
});

test('every record comes back as it was written', () => {
  fc.assert(
    fc.property(anyRecord, (record) => {
      assert.deepEqual(decodeTeamRecord(throughFile(record)), record);
    }),
    { numRuns: 1000 },
  );
});

test('whatever is no record is not taken for one', () => {
  for (const type of ['', 'other', 'constructor', '__proto__', 'toString', 7, null, undefined])
    assert.equal(decodeTeamRecord({ ...RECORDS.created, type }), undefined);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(decodeTeamRecord(value), undefined);
    }),
  );
});

test('gate_measured: scores are there or not, and whole', () => {
  const { gate_measured: record } = RECORDS;
  const scored = { ...record, trust5: TRUST5 };
  assert.deepEqual(decodeTeamRecord(throughFile(scored)), scored);
  assert.deepEqual(decodeTeamRecord(throughFile(record)), record, 'as logs from before have it');
  const [first] = TRUST5.dimensions;
  for (const wrong of [
    null,
    {},
    { ...TRUST5, score: '4' },
    { ...TRUST5, dimensions: [{ ...first, dimension: 'tests' }] },
    { ...TRUST5, dimensions: [{ ...first, state: 'skipped' }] },
    { ...TRUST5, dimensions: [{ ...first, figures: [1] }] },
  ])
    assert.equal(decodeTeamRecord(throughFile({ ...record, trust5: wrong })), undefined, JSON.stringify(wrong));
});
