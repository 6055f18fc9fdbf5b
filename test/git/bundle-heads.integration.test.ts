// Heads of bundles that git made, as git lists them, and files that are no bundles.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readBundleHeads } from '../../src/git/bundle-heads.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';

test('heads are read as git lists them, whatever the bundle leaves out and however long it is', async (t) => {
  for (const format of ['sha1', 'sha256']) {
    const directory = tempDir(t);
    const path = join(directory, 'work.bundle');
    await gitAs(directory, 'init', '--quiet', '--initial-branch=main', `--object-format=${format}`);
    const first = await commitFiles(directory, { a: '\n\n'.repeat(100_000) }, 'First\n\nwith a second part');
    await commitFiles(directory, { b: 'b' }, 'Second');
    await gitAs(directory, 'branch', 'other');
    for (const words of [['main'], ['main', 'other'], ['main', `^${first}`]]) {
      await gitAs(directory, 'bundle', 'create', '--quiet', path, ...words);
      const listed = await gitAs(directory, 'bundle', 'list-heads', path);
      assert.deepEqual(await readBundleHeads(path), listed.trimEnd().split('\n'), `${format} ${words}`);
    }
  }
});

test('what is no bundle has no heads', async (t) => {
  const path = join(tempDir(t), 'file');
  const sha = 'a'.repeat(40);
  for (const text of [
    '',
    'PACK',
    '# v2 git bundle\n',
    `# v4 git bundle\n${sha} refs/heads/main\n\n`,
    '# v2 git bundle\nnone refs/heads/main\n\n',
    `# v2 git bundle\n${`${sha} refs/heads/main\n`.repeat(2_000)}\n`,
  ]) {
    writeFileSync(path, text);
    assert.equal(await readBundleHeads(path), null, JSON.stringify(text.slice(0, 40)));
  }
});
