// Refused and failed installations: the project stays unchanged, or is rolled back.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ToolError } from '../../src/base/rules/errors.ts';
import { performAll } from '../../src/install/file-operations.ts';
import { planUninstall } from '../../src/install/install.ts';
import { INSTALL_CODES } from '../../src/install/rules/install-codes.ts';
import { isOf } from '../support/codes.ts';
import { install, planned, projectOf, treeOf, writeTree } from '../support/installed.ts';

const SETTINGS = '.claude/settings.json';

test('a failure half-way leaves everything as it was', (t) => {
  for (const blocked of ['.tool/hooks/stop', SETTINGS]) {
    const root = projectOf(t, { [SETTINGS]: '{}', '.claude/commands/x.md': 'x' });
    const { operations } = planned(t, root);
    const before = treeOf(root);
    const wrong = operations.map((operation) =>
      operation.path === blocked ? { ...operation, path: 'nowhere/at/all' } : operation,
    );
    assert.throws(
      () => performAll(root, wrong),
      (error) => {
        isOf(INSTALL_CODES.change_undone, { path: 'nowhere/at/all', state: 'Everything is as it was' })(error);
        assert.ok(error instanceof ToolError && error.kind === 'usage');
        assert.match(String(error.values.said), /^ENOENT/);
        return true;
      },
    );
    assert.deepEqual(treeOf(root), before);
    install(t, root);
    const installed = treeOf(root);
    const removal = planUninstall(root).operations.map((operation) =>
      operation.path === '.tool/installed.json' ? { kind: 'remove' as const, path: 'nowhere' } : operation,
    );
    assert.throws(() => performAll(root, removal), isOf(INSTALL_CODES.change_undone, { path: 'nowhere' }));
    assert.deepEqual(treeOf(root), installed);
  }
});

test('what was discarded before a failure is named: it does not come back', (t) => {
  const root = projectOf(t, { '.tool/cache/a': 'x', 'mine/x': 'x' });
  const operations = [
    { kind: 'remove', path: 'mine/x' },
    { kind: 'discard', path: '.tool/cache' },
    { kind: 'remove', path: 'nowhere' },
  ] as const;
  assert.throws(
    () => performAll(root, operations),
    /^ToolError: nowhere: .*\. Everything but \.tool\/cache is as it was\.$/,
  );
  assert.deepEqual(
    ['', '.git', '.tool', 'mine', 'mine/x'].filter((path) => !(path in treeOf(root))),
    [],
  );
});

test('what is no place to write into is refused, and nothing is changed', (t) => {
  const outside = projectOf(t);
  const unusable = (path: string, expected: string, got: string) =>
    isOf(INSTALL_CODES.place_unusable, { path, expected, got });
  const notValid = isOf(INSTALL_CODES.json_not_valid, { file: SETTINGS });
  const manifest = '.tool/installed.json';
  const cases: readonly [string, (root: string) => void, ReturnType<typeof isOf>][] = [
    [
      'a link for .claude',
      (root) => symlinkSync(outside, join(root, '.claude')),
      unusable('.claude', 'a directory of the project itself', 'a link'),
    ],
    [
      'a file for .claude',
      (root) => writeFileSync(join(root, '.claude'), ''),
      unusable('.claude', 'a directory of the project itself', 'a file'),
    ],
    [
      'a directory for the settings',
      (root) => mkdirSync(join(root, SETTINGS), { recursive: true }),
      unusable(SETTINGS, 'a file', 'a directory'),
    ],
    [
      'a link for the settings',
      (root) => {
        mkdirSync(join(root, '.claude'));
        symlinkSync(join(outside, 'x'), join(root, SETTINGS));
      },
      unusable(SETTINGS, 'a file', 'a link'),
    ],
    ['settings that are no JSON', (root) => writeTree(root, { [SETTINGS]: '{"a": 1,}' }), notValid],
    ['settings with comments', (root) => writeTree(root, { [SETTINGS]: '{} // x' }), notValid],
    [
      'settings that are no UTF-8',
      (root) => {
        mkdirSync(join(root, '.claude'));
        writeFileSync(join(root, SETTINGS), Buffer.from([0x7b, 0xff, 0x7d]));
      },
      unusable(SETTINGS, 'UTF-8', 'bytes that are none'),
    ],
    [
      'hooks that are a list',
      (root) => writeTree(root, { [SETTINGS]: '{"hooks": []}' }),
      isOf(INSTALL_CODES.json_wrong_kind, { file: SETTINGS, key: 'hooks', expected: 'an object', got: 'a list' }),
    ],
    [
      'a manifest that is none',
      (root) => writeTree(root, { [manifest]: '[]' }),
      isOf(INSTALL_CODES.manifest_invalid, { file: manifest, key: 'the file', expected: 'an object', got: '[]' }),
    ],
    [
      'a manifest of later',
      (root) => writeTree(root, { [manifest]: '{"format": 2}' }),
      isOf(INSTALL_CODES.manifest_other_version, { file: manifest, expected: 1, got: '2' }),
    ],
  ];
  for (const [name, prepare, isMeant] of cases) {
    const root = projectOf(t);
    prepare(root);
    const before = treeOf(root);
    assert.throws(() => planned(t, root), isMeant, name);
    assert.throws(() => planned(t, root), { name: 'ToolError', exitCode: 2 }, name);
    assert.deepEqual(treeOf(root), before, name);
  }
  assert.deepEqual(Object.keys(treeOf(outside)), ['', '.git']);
});

test('a manifest leads to nothing outside of the project', (t) => {
  const root = projectOf(t);
  writeFileSync(join(root, '..', 'treasure'), 'x');
  for (const path of ['../treasure', '/etc/hosts', 'a/../../treasure', '']) {
    const manifest = {
      format: 1,
      version: '1',
      hostVersion: null,
      directories: [],
      files: [{ path, sha256: 'x' }],
      merged: [],
    };
    writeTree(root, { '.tool/installed.json': JSON.stringify(manifest) });
    assert.throws(() => planUninstall(root), /files\[0\]\.path: expected a path inside the project, got "/, path);
  }
});
