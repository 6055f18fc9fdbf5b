// The doctor's row of a repository's own file, read from the daemon's copy in real git.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { checkOwnFile } from '../../../src/cli/doctor/doctor-own-file.ts';
import { LAST_GOOD_FILE } from '../../../src/daemon/rules/own-file.ts';
import { bareRepository, commitFiles, gitAs } from '../../support/forge.ts';
import { tempDir } from '../../support/temp.ts';
import { workflowWith } from '../../support/world.ts';

test('a file with an error: the row names the file that the daemon uses', async (t) => {
  const stateDir = tempDir(t);
  const { work } = await bareRepository(stateDir);
  const good = await commitFiles(work, { 'WORKFLOW.md': 'Good.\n' }, 'Good');
  await commitFiles(work, { 'WORKFLOW.md': '---\na: [b\n---\n' }, 'Bad');
  await gitAs(stateDir, 'clone', '--quiet', '--bare', work, 'repo.git');
  const settings = ['prompt'] as const;
  const workflow = { ...workflowWith(), stateDir, fromRepository: { settings, hooks: false } };
  const [unknown] = await checkOwnFile(workflow);
  assert.match(unknown?.says ?? '', /the operator's file\.$/);
  writeFileSync(join(stateDir, LAST_GOOD_FILE), `${good}\n`);
  const [row] = await checkOwnFile(workflow);
  const at = `WORKFLOW\\.md at ${good.slice(0, 7)}\\.`;
  assert.match(row?.says ?? '', new RegExp(`^prompt from ${at} .* ${at}$`));
});
