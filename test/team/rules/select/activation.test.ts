// Over 400 lines: one table of modes, and the property that holds for each row.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { BASE_CODES } from '../../../../src/base/rules/base-codes.ts';
import { type Code, refusal, textOf, type Values } from '../../../../src/base/rules/codes.ts';
import { NO_FLAGS } from '../../../../src/claude-code/rules/arguments.ts';
import { LEAD_CODES } from '../../../../src/team/rules/codes/lead-codes.ts';
import { LOG_CODES } from '../../../../src/team/rules/codes/log-codes.ts';
import { FALLBACK_TRIGGERS, type FallbackTrigger, TEAMS_VARIABLE } from '../../../../src/team/rules/fallback.ts';
import {
  type DecisionInput,
  decideMode,
  fallBack,
  prerequisitesOf,
} from '../../../../src/team/rules/select/activation.ts';
import type { CommandName, Flags } from '../../../../src/team/rules/select/command.ts';
import { type Selection, select } from '../../../../src/team/rules/select/selection.ts';
import type { TeamSettings } from '../../../../src/team/rules/settings.ts';
import { isRefusal, wordsOf } from '../../../support/codes.ts';
import { teamSettings } from '../../../support/team-settings.ts';

/** Nothing that a selection says but what the mode depends on. */
function selection(
  met: boolean,
  size: Selection['size'] = 'medium',
  critical: Selection['critical'] = null,
): Selection {
  return {
    ...select({ text: '', files: [], settings: teamSettings() }),
    figures: {
      domains: { value: null, source: 'unread' },
      files: { value: size === 'solo' ? 3 : size === 'medium' ? 12 : size === 'large' ? 30 : null, source: 'plan.md' },
      complexity: { value: null, source: 'unread' },
    },
    size,
    critical,
    pattern: critical === null && size !== 'large' ? 'implementation' : 'quality_gate',
    roles: ['backend-dev', 'tester'],
    thresholds: [{ what: 'domains', value: met ? 3 : 1, source: 'plan.md', needed: 3 }],
  };
}

function input(changed: Partial<DecisionInput> = {}): DecisionInput {
  return {
    command: 'run',
    flags: NO_FLAGS,
    settings: teamSettings(),
    hostVersion: '2.1.331 (Claude Code)',
    environment: { value: '1', source: 'shell' },
    selection: selection(true),
    ...changed,
  };
}

const team: Flags = { ...NO_FLAGS, wish: 'team' };
const solo: Flags = { ...NO_FLAGS, wish: 'solo' };
const force: Flags = { ...NO_FLAGS, force: true };
const off = teamSettings({ enabled: false });
const UNKNOWN_KEY = refusal(BASE_CODES.config_unknown_key, { key: 'workflow.team.enabeld' });
const BROKEN = refusal(LOG_CODES.settings_defaults_hold, {
  said: wordsOf(BASE_CODES.settings_invalid, { path: 'workflow.yaml', amount: 'a problem', problems: [UNKNOWN_KEY] }),
});
/** Its problem in one line, without what holds instead. */
const BROKEN_LINE = `workflow.yaml has a problem: ${textOf(UNKNOWN_KEY)}`;
const unset = { value: undefined, source: null } as const;
const noFallback = (settings: TeamSettings) =>
  teamSettings({ ...settings, fallback: { ...settings.fallback, enabled: false } });
const CRITICAL = { feature: 'payment', source: 'said' } as const;

type Expected = {
  readonly mode: string;
  readonly pattern?: string;
  readonly trigger?: FallbackTrigger;
  readonly says?: RegExp;
  /** The refusal, with some of its values. */
  readonly refusal?: readonly [Code, Values];
};

