import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { checkSubmodules } from '../../src/cli/doctor-repository.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

test('doctor names submodules: filled, left empty by the file, or never to be had', async (t) => {
  const stateDir = tempDir(t);
  const workflow = workflowWith({});
  const check = async (submodules = true) => {
    const rows = await checkSubmodules({ ...workflow, stateDir, workspace: { ...workflow.workspace, submodules } });
    return rows.map(({ name, status, says }) => `${name} ${status} ${says.split('\n').length}`);
  };
  assert.deepEqual(await check(), [], 'no copy yet');
  const work = join(stateDir, 'work');
  mkdirSync(work);
  await gitAs(work, 'init', '--quiet');
  const publish = async (text: string | null) => {
    if (text !== null) writeFileSync(join(work, '.gitmodules'), text);
    await commitFiles(work, { 'a.txt': text ?? '' }, 'one');
    const bare = join(stateDir, 'repo.git');
    await gitAs(work, 'init', '--quiet', '--bare', bare);
    await gitAs(work, 'push', '--quiet', bare, 'HEAD');
  };
  await publish(null);
  assert.deepEqual(await check(), [], 'none in it');
  await publish('[submodule "a"]\n\tpath = a\n\turl = ../a.git\n');
  assert.deepEqual(await check(), ['submodules ok 1']);
  assert.deepEqual(await check(false), ['submodules ok 1']);
  await publish(
    '[submodule "a"]\n\tpath = a\n\turl = ../a.git\n[submodule "b"]\n\tpath = b\n\turl = git@elsewhere:o/b\n',
  );
  assert.deepEqual(await check(), ['submodules warn 2']);
});
