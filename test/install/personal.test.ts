// Values in a user's own settings file: replaced by tool init, put back by tool uninstall, and no part of the shared manifest.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { performAll } from '../../src/install/file-operations.ts';
import { hostSupport } from '../../src/install/host-support.ts';
import { type InstallPlan, planInstall, planUninstall } from '../../src/install/install.ts';
import { readPayload } from '../../src/install/payload.ts';
import { packageOf, projectOf, treeOf, writeTree } from '../support/installed.ts';

const LOCAL = '.claude/settings.local.json';
const RECORD = '.tool/state/installed.json';

const from = packageOf({ after });

const values = (value: string) => [
  { path: LOCAL, entries: [{ place: 'member', path: ['env', 'OURS'], value } as const] },
];

function install(root: string, personal: ReturnType<typeof values> | undefined = values('ours')): InstallPlan {
  const { form } = hostSupport('2.1.177');
  const payload = readPayload({ from, version: '1.0.0', form, configText: 'workflow: {}\n' });
  const options = { root, version: '1.0.0', host: '2.1.177', force: false, ownership: [] };
  const plan = planInstall({ ...options, payload: { ...payload, personal: personal ?? [] } });
  performAll(root, plan.operations);
  return plan;
}

function uninstall(root: string, standing: readonly string[] = []): void {
  performAll(root, planUninstall(root, standing).operations);
}

const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');

const FILES: Readonly<Record<string, string | undefined>> = {
  'no file': undefined,
  'an empty file': '',
  'another value': '{"env":{"OURS":  "theirs", "A":1}}',
  'other settings in tabs': '{\n\t"model": "opus"\n}',
  'the same value': '{ "env": { "OURS": "ours" } }\n',
};

for (const [name, text] of Object.entries(FILES))
  test(`over ${name} a second time changes nothing, and all comes out to the byte`, (t) => {
    const root = projectOf(t, text === undefined ? {} : { [LOCAL]: text });
    const before = treeOf(root);
    install(root);
    assert.equal(JSON.parse(read(root, LOCAL)).env.OURS, 'ours');
    assert.ok(!read(root, '.tool/installed.json').includes('settings.local'), 'the shared manifest says nothing of it');
    const installed = treeOf(root);
    assert.deepEqual(install(root).operations, []);
    assert.deepEqual(treeOf(root), installed);
    uninstall(root);
    assert.deepEqual(treeOf(root), before);
  });

test('another value of ours, and none any more, keep what was there before', (t) => {
  const root = projectOf(t, { [LOCAL]: FILES['another value'] ?? '' });
  const before = treeOf(root);
  install(root);
  install(root, values('newer'));
  assert.equal(JSON.parse(read(root, LOCAL)).env.OURS, 'newer');
  install(root, []);
  assert.equal(read(root, LOCAL), FILES['another value']);
  assert.ok(!existsSync(join(root, RECORD)));
  install(root, values('newer'));
  uninstall(root);
  assert.deepEqual(treeOf(root), before);
});

test('a value that the user has changed since stays at uninstall, and is kept for later at another init', (t) => {
  const root = projectOf(t, { [LOCAL]: '{"env":{"OURS":"theirs"}}' });
  install(root);
  writeFileSync(join(root, LOCAL), '{"env":{"OURS":"changed"}}');
  install(root);
  assert.equal(JSON.parse(read(root, LOCAL)).env.OURS, 'ours');
  uninstall(root);
  assert.equal(read(root, LOCAL), '{"env":{"OURS":"changed"}}');
  install(root);
  writeFileSync(join(root, LOCAL), '{"env":{"OURS":"again"}}');
  uninstall(root);
  assert.equal(read(root, LOCAL), '{"env":{"OURS":"again"}}');
});

test('a clone has the installation without the user’s part, and gets one of its own', (t) => {
  const root = projectOf(t, { [LOCAL]: '{"env":{"OURS":"mine"}}' });
  install(root);
  const manifest = read(root, '.tool/installed.json');
  rmSync(join(root, LOCAL));
  rmSync(join(root, '.tool', 'state'), { recursive: true });
  install(root);
  assert.equal(JSON.parse(read(root, LOCAL)).env.OURS, 'ours');
  assert.equal(read(root, '.tool/installed.json'), manifest);
  uninstall(root);
  assert.ok(!existsSync(join(root, LOCAL)));
});

test('a record that is damaged is made anew; the value of ours then counts as the user’s', (t) => {
  const root = projectOf(t);
  install(root);
  writeFileSync(join(root, RECORD), '{"format": 1, "merged": [');
  install(root);
  uninstall(root);
  assert.equal(JSON.parse(read(root, LOCAL)).env.OURS, 'ours');
});

test('while a team stands its state stays, and the record goes', (t) => {
  const root = projectOf(t);
  install(root);
  writeTree(root, { '.tool/state/server-1': '7 8' });
  uninstall(root, ['tool-run-x']);
  assert.ok(existsSync(join(root, '.tool/state/server-1')) && !existsSync(join(root, RECORD)));
  assert.ok(!existsSync(join(root, LOCAL)));
  const other = projectOf(t);
  const before = treeOf(other);
  install(other);
  uninstall(other, ['tool-run-x']);
  assert.deepEqual(treeOf(other), before);
});
