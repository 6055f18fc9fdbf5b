// What the gate would measure a project by, told before anything is built.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { diagnoseGate } from '../../src/cli/doctor-gate.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../src/domain/team/default-settings.ts';
import { writeTree } from '../support/installed.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const { hooks, quality } = DEFAULT_TEAM_SETTINGS;

async function told(
  t: Cleanup,
  files: Readonly<Record<string, string>>,
  settings = quality,
): Promise<readonly string[]> {
  const root = tempDir(t);
  writeTree(root, files);
  const rows = await diagnoseGate(
    root,
    { hooks, quality: settings },
    { PATH: '/usr/bin:/bin', HOME: join(root, 'home') },
  );
  return rows.map(({ status, name, says, mend }) => `${status} ${name}: ${says}${mend === null ? '' : ` -> ${mend}`}`);
}

test('each part of the gate is told with its command, or with what is missing and the ways on', async (t) => {
  const rows = await told(t, { 'package.json': '{"scripts":{"test":"node --test"}}' });
  assert.deepEqual(rows.slice(0, 2), [
    'ok gate: tests: npm test',
    'ok gate: coverage: node --experimental-test-coverage --test',
  ]);
  for (const [row, name, dimension] of [
    [rows[2], 'lint', 'readable'],
    [rows[3], 'security', 'secured'],
    [rows[4], 'format', 'unified'],
  ])
    assert.match(
      row ?? '',
      new RegExp(
        `^warn gate: ${name}: not measured, which keeps the work of a whole team from passing: .* -> name a command in quality\\.commands\\.${name} of .*, or put ${dimension} into quality\\.trust5\\.not_measured$`,
      ),
    );
});

test('what need not be measured, and what a command is given for, stands in nobody’s way', async (t) => {
  const rows = await told(
    t,
    {},
    {
      ...quality,
      commands: { ...quality.commands, tests: 'make test', coverage: 'make coverage', lint: 'make lint' },
      trust5: { ...quality.trust5, notMeasured: ['unified', 'secured'] },
    },
  );
  assert.deepEqual(rows.slice(0, 3), [
    'ok gate: tests: make test',
    'ok gate: coverage: make coverage',
    'ok gate: lint: make lint',
  ]);
  assert.match(rows[3] ?? '', /^ok gate: security: not measured, and need not be \(quality\.trust5\.not_measured\): /);
  assert.match(rows[4] ?? '', /^ok gate: format: not measured, and need not be/);
});

test('without tests no task can be completed; a file of the project that cannot be read is named', async (t) => {
  const [tests] = await told(t, {});
  assert.match(
    tests ?? '',
    /^warn gate: tests: no task that writes can be completed: the project has no package\.json/,
  );
  const [broken] = await told(t, { 'package.json': '{' });
  assert.match(broken ?? '', /^fail gate: package\.json/);
});

test('where one language can be measured and another cannot, that is told; where nothing is measured, that alone', async (t) => {
  const rows = await told(t, {
    'package.json': '{"scripts":{"test":"node --test"}}',
    'Cargo.toml': '[package]\nname = "x"\n',
    'src/lib.rs': '',
  });
  assert.equal(rows[0], 'ok gate: tests: npm test; cargo test');
  assert.match(rows[1] ?? '', /^warn gate: coverage: no task that writes can be completed: .*cargo-llvm-cov/);
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
