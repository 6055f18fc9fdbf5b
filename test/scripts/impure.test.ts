// The scan for what makes a rule impure: what it finds, and what it leaves alone.

import assert from 'node:assert/strict';
import test from 'node:test';
import { impure } from '../../scripts/impure.ts';

test('the clock, chance, input and output, and whatever takes time are found with their lines', () => {
  const text = [
    'const at = Date.now();',
    'const day = new Date();',
    'const chance = Math.random();',
    'async function wait() {}',
    'const later = () => setTimeout(wait, 1);',
    'export const home = process.env.HOME;',
    "export const page = fetch('http://127.0.0.1');",
    'export const all = Promise.all([]);',
  ].join('\n');
  const found = ['Date.now', 'new Date()', 'Math.random', 'async', 'setTimeout', 'process', 'fetch', 'Promise'];
  assert.deepEqual(
    impure('a.ts', text),
    found.map((what, index) => `${index + 1}: ${what}`),
  );
});

test('a date of an argument, properties and types of these names are no effects', () => {
  const text = [
    'export const day = (ms: number) => new Date(ms).toISOString();',
    'export type Start = { readonly process: number; readonly wait: () => Promise<void> };',
    'export const of = (start: Start) => start.process;',
    'export const named = { process: 1, console: 2 };',
  ].join('\n');
  assert.deepEqual(impure('a.ts', text), []);
});
