import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { parseTeamSettings } from '../../../src/team/config/team-settings.ts';

/** Never anything but settings, or lines that each say something. */
function settingsOrProblems(text: string): void {
  try {
    assert.equal(typeof parseTeamSettings(text, 'F').enabled, 'boolean');
  } catch (error) {
    assert.ok(error instanceof ToolError && error.kind === 'config', String(error));
    const [first = '', ...lines] = error.message.split('\n');
    assert.match(first, /^F has (a problem|\d+ problems):$/);
    assert.ok(lines.length > 0);
    for (const line of lines) assert.match(line, /^ {2}[^\s\p{Cc}](?:\P{Cc}*[^\s\p{Cc}])$/u);
  }
}

const KEYS = [
  'workflow',
  'team',
  'hooks',
  'patterns',
  'roles',
  'file_ownership',
  'enabled',
  'quality',
  'performance',
  'tester',
  'shared',
  '__proto__',
  'constructor',
  'a',
];
const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(fc.constantFrom('src/**', 'tester', 'team-data', '', null, true, 3), fc.string(), fc.double()),
  tree: fc.oneof(
    { maxDepth: 6 },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), tie('tree'), { maxKeys: 4 }),
  ),
}));

test('junk that YAML can say gives settings or problems, never another exception', () => {
  fc.assert(
    fc.property(tree, (value) => settingsOrProblems(stringify(value))),
    { numRuns: 200 },
  );
  const team = fc.record(
    {
      file_ownership: tree,
      patterns: fc.dictionary(fc.string(), fc.record({ roles: fc.array(tree) })),
      hooks: tree,
      max_teammates: tree,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(team, tree, (team, quality) => settingsOrProblems(stringify({ workflow: { team }, quality }))),
    { numRuns: 200 },
  );
});

test('junk that is no YAML gives settings or problems, never another exception', () => {
  const signs = fc.constantFrom(
    'workflow:',
    'team:',
    ' ',
    '  ',
    '\n',
    '\t',
    '- ',
    '? ',
    ': ',
    '[',
    ']',
    '{',
    '}',
    ',',
    '&a ',
    '*a',
    '!x ',
    '"',
    "'",
    '|',
    '>',
    '#',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '<<: ',
    'x',
    '2001-01-01',
    '\u0000',
    '\uFEFF',
  );
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 40 }), (parts) => settingsOrProblems(parts.join(''))),
    { numRuns: 200 },
  );
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), settingsOrProblems), { numRuns: 200 });
});
