// Line ranges of skipped tests in scripts and in Python, Go and Rust files.

import assert from 'node:assert/strict';
import test from 'node:test';
import { skippedTests } from '../../../src/gate/readers/skipped-tests.ts';

type Case = readonly [path: string, text: string, skipped: readonly number[]];

const CASES: readonly Case[] = [
  ['a.test.js', "test('R1', { skip: 'not yet' }, () => {\n  x();\n});\ntest('R2', () => {});\n", [1, 2, 3]],
  ['a.test.js', "test('R1', { skip: false }, f);\ntest('R2', { skip: isWindows }, f);\n", []],
  ['a.test.js', "describe.skip('group', () => {\n  it('R1', f);\n});\nit('R2', f);\n", [1, 2, 3]],
  ['a.test.js', "describe('group', { todo: true }, () => {\n  it('R1', f);\n});\n", [1, 2, 3]],
  [
    'a.test.js',
    "// R1\n// and A1\nit.todo('it');\n\n// R2\nxit('b', f);\n\n// R3\n\nxdescribe('c', f);\n",
    [1, 2, 3, 5, 6, 10],
  ],
  ['a.test.ts', "it.skip.each<number>([1])('R1 %i', (a: number) => {});\nit.each([1])('R2', f);\n", [1]],
  [
    'a.test.ts',
    "test('R1', (t) => {\n  t.skip('later');\n});\ntest('R2', (t) => {\n  if (x) t.skip();\n});\n",
    [1, 2, 3],
  ],
  ['a.test.js', "it('R1', function () {\n  this.skip();\n});\n", [1, 2, 3]],
  [
    'a.test.js',
    "f();\n// test('R1', () => {\n//   x();\n// });\n/*\nit('R2', f);\n*/\n// R3 is what it is about\n",
    [2, 5, 6, 7],
  ],
  ['a.test.js', "describe('group', () => {\n  // it('R1', f);\n});\n", [2]],
  // A comment counts at the head of the file, above a test, above code that makes tests, and inside a test.
  [
    'a.test.js',
    "// R1\nimport 'x';\n// R2\nconst a = 1;\n// R3\ntest('a', () => {\n  // R4\n});\n// R5\nfor (const x of all) {\n  test(x, f);\n}\n// R6\n\n// R7 is not tested yet\n",
    [3, 13, 15],
  ],
  ['a.test.js', "// R1\nt.test('a', f);\n\n/* R2 */\n\ng();\n", [4]],
  ['a.test.js', "import 'x';\n// R1\ncheck('a', f);\n", []],
  ['a.test.js', 'what is no code (', []],
  [
    't.py',
    '# R1\n@pytest.mark.skip(reason="x")\n@other\ndef test_a():\n    """R1"""\n    a()\n\ndef test_b():\n    """R2"""\n',
    [1, 2, 3, 4, 5, 6, 7],
  ],
  [
    't.py',
    'class T:\n    @unittest.skip(\n        "x"\n    )\n    def test_a(self):\n        """R1"""\n\n    def test_b(self):\n        """R2"""\n',
    [2, 3, 4, 5, 6, 7],
  ],
  ['t.py', '@pytest.mark.skipif(x, reason="y")\ndef test_a():\n    """R1"""\n', []],
  [
    't.py',
    'def test_a():\n    """R1"""\n    pytest.skip("x")\n\ndef test_b():\n    if y:\n        pytest.skip("x")\n',
    [1, 2, 3, 4],
  ],
  ['t.py', 'pytestmark = pytest.mark.skip\n\ndef test_a():\n    """R1"""\n', [1, 2, 3, 4, 5]],
  ['t.py', '# def test_r1(): R1\n', [1]],
  [
    'a_test.go',
    '// R1\nfunc TestA(t *testing.T) {\n\tt.Skip("x")\n\tb()\n}\n\nfunc TestB(t *testing.T) {\n\tif x {\n\t\tt.SkipNow()\n\t}\n}\n',
    [1, 2, 3, 4, 5],
  ],
  [
    'a_test.go',
    'func TestA(t *testing.T) {\n\tt.Run("R1", func(t *testing.T) {\n\t\tt.Skip()\n\t})\n\tt.Run("R2", f)\n}\n',
    [2, 3, 4],
  ],
  [
    'lib.rs',
    '    // R1\n    #[test]\n    #[ignore = "slow"]\n    fn a() {\n        b();\n    }\n\n    // R2\n    #[test]\n    fn c() {\n    }\n',
    [1, 2, 3, 4, 5, 6],
  ],
];

for (const [path, text, skipped] of CASES)
  test(`${path}: ${text.split('\n').slice(0, 3).join(' ')}`, async () => {
    const found = await skippedTests(path, text);
    const lines = text.split('\n').map((_, index) => index + 1);
    assert.deepEqual(
      lines.filter((line) => found.some(({ from, to }) => from <= line && line <= to)),
      skipped,
    );
  });
