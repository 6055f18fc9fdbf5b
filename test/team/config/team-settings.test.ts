import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { TEAM_FILE } from '../../../src/team/config/team-config-file.ts';
import { parseTeamSettings, readTeamSettings } from '../../../src/team/config/team-settings.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { hasProblem, isOf } from '../../support/codes.ts';
import { tempDir } from '../../support/temp.ts';

const parse = (yaml: string) => parseTeamSettings(yaml, '/p/workflow.yaml');

test('a file that says nothing has the defaults; team mode is asked for', () => {
  for (const yaml of [
    '',
    '# nothing\n',
    '{}',
    'workflow: {}\nquality: {}',
    'workflow: { team: { hooks: {} } }',
    '\uFEFF{}',
  ])
    assert.deepEqual(parse(yaml), DEFAULT_TEAM_SETTINGS, yaml);
  assert.ok(Object.isFrozen(parse('')));
});

test('the defaults are those that are promised', () => {
  assert.deepEqual(DEFAULT_TEAM_SETTINGS, {
    executionMode: 'auto',
    enabled: false,
    maxTeammates: 10,
    defaultModel: 'inherit',
    requirePlanApproval: true,
    delegateMode: true,
    teammateDisplay: 'auto',
    autoSelection: { minDomains: 3, minFiles: 10, minComplexity: 7 },
    copies: [],
    ownership: [
      {
        owner: 'backend-dev',
        patterns: [
          'src/api/**',
          'src/services/**',
          'src/repositories/**',
          'src/models/**',
          'src/middleware/**',
          'prisma/migrations/**',
        ],
      },
      {
        owner: 'frontend-dev',
        patterns: ['src/components/**', 'src/pages/**', 'src/app/**', 'src/hooks/**', 'src/stores/**', 'src/styles/**'],
      },
      { owner: 'designer', patterns: ['design/**', 'src/styles/tokens/**'] },
      {
        owner: 'tester',
        patterns: ['tests/**', '__tests__/**', '**/*.test.*', '**/*.spec.*', 'cypress/**', 'playwright/**'],
      },
      { owner: 'shared', patterns: ['src/types/**', 'src/utils/**', 'src/lib/**'] },
    ],
    patterns: {
      plan_research: ['researcher', 'analyst', 'architect'],
      implementation: ['backend-dev', 'frontend-dev', 'tester'],
      design_implementation: ['designer', 'backend-dev', 'frontend-dev', 'tester'],
      quality_gate: ['backend-dev', 'frontend-dev', 'tester', 'quality'],
      investigation: ['hypothesis-1', 'hypothesis-2', 'hypothesis-3'],
    },
    hooks: {
      teammateIdle: { enabled: true, validateWork: true },
      taskCompleted: { enabled: true, requireQualityCheck: true },
    },
    fallback: { enabled: true, logLevel: 'warn', preserveProgress: true },
    budget: { teammate: { softUsd: null, hardUsd: null }, task: { softUsd: null, hardUsd: null } },
    quality: {
      coverageTarget: 80,
      required: ['tests', 'coverage'],
      commands: { tests: null, coverage: null, lint: null, security: null, format: null, complexity: null },
      coverageReport: null,
      performance: [],
      secrets: { allowedPaths: [], allowedValues: [] },
      trust5: { minScore: 5 },
      timeoutMs: 540_000,
    },
  });
});

