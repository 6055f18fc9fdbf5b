import assert from 'node:assert/strict';
import test from 'node:test';
import { complexityOf } from '../../../src/adapters/checks/complexity.ts';

/** A file's text, and its functions: name, figure, lines. */
const TEXTS: readonly [string, string, readonly string[]][] = [
  ['a.js', 'function plain() { return 1; }', ['plain 1 1-1']],
  ['a.js', 'function f(a) {\n  if (a) return 1;\n  else if (a > 1) return 2;\n  return a ? 3 : 4;\n}', ['f 4 1-5']],
  ['a.js', 'function f(a, b) { return (a && b) || (a ?? b); }', ['f 4 1-1']],
  [
    'a.js',
    'function f(a) { for (;;) {} for (const x of a) {} for (const y in a) {} while (a) {} do {} while (a) }',
    ['f 6 1-1'],
  ],
  ['a.js', 'function f(a) { switch (a) { case 1: case 2: return 1; default: return 2; } }', ['f 3 1-1']],
  ['a.js', 'function f() { try { g(); } catch { h(); } finally { i(); } }', ['f 2 1-1']],
  ['a.js', 'function f(a) { return a?.b; }', ['f 1 1-1']],
  ['a.js', 'const f = (a) => a && 1;', ['f 2 1-1']],
  ['a.js', 'x.handle = function () { if (a) b(); };', ['handle 2 1-1']],
  ['a.js', 'list.map((a) => (a ? 1 : 2));', ['a function without a name 2 1-1']],
  [
    'a.js',
    'function outer(a) {\n  if (a) b();\n  return (c) => c || d || e;\n}',
    ['outer 2 1-4', 'a function without a name 3 3-3'],
  ],
  [
    'a.js',
    'const o = { m() { if (a) b(); }, k: () => 1, get g() { return a || b; } };',
    ['m 2 1-1', 'k 1 1-1', 'g 2 1-1'],
  ],
  [
    'a.js',
    'class C { #p() { if (a) b(); } f = () => a && b; constructor() {} static { if (a) b(); } }',
    ['p 2 1-1', 'f 2 1-1', 'constructor 1 1-1'],
  ],
  ['a.js', 'if (a) b(); // not in a function', []],
  ['a.js', '#!/usr/bin/env node\nreturn 1;', []],
  [
    'a.cjs',
    "const x = require('x');\nmodule.exports = async function load() { await x; if (x) y(); };",
    ['load 2 2-2'],
  ],
  ['a.ts', 'export function f<T extends object>(a: T): a is T { return <boolean>(a && true); }', ['f 2 1-1']],
  ['a.mts', 'const f = async <T,>(a: T) => { enum E { A } return a as T; };', ['f 1 1-1']],
  ['a.tsx', 'export const Form = ({ on }: Props) => <p>{on ? <b>yes</b> : null}</p>;', ['Form 2 1-1']],
  [
    'a.jsx',
    'function Form({ on }) { return on && <p onClick={() => 1} />; }',
    ['Form 2 1-1', 'a function without a name 1 1-1'],
  ],
  [
    'a.ts',
    '@Injectable() export class S { constructor(private readonly a: A) {} @Get() list(@Query() q: Q) { return q ?? 1; } }',
    ['constructor 1 1-1', 'list 2 1-1'],
  ],
  ['a.js', 'export const a = 1;\nexport const a = 2;\nfunction f() {}', ['f 1 3-3']],
];

for (const [path, text, functions] of TEXTS)
  test(`${path}: ${text.split('\n')[0]}`, async () => {
    const found = await complexityOf(text, path);
    assert.deepEqual(
      found.map(({ name, figure, from, to }) => `${name} ${figure} ${from}-${to}`),
      functions,
    );
  });

test('what is no code is no result', async () => {
  await assert.rejects(complexityOf('function (', 'a.js'));
});
