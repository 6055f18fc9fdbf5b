// Says that it is ready, waits for a word, creates as many SPECs of one feature as it is told, and prints their ids.
// usage: create-specs.ts <root> <count>

import { once } from 'node:events';
import { createSpec } from '../../../src/team/spec-documents/specs.ts';
import { NEW_SPEC } from '../spec.ts';

console.log('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
const [, , root = '', count = '1'] = process.argv;
for (let done = 0; done < Number(count); done += 1) {
  const created = createSpec(root, NEW_SPEC, '2026-01-31');
  console.log(created.ok ? created.id : JSON.stringify(created.problems));
}
