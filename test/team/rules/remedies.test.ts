import assert from 'node:assert/strict';
import test from 'node:test';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { type CheckResult, DEFAULT_QUALITY, type GateResult, gateResult } from '../../../src/gate/rules/quality.ts';
import type { Trust5 } from '../../../src/gate/rules/trust5.ts';
import type { Finding } from '../../../src/gate/rules/trust5-facts.ts';
import { ownerOf } from '../../../src/guard/rules/ownership.ts';
import { DEFAULT_OWNERSHIP } from '../../../src/team/rules/default-ownership.ts';
import { checkMessage } from '../../../src/team/rules/message.ts';
import { type Remedies, type RemedyInput, remediesFor } from '../../../src/team/rules/remedies.ts';
import { wordsOf } from '../../support/codes.ts';

const FILES = [
  'src/api/users.ts',
  'src/components/Form.tsx',
  'src/components/users.ts',
  'src/utils/dates.ts',
  'tests/api/users.test.ts',
  'tests/Form.test.tsx',
  'tests/components/users.test.ts',
  'tests/services/users.test.ts',
  'tests/pages/test_cart.py',
  'src/pages/list.ts',
  'src/pages/list.test.ts',
  'src/services/list.go',
  'src/services/list_test.go',
  'src/pages/cart.py',
  'src/services/cart_total.py',
  'src/pages/old-users.ts',
  'server.js',
  'package.json',
];

const failed = (check: CheckResult['check'], reason: string, ...details: readonly string[]): CheckResult => ({
  check,
  outcome: 'failed',
  reason,
  details,
  command: `run ${check}`,
  figure: null,
});

function gate(checks: readonly CheckResult[], other: Partial<GateResult> = {}): GateResult {
  return gateResult({ tree: 't', checks, coverage: 61.5, uncoveredFiles: ['src/api/users.ts'], ...other });
}

const NO_FORMATTER = wordsOf(GATE_CODES.part_not_measured, { part: 'formatter', why: 'none was found' });

function scores(dimension: Trust5['dimensions'][number]['dimension'], ...findings: readonly Finding[]): Trust5 {
  const state = findings.length === 0 ? 'not_measured' : 'failed';
  const figures = [NO_FORMATTER, 'and more'];
  return {
    ok: false,
    score: 1,
    securityIssues: null,
    dimensions: [{ dimension, state, score: null, figures, source: 'it', findings }],
  };
}

function remedies(other: Partial<RemedyInput>): Remedies {
  const found = remediesFor({
    gate: gate([]),
    trust5: null,
    settings: DEFAULT_QUALITY,
    ownership: DEFAULT_OWNERSHIP,
    writers: ['backend-dev', 'frontend-dev', 'tester'],
    spent: new Set(),
    files: FILES,
    asked: [],
    ...other,
  });
  for (const { type, content } of found.messages)
    assert.deepEqual(checkMessage(type, content), { ok: true, type, content });
  for (const { to } of found.messages) assert.notEqual(to, 'quality');
  for (const { owner, files, subject } of found.tasks) {
    assert.ok(subject.length <= 72);
    for (const path of files) assert.ok([owner, null, 'shared'].includes(ownerOf(path, DEFAULT_OWNERSHIP).owner), path);
  }
  return found;
}

const at = (path: string | null, line: number | null, words: string): Finding => ({ path, line, words });

test('nothing failed: nothing is asked', () => {
  assert.deepEqual(remedies({}), { messages: [], tasks: [], notes: [] });
});

test('coverage: the tester is told the figures and the files', () => {
  assert.deepEqual(remedies({ gate: gate([failed('coverage', '61.5 % reached')]) }).messages, [
    {
      to: 'tester',
      type: 'coverage_required',
      content: { current: 61.5, required: 80, uncoveredFiles: ['src/api/users.ts'] },
    },
  ]);
});

test('a figure in a message has one decimal, rounded down', () => {
  const { messages } = remedies({ gate: gate([failed('coverage', 'low')], { coverage: 500 / 9 }) });
  const [content] = messages.map((one) => one.content);
  assert.equal(typeof content === 'string' ? null : content?.current, 55.5);
});

