import assert from 'node:assert/strict';
import test from 'node:test';
import { billOf } from '../../scripts/sbom.ts';

const WHOLE = {
  metadata: { component: { name: 'folder', 'bom-ref': 'own@1.0.0' } },
  components: ['a@1.0.0', 'b@2.0.0', 'c@3.0.0', 'd@4.0.0'].map((ref) => ({ 'bom-ref': ref, hashes: [] })),
  dependencies: [
    { ref: 'own@1.0.0', dependsOn: ['a@1.0.0', 'c@3.0.0'] },
    { ref: 'a@1.0.0', dependsOn: ['b@2.0.0'] },
    { ref: 'b@2.0.0', dependsOn: [] },
    { ref: 'c@3.0.0', dependsOn: ['a@1.0.0', 'd@4.0.0'] },
  ],
};

test('the bill names the dependencies and theirs, what is bundled alone, and the ways between them', () => {
  const own = { name: 'own', dependencies: ['a@1.0.0'], bundled: ['a@1.0.0', 'c@3.0.0'] };
  const bill = { ...billOf(own, WHOLE) };
  assert.deepEqual(
    'components' in bill && bill.components,
    ['a@1.0.0', 'b@2.0.0', 'c@3.0.0'].map((ref) => ({ 'bom-ref': ref, properties: [] })),
  );
  assert.deepEqual('dependencies' in bill && bill.dependencies, [
    { ref: 'own@1.0.0', dependsOn: ['a@1.0.0', 'c@3.0.0'] },
    { ref: 'a@1.0.0', dependsOn: ['b@2.0.0'] },
    { ref: 'b@2.0.0', dependsOn: [] },
    { ref: 'c@3.0.0', dependsOn: ['a@1.0.0'] },
  ]);
  assert.deepEqual('metadata' in bill && bill.metadata, { component: { name: 'own', 'bom-ref': 'own@1.0.0' } });
});

test('a dependency that the lock file lacks stops the build', () => {
  assert.throws(() => billOf({ name: 'own', dependencies: ['a@1.0.1'], bundled: [] }, WHOLE), /a@1\.0\.1/);
});
