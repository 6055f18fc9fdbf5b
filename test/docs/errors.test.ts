// The error table as a whole: codes, value names and texts of all parts, and the page that shows them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { errorsPage, ROOMS } from '../../scripts/errors-page.ts';
import type { Code } from '../../src/base/rules/codes.ts';

const PARTS = Object.values(ROOMS).flatMap((parts) => Object.entries(parts));
const ALL: readonly Code[] = PARTS.flatMap(([, part]) => Object.values(part));

/** Names of the values in a template. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function templatesOf({ message, help = '' }: Code): readonly string[] {
  return [message, help];
}

test('docs/errors.md shows the table', () => {
  assert.equal(readFileSync('docs/errors.md', 'utf8'), errorsPage(), 'npm run generate');
});

test('every part of the table is on the page', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /-codes\.ts$/.test(file));
  assert.ok(files.length > 20, `${files.length} parts`);
  assert.deepEqual(PARTS.map(([file]) => file).sort(), files.map((file) => join('src', file)).sort());
});

test('every part is named with the file that defines its codes', () => {
  for (const [file, part] of PARTS) {
    const text = readFileSync(file, 'utf8');
    for (const code of Object.keys(part)) assert.ok(text.includes(`\n  ${code}: {\n`), `${file}: ${code}`);
  }
});

test('codes are unique over all parts and are names', () => {
  const codes = ALL.map(({ code }) => code);
  assert.ok(codes.length > 200, `${codes.length} codes`);
  assert.deepEqual(
    codes.filter((code, index) => codes.indexOf(code) !== index),
    [],
  );
  assert.deepEqual(
    codes.filter((code) => !/^[a-z][a-z0-9_]*$/.test(code)),
    [],
  );
});

test('every value in a message or a help is declared', () => {
  const undeclared = ALL.flatMap((one) => {
    const declared = [...Object.keys(one.values ?? {}), ...Object.keys(one.may ?? {})];
    return templatesOf(one)
      .flatMap(namesIn)
      .filter((name) => !declared.includes(name) || !/^[a-z_]+$/.test(name))
      .map((name) => `${one.code}: {${name}}`);
  });
  assert.deepEqual(undeclared, []);
});

test('every optional value in a text stands inside square brackets', () => {
  const open = ALL.flatMap((one) =>
    templatesOf(one)
      .map((text) => text.replaceAll(/\[[^[\]]*\{[a-z_]+\}[^[\]]*\]/g, ''))
      .flatMap(namesIn)
      .filter((name) => Object.hasOwn(one.may ?? {}, name))
      .map((name) => `${one.code}: {${name}}`),
  );
  assert.deepEqual(open, []);
});

test('every code is used outside of the table', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const used = files
    .filter((file) => !/-codes\.ts$/.test(file))
    .map((file) => readFileSync(join('src', file), 'utf8'))
    .join('\n');
  // The program of the write guard has its codes in its lines.
  const program = readFileSync('native/write-guard.c', 'utf8');
  const uses = [...used.matchAll(/\b[A-Z_]+_CODES\.([a-z0-9_]+)/g), ...program.matchAll(/ \(([a-z_]+)\)"/g)];
  const names = new Set(uses.map(([, name = '']) => name));
  assert.deepEqual(
    ALL.map(({ code }) => code).filter((code) => !names.has(code)),
    [],
  );
});
