// Installed files under the project's own formatters: they pass Prettier's defaults, and notes name the exclusions.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { check, getFileInfo } from 'prettier';
import { refusal, textOf } from '../../src/base/rules/codes.ts';
import { formatterNotes } from '../../src/install/formatters.ts';
import { INSTALL_CODES } from '../../src/install/rules/install-codes.ts';
import { builtPackage, install, projectOf, treeOf } from '../support/installed.ts';

test('nothing that is installed is taken for source by its name, and Prettier has nothing to change in it', async (t) => {
  const root = projectOf(t, { 'README.md': '# project\n' });
  const before = new Set(Object.keys(treeOf(root)));
  const from = builtPackage(t, () => 'minified=1;var a = {b:2}\n');
  install(t, root, { from, host: '2.1.177' });
  const made = Object.keys(treeOf(root)).filter((path) => !before.has(path));
  assert.ok(made.includes('.tool/hooks/stop') && made.includes('.claude/settings.json'), made.join(' '));
  const wrong: string[] = [];
  let looked = 0;
  for (const path of made) {
    const { inferredParser } = await getFileInfo(join(root, path));
    if (/\.[cm]?[jt]sx?$/.test(path)) wrong.push(`${path} is called like source`);
    if (inferredParser === null) continue;
    looked += 1;
    const text = readFileSync(join(root, path), 'utf8');
    if (!(await check(text, { parser: inferredParser, filepath: path }))) wrong.push(path);
  }
  assert.deepEqual(wrong, []);
  assert.ok(looked > 20, `${looked} files`);
});

test('a formatter that is set up otherwise is named, with what leaves it out', (t) => {
  const notes = (files: Readonly<Record<string, string>>) => formatterNotes(projectOf(t, files)).map(textOf);
  assert.deepEqual(notes({ 'package.json': '{}' }), []);
  assert.deepEqual(notes({ 'biome.json': '{}' }), [
    textOf(
      refusal(INSTALL_CODES.formatter_reads_install, {
        name: 'Biome',
        config: 'biome.json',
        mend: 'add "!.tool", "!.claude" and "!.mcp.json" to files.includes there, behind "**"',
      }),
    ),
  ]);
  assert.deepEqual(notes({ 'biome.jsonc': '{"files":{"includes":["**","!.tool"]}}' }), []);
  assert.match(
    notes({ '.prettierrc': '{"useTabs":true}' }).join(),
    /^Prettier .*\(\.prettierrc\)\. To mend it: add \.tool\//,
  );
  const inManifest = { 'package.json': '{"prettier":{"tabWidth":4}}' };
  assert.match(notes(inManifest).join(), /^Prettier .*\(package\.json\)\. To mend it: add \.tool\//);
  assert.deepEqual(notes({ ...inManifest, '.prettierignore': '.tool/\n' }), []);
  assert.deepEqual(notes({ 'package.json': '{' }), []);
  assert.deepEqual(notes({ 'prettier.config.mjs': 'export default {}', '.prettierignore': '.tool/\n' }), []);
});
