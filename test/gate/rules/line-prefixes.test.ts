// Removal of the line prefixes that pnpm -r, turbo and similar tools print when they run several packages' scripts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { withoutPrefixes } from '../../../src/gate/rules/line-prefixes.ts';
import { readTestOutput } from '../../../src/gate/rules/test-output.ts';
import { fixtureText } from '../../support/checks.ts';

const COUNTS = ['1..2', '# tests 2', '# suites 0', '# pass 1', '# fail 1', '# cancelled 0', '# skipped 0', '# todo 0'];
const LEFT = ['TAP version 13', 'not ok 1 - sums', '  ---', "  location: 'a/sum.test.js:1:1'", '  ...', ...COUNTS];
const RIGHT = ['TAP version 13', 'ok 1 - times', 'not ok 2 - divides', ...COUNTS];

/** The output lines of two scripts, interleaved. */
function mixed(left: string, right: string): readonly string[] {
  return LEFT.flatMap((line, index) => [`${left}${line}`, ...RIGHT.slice(index, index + 1).map((one) => right + one)]);
}

function header(start: string, name: string, behind = ''): readonly string[] {
  return ['', `> ${name}${behind}`, '> node --test', ''].map((line) => `${start}${line}`);
}

const TOOLS = [
  [
    'pnpm -r',
    [
      'Scope: 2 of 3 workspace projects',
      'packages/a test$ node --test',
      'packages/b test$ node --test',
      ...mixed('packages/a test: ', 'packages/b test: '),
      'packages/a test: Failed',
      'packages/b test: Failed',
      ' ERR_PNPM_RECURSIVE_FAIL  ',
    ],
  ],
  [
    'concurrently, by number',
    [
      ...mixed('[0] ', '[1] '),
      '[0] node --test a exited with code 1',
      '[1] node --test b exited with code 1',
      '--> Sending SIGTERM to other processes..',
    ],
  ],
  [
    'concurrently, by name',
    [
      ...header('[unit] ', 'x@1.0.0 test:unit'),
      ...mixed('[unit] ', '[end to end] '),
      '[unit] npm run test:unit exited with code 1',
      '[end to end] node --test b exited with code SIGTERM',
    ],
  ],
  [
    'npm-run-all -l',
    [...header('[t:a  ] ', 'x@1.0.0 t:a'), ...header('[t:all] ', 'x@1.0.0 t:all'), ...mixed('[t:a  ] ', '[t:all] ')],
  ],
  [
    'lerna run --stream',
    [
      '> @x/b:test',
      ...header('@x/a: ', '@x/a@1.0.0 test'),
      ...header('b: ', 'b@1.0.0 test', ' /project/packages/b'),
      ...mixed('@x/a: ', 'b: '),
      'Failed tasks:',
    ],
  ],
  [
    'turbo',
    [
      '• Running test in 2 packages',
      '@x/a:test: cache bypass, force executing 4abc07dcb68a33d3',
      'b:test: cache miss, executing 8aca8b1ff39c1eb7',
      ...mixed('@x/a:test: ', 'b:test: '),
      ' Tasks:    0 successful, 2 total',
    ],
  ],
] as const;

for (const [tool, lines] of TOOLS)
  test(`the failing tests of several packages are read behind what is before each line: ${tool}`, () => {
    const [text = ''] = withoutPrefixes([`${lines.join('\n')}\n`]);
    assert.deepEqual(readTestOutput(text), {
      ran: 4,
      failures: 2,
      skipped: 0,
      failed: ['sums (a/sum.test.js:1:1)', 'divides'],
    });
  });

test('a tool that runs another one, in colours, and with errors of its own stream', () => {
  const colour = (text: string) => `\u001b[36m${text}\u001b[39m`;
  const inner = ['a test$ node --test', ...LEFT.map((line) => `a test: ${line}`)];
  const outer = inner.map((line) => `${colour('//:test: ')}${line}`);
  const [text, errors] = withoutPrefixes([
    [`${colour('//:test: ')}cache miss, executing 1234`, ...outer, 'left as it is'].join('\n'),
    '//:test: npm error code 1\n',
  ]);
  assert.equal(text, ['cache miss, executing 1234', '$ node --test', ...LEFT, 'left as it is'].join('\n'));
  assert.equal(errors, 'npm error code 1\n');
});

test('lines of other tools stay as they are', () => {
  for (const text of [
    'src/a.ts: not ok 1 - x\nsrc/a.ts: # fail 1\n',
    '[warn] src/a.ts\n[warn] Code style issues found\n',
    '[0] one\n[0] exited with code 1\n[1] two\n',
    'at home$ ls\nat work: # fail 1\n',
    'test: > x@1.0.0 test\n',
    '[a] > x@1.0.0 b\n[a] # fail 1\n',
    'a:test: cached\na:test: # fail 1\n',
    '\u001b[31mError: no\u001b[39m\r\nError: again\n',
  ])
    assert.deepEqual(withoutPrefixes([text, text]), [text, text]);
  const own = '[a] sums exited with code 1\n[b] two\nc: three\nd e$ f\n';
  assert.deepEqual(withoutPrefixes([own]), ['sums exited with code 1\n[b] two\nc: three\nd e$ f\n']);
});

test('the failing tests of each of several runs are named', () => {
  const spec = fixtureText('outputs/node-spec.txt');
  const failed = (text: string, ...edits: readonly (readonly [string, string])[]) =>
    readTestOutput(text + edits.reduce((other, [from, to]) => other.replaceAll(from, to), text)).failed;
  assert.deepEqual(failed(spec, ['fails inside', 'fails too']), [
    'fails inside (test/a.test.js:5:27)',
    'fails too (test/a.test.js:5:27)',
  ]);
});
