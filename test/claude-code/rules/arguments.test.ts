import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { textOf } from '../../../src/base/rules/codes.ts';
import {
  COMMANDS,
  NO_FLAGS,
  parseCommand,
  parseFlags,
  wordProblems,
} from '../../../src/claude-code/rules/arguments.ts';
import type { Flags } from '../../../src/team/rules/select/command.ts';

type Parsed = readonly [command: string, words: string, flags?: Partial<Flags>];

const GOOD: readonly [string, ...Parsed][] = [
  ['/tool:1-plan "users can reset a password" --team', 'plan', 'users can reset a password', { wish: 'team' }],
  ['/tool:1-plan --team users can reset a password', 'plan', 'users can reset a password', { wish: 'team' }],
  ['/tool:1-plan users can --solo reset', 'plan', 'users can reset', { wish: 'solo' }],
  ["  /tool:1-plan 'one thing'  ", 'plan', 'one thing'],
  ['/tool:1-plan “curly ones” --force', 'plan', 'curly ones', { force: true }],
  ['/tool:1-plan «guillemets»', 'plan', 'guillemets'],
  ['/tool:1-plan „unten und oben“', 'plan', 'unten und oben'],
  ['/tool:1-plan `code`', 'plan', 'code'],
  ['/tool:1-plan "a"; touch pwned; echo "b" --team', 'plan', 'a"; touch pwned; echo "b', { wish: 'team' }],
  ['/tool:1-plan a"; touch pwned; echo "b', 'plan', 'a"; touch pwned; echo "b'],
  ['/tool:1-plan $(rm -rf ~) `id` && $HOME', 'plan', '$(rm -rf ~) `id` && $HOME'],
  ["/tool:1-plan don't lose the user's work --team", 'plan', "don't lose the user's work", { wish: 'team' }],
  ['/tool:1-plan a "remember me" box', 'plan', 'a "remember me" box'],
  ['/tool:1-plan "explain the --team flag"', 'plan', 'explain the --team flag'],
  [
    '/tool:1-plan "explain the "--team flag" here" --solo',
    'plan',
    '"explain the "--team flag" here"',
    { wish: 'solo' },
  ],
  ['/tool:1-plan -- --team is a word here', 'plan', '--team is a word here'],
  ['/tool:1-plan --force -- fails --team', 'plan', 'fails --team', { force: true }],
  ['/tool:build-fix npm test -- --x fails --team', 'build-fix', 'npm test -- --x fails', { wish: 'team' }],
  [
    '/tool:build-fix npm test -- --x fails --team  --force ',
    'build-fix',
    'npm test -- --x fails',
    { wish: 'team', force: true },
  ],
  ['/tool:build-fix npm test --solo -- -t "--team" --x', 'build-fix', 'npm test -- -t "--team" --x', { wish: 'solo' }],
  ['/tool:build-fix npm test -- --team fails', 'build-fix', 'npm test -- --team fails'],
  ['/tool:build-fix npm test -- --team', 'build-fix', 'npm test -- --team'],
  ['/tool:build-fix npm run lint -- --fix --force', 'build-fix', 'npm run lint -- --fix --force'],
  ['/tool:build-fix a -- b -- --team', 'build-fix', 'a -- b --', { wish: 'team' }],
  ['/tool:1-plan first line\nsecond line --team', 'plan', 'first line\nsecond line', { wish: 'team' }],
  ['/tool:1-plan\tа б', 'plan', 'а б'],
  ['/tool:1-plan a - b -v c', 'plan', 'a - b -v c'],
  ['/tool:1-plan --team --team x', 'plan', 'x', { wish: 'team' }],
  ['/tool:2-run SPEC-AUTH-001', 'run', 'SPEC-AUTH-001'],
  ['/tool:2-run --solo SPEC-A-B2-042 --force', 'run', 'SPEC-A-B2-042', { wish: 'solo', force: true }],
  ['/tool:2-run "SPEC-AUTH-001" --pattern=quality_gate', 'run', 'SPEC-AUTH-001', { pattern: 'quality_gate' }],
  ['/tool:3-sync SPEC-AUTH-001', 'sync', 'SPEC-AUTH-001'],
  ['/tool:build-fix', 'build-fix', ''],
  ['/tool:build-fix --team TypeError: x is undefined', 'build-fix', 'TypeError: x is undefined', { wish: 'team' }],
  ['/tool:team-restart', 'team-restart', ''],
  ['/tool:team-restart tool-run-spec-auth-001', 'team-restart', 'tool-run-spec-auth-001'],
];

