import assert from 'node:assert/strict';
import test from 'node:test';
import { withoutRoots, withPlaces } from '../../../src/gate/rules/tool-output.ts';

test('paths below the root are told from there, in every dress that tools give them; others stay whole', () => {
  const sequence = String.fromCharCode(27);
  const said: readonly (readonly [string, string])[] = [
    ['/projects/shop/src/a.js', 'src/a.js'],
    ["location: '/projects/shop/test/a.test.js:1:1'", "location: 'test/a.test.js:1:1'"],
    ['at load (file:///projects/shop/src/a.js:3:1)', 'at load (src/a.js:3:1)'],
    [`${sequence}[4m/projects/shop/src/a.js${sequence}[24m`, `${sequence}[4msrc/a.js${sequence}[24m`],
    ['/real/shop/src/a.js', 'src/a.js'],
    ['/projects/shop-old/src/a.js', '/projects/shop-old/src/a.js'],
    ['/home/projects/shop/src/a.js', '/home/projects/shop/src/a.js'],
    ['in /projects/shop', 'in /projects/shop'],
  ];
  for (const [text, told] of said) assert.equal(withoutRoots(text, ['/projects/shop', '/real/shop']), told);
});

/** A tool, what it prints, and its findings. */
const TOOLS: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'eslint',
    `src/api/users.js
  1:1   error  Unexpected var, use let or const instead  no-var
  1:16  error  'b' is assigned a value but never used    no-unused-vars
src/components/Form.js
  1:1  error  Unexpected var, use let or const instead  no-var
✖ 3 problems (3 errors, 0 warnings)`,
    [
      'src/api/users.js:1:1: error  Unexpected var, use let or const instead  no-var',
      "src/api/users.js:1:16: error  'b' is assigned a value but never used    no-unused-vars",
      'src/components/Form.js:1:1: error  Unexpected var, use let or const instead  no-var',
      '✖ 3 problems (3 errors, 0 warnings)',
    ],
  ],
  [
    'stylelint',
    `src/styles/a.css
  2:3  ✖  Unexpected unknown property "colr"  property-no-unknown
1 problem (1 error, 0 warnings)`,
    [
      'src/styles/a.css:2:3: Unexpected unknown property "colr"  property-no-unknown',
      '1 problem (1 error, 0 warnings)',
    ],
  ],
  [
    'biome',
    `src/api/users.js:1:5 lint/correctness/noUnusedVariables  FIXABLE  ━━━━━━━━━━━━━━━
  ! This variable a is unused.
  > 1 │ import { a } from 'src/pages/list.js';
      │     ^
  i Unsafe fix: If this is intentional, prepend a with an underscore.
src/pages/list.js format ━━━━━━━━━━━━━━━━━━━
  × File content differs from formatting output
Checked 2 files in 3ms. No fixes applied.`,
    [
      'src/api/users.js:1:5: lint/correctness/noUnusedVariables: This variable a is unused.',
      'src/pages/list.js: format: File content differs from formatting output',
      'Checked 2 files in 3ms. No fixes applied.',
    ],
  ],
  [
    'tsc',
    `src/api/users.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
src/pages/list.ts:3:5 - error TS2322: Type 'string' is not assignable to type 'number'.`,
    [
      "src/api/users.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
      "src/pages/list.ts:3:5 - error TS2322: Type 'string' is not assignable to type 'number'.",
    ],
  ],
  [
    'clippy',
    `error: unused variable: \`x\`
  --> src/api/users.rs:3:9
   |
3  |     let x = 1;`,
    ['src/api/users.rs:3:9: error: unused variable: `x`', '   |', '3  |     let x = 1;'],
  ],
  [
    'ruff',
    `F401 [*] \`os\` imported but unused
 --> app/users.py:1:8
  |`,
    ['app/users.py:1:8: F401 [*] `os` imported but unused', '  |'],
  ],
  [
    'go vet',
    '# example.com/shop\n./users.go:3:5: undefined: y',
    ['# example.com/shop', './users.go:3:5: undefined: y'],
  ],
];
for (const [tool, printed, findings] of TOOLS)
  test(`each finding of ${tool} is one line with its place`, () => {
    assert.deepEqual(withPlaces(printed.split('\n')), findings);
  });