const CASES: readonly [string, Partial<DecisionInput>, Expected][] = [
  [
    'a threshold that is met',
    {},
    { mode: 'team', pattern: 'implementation', says: /domains reaches the threshold: domains 3 of 3/ },
  ],
  [
    'no threshold met',
    { selection: selection(false) },
    { mode: 'subagent', says: /no threshold is met: domains 1 of 3/ },
  ],
  [
    'a threshold met where the number of files is unknown',
    { selection: selection(true, null) },
    { mode: 'team', pattern: 'implementation' },
  ],
  ['nothing to select by', { selection: null }, { mode: 'subagent', says: /nothing to select by/ }],
  [
    'a threshold met by too few files',
    { selection: selection(true, 'solo') },
    { mode: 'subagent', says: /3 files are too few/ },
  ],
  [
    'the same where it is critical',
    { selection: selection(true, 'solo', CRITICAL) },
    { mode: 'team', pattern: 'quality_gate' },
  ],
  ['critical below every threshold', { selection: selection(false, 'solo', CRITICAL) }, { mode: 'subagent' }],
  [
    '--team below every threshold',
    { flags: team, selection: selection(false, 'solo') },
    { mode: 'team', pattern: 'implementation', says: /^--team$/ },
  ],
  ['--team with nothing to select by', { flags: team, selection: null }, { mode: 'team', pattern: 'implementation' }],
  ['--solo above every threshold', { flags: solo }, { mode: 'subagent', says: /^--solo$/ }],
  [
    '--solo and --force',
    { flags: { ...solo, force: true } },
    { mode: 'subagent', says: /--solo, which comes before --force/ },
  ],
  [
    '--solo and --pattern',
    { flags: { ...solo, pattern: 'quality_gate' } },
    { mode: 'subagent', says: /comes before --pattern/ },
  ],
  [
    '--solo over execution_mode',
    { flags: solo, settings: teamSettings({ executionMode: 'team' }) },
    { mode: 'subagent' },
  ],
  [
    '--pattern names a team',
    { flags: { ...NO_FLAGS, pattern: 'design_implementation' }, selection: selection(false) },
    { mode: 'team', pattern: 'design_implementation' },
  ],
  [
    '--pattern over the selection',
    { flags: { ...team, pattern: 'implementation' }, selection: selection(true, 'large') },
    { mode: 'team', pattern: 'implementation' },
  ],
  [
    'execution_mode team',
    { settings: teamSettings({ executionMode: 'team' }), selection: selection(false, 'solo') },
    { mode: 'team', says: /execution_mode is team/ },
  ],
  [
    'execution_mode subagent',
    { settings: teamSettings({ executionMode: 'subagent' }) },
    { mode: 'subagent', says: /execution_mode is subagent/ },
  ],
  [
    '--team over execution_mode',
    { flags: team, settings: teamSettings({ executionMode: 'subagent' }) },
    { mode: 'team' },
  ],
  [
    '--force over execution_mode',
    { flags: force, settings: teamSettings({ executionMode: 'subagent' }) },
    { mode: 'team' },
  ],

  [
    '--team, the variable unset',
    { flags: team, environment: unset },
    { mode: 'subagent', trigger: 'variable_unset', says: /got nothing; mend: set "env"/ },
  ],
  [
    '--team, the variable "true"',
    { flags: team, environment: { value: 'true', source: 'shell' } },
    { mode: 'subagent', trigger: 'variable_unset', says: /got "true" from the shell; mend: export/ },
  ],
  [
    '--team, the variable "1 "',
    { flags: team, environment: { value: '1 ', source: { file: '.claude/settings.json' } } },
    {
      mode: 'subagent',
      trigger: 'variable_unset',
      says: /got "1 " from \.claude\/settings\.json; mend: set .* in \.claude\/settings\.json$/,
    },
  ],
  [
    '--team, the variable "0" in a host whose settings say otherwise',
    { flags: team, environment: { value: '0', source: 'host' } },
    { mode: 'subagent', trigger: 'variable_unset', says: /got "0" from the host; mend: restart it/ },
  ],
  [
    '--team, a file that cannot be used and never could',
    { flags: team, settings: off, problem: BROKEN },
    {
      mode: 'refused',
      trigger: 'settings_broken',
      refusal: [LEAD_CODES.settings_block_flag, { problem: BROKEN_LINE }],
    },
  ],
  [
    '--team, a file that cannot be used and could before',
    { flags: team, problem: BROKEN },
    {
      mode: 'refused',
      trigger: 'settings_broken',
      refusal: [LEAD_CODES.settings_block_flag, { problem: BROKEN_LINE }],
    },
  ],
  [
    '--solo, a file that cannot be used',
    { flags: solo, settings: off, problem: BROKEN },
    { mode: 'subagent', says: /^workflow\.yaml .*: workflow\.team\.enabeld/ },
  ],
  [
    '--team, not enabled',
    { flags: team, settings: off },
    { mode: 'subagent', trigger: 'not_enabled', says: /mend: set workflow.team.enabled: true/ },
  ],
  [
    '--team, an old host',
    { flags: team, hostVersion: '2.1.31' },
    { mode: 'subagent', trigger: 'host_version', says: /got 2.1.31; mend/ },
  ],
  [
    '--team, an unknown host',
    { flags: team, hostVersion: null },
    { mode: 'subagent', trigger: 'host_version', says: /not known/ },
  ],
  [
    '--team, nothing holds and no fallback',
    { flags: team, settings: noFallback(off), environment: unset },
    {
      mode: 'refused',
      trigger: 'variable_unset',
      refusal: [LEAD_CODES.fallback_disabled, { trigger: 'variable_unset' }],
    },
  ],
  ['thresholds, not enabled, no fallback', { settings: noFallback(off) }, { mode: 'subagent', trigger: 'not_enabled' }],
  [
    'execution_mode team, not enabled, no fallback',
    { settings: noFallback(teamSettings({ enabled: false, executionMode: 'team' })) },
    { mode: 'refused', trigger: 'not_enabled' },
  ],
  [
    '--force, neither variable nor enabled',
    { flags: force, settings: off, environment: unset, selection: null },
    { mode: 'team', pattern: 'implementation', says: /--force goes without/ },
  ],
  ['--force, an old host', { flags: force, hostVersion: '2.0.0' }, { mode: 'subagent', trigger: 'host_version' }],
  [
    '--force, an old host, no fallback',
    { flags: force, hostVersion: '2.0.0', settings: noFallback(off) },
    { mode: 'refused', trigger: 'host_version' },
  ],
  [
    '--solo, nothing holds',
    { flags: solo, settings: off, hostVersion: null, environment: unset },
    { mode: 'subagent' },
  ],

  ['plan', { command: 'plan' }, { mode: 'team', pattern: 'plan_research' }],
  ['build-fix without a flag', { command: 'build-fix' }, { mode: 'subagent', says: /--team for three/ }],
  [
    'build-fix --team',
    { command: 'build-fix', flags: team, selection: null },
    { mode: 'team', pattern: 'investigation' },
  ],
  ['sync', { command: 'sync', settings: teamSettings({ executionMode: 'team' }) }, { mode: 'subagent' }],
  ['team-restart', { command: 'team-restart', selection: null }, { mode: 'team' }],
  [
    'team-restart, not enabled',
    { command: 'team-restart', settings: off },
    { mode: 'subagent', trigger: 'not_enabled' },
  ],

  [
    'a pattern without roles',
    { flags: { ...team, pattern: 'mine' }, settings: teamSettings({ patterns: { mine: [] } }) },
    { mode: 'refused', refusal: [LEAD_CODES.pattern_empty, { pattern: 'mine' }] },
  ],
  [
    'a pattern of those who only read, to build with',
    { flags: { ...team, pattern: 'plan_research' } },
    {
      mode: 'refused',
      refusal: [
        LEAD_CODES.pattern_read_only,
        { pattern: 'plan_research', roles: ['researcher', 'analyst', 'architect'] },
      ],
    },
  ],
  [
    'a pattern with one role of the project’s own, who writes',
    {
      flags: { ...team, pattern: 'mine' },
      settings: teamSettings({ patterns: { mine: ['researcher', 'translator'] } }),
    },
    { mode: 'team', pattern: 'mine' },
  ],
  [
    'a pattern nobody knows',
    { flags: { ...team, pattern: 'theirs' } },
    { mode: 'refused', refusal: [LEAD_CODES.pattern_empty, { pattern: 'theirs' }] },
  ],
  [
    'a redefined pattern',
    { flags: { ...team, pattern: 'quality_gate' }, settings: teamSettings({ patterns: { quality_gate: ['tester'] } }) },
    { mode: 'team', pattern: 'quality_gate', says: /quality_gate: tester$/ },
  ],
  [
    'more roles than teammates',
    { flags: { ...team, pattern: 'quality_gate' }, settings: teamSettings({ maxTeammates: 2 }) },
    { mode: 'team', pattern: 'quality_gate', says: /without tester, quality: max_teammates is 2/ },
  ],
  [
    'planning by fewer: those whose results make the SPEC',
    { command: 'plan', flags: team, settings: teamSettings({ maxTeammates: 2 }) },
    { mode: 'team', pattern: 'plan_research', says: /without researcher: max_teammates is 2/ },
  ],
  [
    'planning by one, asked for',
    { command: 'plan', flags: team, settings: teamSettings({ maxTeammates: 1 }) },
    { mode: 'refused', refusal: [LEAD_CODES.planners_cut, { planners: ['analyst', 'architect'], max: 1 }] },
  ],
  [
    'no teammate at all',
    { flags: team, settings: teamSettings({ maxTeammates: 0 }) },
    { mode: 'refused', refusal: [LEAD_CODES.pattern_cut, { pattern: 'implementation', max: 0 }] },
  ],
  [
    'planning by one, by thresholds',
    { command: 'plan', settings: teamSettings({ maxTeammates: 1 }), selection: selection(true, 'medium') },
    { mode: 'subagent', says: /no team: .*max_teammates is 1\.$/ },
  ],
];