for (const [prompt, command, words, flags] of GOOD) {
  test(`reads ${JSON.stringify(prompt)}`, () => {
    assert.deepEqual(parseCommand(prompt), { kind: 'command', command, words, flags: { ...NO_FLAGS, ...flags } });
  });
}

test('any other prompt is none of the commands', () => {
  for (const prompt of [
    '',
    'plan it',
    '/tool:1-planning x',
    '/tool:plan x',
    'please /tool:1-plan x',
    '/TOOL:1-plan x',
    '/tool',
  ])
    assert.deepEqual(parseCommand(prompt), { kind: 'none' });
});

type Values = Readonly<Record<string, unknown>>;

const argument = (name: string, more: Values = {}): Refused => ['argument_invalid', { argument: name, ...more }];
const flag = (typed: string, command: string, near?: string): Refused => [
  'flag_unknown',
  { flag: typed, command, near, known: ['--team', '--solo', '--force'] },
];
const SPEC = 'an id like SPEC-AUTH-001';

type Refused = readonly [code: string, values: Values];

const BAD: readonly [string, ...Refused[]][] = [
  ['/tool:1-plan', argument('feature', { got: '""' })],
  ['/tool:1-plan "--" --team', argument('feature')],
  ['/tool:1-plan x --taem', flag('--taem', '/tool:1-plan', '--team')],
  ['/tool:1-plan x —team', flag('—team', '/tool:1-plan', '--team')],
  ['/tool:1-plan x -team', flag('-team', '/tool:1-plan', '--team')],
  ['/tool:1-plan x --Team', flag('--Team', '/tool:1-plan', '--team')],
  ['/tool:1-plan x --team=yes', argument('--team', { expected: 'no value', got: '"yes"' })],
  ['/tool:1-plan x --pattern=quality_gate', flag('--pattern=quality_gate', '/tool:1-plan')],
  ['/tool:1-plan x --zzzzzzzzz', flag('--zzzzzzzzz', '/tool:1-plan')],
  ['/tool:1-plan x --team --solo', argument('--team, --solo', { expected: 'one of them', got: 'both' })],
  ['/tool:1-plan a\u001b[31mb', argument('plan', { got: '\\x1b' })],
  ['/tool:1-plan a\u202eb', argument('plan', { got: '\\u{202e}' })],
  ['/tool:2-run', argument('spec_id', { expected: `${SPEC} after /tool:2-run`, got: 'nothing' })],
  ['/tool:2-run spec-auth-001', argument('spec_id', { expected: SPEC, got: '"spec-auth-001"', near: 'SPEC-AUTH-001' })],
  ['/tool:2-run SPEC_AUTH_001', argument('spec_id', { near: 'SPEC-AUTH-001' })],
  ['/tool:2-run SPEC-AUTH-1', argument('spec_id', { got: '"SPEC-AUTH-1"', near: undefined })],
  ['/tool:2-run SPEC-AUTH-001 SPEC-AUTH-002', argument('spec_id')],
  [
    '/tool:2-run SPEC-AUTH-001 --pattern',
    argument('--pattern', { expected: 'a name, like --pattern=plan_research', got: 'nothing after it' }),
  ],
  ['/tool:2-run SPEC-AUTH-001 --pattern=', argument('--pattern', { got: 'nothing after it' })],
  [
    '/tool:2-run SPEC-AUTH-001 --pattern=qualty_gate',
    argument('--pattern', { got: '"qualty_gate"', near: 'quality_gate' }),
  ],
  [
    '/tool:2-run SPEC-AUTH-001 --pattern=quality_gate --pattern=implementation',
    argument('--pattern', { expected: 'one name', got: 'quality_gate, implementation' }),
  ],
  [
    '/tool:2-run --teem nothing --sollo',
    ['flag_unknown', { flag: '--teem', near: '--team' }],
    ['flag_unknown', { flag: '--sollo', near: '--solo' }],
    argument('spec_id'),
  ],
  ['/tool:3-sync SPEC-AUTH-001 --team', ['flag_not_taken', { flag: '--team', command: '/tool:3-sync' }]],
  [
    '/tool:team-restart the team',
    argument('team', { expected: 'the name of one team, like tool-run-spec-auth-001', got: '"the team"' }),
  ],
];