test('every key is taken', () => {
  const settings = parse(`
workflow:
  execution_mode: team
  team:
    enabled: true
    max_teammates: 50
    default_model: arn:aws:bedrock:eu-west-1:123:inference-profile/eu.model-v1
    require_plan_approval: false
    delegate_mode: false
    teammate_display: tmux
    auto_selection: { min_domains_for_team: 1, min_files_for_team: 2, min_complexity_score: 10 }
    file_ownership:
      tester: ["**/*.test.*", ./tests/**]
      team-data-dev: [src/data/**]
      quality: []
      shared: ['src/app/(group)/[id]/**', 'src/{a,b}/**']
    patterns:
      quality_gate: { roles: [data-dev, team-tester] }
      data: { roles: [team-data-dev] }
    hooks:
      teammate_idle: { enabled: false, validate_work: false }
      task_completed: { enabled: false, require_quality_check: false }
    fallback: { enabled: false, log_level: error, preserve_progress: false }
    budget: { teammate: { soft_usd: 0.5, hard_usd: 2 }, task: { hard_usd: 1.25 } }
    workspace: { copy: [.env, 'config/*.local.json'] }
quality:
  coverage_target: 87.5
  commands:
    tests: npm test
    coverage: npx c8 npm test
    lint: npm run lint
    security: npm audit
    format: npx prettier --check .
    complexity: make complexity
  coverage_report: coverage/lcov.info
  performance: [{ name: build, command: npm run build, budget_ms: 60000 }]
  secrets: { allowed_paths: [test/fixtures/**], allowed_values: [none-of-1] }
  trust5: { min_score: 4.5 }
  required: [tests, lint, tests]
  timeout_ms: 590000
`);
  const { plan_research, implementation, design_implementation, investigation } = DEFAULT_TEAM_SETTINGS.patterns;
  assert.deepEqual(settings, {
    executionMode: 'team',
    enabled: true,
    maxTeammates: 50,
    copies: ['.env', 'config/*.local.json'],
    defaultModel: 'arn:aws:bedrock:eu-west-1:123:inference-profile/eu.model-v1',
    requirePlanApproval: false,
    delegateMode: false,
    teammateDisplay: 'tmux',
    autoSelection: { minDomains: 1, minFiles: 2, minComplexity: 10 },
    ownership: [
      { owner: 'tester', patterns: ['**/*.test.*', 'tests/**'] },
      { owner: 'data-dev', patterns: ['src/data/**'] },
      { owner: 'quality', patterns: [] },
      { owner: 'shared', patterns: ['src/app/(group)/[id]/**', 'src/{a,b}/**'] },
    ],
    patterns: {
      plan_research,
      implementation,
      design_implementation,
      quality_gate: ['data-dev', 'tester'],
      investigation,
      data: ['data-dev'],
    },
    hooks: {
      teammateIdle: { enabled: false, validateWork: false },
      taskCompleted: { enabled: false, requireQualityCheck: false },
    },
    fallback: { enabled: false, logLevel: 'error', preserveProgress: false },
    budget: { teammate: { softUsd: 0.5, hardUsd: 2 }, task: { softUsd: null, hardUsd: 1.25 } },
    quality: {
      coverageTarget: 87.5,
      commands: {
        tests: 'npm test',
        coverage: 'npx c8 npm test',
        lint: 'npm run lint',
        security: 'npm audit',
        format: 'npx prettier --check .',
        complexity: 'make complexity',
      },
      coverageReport: 'coverage/lcov.info',
      required: ['tests', 'lint'],
      performance: [{ name: 'build', command: 'npm run build', budgetMs: 60_000 }],
      secrets: { allowedPaths: ['test/fixtures/**'], allowedValues: ['none-of-1'] },
      trust5: { minScore: 4.5 },
      timeoutMs: 590_000,
    },
  });
});

test('owners and roles are accepted with and without the prefix of their agents', () => {
  const owners = (map: string) => parse(`workflow: { team: { file_ownership: ${map} } }`).ownership;
  assert.deepEqual(owners('{ team-backend-dev: [a], shared: [b] }'), owners('{ backend-dev: [a], shared: [b] }'));
  assert.deepEqual(owners('{}'), [], 'a map that is given is the whole table');
  const roles = (list: string) => parse(`workflow: { team: { patterns: { p: { roles: ${list} } } } }`).patterns.p;
  assert.deepEqual(roles('[team-tester, quality]'), ['tester', 'quality']);
});

