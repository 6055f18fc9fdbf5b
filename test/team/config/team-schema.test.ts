// The JSON Schema that editors check a .tool/config/workflow.yaml with: what it says must be what the program does.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as z from 'zod';
import { jsonFile } from '../../../src/install/json-layout.ts';
import { teamJsonSchema, teamSchema } from '../../../src/team/config/team-schema.ts';
import { checkSchema, formsWithoutWords, keysOfSchema } from '../../support/json-schema.ts';

const FILE = join('schemas', 'team.schema.json');
const shipped: z.core.JSONSchema.JSONSchema = JSON.parse(readFileSync(FILE, 'utf8'));
const editor = z.fromJSONSchema(shipped);

test('the file is what `npm run generate` writes', () => {
  assert.equal(readFileSync(FILE, 'utf8'), jsonFile(teamJsonSchema()));
});

test('it is a schema: known keywords, every key explained, no key beside those, every default one that is accepted', () => {
  checkSchema(shipped);
});

test('whoever writes a text in a wrong form reads words of ours', () => {
  assert.deepEqual(formsWithoutWords(teamSchema), []);
});

test('it has the keys that are promised', () => {
  const hooks = [
    ['teammate_idle', [leaf('enabled'), leaf('validate_work')]],
    ['task_completed', [leaf('enabled'), leaf('require_quality_check')]],
  ];
  assert.deepEqual(keysOfSchema(shipped), [
    [
      'workflow',
      [
        leaf('execution_mode'),
        [
          'team',
          [
            leaf('enabled'),
            leaf('max_teammates'),
            leaf('default_model'),
            leaf('require_plan_approval'),
            leaf('delegate_mode'),
            leaf('teammate_display'),
            ['auto_selection', ['min_domains_for_team', 'min_files_for_team', 'min_complexity_score'].map(leaf)],
            leaf('file_ownership'),
            ['patterns', [leaf('roles')]],
            ['hooks', hooks],
            ['fallback', ['enabled', 'log_level', 'preserve_progress'].map(leaf)],
            ['workspace', [leaf('copy')]],
            [
              'budget',
              [
                ['teammate', ['soft_usd', 'hard_usd'].map(leaf)],
                ['task', ['soft_usd', 'hard_usd'].map(leaf)],
              ],
            ],
          ],
        ],
        ['hooks', hooks],
      ],
    ],
    [
      'quality',
      [
        leaf('coverage_target'),
        leaf('required'),
        ['commands', ['tests', 'coverage', 'lint', 'security', 'format', 'complexity'].map(leaf)],
        leaf('coverage_report'),
        ['performance', ['name', 'command', 'budget_ms'].map(leaf)],
        ['secrets', ['allowed_paths', 'allowed_values'].map(leaf)],
        ['trust5', ['min_score'].map(leaf)],
        leaf('timeout_ms'),
      ],
    ],
  ]);
});

function leaf(name: string): [string, []] {
  return [name, []];
}

const team = (keys: unknown) => ({ workflow: { team: keys } });
const owned = (...globs: unknown[]) => team({ file_ownership: { tester: globs } });
const budget = (keys: unknown) => ({ quality: { performance: [keys] } });

