// SPECs on disk: numbers that nobody else gets, all documents or none, and approvals that hold for certain words only.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { SPEC_CODES } from '../../../src/team/rules/codes/spec-codes.ts';
import { checkSpec, readSpecTexts } from '../../../src/team/rules/spec-documents/check.ts';
import { approvalOf, approveSpec, recordApproval } from '../../../src/team/spec-documents/spec-approvals.ts';
import {
  createSpec,
  listSpecs,
  putSpec,
  readTexts,
  setStatus,
  whyNoSpec,
} from '../../../src/team/spec-documents/specs.ts';
import { isRefusal, wordsLike } from '../../support/codes.ts';
import { programFile } from '../../support/compiled.ts';
import { runWithSmallFiles } from '../../support/file-limit.ts';
import { gitIn } from '../../support/git.ts';
import { NEW_SPEC } from '../../support/spec.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const TODAY = '2026-01-31';
const NOW = Date.parse('2026-02-01T12:00:00Z');
const ID = 'SPEC-LOG-OUT-ACCOUNT-001';

function project(t: Cleanup) {
  const place = tempDir(t);
  const root = join(place, 'project');
  mkdirSync(root);
  const git = gitIn(root);
  git('init', '-q', '-b', 'main');
  const env = { XDG_STATE_HOME: join(place, 'state'), HOME: place };
  const path = (name: string, id = ID) => join(root, '.tool/specs', id, name);
  return {
    root,
    env,
    git,
    path,
    read: (name: string) => readFileSync(path(name), 'utf8'),
    edit: (name: string, from: string, to: string) => {
      const text = readFileSync(path(name), 'utf8');
      assert.ok(text.includes(from), from);
      writeFileSync(
        path(name),
        text.replace(from, () => to),
      );
    },
  };
}

/** A process that creates so many SPECs when it is told to. */
async function creator(t: Cleanup, root: string, count: number) {
  const run = execa({ lines: true, reject: false });
  const child = run`${process.execPath} ${programFile('create-specs')} ${root} ${count}`;
  finallyDo(t, () => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end('go');
    return (await child).stdout.slice(1);
  };
}

test('processes that create SPECs of the same name at once get numbers of their own, without a gap', async (t) => {
  const { root } = project(t);
  const ready = await Promise.all([1, 2, 3].map(() => creator(t, root, 20)));
  const all = (await Promise.all(ready.map((go) => go()))).flat().sort();
  const expected = Array.from(
    { length: 60 },
    (_, index) => `SPEC-LOG-OUT-ACCOUNT-${String(index + 1).padStart(3, '0')}`,
  );
  assert.deepEqual(all, expected);
  assert.deepEqual(listSpecs(root), expected);
  for (const id of expected) {
    const texts = readTexts(root, id);
    assert.ok(texts !== null);
    assert.deepEqual(checkSpec(texts), []);
  }
  assert.deepEqual(readdirSync(join(root, '.tool/specs')).sort(), expected);
});

test('what is created is what was given, under the next number', (t) => {
  const { root } = project(t);
  // A claim whose owner was killed before it wrote anything.
  mkdirSync(join(root, '.tool/specs', ID), { recursive: true });
  assert.deepEqual(listSpecs(root), []);
  const created = createSpec(root, NEW_SPEC, TODAY);
  assert.deepEqual(created, { ok: true, id: 'SPEC-LOG-OUT-ACCOUNT-002' });
  const texts = readTexts(root, 'SPEC-LOG-OUT-ACCOUNT-002');
  assert.ok(texts !== null);
  const { spec, plan, acceptance } = readSpecTexts(texts);
  assert.deepEqual(plan, { design: NEW_SPEC.design, tasks: NEW_SPEC.tasks });
  assert.deepEqual(acceptance.scenarios, NEW_SPEC.scenarios);
  assert.deepEqual([spec.created, spec.updated, spec.status], [TODAY, TODAY, 'awaiting_approval']);
});