for (const [prompt, ...wanted] of BAD) {
  test(`refuses ${JSON.stringify(prompt)}`, () => {
    const parsed = parseCommand(prompt);
    assert.equal(parsed.kind, 'invalid');
    const problems = parsed.kind === 'invalid' ? parsed.problems : [];
    assert.deepEqual(
      problems.map(({ of }) => of.code),
      wanted.map(([code]) => code),
    );
    for (const [index, [code, values]] of wanted.entries())
      for (const [name, value] of Object.entries(values))
        assert.deepEqual(problems[index]?.values[name], value, `${code}: ${name}`);
  });
}

test('quotes without an end are read like any other text', () => {
  const words = '"a '.repeat(50_000).trim();
  const parsed = parseCommand(`/tool:1-plan ${words}`);
  assert.equal(parsed.kind === 'command' && parsed.words, words);
});

test('a pattern may be the project’s own', () => {
  const parsed = parseCommand('/tool:2-run SPEC-A-001 --pattern=mine', ['mine']);
  assert.equal(parsed.kind === 'command' && parsed.flags.pattern, 'mine');
});

test('flags of a command line, which a shell has split', () => {
  assert.deepEqual(parseFlags('plan', ['users can reset', '--team']), {
    ok: true,
    flags: { ...NO_FLAGS, wish: 'team' },
    words: ['users can reset'],
  });
  assert.deepEqual(parseFlags('build-fix', ['--force', '--', '--team', 'fails']), {
    ok: true,
    flags: { ...NO_FLAGS, force: true },
    words: ['--team', 'fails'],
  });
  const refused = parseFlags('run', ['SPEC-A-001', '--team', '--solo', '--patern=x']);
  assert.equal(refused.ok, false);
  assert.equal(refused.ok ? 0 : refused.problems.length, 2);
  assert.deepEqual(wordProblems('run', 'SPEC-A-001'), []);
  const said = (typed?: string) => wordProblems('plan', '!!!', typed).map(textOf).join();
  assert.match(said(), /^feature: expected words after \/tool:1-plan, like/);
  assert.match(said('tool plan'), /^feature: expected words after tool plan, like tool plan "/);
});

test('whatever is typed has an answer, and no flag of it is lost', () => {
  const typed = fc.constantFrom(...Object.values(COMMANDS).map((one) => one.typed));
  fc.assert(
    fc.property(typed, fc.string({ unit: 'binary' }), (command, rest) => {
      const parsed = parseCommand(`${command} ${rest}`);
      assert.notEqual(parsed.kind, 'none');
      if (parsed.kind === 'invalid')
        assert.ok(parsed.problems.every((problem) => !/[\p{Cc}\u202e]/u.test(textOf(problem))));
    }),
  );
});

test('words between quotes come back as they are', () => {
  const text = fc
    .string({ unit: 'grapheme' })
    .filter((one) => /[\p{L}\p{N}]/u.test(one) && !/["\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(one));
  fc.assert(
    fc.property(text, fc.constantFrom('', ' --team', ' --force'), (words, flag) => {
      const parsed = parseCommand(`/tool:1-plan "${words}"${flag}`);
      assert.equal(parsed.kind === 'command' && parsed.words, words.trim());
    }),
  );
});