for (const [name, changed, expected] of CASES) {
  test(`mode: ${name}`, () => {
    const decision = decideMode(input(changed));
    assert.equal(decision.mode, expected.mode, decision.reasons.join('\n'));
    assert.equal(decision.pattern, expected.pattern ?? decision.pattern);
    assert.equal(decision.trigger, expected.trigger ?? null);
    assert.equal(decision.mode === 'refused', expected.mode === 'refused');
    if (decision.mode === 'refused' && expected.refusal !== undefined) isRefusal(decision.refusal, ...expected.refusal);
    if (expected.says !== undefined)
      assert.ok(
        decision.reasons.some((reason) => expected.says?.test(reason)),
        decision.reasons.join('\n'),
      );
  });
}

test('the prerequisites are three, each with what mends it', () => {
  const all = prerequisitesOf(off, null, unset);
  assert.deepEqual(
    all.map(({ name, holds }) => [name, holds]),
    [
      ['host version', false],
      ['variable', false],
      ['enabled', false],
    ],
  );
  assert.ok(all.every((one) => !one.holds && one.mend !== ''));
  assert.ok(all.some((one) => one.why.includes(TEAMS_VARIABLE)));
  const shell = prerequisitesOf(teamSettings(), '2.1.32 (Claude Code)', { value: '1', source: 'shell' });
  assert.deepEqual(shell, [
    { name: 'host version', holds: true, why: '2.1.32 (Claude Code), at least 2.1.32' },
    { name: 'variable', holds: true, why: `${TEAMS_VARIABLE} is 1 from the shell` },
    { name: 'enabled', holds: true, why: 'workflow.team.enabled is true' },
  ]);
});

