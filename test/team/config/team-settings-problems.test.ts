import assert from 'node:assert/strict';
import test from 'node:test';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { refusal, textOf } from '../../../src/base/rules/codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { parseTeamSettings } from '../../../src/team/config/team-settings.ts';
import { wordsOf } from '../../support/codes.ts';

const unknown = (key: string, near: string) => wordsOf(BASE_CODES.config_unknown_key, { key, near });
const unknownOf = (key: string, ...known: readonly string[]) => wordsOf(BASE_CODES.config_unknown_key, { key, known });
const NAME = 'a name of lower-case letters, digits and single hyphens, at most 40 characters';
const noName = (key: string, name: string, more: { readonly near?: string } = {}) =>
  wordsOf(BASE_CODES.config_value, { key, expected: NAME, got: `"${name}"`, ...more });

/** YAML, then every line that is said of it. */
type Cases = readonly (readonly [string, ...string[]])[];

const GLOB = "expected a glob from the project's root, like src/api/** (no / or ! before it, no / after it, no ..)";
const ROLES =
  'researcher, analyst, architect, backend-dev, frontend-dev, designer, tester, quality, hypothesis-1, hypothesis-2, hypothesis-3';

const FILES: Cases = [
  ['- a', 'the file: expected a map of keys, got ["a"].'],
  ['just text', 'the file: expected a map of keys, got "just text".'],
  ['7', 'the file: expected a map of keys, got 7.'],
  ['workflow:', 'workflow: expected a map of keys, got null.'],
  ['workflow: []', 'workflow: expected a map of keys, got [].'],
  ['quality: null', 'quality: expected a map of keys, got null.'],
  ['worklfow: {}', unknown('worklfow', 'workflow')],
  ['team: { enabled: true }', unknown('team', 'workflow.team')],
  ['team.enabled: true', unknown('team.enabled', 'workflow.team.enabled')],
  ['workflow.team: {}', textOf(refusal(BASE_CODES.config_key_dotted, { key: 'workflow.team' }))],
  ['enabled: true', unknown('enabled', 'workflow.team.enabled')],
  ['max_teammates: 3', unknown('max_teammates', 'workflow.team.max_teammates')],
  ['workflow: { execution_mod: auto }', unknown('workflow.execution_mod', 'workflow.execution_mode')],
  [
    'workflow: { execution_mode: teams }',
    'workflow.execution_mode: expected one of auto, subagent, team, got "teams". Did you mean team?',
  ],
  [
    'workflow: { execution_mode: parallel }',
    'workflow.execution_mode: expected one of auto, subagent, team, got "parallel".',
  ],
  ['workflow: { execution_mode: null }', 'workflow.execution_mode: expected one of auto, subagent, team, got null.'],
  ['workflow: { max_teammates: 3 }', unknown('workflow.max_teammates', 'workflow.team.max_teammates')],
  ['workflow: { enabled: true }', unknown('workflow.enabled', 'workflow.team.enabled')],
  [
    'workflow: { hooks: {}, team: { hooks: {} } }',
    'workflow.hooks: expected it once, got it in workflow.team as well.',
  ],
  [
    'workflow: { hooks: { task_complete: {} } }',
    unknown('workflow.hooks.task_complete', 'workflow.hooks.task_completed'),
  ],
  ['quality: { coverage_target: 101 }', 'quality.coverage_target: expected a number of at most 100, got 101.'],
  ['quality: { coverage_target: -1 }', 'quality.coverage_target: expected a number of at least 0, got -1.'],
  ['quality: { coverage_target: 80% }', 'quality.coverage_target: expected a number, got "80%".'],
  ['quality: { commands: { test: x } }', unknown('quality.commands.test', 'quality.commands.tests')],
  ['quality: { commands: { tests: " " } }', 'quality.commands.tests: expected a shell command, got " ".'],
  [
    'quality: { commands: { tests: [npm, test] } }',
    'quality.commands.tests: expected text or null, got ["npm","test"].',
  ],
  [
    'quality: { coverage_report: /tmp/x }',
    'quality.coverage_report: expected a path within the project, from its root, got "/tmp/x".',
  ],
  [
    'quality: { coverage_report: ../x }',
    'quality.coverage_report: expected a path within the project, from its root, got "../x".',
  ],
  [
    'quality: { coverage_report: "" }',
    'quality.coverage_report: expected a path within the project, from its root, got "".',
  ],
  ['quality: { performance: {} }', 'quality.performance: expected a list, got {}.'],
  [
    'quality: { performance: [{ name: b }] }',
    'quality.performance.0.command: expected text, got nothing.',
    'quality.performance.0.budget_ms: expected a number, got nothing.',
  ],
  [
    'quality: { performance: [{ name: b, command: c, budget_ms: 0 }] }',
    'quality.performance.0.budget_ms: expected a number of at least 1, got 0.',
  ],
  [
    'quality: { performance: [{ name: b, command: c, budget: 9 }] }',
    'quality.performance.0.budget_ms: expected a number, got nothing.',
    unknown('quality.performance.0.budget', 'quality.performance.0.budget_ms'),
  ],
  [
    'quality: { performance: [{ name: b, command: c, budget_ms: 1 }, { name: b, command: d, budget_ms: 1 }] }',
    'quality.performance.1.name: expected each name once, got "b" again.',
  ],
  ['quality: { timeout_ms: 600000 }', 'quality.timeout_ms: expected a number of at most 590000, got 600000.'],
  ['quality: { tests: npm test }', unknown('quality.tests', 'quality.commands.tests')],
  ['tests: npm test', unknown('tests', 'quality.commands.tests')],
  ['a: 1\na: 2\nb: 1\nb: 2', 'line 2, column 1: Map keys must be unique', 'line 4, column 1: Map keys must be unique'],
  [
    'workflow:\n  team:\n    enabled: true\n   x: 1',
    'line 4, column 1: All mapping items must start at the same column',
  ],
  ['workflow:\n\tteam: {}', 'line 2, column 1: Tabs are not allowed as indentation'],
  ['workflow: {', 'line 1, column 12: Flow map in block collection must be sufficiently indented and end with a }'],
  [
    '---\nquality: {}\n---\nquality: {}',
    'line 3, column 1: expected one document, got another one after a line of ---',
  ],
  [
    'workflow:\n  team:\n    file_ownership:\n      tester:\n        - **/*.test.*\n        - "x"\n      shared:\n        - *y',
    'line 5, column 11: **/*.test.* is an alias of nothing (a text that begins with * needs quotes)',
    'line 8, column 11: *y is an alias of nothing (a text that begins with * needs quotes)',
  ],
  ['workflow: &w\n  team: *w', 'line 2, column 9: *w is an alias of what it stands in'],
  ['workflow: !!set { team }', 'line 1, column 11: Unresolved tag: tag:yaml.org,2002:set'],
  ['__proto__: {}', 'line 1, column 1: __proto__ is no name of a key'],
  ['workflow: { ? [a] : 1 }', unknownOf('workflow.[ a ]', 'execution_mode', 'team', 'hooks')],
  ['<<: 1', unknownOf('<<', 'workflow', 'quality')],
  ['quality: !x {}', 'line 1, column 10: Unresolved tag: !x'],
];

