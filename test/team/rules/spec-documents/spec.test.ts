// Names and numbers of SPECs, and the part of them that an approval is about.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  approvedPart,
  isSpecId,
  nextSpecId,
  specName,
  statusOfSpec,
  withStatus,
  withUpdated,
} from '../../../../src/team/rules/spec-documents/spec.ts';
import { runTeamName } from '../../../../src/team/rules/team-name.ts';

test('a name is made of the words that say something', () => {
  assert.equal(specName('people can keep their own address'), 'KEEP-ADDRESS');
  assert.equal(specName('Users can sign in'), 'SIGN');
  assert.equal(specName('Bestellungen können storniert werden'), 'BESTELLUNGEN-KONNEN');
  assert.equal(specName('it is the'), 'IT-IS-THE');
});

test('whatever the words are, the id is one, and its team has a name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (words) => {
      const id = nextSpecId(specName(words), []);
      assert.ok(id !== null && isSpecId(id), `${id}`);
      assert.ok(runTeamName(id) !== undefined);
    }),
  );
});

test('the next number comes after the highest of the very name', () => {
  assert.equal(
    nextSpecId('AUTH', ['SPEC-AUTH-001', 'SPEC-AUTH-007', 'SPEC-AUTH-X-009', 'SPEC-PAY-020']),
    'SPEC-AUTH-008',
  );
  assert.equal(nextSpecId('AUTH', ['SPEC-AUTH-999']), null);
});

test('an approval is about all but the status and the date of the last change', () => {
  const text = '---\r\nid: x\nstatus: draft\nupdated: 2026-01-01\n---\n# T\nstatus: draft\n';
  const approved = withUpdated(withStatus(text, 'approved'), '2026-02-02');
  assert.match(approved, /^status: approved\nupdated: 2026-02-02\n---\n# T\nstatus: draft$/m);
  assert.equal(approvedPart(approved), approvedPart(text));
  assert.equal(approvedPart(text), '---\nid: x\n---\n# T\nstatus: draft\n');
  assert.notEqual(approvedPart(text.replace('id: x', 'id: y')), approvedPart(text));
  assert.notEqual(approvedPart(text.replace('# T\nstatus: draft', '# T\nstatus: done')), approvedPart(text));
  const smuggled = text.replace('status: draft', 'status: draft, and all is deleted');
  assert.notEqual(approvedPart(smuggled), approvedPart(text));
  assert.equal(approvedPart('no front matter\nstatus: x'), 'no front matter\nstatus: x');
});

test('a mark before the first line is no part of the front matter', () => {
  const text = '\uFEFF---\nid: x\nstatus: draft\nupdated: 2026-01-01\n---\n# T\n';
  assert.equal(statusOfSpec(text), 'draft');
  const approved = withUpdated(withStatus(text, 'approved'), '2026-02-02');
  assert.equal(approved, '\uFEFF---\nid: x\nstatus: approved\nupdated: 2026-02-02\n---\n# T\n');
  assert.equal(approvedPart(approved), approvedPart(text.slice(1)));
});

test('a status that is none gives way to one that is', () => {
  assert.equal(withStatus('---\nstatus: Approved # by me\nid: x\n---\n', 'draft'), '---\nstatus: draft\nid: x\n---\n');
});
