// The tree of a clone as it stands, and the way back to it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { putBack, stateOf } from '../../../src/daemon/workspaces/workspace-state.ts';
import type { Clone } from '../../../src/git/clone.ts';
import { bareRepository, commitFiles, gitAs } from '../../support/forge.ts';
import { tempDir } from '../../support/temp.ts';

test('whatever a program did to files, commits and branch of a clone is put back; its uncommitted work stays', async (t) => {
  const { work } = await bareRepository(tempDir(t), { 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'ignored\n' });
  await gitAs(work, 'add', '--all');
  await commitFiles(work, { 'c.txt': 'c\n' }, 'More');
  const at = (name: string) => join(work, name);
  writeFileSync(at('a.txt'), 'changed, not committed\n');
  writeFileSync(at('new.txt'), 'new\n');
  rmSync(at('b.txt'));
  writeFileSync(at('ignored'), 'kept\n');
  const clone: Clone = { path: work, launch: undefined, timeoutMs: 60_000 };
  const { signal } = new AbortController();
  const before = await stateOf(clone, signal);
  assert.equal(await putBack(clone, before, signal), false);

  writeFileSync(at('a.txt'), 'spoilt\n');
  writeFileSync(at('b.txt'), 'back\n');
  rmSync(at('new.txt'));
  writeFileSync(at('more.txt'), 'more\n');
  await gitAs(work, 'checkout', '--quiet', '-b', 'elsewhere');
  await gitAs(work, 'commit', '--quiet', '--all', '-m', 'Mine');
  assert.equal(await putBack(clone, before, signal), true);
  assert.deepEqual(await stateOf(clone, signal), before);
  assert.equal(readFileSync(at('a.txt'), 'utf8'), 'changed, not committed\n');
  assert.equal(readFileSync(at('new.txt'), 'utf8'), 'new\n');
  assert.equal(readFileSync(at('ignored'), 'utf8'), 'kept\n');
  assert.deepEqual([existsSync(at('b.txt')), existsSync(at('more.txt'))], [false, false]);
});
