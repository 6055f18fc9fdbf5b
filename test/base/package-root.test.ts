import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { programPlace } from '../../src/base/package-root.ts';
import { tempDir } from '../support/temp.ts';

/** This package below a directory with packages, and one that it loads, in `modules`. */
function installed(t: TestContext, modules: string): { readonly place: string; readonly root: string } {
  const place = tempDir(t);
  const root = join(place, 'node_modules', 'toolcrew');
  const loaded = join(place, modules, 'zod');
  for (const directory of [root, loaded]) mkdirSync(directory, { recursive: true });
  for (const [directory, name] of [
    [root, 'toolcrew'],
    [loaded, 'zod'],
  ] as const)
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ name, main: 'index.js' }));
  writeFileSync(join(loaded, 'index.js'), '');
  return { place, root };
}

test('packages that npm puts beside this one belong to the place of the program', (t) => {
  const { place, root } = installed(t, 'node_modules');
  assert.equal(programPlace(root), join(place, 'node_modules'));
});

test('packages within this one need no other place', (t) => {
  const { root } = installed(t, join('node_modules', 'toolcrew', 'node_modules'));
  assert.equal(programPlace(root), root);
});

test('packages that pnpm keeps elsewhere belong to it too', (t) => {
  const { place, root } = installed(t, 'node_modules');
  const kept = join(place, 'node_modules', '.pnpm', 'toolcrew@1.0.0', 'node_modules', 'toolcrew');
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, 'package.json'), '{}');
  assert.notEqual(kept, root);
  assert.equal(programPlace(kept), join(place, 'node_modules'));
});
