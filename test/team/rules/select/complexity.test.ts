import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import fc from 'fast-check';
import { HOST_VERSION_MIN, TEAMS_VARIABLE } from '../../../../src/team/rules/fallback.ts';
import { FORMULA, type Measures, SCORE_MAX, SCORE_MIN, scoreOf } from '../../../../src/team/rules/select/complexity.ts';
import { SIZES, select } from '../../../../src/team/rules/select/selection.ts';
import { teamSettings } from '../../../support/team-settings.ts';

const NOTHING: Measures = {
  domains: 0,
  files: 0,
  dependencies: 0,
  critical: 0,
};

const page = readFileSync(new URL('../../../../docs/selection.md', import.meta.url), 'utf8');
const prose = page.replace(/\s+/g, ' ');

test('nothing but being a piece of work is the least', () => {
  assert.deepEqual(scoreOf(NOTHING), { score: SCORE_MIN, lines: [{ points: SCORE_MIN, why: 'every piece of work' }] });
});

test('a measure that is not known has no points, and is said', () => {
  const { score, lines } = scoreOf({ ...NOTHING, domains: null, files: 5 });
  assert.equal(score, SCORE_MIN + 1);
  assert.deepEqual(lines.slice(1), [
    { points: 0, why: 'domains: unknown' },
    { points: 1, why: 'files to change: 5' },
  ]);
});

test('each step counts from where it begins, and the highest alone', () => {
  for (const { measure, steps } of FORMULA)
    for (const [index, { from, points }] of steps.entries()) {
      const before = steps[index - 1]?.points ?? 0;
      assert.equal(scoreOf({ ...NOTHING, [measure]: from }).score, SCORE_MIN + points, `${measure} ${from}`);
      assert.equal(scoreOf({ ...NOTHING, [measure]: from - 1 }).score, SCORE_MIN + before, `${measure} ${from - 1}`);
    }
});

test('the sum is 1 to 10, and its lines say how', () => {
  const count = fc.nat({ max: 100 });
  const maybe = fc.option(count);
  const measures = fc.record({ domains: maybe, files: maybe, dependencies: maybe, critical: count });
  fc.assert(
    fc.property(measures, (given) => {
      const { score, lines } = scoreOf(given);
      const sum = lines.reduce((all, line) => all + line.points, 0);
      assert.equal(sum, score);
      assert.ok(score >= SCORE_MIN && score <= SCORE_MAX);
    }),
  );
});

test('the page has the formula and the numbers of the code', () => {
  const rows = FORMULA.map(
    ({ what, steps }) => `| ${what} | ${steps.map(({ from, points }) => `${from}: ${points}`).join(', ')} |`,
  );
  const table = page.slice(page.indexOf('| what is counted | points |')).split('\n\n')[0] ?? '';
  assert.deepEqual(table.split('\n').slice(2), rows);
  const said = [
    `${SCORE_MIN} for every piece of work`,
    `at most ${SCORE_MAX}.`,
    `| fewer than ${SIZES.medium} | none`,
    `| ${SIZES.medium} to ${SIZES.large - 1}, or unknown | \`implementation\``,
    `| more than ${SIZES.large - 1} | \`quality_gate\``,
    `version ${HOST_VERSION_MIN} or higher, \`${TEAMS_VARIABLE}=1\``,
  ];
  for (const words of said) assert.ok(prose.includes(words), words);
});

test('the page’s example is what comes out', () => {
  const [, text = '', shown = ''] = /\$ tool team select "([^"]*)"\n([\s\S]*?)\n```/.exec(page) ?? [];
  const files = ['src/api/orders.ts', 'src/models/order.ts', 'src/components/OrderList.tsx', 'src/pages/Shop.tsx'];
  const { figures } = select({ text, files, settings: teamSettings() });
  const lines = shown.split('\n');
  for (const name of ['domains', 'files', 'complexity'] as const)
    assert.ok(lines.includes(`${name}: ${figures[name].value} (${figures[name].source})`), shown);
});