const CASES: readonly [unknown, boolean][] = [
  [{}, true],
  [[], false],
  [null, false],
  [{ workflow: {}, quality: {} }, true],
  [{ workflow: null }, false],
  [{ worklfow: {} }, false],
  [{ workflow: { execution_mode: 'subagent' } }, true],
  [{ workflow: { execution_mode: 'solo' } }, false],
  [{ workflow: { hooks: {} } }, true],
  [{ workflow: { hooks: { teammate_idle: { enabled: false } } } }, true],
  [{ workflow: { hooks: { idle: {} } } }, false],
  [{ workflow: { hooks: null } }, false],
  [team({}), true],
  [team([]), false],
  [team({ enabled: true, require_plan_approval: false, delegate_mode: false }), true],
  [team({ enabled: 'true' }), false],
  [team({ max_teammates: 1 }), true],
  [team({ max_teammates: 50 }), true],
  [team({ max_teammates: 0 }), false],
  [team({ max_teammates: 51 }), false],
  [team({ max_teammates: 1.5 }), false],
  [team({ default_model: 'haiku' }), true],
  [team({ default_model: 'opus[1m]' }), true],
  [team({ default_model: '' }), false],
  [team({ default_model: '-p' }), false],
  [team({ default_model: null }), false],
  [team({ teammate_display: 'inline' }), true],
  [team({ teammate_display: 'window' }), false],
  [team({ auto_selection: { min_domains_for_team: 1, min_files_for_team: 1, min_complexity_score: 1 } }), true],
  [team({ auto_selection: { min_domains_for_team: 0 } }), false],
  [team({ auto_selection: { min_files_for_team: 0 } }), false],
  [team({ auto_selection: { min_complexity_score: 11 } }), false],
  [team({ auto_selection: { min_complexity: 7 } }), false],
  [team({ file_ownership: {} }), true],
  [team({ file_ownership: [] }), false],
  [team({ file_ownership: { tester: 'tests/**' } }), false],
  [owned(), true],
  [owned('src/api/**', './src/a', '**/*.test.*', 'a b', 'src/{a,b}/**', '[id]/**'), true],
  [owned(''), false],
  [owned(' a'), false],
  [owned('a '), false],
  [owned('a\nb'), false],
  [owned('/a'), false],
  [owned('~/a'), false],
  [owned('!a'), false],
  [owned('a/'), false],
  [owned('..'), false],
  [owned('a/../b'), false],
  [owned(7), false],
  [owned('a'.repeat(1000)), true],
  [owned('a'.repeat(1001)), false],
  [team({ patterns: {} }), true],
  [team({ patterns: { mine: { roles: ['tester'] } } }), true],
  [team({ patterns: { mine: { roles: [] } } }), false],
  [team({ patterns: { mine: {} } }), false],
  [team({ patterns: { mine: ['tester'] } }), false],
  [team({ patterns: { mine: { roles: [1] } } }), false],
  [team({ patterns: { 'my own': { roles: ['tester'] } } }), false],
  [team({ patterns: { mine: { roles: ['tester'], phase: 'run' } } }), false],
  [team({ hooks: { task_completed: { require_quality_check: false } } }), true],
  [team({ hooks: { task_completed: true } }), false],
  [team({ fallback: { enabled: false, log_level: 'debug', preserve_progress: false } }), true],
  [team({ fallback: { log_level: 'loud' } }), false],
  [team({ budget: { teammate: { soft_usd: 0.5, hard_usd: null } } }), true],
  [team({ budget: { task: { hard_usd: 0 } } }), false],
  [{ quality: { coverage_target: 0 } }, true],
  [{ quality: { coverage_target: 99.5 } }, true],
  [{ quality: { coverage_target: 101 } }, false],
  [{ quality: { coverage_target: -1 } }, false],
  [{ quality: { commands: { tests: 'npm test', coverage: null } } }, true],
  [{ quality: { commands: { tests: ' ' } } }, false],
  [{ quality: { commands: { test: 'npm test' } } }, false],
  [{ quality: { trust5: { min_score: 4.5 } } }, true],
  [{ quality: { required: ['tests', 'format'] } }, true],
  [{ quality: { required: [] } }, true],
  [{ quality: { required: ['unified'] } }, false],
  [{ quality: { trust5: { min_score: 5.1 } } }, false],
  [{ quality: { trust5: { max_complexity: 15 } } }, false],
  [{ quality: { trust5: { not_measured: ['tested'] } } }, false],
  [{ quality: { coverage_report: 'coverage/lcov.info' } }, true],
  [{ quality: { coverage_report: null } }, true],
  [{ quality: { coverage_report: 7 } }, false],
  [budget({ name: 'build', command: 'make', budget_ms: 1 }), true],
  [budget({ name: 'build', command: 'make' }), false],
  [budget({ name: '', command: 'make', budget_ms: 1 }), false],
  [budget({ name: 'build', command: '', budget_ms: 1 }), false],
  [budget({ name: 'build', command: 'make', budget_ms: 0 }), false],
  [budget({ name: 'build', command: 'make', budget_ms: 1, unit: 's' }), false],
  [{ quality: { performance: {} } }, false],
  [{ quality: { timeout_ms: 590_000 } }, true],
  [{ quality: { timeout_ms: 590_001 } }, false],
  [{ quality: { timeout_ms: 0 } }, false],
];

test('it accepts and rejects what the decoder does', () => {
  for (const [document, accepted] of CASES) {
    assert.equal(teamSchema.safeParse(document).success, accepted, `the decoder: ${JSON.stringify(document)}`);
    assert.equal(editor.safeParse(document).success, accepted, `the schema: ${JSON.stringify(document)}`);
  }
});

test('what no schema can say is left to the decoder', () => {
  for (const document of [owned('a/[b'), { quality: { coverage_report: '../lcov.info' } }]) {
    assert.equal(editor.safeParse(document).success, true);
    assert.equal(teamSchema.safeParse(document).success, false);
  }
});
