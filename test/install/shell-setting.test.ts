// The shell that the user has set: of the settings that count most, whatever `tool init` has put over it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { userShell } from '../../src/install/shell-setting.ts';
import { projectOf, writeTree } from '../support/installed.ts';
import { tempDir } from '../support/temp.ts';

const text = (shell: string) => JSON.stringify({ env: { CLAUDE_CODE_SHELL: shell } });

test('the first setting that is not ours counts', (t) => {
  const [root, home] = [projectOf(t), tempDir(t)];
  const before = (shell?: string) => userShell(root, { HOME: home, CLAUDE_CODE_SHELL: shell });
  assert.equal(before(), null);
  assert.equal(before('/x/toolcrew/guard/bash'), null);
  assert.equal(before('/env/bash'), '/env/bash');
  writeTree(home, { '.claude/settings.json': text('/user/bash') });
  assert.equal(before('/env/bash'), '/user/bash');
  writeTree(root, { '.claude/settings.json': text('/project/bash') });
  assert.equal(before(), '/project/bash');
  writeTree(root, { '.claude/settings.local.json': text(join(home, 'toolcrew', 'guard', 'zsh')) });
  assert.equal(before(), '/project/bash');
  writeTree(root, { '.claude/settings.local.json': text('/local/bash') });
  assert.equal(before(), '/local/bash');
});