test('coverage that cannot be measured is a task: there is no figure to name', () => {
  const found = remedies({ gate: gate([failed('coverage', 'no report')], { coverage: null }) });
  assert.deepEqual([found.messages, found.tasks.map(({ owner }) => owner)], [[], ['tester']]);
});

test('coverage that is enough, of a command that fails, is a task', () => {
  const reason = 'x ended with 1 although the tests pass';
  const found = remedies({ gate: gate([failed('coverage', reason)], { coverage: 85 }) });
  assert.deepEqual(
    [found.messages, found.tasks.map((task) => [task.owner, task.subject])],
    [[], [['tester', 'Find out why the command that measures the coverage fails']]],
  );
  assert.ok(found.tasks[0]?.description.startsWith(`${reason}. `));
});

/** A failing test as its runner names it, and who is told. */
const OWNERS: readonly [string, string][] = [
  ['says 404 (tests/api/users.test.ts:7:1)', 'backend-dev'],
  ['tests/Form.test.tsx > Form > submits', 'frontend-dev'],
  ['src/components/Form.tsx:3 throws', 'frontend-dev'],
  ['TestSum', 'backend-dev'],
  // The folders tell two of the same name apart.
  ['lists (tests/components/users.test.ts:3:1)', 'frontend-dev'],
  ['lists (tests/services/users.test.ts)', 'backend-dev'],
  // The place is meant, and not what the test is called.
  ['Form › sends to src/api/users.ts (tests/Form.test.tsx)', 'frontend-dev'],
  // A package is tested from its own directory, and Go tells the module first.
  ['list (pages/list.test.ts:9:1)', 'frontend-dev'],
  ['TestList (example.com/shop/src/services/list_test.go:8)', 'backend-dev'],
  ['tests/pages/test_cart.py::test_total', 'frontend-dev'],
];
for (const [name, to] of OWNERS)
  test(`a failing test, ${name}: ${to}`, () => {
    const { messages } = remedies({ gate: gate([failed('tests', '1 test fails', name)]) });
    assert.deepEqual(messages, [
      {
        to,
        type: 'bug_report',
        content: { test: `- ${name}`, expected: 'every test passes: run tests', actual: '1 test fails' },
      },
    ]);
  });

test('failing tests of two owners are two reports', () => {
  const details = OWNERS.slice(0, 4).map(([name]) => name);
  const { messages } = remedies({ gate: gate([failed('tests', '4 tests fail', ...details)]) });
  assert.deepEqual(
    messages.map(({ to, content }) => [to, typeof content === 'string' ? '' : String(content.test).split('\n').length]),
    [
      ['backend-dev', 2],
      ['frontend-dev', 2],
    ],
  );
});

test('no tests: the tester writes some', () => {
  const { messages, tasks } = remedies({ gate: gate([failed('tests', wordsOf(GATE_CODES.no_tests_ran, {}))]) });
  assert.deepEqual([messages, tasks.map(({ owner }) => owner)], [[], ['tester']]);
});

test('findings go to the owners of their files, those of nobody to who builds or tests', () => {
  const lint = failed(
    'lint',
    'run lint ended with 1',
    'src/api/users.ts:3: a',
    'src/components/Form.tsx:4: b',
    'src/utils/dates.ts:5: c',
    'tests/Form.test.tsx:6: d',
    '4 problems',
  );
  const { tasks } = remedies({ gate: gate([lint]) });
  assert.deepEqual(
    tasks.map(({ owner, files }) => [owner, files]),
    [
      ['backend-dev', ['src/api/users.ts', 'src/utils/dates.ts']],
      ['frontend-dev', ['src/components/Form.tsx']],
      ['tester', ['tests/Form.test.tsx']],
    ],
  );
  assert.match(
    tasks[0]?.description ?? '',
    /^The linter .*\n- src\/api\/users\.ts:3: a\n- src\/utils\/dates\.ts:5: c\nThe gate measured it with: run lint$/s,
  );
});

