// A SPEC that the user has approved as it stands.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approveSpec } from '../../src/team/spec-documents/spec-approvals.ts';

export function writeApprovedSpec(root: string, id: string, env: Readonly<Record<string, string | undefined>>): void {
  const directory = join(root, '.tool', 'specs', id);
  mkdirSync(directory, { recursive: true });
  const head = `---\nid: ${id}\nstatus: draft\n---\n`;
  writeFileSync(join(directory, 'spec.md'), `${head}\n- R1: The API shall answer with the owner of an account.\n`);
  assert.equal(approveSpec(root, id, env, Date.now()), null);
}
