// `tool team select`, as a user runs it.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { LEAD_CODES } from '../../src/team/rules/codes/lead-codes.ts';
import { codeIn, lineLike } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { ACCEPTANCE_TEXT, PLAN_TEXT, SPEC_ID, SPEC_TEXT } from '../support/spec.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const SPEC = `.tool/specs/${SPEC_ID}`;
const FILES: Readonly<Record<string, string>> = {
  'src/api/orders.ts': 'export {};\n',
  'src/components/OrderList.tsx': 'export {};\n',
  '.claude/agents/x.md': 'password\n',
  [`${SPEC}/spec.md`]: SPEC_TEXT,
  [`${SPEC}/plan.md`]: PLAN_TEXT,
  [`${SPEC}/acceptance.md`]: ACCEPTANCE_TEXT,
};

function projectOf(t: Cleanup, changed: Readonly<Record<string, string>> = {}) {
  const directory = tempDir(t);
  const root = join(directory, 'project');
  execaSync`git init -q ${root}`;
  for (const [name, text] of Object.entries({ ...FILES, ...changed })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const run = (...args: readonly string[]) =>
    runTool(['team', 'select', ...args], { cwd: root, env: cleanEnv(directory) });
  const json = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  return { run, json };
}

test('a text that names nothing has no figure, and no team', async (t) => {
  const { run, json } = projectOf(t);
  const text = 'Orders are paid by credit card: an endpoint, a form with a button, a table of the database, and tests';
  const { decision, selection } = await json(text);
  assert.equal(decision.mode, 'subagent');
  for (const { value, source } of Object.values<{ value: unknown; source: string }>(selection.figures)) {
    assert.equal(value, null);
    assert.notEqual(source, '');
  }
  const { stdout } = await run(text);
  assert.match(stdout, /^files: unknown \(the text names no file that exists\)$/m);
});

test('a text that names files has its figures from them', async (t) => {
  const { json } = projectOf(t);
  const { selection } = await json('Sort in src/api/orders.ts and OrderList, as .claude/agents/x.md says');
  assert.deepEqual(selection.files, ['src/api/orders.ts', 'src/components/OrderList.tsx']);
  assert.deepEqual(selection.figures.domains, { value: 2, source: 'the paths in the text: backend, frontend' });
});

test('a SPEC has its figures from its plan, whatever its text names', async (t) => {
  const { json } = projectOf(t);
  const { decision, selection } = await json(SPEC_ID);
  for (const name of ['domains', 'files'])
    assert.match(selection.figures[name].source, /^plan\.md: /, JSON.stringify(selection.figures));
  assert.equal(selection.figures.files.value, selection.files.length);
  assert.match(decision.reasons.join('\n'), /domains \d+ of 3 \(plan\.md: /);
});

test('a SPEC whose plan has problems has no answer', async (t) => {
  const { run } = projectOf(t, { [`${SPEC}/plan.md`]: PLAN_TEXT.replace('domain: backend', 'domain: server') });
  const { code, stderr } = await run(SPEC_ID);
  assert.equal(code, 1);
  assert.match(
    stderr,
    lineLike(LEAD_CODES.spec_has_problems, {
      spec: 'SPEC-LOGIN-001',
      problems: /.*plan\.md:\d+: .*domain: .*backend.*/,
    }),
  );
});

test('figures are set by hand, with and without a text', async (t) => {
  const { json } = projectOf(t);
  const { selection } = await json('--files', '21', '--domains', '3', '--complexity', '8');
  assert.deepEqual(selection.figures, {
    domains: { value: 3, source: 'set by --domains' },
    files: { value: 21, source: 'set by --files' },
    complexity: { value: 8, source: 'set by --complexity' },
  });
  assert.deepEqual([selection.size, selection.pattern], ['large', 'quality_gate']);
  const one = await json('Sort in src/api/orders.ts', '--files', '12');
  assert.equal(one.selection.figures.domains.value, 1);
  assert.match(one.decision.reasons[0], /^files reaches the threshold: .*files 12 of 10 \(set by --files\)/);
});

const BAD: readonly [string, string, string][] = [
  ['--files', 'many', 'of at least 1, got many'],
  ['--files', '0', 'of at least 1, got 0'],
  ['--domains', '2.5', 'of at least 1, got 2.5'],
  ['--domains', '', 'of at least 1, got nothing'],
  ['--complexity', '11', 'from 1 to 10, got 11'],
  ['--complexity', '-1', 'from 1 to 10, got -1'],
];

test('a bad figure is refused with its flag, what was expected and what came', async (t) => {
  const { run } = projectOf(t);
  for (const [flag, value, expected] of BAD) {
    const { code, stdout, stderr } = await run('x', `${flag}=${value}`);
    assert.deepEqual([code, stdout], [2, ''], flag);
    assert.ok(stderr.includes(`'${flag} <n>'`) && stderr.includes(`Expected a whole number ${expected}.`), stderr);
    assert.equal(codeIn(stderr), 'command_line_invalid');
  }
  const { code, stderr } = await run('');
  assert.equal(code, 2);
  assert.match(
    stderr,
    /expected the text of a feature, the id of a SPEC, or one of --files, --domains and --complexity.* \(option_invalid\)$/m,
  );
});

test('a workflow.yaml that cannot be used is named with its code, and the answer is that of the defaults', async (t) => {
  const { run, json } = projectOf(t, { '.tool/config/workflow.yaml': 'workflow: { team: { enabeld: true } }\n' });
  const { decision, problem } = await json('Sort in src/api/orders.ts');
  assert.deepEqual([decision.mode, problem.code], ['subagent', 'settings_defaults_hold']);
  assert.match(problem.values.said, /workflow\.team\.enabeld/);
  const { stdout, stderr } = await run('Sort in src/api/orders.ts');
  assert.equal(stderr, '');
  assert.match(stdout, /^subagent$/m);
  assert.equal(stdout.split('(settings_defaults_hold)').length, 2);
  assert.equal((await projectOf(t).json('x')).problem, null);
});