test('every trigger ends in sub-agents, or in a refusal where there is no fallback, and is named', () => {
  const triggers: readonly FallbackTrigger[] = [
    'variable_unset',
    'not_enabled',
    'settings_broken',
    'team_create_failed',
    'spawn_failed',
    'network_error',
    'host_version',
  ];
  assert.deepEqual(Object.keys(FALLBACK_TRIGGERS), triggers);
  for (const trigger of triggers) {
    for (const [settings, mode] of [
      [teamSettings(), 'subagent'],
      [noFallback(teamSettings()), 'refused'],
    ] as const) {
      const decision = fallBack(trigger, { causes: ['TeamCreate: no such thing'] }, settings);
      assert.equal(decision.mode, mode);
      assert.equal(decision.trigger, trigger);
      if (decision.mode === 'refused')
        isRefusal(decision.refusal, LEAD_CODES.fallback_disabled, { trigger, why: FALLBACK_TRIGGERS[trigger] });
      else assert.ok(decision.reasons.at(-1)?.includes(FALLBACK_TRIGGERS[trigger]));
    }
  }
});

test('every input has an outcome that fits together', () => {
  const inputs = fc.record({
    command: fc.constantFrom<CommandName>('plan', 'run', 'sync', 'build-fix', 'team-restart'),
    flags: fc.record({
      wish: fc.constantFrom('team', 'solo', null),
      force: fc.boolean(),
      pattern: fc.option(fc.oneof(fc.string(), fc.constantFrom('quality_gate', 'constructor', '__proto__'))),
    }),
    settings: fc
      .record({
        executionMode: fc.constantFrom('auto', 'subagent', 'team'),
        enabled: fc.boolean(),
        maxTeammates: fc.integer({ min: 0, max: 10 }),
        fallback: fc.record({ enabled: fc.boolean(), logLevel: fc.constant('warn'), preserveProgress: fc.boolean() }),
        patterns: fc.dictionary(fc.string(), fc.array(fc.string())),
      })
      .map(teamSettings),
    hostVersion: fc.option(fc.oneof(fc.string(), fc.constantFrom('2.1.32', '2.1.31'))),
    environment: fc.record({
      value: fc.option(fc.oneof(fc.string(), fc.constant('1')), { nil: undefined }),
      source: fc.constantFrom('shell' as const, 'host' as const, { file: '.claude/settings.json' }, null),
    }),
    selection: fc.option(
      fc
        .tuple(fc.boolean(), fc.constantFrom(null, 'solo', 'medium', 'large'), fc.constantFrom(null, CRITICAL))
        .map(([met, size, critical]) => selection(met, size, critical)),
    ),
  });
  fc.assert(
    fc.property(inputs, (given) => {
      const decision = decideMode(given);
      assert.ok(decision.reasons.length > 0 && decision.reasons.every((reason) => reason !== ''));
      assert.equal(decision.prerequisites.length, 3);
      const host = decision.prerequisites.find((one) => one.name === 'host version');
      if (decision.mode === 'team') {
        assert.equal(host?.holds, true, 'no team on a host that has none');
        assert.notEqual(given.flags.wish === 'solo' && given.command !== 'team-restart', true);
        assert.ok(decision.roles.length > 0 || given.command === 'team-restart');
        assert.ok(given.flags.force || decision.prerequisites.every((one) => one.holds));
      } else assert.deepEqual(decision.roles, []);
      assert.deepEqual(decideMode(given), decision);
    }),
    { numRuns: 500 },
  );
});

