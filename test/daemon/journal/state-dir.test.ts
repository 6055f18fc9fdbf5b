import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { holdStateDir, readStateDirHolder } from '../../../src/daemon/journal/state-dir.ts';
import { CONFIG_CODES } from '../../../src/daemon/rules/codes/config-codes.ts';
import { isOf, isRefusal } from '../../support/codes.ts';
import { tempDir } from '../../support/temp.ts';

function refusal(directory: string): Refusal | null {
  try {
    holdStateDir(directory, '/W2').release();
  } catch (error) {
    assert.ok(error instanceof ToolError && error.kind === 'state_in_use');
    return error.refusal;
  }
  return null;
}

test('a second daemon is refused and told who holds the directory', (t) => {
  const directory = join(tempDir(t), 'state');
  const first = holdStateDir(directory, '/project/WORKFLOW.md');
  first.announce('http://localhost:8888');
  isRefusal(refusal(directory), CONFIG_CODES.state_in_use, {
    directory,
    holder: `process ${process.pid}`,
    workflow: '/project/WORKFLOW.md',
    page: 'http://localhost:8888',
  });
  assert.equal(readStateDirHolder(directory)?.url, 'http://localhost:8888');
  first.release();
  first.release();
  assert.equal(readStateDirHolder(directory), undefined);
  const second = holdStateDir(directory, '/W');
  second.release();
  assert.equal(existsSync(join(directory, 'lock')), false);
});

test('a directory that cannot be made or written to is said by its key', (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'file'), '');
  assert.throws(
    () => holdStateDir(join(directory, 'file', 'state'), '/W'),
    isOf(CONFIG_CODES.state_dir_unwritable, { directory: join(directory, 'file', 'state') }),
  );
  assert.equal(readFileSync(join(directory, 'file'), 'utf8'), '');
});