/** Below workflow.team. */
const TEAM: Cases = [
  ['enabled: yes', 'enabled: expected true or false, got "yes".'],
  ['enabled: 1', 'enabled: expected true or false, got 1.'],
  ['enabeld: true', unknown('enabeld', 'workflow.team.enabled')],
  ['max_teammates: 0', 'max_teammates: expected a number of at least 1, got 0.'],
  ['max_teammates: 51', 'max_teammates: expected a number of at most 50, got 51.'],
  ['max_teammates: 2.5', 'max_teammates: expected a whole number, got 2.5.'],
  ['max_teammates: "10"', 'max_teammates: expected a number, got "10".'],
  ['max_teammates: .nan', 'max_teammates: expected a number, got NaN.'],
  ['max_teammates: .inf', 'max_teammates: expected a number, got Infinity.'],
  ['default_model: ""', 'default_model: expected the name of a model, or inherit, got "".'],
  ['default_model: --resume', 'default_model: expected the name of a model, or inherit, got "--resume".'],
  ['default_model: two words', 'default_model: expected the name of a model, or inherit, got "two words".'],
  ['default_model: 4', 'default_model: expected text, got 4.'],
  ['require_plan_approval: never', 'require_plan_approval: expected true or false, got "never".'],
  ['teammate_display: tmx', 'teammate_display: expected one of auto, tmux, inline, got "tmx". Did you mean tmux?'],
  [
    'auto_selection: { min_domains: 3 }',
    unknown('auto_selection.min_domains', 'workflow.team.auto_selection.min_domains_for_team'),
  ],
  [
    'auto_selection: { min_complexity_score: 11 }',
    'auto_selection.min_complexity_score: expected a number of at most 10, got 11.',
  ],
  [
    'auto_selection: { min_files_for_team: 0 }',
    'auto_selection.min_files_for_team: expected a number of at least 1, got 0.',
  ],
  ['min_files_for_team: 5', unknown('min_files_for_team', 'workflow.team.auto_selection.min_files_for_team')],
  ['file_ownership: []', 'file_ownership: expected a map of keys, got [].'],
  ['patterns: []', 'patterns: expected a map of keys, got [].'],
  [
    'patterns: { p: { role: [tester] } }',
    'patterns.p.roles: expected a list, got nothing.',
    unknown('patterns.p.role', 'workflow.team.patterns.p.roles'),
  ],
  [
    'patterns: { mine: { role: [tester] }, yours: { roles: [tester, tesster] } }',
    'patterns.mine.roles: expected a list, got nothing.',
    unknown('patterns.mine.role', 'workflow.team.patterns.mine.roles'),
    `patterns.yours.roles.1: expected a known role or one that file_ownership names, got "tesster". Did you mean tester?`,
  ],
  [
    'file_ownership: { team-tester: [/tests/**, /e2e/**], team-fronted-dev: [web/**] }',
    `file_ownership.team-tester.0: ${GLOB}, got "/tests/**".`,
    `file_ownership.team-tester.1: ${GLOB}, got "/e2e/**".`,
    'file_ownership.team-fronted-dev: expected shared, a known role or one that a pattern names, got "team-fronted-dev". Did you mean team-frontend-dev?',
  ],
  [
    'max_teammates: 2, patterns: { p: { roles: [tester, designer, quality] } }',
    'patterns.p.roles: expected at most 2 roles (workflow.team.max_teammates), got 3.',
  ],
  [
    'file_ownership: { Data Dev: [a] }, patterns: { p: { roles: [Data Dev] } }',
    noName('file_ownership.Data Dev', 'Data Dev'),
    noName('patterns.p.roles.0', 'Data Dev'),
  ],
  [
    'file_ownership: { backendDev: [a] }, patterns: { p: { roles: [backendDev] } }',
    noName('file_ownership.backendDev', 'backendDev', { near: 'backend-dev' }),
    noName('patterns.p.roles.0', 'backendDev', { near: 'backend-dev' }),
  ],
  [
    'file_ownership: { data-dev: [/a] }, patterns: { p: { roles: [data-dve] } }',
    `file_ownership.data-dev.0: ${GLOB}, got "/a".`,
    'patterns.p.roles.0: expected a known role or one that file_ownership names, got "data-dve". Did you mean data-dev?',
  ],
  [
    'file_ownership: { data-dev: [a] }, patterns: { p: { roles: [data-dev, 7] } }',
    'patterns.p.roles.1: expected text, got 7.',
  ],
  [
    'max_teammates: lots, patterns: { p: { roles: [data-dev] } }',
    'max_teammates: expected a number, got "lots".',
    `patterns.p.roles.0: expected a known role or one that file_ownership names, got "data-dev". Known are ${ROLES}.`,
  ],
  ['hooks: { teammate_idel: {} }', unknown('hooks.teammate_idel', 'workflow.team.hooks.teammate_idle')],
  ['hooks: { teammate_idle: false }', 'hooks.teammate_idle: expected a map of keys, got false.'],
  [
    'hooks: { task_completed: { validate_work: true } }',
    unknownOf('hooks.task_completed.validate_work', 'enabled', 'require_quality_check'),
  ],
  ['teammate_idle: {}', unknown('teammate_idle', 'workflow.team.hooks.teammate_idle')],
  ['fallback: { log_level: warning }', 'fallback.log_level: expected one of debug, info, warn, error, got "warning".'],
  [
    'budget: { teammate: { soft_usd: 2, hard_usd: 1 } }',
    'budget.teammate.soft_usd: expected no more than hard_usd (1), got 2.',
  ],
  ['budget: { task: { hard_usd: 0 } }', 'budget.task.hard_usd: expected a number of more than 0, got 0.'],
  ['fallback: true', 'fallback: expected a map of keys, got true.'],
  ['fallback: { preserve: true }', unknown('fallback.preserve', 'workflow.team.fallback.preserve_progress')],
];

