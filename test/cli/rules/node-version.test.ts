import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { neededNode } from '../../../src/cli/rules/node-version.ts';

test('a Node that cannot load ES modules by require needs another, of its own line or a newer one', () => {
  const needed = { '18.20.0': '20.19.0', '20.18.3': '20.19.0', '21.7.3': '22.12.0', '22.11.0': '22.12.0' };
  for (const [version, least] of Object.entries(needed)) assert.equal(neededNode(version), least, version);
  for (const version of ['20.19.0', '20.20.2', '22.12.0', '23.0.0', '24.1.0', '26.0.0'])
    assert.equal(neededNode(version), null, version);
  assert.equal(JSON.parse(readFileSync('package.json', 'utf8')).engines.node, '^20.19 || >=22.12');
});