test('what would not pass the check is not written', (t) => {
  const { root } = project(t);
  const created = createSpec(root, { ...NEW_SPEC, requirements: [{ id: 'R1', text: 'be quick' }] }, TODAY);
  assert.equal(created.ok, false);
  assert.ok(!created.ok && created.problems.some(({ words }) => words.startsWith('R1: expected "The <system> shall')));
  assert.equal(existsSync(join(root, '.tool')), false);
});

test('a place where no SPEC can be written is told beforehand, and in words', (t) => {
  const { root } = project(t);
  assert.equal(whyNoSpec(root), null);
  assert.equal(existsSync(join(root, '.tool')), false);
  mkdirSync(join(root, '.tool'));
  writeFileSync(join(root, '.tool/specs'), 'x');
  isRefusal(whyNoSpec(root), SPEC_CODES.spec_place_unusable, { path: join(root, '.tool/specs') });
  assert.throws(() => createSpec(root, NEW_SPEC, TODAY), {
    code: 'spec_not_writable',
    kind: 'refused',
    message: wordsLike(SPEC_CODES.spec_not_writable, { path: /\S*\.tool\/specs/ }),
  });
});

test('of three documents, when one cannot be written, none stays', async (t) => {
  const { root } = project(t);
  const script = `
    import { createSpec } from './src/team/spec-documents/specs.ts';
    import { NEW_SPEC } from './test/support/spec.ts';
    try {
      createSpec(process.argv[2], { ...NEW_SPEC, about: 'word '.repeat(2000) }, '2026-01-31');
    } catch (error) {
      console.log(error.code, error.message);
    }`;
  assert.match(
    await runWithSmallFiles(script, root),
    wordsLike(SPEC_CODES.spec_not_writable, { path: /\S*SPEC-LOG-OUT-ACCOUNT-001/ }),
  );
  assert.deepEqual(readdirSync(join(root, '.tool/specs')), []);
});

test('an approval holds for the words that were approved, whatever the status and the date say later', async (t) => {
  const { root, env, edit, read } = project(t);
  assert.deepEqual(createSpec(root, NEW_SPEC, TODAY), { ok: true, id: ID });
  assert.deepEqual(await approvalOf(root, ID, env), {
    status: 'awaiting_approval',
    counts: false,
    why: 'status: awaiting_approval',
  });
  edit('spec.md', 'status: awaiting_approval', 'status: approved');
  const forged = await approvalOf(root, ID, env);
  assert.equal(forged.counts, false);
  assert.match(forged.why, /^its front matter says approved, but nobody has approved it here/);
  edit('spec.md', 'status: approved', 'status: draft');

  assert.equal(approveSpec(root, ID, env, NOW), null);
  assert.match(read('spec.md'), /^status: approved\ncreated: 2026-01-31\nupdated: 2026-02-01$/m);
  assert.deepEqual(await approvalOf(root, ID, env), {
    status: 'approved',
    counts: true,
    why: 'approved on 2026-02-01',
  });
  assert.equal(setStatus(root, ID, 'completed', '2026-03-01'), null);
  assert.equal((await approvalOf(root, ID, env)).counts, true);
  assert.equal(setStatus(root, ID, 'approved', '2026-03-01'), null);

  for (const [name, from, to] of [
    ['spec.md', 'answer 204', 'answer 500'],
    ['spec.md', 'title: Users log out', 'title: Users log in'],
    ['plan.md', 'src/pages/**', 'src/**'],
    ['acceptance.md', '204 is answered', '500 is answered'],
  ] as const) {
    edit(name, from, to);
    const { counts, why } = await approvalOf(root, ID, env);
    assert.deepEqual([counts, why], [false, `${name} changed after it was approved on 2026-02-01`]);
    edit(name, to, from);
    assert.equal((await approvalOf(root, ID, env)).counts, true);
  }
  edit('plan.md', 'src/pages/**', 'src/**');
  assert.equal(approveSpec(root, ID, env, NOW), null);
  assert.equal((await approvalOf(root, ID, env)).counts, true);
  // Another person's state knows nothing of it.
  assert.equal((await approvalOf(root, ID, { XDG_STATE_HOME: join(root, 'elsewhere') })).counts, false);
});