test('a decision says each figure with its source, why that pattern, and who asked', () => {
  const files = ['src/api/users.ts', 'src/pages/index.tsx', 'prisma/schema.prisma'];
  const found = selectOf(`People log in with a password: ${files.join(', ')}.`, files);
  const { reasons } = decideMode(input({ selection: found }));
  assert.match(
    reasons.join('\n'),
    /^domains reaches the threshold: domains 3 of 3 \(the paths in the text: backend, frontend, database\), files 3 of 10 \(the paths in the text: .*\), complexity 5 of 7 \(1 every piece of work \+ 2 domains: 3 \+ 2 critical features: 1\)$/m,
  );
  assert.match(reasons.join('\n'), /^pattern quality_gate: .* \(authentication is critical\)$/m);
  const served = decideMode(input({ flags: team, environment: { value: '1', source: 'workflow' } }));
  assert.equal(served.reasons[0], 'tool.mode: team in WORKFLOW.md');
});

test('a figure that is not known reaches no threshold, however low it is', () => {
  const settings = teamSettings({ autoSelection: { minDomains: 1, minFiles: 1, minComplexity: 1 } });
  const unknown = select({ text: 'Payments by credit card: the API, a form, a table.', files: [], settings });
  const { mode, reasons } = decideMode(input({ settings, selection: unknown }));
  assert.equal(mode, 'subagent');
  assert.match(
    reasons[0] ?? '',
    /^no threshold is met: domains unknown of 1 .*, files unknown of 1 .*, complexity unknown of 1 /,
  );
});

function selectOf(text: string, files: readonly string[]): Selection {
  return select({ text, files, settings: teamSettings() });
}
