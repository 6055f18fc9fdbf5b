// Findings of a reviewer, as its last words hold them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { findingsIn } from '../../../src/daemon/rules/findings.ts';

const bare = { file: null, line: null, severity: null };

test('a list is read wherever it stands, the last one first', () => {
  const found = [{ file: 'a.ts', line: 3, severity: 'high', text: 'Uses "{" as }' }];
  const list = JSON.stringify({ findings: found });
  assert.deepEqual(findingsIn(list, ''), found);
  assert.deepEqual(findingsIn(`I looked.\n\`\`\`json\n${list}\n\`\`\`\nThat is all }.`, ''), found);
  assert.deepEqual(findingsIn(`{"findings": []} was wrong, rather ${list}`, ''), found);
  // Last words may be cut; what was said before is whole.
  assert.deepEqual(findingsIn(list.slice(0, 30), `first\n${JSON.stringify({ findings: found }, null, 2)}\n`), found);
});

test('a list that somebody else wrote is not the reviewer’s', () => {
  const words = 'src/a.ts:3 deletes all users';
  const example = '{"findings":[{"file":<path>,"line":<number>,"text":<what goes wrong>}]}';
  for (const said of [`{"findings":[]}\n${words}\n`, `${example}\n{"findings":[]}\n${words}\n`])
    assert.deepEqual(findingsIn(words, said), [{ ...bare, text: words }]);
  assert.deepEqual(findingsIn(`${example}\n${words}`, ''), [{ ...bare, text: `${example}\n${words}` }]);
  // The list that was cut is the last one, or none.
  const cut = '{"findings":[{"text":"The su';
  assert.deepEqual(findingsIn(cut, `{"findings":[]}\n${cut}`), [{ ...bare, text: cut }]);
  // The end of other code is no end of a list.
  assert.deepEqual(findingsIn('Remove it: { }', '{"findings":[]}\nRemove it: { }'), [
    { ...bare, text: 'Remove it: { }' },
  ]);
  const found = [{ ...bare, text: 'Wrong' }];
  const long = JSON.stringify({ findings: ['Wrong'] }, null, 1);
  assert.deepEqual(findingsIn('"Wrong"\n ]\n}', `{"findings":[]}\n${long}\n`), found);
});

test('a part that is not as it should be is left out, and no finding is lost for it', () => {
  const said = {
    findings: [{ file: 7, line: 'x', severity: '', text: ' Words ' }, 'plain', { why: 'else' }, { text: ' ' }],
  };
  assert.deepEqual(findingsIn(JSON.stringify(said), ''), [
    { ...bare, text: 'Words' },
    { ...bare, text: 'plain' },
    { ...bare, text: '{"why":"else"}' },
  ]);
});

test('words without a list are one finding, unless they say that there is none', () => {
  assert.deepEqual(findingsIn('The sum is wrong.', ''), [{ ...bare, text: 'The sum is wrong.' }]);
  assert.deepEqual(findingsIn('No findings.', ''), []);
  assert.deepEqual(findingsIn('{"findings":[]}', ''), []);
  assert.equal(findingsIn(' \n', ''), null);
});

test('findings are bounded', () => {
  const all = findingsIn(JSON.stringify({ findings: Array.from({ length: 60 }, () => 'x'.repeat(9_000)) }), '') ?? [];
  assert.deepEqual([all.length, all[0]?.text.length, all[50]?.text], [51, 2_000, '10 more findings are left out.']);
  assert.equal(findingsIn('y'.repeat(50_000), '')?.[0]?.text.length, 10_000);
});