test('what nobody has mended when asked goes to somebody else who may, and the user is told when nobody is left', () => {
  const asked = (owner: string, text: string) => ({ owner, text });
  const name = 'lists "all" (tests/api/users.test.ts:3:1)';
  const report = (owner: string, line: number) =>
    asked(owner, JSON.stringify({ test: `- ${name.replace(':3:', `:${line}:`)}`, expected: 'a', actual: 'b' }));
  const tests = gate([failed('tests', '1 test fails', name)]);
  const to = (...before: readonly RemedyInput['asked'][number][]) => {
    const { messages, notes } = remedies({ gate: tests, asked: before });
    return [...messages.map((one) => one.to), ...notes];
  };
  assert.deepEqual(to(), ['backend-dev']);
  assert.deepEqual(to(report('backend-dev', 2)), ['frontend-dev']);
  assert.deepEqual(to(report('backend-dev', 2), report('frontend-dev', 2)), ['tester']);
  assert.deepEqual(to(report('backend-dev', 2), report('frontend-dev', 3), report('tester', 4)), [
    'backend-dev',
    `asked of backend-dev, frontend-dev, tester before, without a change: ${name}`,
  ]);

  const lint = gate([failed('lint', 'many', 'src/components/Form.tsx:4: b', 'src/utils/dates.ts:5: c')]);
  const again =
    'The linter reports errors. Fix them:\n- src/components/Form.tsx:4: b\n- src/utils/dates.ts:5: c\nThe gate';
  const { tasks, notes } = remedies({
    gate: lint,
    asked: [asked('frontend-dev', again), asked('backend-dev', '- src/utils/dates.ts:5: c\n')],
  });
  assert.deepEqual(
    tasks.map(({ owner, files }) => [owner, files]),
    [
      ['frontend-dev', ['src/components/Form.tsx']],
      ['tester', ['src/utils/dates.ts']],
    ],
  );
  assert.deepEqual(notes, ['asked of frontend-dev before, without a change: src/components/Form.tsx:4: b']);
});

test('what names no file is for who builds', () => {
  const { tasks } = remedies({ gate: gate([failed('security', '1 finding', 'high: left-out')]) });
  assert.deepEqual(
    tasks.map(({ owner, files, subject }) => [owner, files, subject]),
    [['backend-dev', [], 'Remove the security findings']],
  );
});

/** A dimension that failed, and what is asked. */
const DIMENSIONS: readonly [Trust5['dimensions'][number]['dimension'], RegExp][] = [
  ['readable', /simpler/],
  ['unified', /Format/],
  ['secured', /secrets/],
  ['trackable', /task/],
];
for (const [dimension, subject] of DIMENSIONS)
  test(`${dimension}: a task for the owner of the file`, () => {
    const { tasks } = remedies({ trust5: scores(dimension, at('src/components/Form.tsx', 9, 'it is so')) });
    assert.equal(tasks.length, 1);
    assert.equal(tasks[0]?.owner, 'frontend-dev');
    assert.match(tasks[0]?.subject ?? '', subject);
    assert.match(tasks[0]?.description ?? '', /- src\/components\/Form\.tsx:9: it is so/);
  });

test('what the checks ask for already is not asked twice', () => {
  const lint = failed('lint', 'run lint ended with 1', 'src/api/users.ts:3: no-var');
  const trust5 = scores('readable', at('src/api/users.ts', 3, 'no-var'), at('src/api/users.ts', 8, 'list is complex'));
  const { tasks } = remedies({ gate: gate([lint]), trust5 });
  assert.deepEqual(
    tasks.map(({ subject }) => subject),
    ['Fix the linter errors', 'Make functions simpler'],
  );
  assert.doesNotMatch(tasks[1]?.description ?? '', /no-var/);
});

