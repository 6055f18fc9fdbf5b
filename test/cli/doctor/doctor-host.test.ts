import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { checkStart } from '../../../src/cli/doctor/doctor-host.ts';
import { writeTree } from '../../support/installed.ts';
import { tempDir } from '../../support/temp.ts';

test('below the directory of the settings no hook runs, which is said with the command that helps', (t) => {
  const root = tempDir(t);
  const place = join(root, 'src');
  writeTree(root, { 'src/a.ts': '//\n' });
  assert.deepEqual(checkStart(root, place), [], 'nothing is installed');
  const hooks = {
    Stop: [{ hooks: [{ type: 'command', command: 'node "$CLAUDE_PROJECT_DIR/.tool/hooks/session-start"' }] }],
  };
  writeTree(root, { '.tool/hooks/session-start': '//\n', '.claude/settings.json': JSON.stringify({ hooks }) });
  assert.deepEqual(checkStart(root, root), []);
  const [row] = checkStart(root, place);
  assert.equal(row?.code, 'hooks_unread_below');
  assert.match(row?.says ?? '', /\bsrc\//);
  assert.ok(
    JSON.stringify(row).includes(`cd '${root}' && claude`) || JSON.stringify(row).includes(`cd ${root} && claude`),
  );
});