test('what was committed as it stands was approved by somebody, until it changes', async (t) => {
  const { root, env, git, edit } = project(t);
  createSpec(root, { ...NEW_SPEC, status: 'approved' }, TODAY);
  assert.equal((await approvalOf(root, ID, env)).counts, false);
  git('add', '-A');
  assert.equal((await approvalOf(root, ID, env)).counts, false, 'staged is not committed');
  git('commit', '-qm', 'The SPEC');
  assert.deepEqual(await approvalOf(root, ID, env), {
    status: 'approved',
    counts: true,
    why: 'committed as it stands',
  });
  edit('plan.md', 'One endpoint', 'Two endpoints');
  assert.equal((await approvalOf(root, ID, env)).counts, false);
  git('update-index', '--assume-unchanged', `.tool/specs/${ID}/plan.md`);
  assert.equal((await approvalOf(root, ID, env)).counts, false, 'hidden from the index');
});

test('a record that cannot be read approves nothing', async (t) => {
  const { root, env } = project(t);
  createSpec(root, { ...NEW_SPEC, status: 'approved' }, TODAY);
  const texts = readTexts(root, ID);
  assert.ok(texts !== null);
  recordApproval(root, texts, env, NOW);
  assert.equal((await approvalOf(root, ID, env)).counts, true);
  const files = execaSync`find ${env.XDG_STATE_HOME} -name ${ID}.json`.stdout;
  for (const text of ['', '{', 'null', '[null]', '[{"at":"x","digests":{}}]', '[{"at":1,"digests":null}]']) {
    writeFileSync(files, text);
    assert.equal((await approvalOf(root, ID, env)).counts, false, text);
  }
});

test('the same words are the same SPEC, and a changed one keeps its id and its date', (t) => {
  const root = tempDir(t);
  const id = 'SPEC-LOG-OUT-ACCOUNT-001';
  assert.deepEqual(putSpec(root, NEW_SPEC, null, '2026-01-31'), { ok: true, id });
  assert.equal(setStatus(root, id, 'approved', '2026-02-01'), null);
  assert.deepEqual(putSpec(root, NEW_SPEC, null, '2026-02-02'), { ok: true, id });
  assert.match(readTexts(root, id)?.spec ?? '', /^status: approved\ncreated: 2026-01-31\nupdated: 2026-02-01$/m);
  const other = { ...NEW_SPEC, design: 'Otherwise.' };
  assert.deepEqual(putSpec(root, other, id, '2026-02-03'), { ok: true, id });
  const { spec, plan } = readTexts(root, id) ?? {};
  assert.match(spec ?? '', /^status: awaiting_approval\ncreated: 2026-01-31\nupdated: 2026-02-03$/m);
  assert.match(plan ?? '', /^> Otherwise\.$/m);
  assert.deepEqual(putSpec(root, NEW_SPEC, null, '2026-02-04'), { ok: true, id: 'SPEC-LOG-OUT-ACCOUNT-002' });
  const broken = putSpec(root, { ...NEW_SPEC, tasks: [] }, id, '2026-02-05');
  assert.equal(broken.ok, false);
  assert.equal(readTexts(root, id)?.plan, plan);
});

test('a draft of these words waits for approval when that is asked for', (t) => {
  const root = tempDir(t);
  const draft = putSpec(root, { ...NEW_SPEC, status: 'draft' }, null, '2026-01-31');
  assert.deepEqual(putSpec(root, NEW_SPEC, null, '2026-01-31'), draft);
  assert.match(readTexts(root, 'SPEC-LOG-OUT-ACCOUNT-001')?.spec ?? '', /^status: awaiting_approval$/m);
});