/** Below workflow.team.file_ownership. */
const OWNERSHIP: Cases = [
  ['backend-dev: src/api/**', 'backend-dev: expected a list, got "src/api/**".'],
  ['backend-dev: [""]', `backend-dev.0: ${GLOB}, got "".`],
  ['backend-dev: [src/a, /src/api/**]', `backend-dev.1: ${GLOB}, got "/src/api/**".`],
  ['backend-dev: ["../x/**"]', `backend-dev.0: ${GLOB}, got "../x/**".`],
  ['backend-dev: ["src/../x"]', `backend-dev.0: ${GLOB}, got "src/../x".`],
  ['backend-dev: [7]', 'backend-dev.0: expected text, got 7.'],
  ['backend-dev: [null]', 'backend-dev.0: expected text, got null.'],
  ['backend-dev: ["!src/**"]', `backend-dev.0: ${GLOB}, got "!src/**".`],
  ['backend-dev: [src/api/]', `backend-dev.0: ${GLOB}, got "src/api/".`],
  ['backend-dev: ["src/[api/**"]', 'backend-dev.0: expected a glob whose brackets are closed, got "src/[api/**".'],
  [
    'backend-dve: [a]',
    'backend-dve: expected shared, a known role or one that a pattern names, got "backend-dve". Did you mean backend-dev?',
  ],
  [
    'team-backend-dve: [a]',
    'team-backend-dve: expected shared, a known role or one that a pattern names, got "team-backend-dve". Did you mean team-backend-dev?',
  ],
  [
    'backendDev: [a]',
    'backendDev: expected shared, a known role or one that a pattern names, got "backendDev". Did you mean backend-dev?',
  ],
  [
    'sharde: [a]',
    'sharde: expected shared, a known role or one that a pattern names, got "sharde". Did you mean shared?',
  ],
  [
    'accountant: [a]',
    `accountant: expected shared, a known role or one that a pattern names, got "accountant". Known are shared, ${ROLES}.`,
  ],
  ['team-lead: [a]', 'team-lead: expected a teammate, got "team-lead", which is the name of something else.'],
  ['all: [a]', 'all: expected a teammate, got "all", which is the name of something else.'],
  ['tester: [a], team-tester: [b]', 'team-tester: expected each owner once, got tester as well.'],
  ['tester: [a/**], designer: [b, ./a/**]', 'designer.1: expected each glob once, got "a/**", which tester has.'],
  ['tester: [a, a]', 'tester.1: expected each glob once, got "a", which tester has.'],
  [
    '"te\\nst": [a]',
    'te\\nst: expected shared, a known role or one that a pattern names, got "te\\nst". Did you mean tester?',
  ],
  ['data-dev: [/a] }, patterns: { p: { roles: [data-dev] }', `data-dev.0: ${GLOB}, got "/a".`],
];

