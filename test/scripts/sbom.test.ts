import assert from 'node:assert/strict';
import test from 'node:test';
import { billOf } from '../../scripts/sbom.ts';

const WHOLE = {
  metadata: { component: { name: 'folder', 'bom-ref': 'own@1.0.0' } },
  components: [{ 'bom-ref': 'a@1.0.0' }, { 'bom-ref': 'b@2.0.0' }, { 'bom-ref': 'c@3.0.0' }],
  dependencies: [
    { ref: 'own@1.0.0', dependsOn: ['a@1.0.0', 'c@3.0.0'] },
    { ref: 'a@1.0.0', dependsOn: ['b@2.0.0', 'c@3.0.0'] },
    { ref: 'b@2.0.0', dependsOn: [] },
  ],
};

test('the bill names the bundled packages alone, and ways between them', () => {
  const bill = { ...billOf('own', ['a@1.0.0', 'b@2.0.0'], WHOLE) };
  assert.deepEqual('components' in bill && bill.components, [
    { 'bom-ref': 'a@1.0.0', properties: [] },
    { 'bom-ref': 'b@2.0.0', properties: [] },
  ]);
  assert.deepEqual('dependencies' in bill && bill.dependencies, [
    { ref: 'own@1.0.0', dependsOn: ['a@1.0.0', 'b@2.0.0'] },
    { ref: 'a@1.0.0', dependsOn: ['b@2.0.0'] },
    { ref: 'b@2.0.0', dependsOn: [] },
  ]);
  assert.deepEqual('metadata' in bill && bill.metadata, { component: { name: 'own', 'bom-ref': 'own@1.0.0' } });
});

test('a bundled package that the lock file lacks stops the build', () => {
  assert.throws(() => billOf('own', ['a@1.0.1'], WHOLE), /a@1\.0\.1/);
});
