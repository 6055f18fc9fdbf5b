// Rows of `tool doctor` about the quality gate: the command of each part, or the reason why it has none.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { diagnoseGate } from '../../../src/cli/doctor/doctor-gate.ts';
import { DOCTOR_CODES } from '../../../src/cli/rules/doctor-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { wordsLike, wordsOf } from '../../support/codes.ts';
import { writeTree } from '../../support/installed.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const { hooks, quality } = DEFAULT_TEAM_SETTINGS;

async function told(
  t: Cleanup,
  files: Readonly<Record<string, string>>,
  settings = quality,
): Promise<readonly string[]> {
  const root = tempDir(t);
  writeTree(root, files);
  execaSync`git -C ${root} init --quiet`;
  const rows = await diagnoseGate(
    root,
    { hooks, quality: settings },
    { PATH: '/usr/bin:/bin', HOME: join(root, 'home') },
  );
  return rows.map(({ status, name, says, mend }) => `${status} ${name}: ${says}${mend === null ? '' : ` -> ${mend}`}`);
}

test('each part of the gate is told with its command, or with what is missing and the ways on', async (t) => {
  const rows = await told(t, { 'package.json': '{"scripts":{"test":"node --test"}}' });
  for (const [index, name] of ['tests', 'coverage'].entries())
    assert.match(
      rows[index] ?? '',
      new RegExp(`^ok gate: ${name}: node --experimental-test-coverage .*TOOL_REPORTS.* --test$`),
    );
  assert.match(
    rows[2] ?? '',
    /^ok gate: lint: not measured, neither passes nor fails: package\.json has no script "lint"/,
  );
  assert.match(rows[3] ?? '', /^ok gate: security: not measured, neither passes nor fails: /);
  assert.match(rows[4] ?? '', /^ok gate: format: not measured, neither passes nor fails: /);
  assert.match(
    rows[5] ?? '',
    /^ok gate: complexity: not measured, neither passes nor fails: .*eslint --rule 'complexity: \[error, 15\]'/,
  );
});

test('a required part that nothing can measure fails, with what a person does about it', async (t) => {
  const manifest = { scripts: { test: 'vitest run' }, devDependencies: { vitest: '^2.1.0' } };
  const files = { 'package.json': JSON.stringify(manifest), 'pnpm-lock.yaml': '', 'node_modules/.modules.yaml': '' };
  const rows = await told(t, files, { ...quality, required: ['coverage', 'security'] });
  const row = wordsOf(DOCTOR_CODES.required_part_unmeasured, {
    gap: 'vitest measures no coverage without @vitest/coverage-v8',
  });
  assert.equal(
    rows[1],
    `fail gate: coverage: ${row} -> run \`pnpm add --save-dev @vitest/coverage-v8\`, or take coverage out of quality.required in .tool/config/workflow.yaml`,
  );
  assert.match(
    rows[3] ?? '',
    /^fail gate: security: .* -> name a command in quality\.commands\.security, or take security out/,
  );
  const without = await told(t, files, { ...quality, required: ['tests'] });
  assert.ok(
    without.every((row) => row.startsWith('ok ')),
    without.join('\n'),
  );
});

test('packages that are not installed are missing before the first agent starts', async (t) => {
  const manifest = { scripts: { test: 'tsc -p . && node --test' }, devDependencies: { typescript: '^5.6.0' } };
  const files = { 'package.json': JSON.stringify(manifest), 'package-lock.json': '{}', 'src/a.ts': 'export {};\n' };
  const rows = await told(t, files);
  for (const row of rows.slice(0, 2))
    assert.match(row, /^fail gate: \w+: .*the packages of package\.json are not installed.* -> run `npm ci`/);
  const filled = await told(t, { ...files, 'node_modules/.package-lock.json': '{}' });
  assert.match(filled[0] ?? '', /^ok gate: tests: /);
});

test('a manifest for tools alone asks for nothing; tests that may leave a report are let start', async (t) => {
  const node = { 'package.json': '{"scripts":{"test":"node --test"}}', 'src/a.js': 'export function a() {}\n' };
  const rows = await told(t, { ...node, 'requirements.txt': 'mkdocs\n' });
  assert.match(rows[1] ?? '', /^ok gate: coverage: node --experimental-test-coverage /);
  const own = { ...node, 'package.json': '{"scripts":{"test":"sh run-tests.sh"}}' };
  assert.match((await told(t, own))[1] ?? '', /^warn gate: coverage: /);
  assert.match((await told(t, own))[1] ?? '', wordsLike(DOCTOR_CODES.report_not_promised));
  const named = await told(t, own, { ...quality, coverageReport: 'coverage/lcov.info' });
  assert.match(named[1] ?? '', /^ok gate: coverage: /);
});

test('what a command is given for is measured by it', async (t) => {
  const rows = await told(
    t,
    {},
    {
      ...quality,
      commands: { ...quality.commands, tests: 'make test', coverage: 'make coverage', lint: 'make lint' },
    },
  );
  assert.deepEqual(rows.slice(0, 3), [
    'ok gate: tests: make test',
    'ok gate: coverage: make coverage',
    'ok gate: lint: make lint',
  ]);
});

test('a project without tests may start; a file of the project that cannot be read is named', async (t) => {
  const [tests, coverage] = await told(t, {});
  for (const row of [tests, coverage])
    assert.match(
      row ?? '',
      /^ok gate: \w+: no tests yet \(the project has no package\.json.*\): the tester writes them first$/,
    );
  const [broken] = await told(t, { 'package.json': '{' });
  assert.match(broken ?? '', /^fail gate: package\.json/);
});

test('where one language can be measured and another cannot, the command is that of the one; where nothing is measured, that is told', async (t) => {
  const rows = await told(t, {
    'package.json': '{"scripts":{"test":"node --test"}}',
    'Cargo.toml': '[package]\nname = "x"\n',
    'src/lib.rs': '',
  });
  assert.match(rows[0] ?? '', /^ok gate: tests: node .* --test && cargo test$/);
  assert.match(rows[1] ?? '', /^ok gate: coverage: node .* --test$/);
  const off = { ...hooks, taskCompleted: { ...hooks.taskCompleted, requireQualityCheck: false } };
  assert.deepEqual(await diagnoseGate(tempDir(t), { hooks: off, quality }, {}), [
    {
      name: 'gate',
      status: 'ok',
      says: 'no completion is measured (workflow.team.hooks.task_completed)',
      mend: null,
    },
  ]);
});