/** Below workflow.team.patterns. */
const PATTERNS: Cases = [
  ['p: [tester]', 'p: expected a map of keys, got ["tester"].'],
  ['p: {}', 'p.roles: expected a list, got nothing.'],
  ['p: { roles: [] }', 'p.roles: expected something, not an empty one, got [].'],
  ['p: { roles: tester }', 'p.roles: expected a list, got "tester".'],
  ['p: { roles: [1] }', 'p.roles.0: expected text, got 1.'],
  ['p: { roles: [tester, team-tester] }', 'p.roles.1: expected each role once, got "team-tester" again.'],
  [
    'p: { roles: [testre] }',
    'p.roles.0: expected a known role or one that file_ownership names, got "testre". Did you mean tester?',
  ],
  [
    'p: { roles: [team-testre] }',
    'p.roles.0: expected a known role or one that file_ownership names, got "team-testre". Did you mean team-tester?',
  ],
  [
    'p: { roles: [data-dev] }',
    `p.roles.0: expected a known role or one that file_ownership names, got "data-dev". Known are ${ROLES}.`,
  ],
  ['p: { roles: [shared] }', 'p.roles.0: expected a teammate, got "shared", which is the name of something else.'],
  [
    'p: { roles: [team-lead] }',
    'p.roles.0: expected a teammate, got "team-lead", which is the name of something else.',
  ],
  [
    '"p q": { roles: [tester] }',
    wordsOf(BASE_CODES.config_value, {
      key: 'p q',
      expected: 'the name of a pattern: a letter, then letters, digits, _ and -, at most 64 characters',
      got: '"p q"',
    }),
  ],
];