test('what is not measured is nobody’s work: where it is required the user is told how to settle it', () => {
  const trust5 = scores('unified');
  assert.deepEqual(remedies({ trust5 }), { messages: [], tasks: [], notes: [] });
  const dimensions = trust5.dimensions.map((one) => ({
    ...one,
    figures: [...one.figures, 'quality.required names format'],
  }));
  const { tasks, notes } = remedies({ trust5: { ...trust5, dimensions } });
  assert.deepEqual(tasks, []);
  assert.deepEqual(notes, [
    `unified is required and not measured (${NO_FORMATTER}). Set that up, or remove it from quality.required in .tool/config/workflow.yaml`,
  ]);
});

test('coverage that nothing measures is the tester’s once; asked before, it is the user’s', () => {
  const unmeasured: CheckResult = { ...failed('coverage', 'package.json has no script'), outcome: 'not_measured' };
  const trust5 = scores('tested');
  const dimensions = trust5.dimensions.map((one) => ({
    ...one,
    figures: [
      wordsOf(GATE_CODES.part_not_measured, { part: 'coverage', why: 'package.json has no script' }),
      'quality.required names coverage',
    ],
  }));
  const input = { gate: gate([unmeasured]), trust5: { ...trust5, dimensions } };
  const { tasks, notes } = remedies(input);
  assert.deepEqual(
    [tasks.map(({ owner, subject }) => [owner, subject]), notes],
    [[['tester', 'Make the coverage measurable']], []],
  );
  const again = remedies({ ...input, asked: [{ owner: 'tester', text: tasks[0]?.description ?? '' }] });
  assert.equal(again.tasks.length, 0);
  assert.match(
    again.notes.join(),
    /tested is required and not measured .* Set that up, or remove it from quality\.required/,
  );
});

test('work for somebody who is not there goes to who builds, then to whoever writes', () => {
  const coverage = gate([failed('coverage', 'low'), failed('tests', '1 test fails', 'tests/Form.test.tsx > Form')]);
  const to = (...writers: readonly string[]) => remedies({ gate: coverage, writers }).messages.map((one) => one.to);
  assert.deepEqual(to('backend-dev'), ['backend-dev', 'backend-dev']);
  assert.deepEqual(to('data-dev', 'designer'), ['data-dev', 'data-dev']);
  assert.deepEqual(to(), []);
});

test('a secret that only the history still holds is for the person, and asked of nobody', () => {
  const held = {
    ...at('src/api/users.ts', 2, 'token, removed since, but commit abc123 still holds it'),
    heldBy: 'abc123',
  };
  const only = remedies({ trust5: scores('secured', held) });
  assert.deepEqual([only.tasks, only.messages], [[], []]);
  assert.match(
    only.notes.join('\n'),
    /^src\/api\/users\.ts:2: token, removed since, but commit abc123 still holds it: no teammate can fix that\. Revoke .* rebuild the branch without that commit. If it is no secret, name it in quality\.secrets of .*$/,
  );
  const both = remedies({ trust5: scores('secured', held, at('src/components/Form.tsx', 4, 'password')) });
  assert.deepEqual([both.tasks.map(({ owner }) => owner), both.notes.length], [['frontend-dev'], 1]);
  assert.doesNotMatch(both.tasks[0]?.description ?? '', /abc123/);
});

test('who begins nothing any more is asked for what is its own, and for nothing else', () => {
  const lint = failed('lint', 'many', 'src/api/users.ts:3: a', 'src/utils/dates.ts:5: c');
  const owners = (...spent: readonly string[]) =>
    remedies({ gate: gate([lint]), spent: new Set(spent) }).tasks.map(({ owner, files }) => [owner, ...files]);
  assert.deepEqual(owners('backend-dev'), [
    ['backend-dev', 'src/api/users.ts'],
    ['frontend-dev', 'src/utils/dates.ts'],
  ]);
  assert.deepEqual(owners('backend-dev', 'frontend-dev', 'tester'), [['backend-dev', 'src/api/users.ts']]);
});

test('long lists are cut, and say so', () => {
  const details = Array.from({ length: 30 }, (_, index) => `src/api/users.ts:${index + 1}: bad`);
  const { tasks } = remedies({ gate: gate([failed('lint', 'many', ...details)]) });
  assert.match(tasks[0]?.description ?? '', /- … and 10 more\n/);
});