test('hooks may stand beside team as well', () => {
  const above = parse('workflow: { hooks: { teammate_idle: { enabled: false } } }').hooks;
  assert.deepEqual(above, parse('workflow: { team: { hooks: { teammate_idle: { enabled: false } } } }').hooks);
  assert.deepEqual(above, {
    teammateIdle: { enabled: false, validateWork: true },
    taskCompleted: { enabled: true, requireQualityCheck: true },
  });
});

test('a small team need not redefine the patterns that the file does not name', () => {
  const settings = parse('workflow: { team: { max_teammates: 1, patterns: { one: { roles: [tester] } } } }');
  assert.equal(settings.patterns.quality_gate?.length, 4);
});

test('nor those that the file names as the program has them', () => {
  const patterns = JSON.stringify(
    Object.fromEntries(Object.entries(DEFAULT_TEAM_SETTINGS.patterns).map(([name, roles]) => [name, { roles }])),
  );
  const settings = parse(`workflow: { team: { max_teammates: 2, patterns: ${patterns} } }`);
  assert.equal(settings.patterns.quality_gate?.length, 4);
});

test('aliases of YAML are read where they end', () => {
  const { quality } = parse('quality: { commands: { tests: &all npm test, coverage: *all } }');
  assert.equal(quality.commands.coverage, 'npm test');
});

/** A project with that text in the file. */
function project(t: test.TestContext, text: string): { root: string; path: string } {
  const root = tempDir(t);
  const path = join(root, TEAM_FILE);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { root, path };
}

test('the file of a project; without one, the defaults', (t) => {
  const { root, path } = project(t, 'workflow: { team: { enabled: true } }');
  assert.equal(readTeamSettings(root).enabled, true);
  writeFileSync(path, 'workflow: { team: { enabeld: true } }');
  assert.throws(
    () => readTeamSettings(root),
    (error) => {
      isOf(BASE_CODES.settings_invalid, { path })(error);
      return hasProblem(BASE_CODES.config_unknown_key, {
        key: 'workflow.team.enabeld',
        line: 1,
        near: 'workflow.team.enabled',
      })(error);
    },
  );
  writeFileSync(path, 'quality: { trust5: { not_measured: [unified] } }');
  assert.throws(
    () => readTeamSettings(root),
    hasProblem(BASE_CODES.config_key_replaced, { key: 'quality.trust5.not_measured' }),
  );
  writeFileSync(path, 'quality: { trust5: { max_complexity: 10 } }');
  assert.throws(
    () => readTeamSettings(root),
    hasProblem(BASE_CODES.config_key_replaced, { key: 'quality.trust5.max_complexity' }),
  );
  rmSync(path);
  assert.equal(readTeamSettings(root), DEFAULT_TEAM_SETTINGS);
  assert.equal(readTeamSettings(join(root, 'nowhere')), DEFAULT_TEAM_SETTINGS);
  symlinkSync(join(root, 'elsewhere.yaml'), path);
  writeFileSync(join(root, 'elsewhere.yaml'), 'workflow: { team: { max_teammates: 4 } }');
  assert.equal(readTeamSettings(root).maxTeammates, 4);
});

test('what is no file, or too large, is said and not waited for', (t) => {
  const { root, path } = project(t, `# ${'x'.repeat(1024 * 1024)}\n`);
  const wrong = (expected: string, got: string) => isOf(LOG_CODES.settings_file_wrong, { path, expected, got });
  assert.throws(() => readTeamSettings(root), wrong('at most 1048576 bytes', '1048579'));
  rmSync(path);
  mkdirSync(path);
  assert.throws(() => readTeamSettings(root), wrong('a file', 'something else'));
  rmSync(path, { recursive: true });
  execaSync`mkfifo ${path}`;
  assert.throws(() => readTeamSettings(root), wrong('a file', 'something else'));
  rmSync(path);
  symlinkSync(path, path);
  assert.throws(
    () => readTeamSettings(root),
    (error) => {
      isOf(LOG_CODES.settings_file_unreadable, { path })(error);
      assert.match(String(error), /ELOOP/);
      return true;
    },
  );
});