function problems(yaml: string): string[] {
  try {
    parseTeamSettings(yaml, '/p/workflow.yaml');
  } catch (error) {
    assert.ok(error instanceof ToolError && error.kind === 'config', String(error));
    const [first = '', ...lines] = error.message.split('\n');
    const many = lines.length === 1 ? 'a problem' : `${lines.length} problems`;
    assert.equal(first, `/p/workflow.yaml has ${many}:`);
    return lines.map((line) => line.replace(/^ {2}(line \d+: )?/, ''));
  }
  return [];
}

function check(cases: Cases, prefix: string, around: (yaml: string) => string): void {
  for (const [yaml, ...lines] of cases)
    test(`refused: ${around(yaml)}`, () => {
      assert.deepEqual(
        problems(around(yaml)),
        lines.map((line) => prefix + line),
      );
    });
}

check(FILES, '', (yaml) => yaml);
check(TEAM, 'workflow.team.', (yaml) => `workflow: { team: { ${yaml} } }`);
check(OWNERSHIP, 'workflow.team.file_ownership.', (yaml) => `workflow: { team: { file_ownership: { ${yaml} } } }`);
check(PATTERNS, 'workflow.team.patterns.', (yaml) => `workflow: { team: { patterns: { ${yaml} } } }`);

test('what is nested without end is refused before it can end the process', () => {
  const words = ['expected at most 100 levels within each other, got more'];
  const indented = Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
  for (const yaml of [
    '['.repeat(5000),
    '- '.repeat(5000),
    '? '.repeat(5000),
    '{a: '.repeat(5000),
    '["]", '.repeat(5000),
    indented,
  ])
    assert.deepEqual(problems(yaml), words, yaml.slice(0, 20));
});

test('everything that is wrong is said at once, in the order of the keys, then what does not hold together', () => {
  const yaml = `
workflow:
  execution_mode: teams
  hooks: { task_completed: { enabled: 1 } }
  team:
    max_teammates: 2
    hooks: {}
    file_ownership:
      tester: [tests/**, /x]
      data-dev: [/data]
      accountant: []
      "not\\na name": []
    patterns:
      small: { roles: [data-dev, tester, quality] }
      bare: {}
      odd: { roles: [tester, nobody] }
      numbered: { roles: [tester, 7] }
quality:
  performance:
    - { name: a, command: "", budget_ms: 1 }
  timeout: 3
colour: red
`;
  assert.deepEqual(problems(yaml), [
    'workflow.execution_mode: expected one of auto, subagent, team, got "teams". Did you mean team?',
    `workflow.team.file_ownership.tester.1: ${GLOB}, got "/x".`,
    `workflow.team.file_ownership.data-dev.0: ${GLOB}, got "/data".`,
    'workflow.team.patterns.bare.roles: expected a list, got nothing.',
    'workflow.team.patterns.numbered.roles.1: expected text, got 7.',
    'workflow.hooks.task_completed.enabled: expected true or false, got 1.',
    'quality.performance.0.command: expected a shell command, got "".',
    wordsOf(BASE_CODES.config_unknown_key, { key: 'quality.timeout', near: 'quality.timeout_ms' }),
    wordsOf(BASE_CODES.config_unknown_key, { key: 'colour', known: ['workflow', 'quality'] }),
    `workflow.team.file_ownership.accountant: expected shared, a known role or one that a pattern names, got "accountant". Known are shared, ${ROLES}.`,
    `workflow.team.file_ownership.not\\na name: expected shared, a known role or one that a pattern names, got "not\\na name". Known are shared, ${ROLES}.`,
    'workflow.team.patterns.small.roles: expected at most 2 roles (workflow.team.max_teammates), got 3.',
    `workflow.team.patterns.odd.roles.1: expected a known role or one that file_ownership names, got "nobody". Known are ${ROLES}, data-dev, accountant.`,
    'workflow.hooks: expected it once, got it in workflow.team as well.',
  ]);
});

test('a problem is named with the line of its key, or of the item of a list', () => {
  const text =
    'workflow:\n  # A comment.\n  team:\n    enabeld: true\nquality:\n  required:\n    - tests\n    - nothing\n';
  assert.throws(() => parseTeamSettings(text, '/p/workflow.yaml'), {
    message: /^\S+ has 2 problems:\n {2}line 4: workflow\.team\.enabeld: .*\n {2}line 8: quality\.required\.1: /,
  });
});
