// The check of texts: a planted long sentence, a planted header and files that are too long are named, and nothing else is.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { writeTree } from '../support/installed.ts';
import { tempDir } from '../support/temp.ts';

const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

const CLEAN = {
  'CONTRIBUTING.md': '# Contributing\n\n```sh\nnpm ci\n```\n',
  'SECURITY.md': `- ${words(20)}\n- ${words(20)}\n`,
  'README.md': `# A\n\n${words(15)} \`${words(40)}\`\n${words(10)}. ${words(20)}.\n\n| ${words(20)} | ${words(20)} |\n`,
  'src/a.ts': '// Lock file of a process.\n\n// What follows is short.\n',
};

function checked(root: string) {
  return execaSync(process.execPath, ['--import', 'tsx', 'scripts/check-texts.ts', root], { reject: false });
}

test('a sentence that is too long and a header that asks are named; code, cells and items are no part of them', (t) => {
  const root = tempDir(t);
  for (const name of ['docs', 'src', 'hooks', 'scripts', 'bench', 'test']) mkdirSync(join(root, name));
  writeTree(root, CLEAN);
  const clean = checked(root);
  assert.deepEqual([clean.exitCode, clean.stderr], [0, '']);
  writeTree(root, {
    'docs/a.md': `# A\n\nShort. ${words(20)}\n${words(11)}.\n`,
    'src/a.ts': '// Who holds the lock.\n',
    'src/b.ts': '\n'.repeat(401),
    'src/c.ts': '\n'.repeat(400),
    'test/b.ts': '#!/usr/bin/env node\n// Where it stands.\n',
    'test/c.test.ts': '\n'.repeat(401),
    'test/d.test.ts': `// Over 400 lines: one table.\n${'\n'.repeat(400)}`,
  });
  const { exitCode, stderr } = checked(root);
  assert.equal(exitCode, 1);
  assert.deepEqual(
    stderr
      .trim()
      .split('\n')
      .map((line) => line.replace(/(?:word ?)+\.?$/, '')),
    [
      'docs/a.md:3: expected at most 30 words in a sentence, got 31: ',
      'src/a.ts: expected a header that names the thing, got: Who holds the lock.',
      'test/b.ts: expected a header that names the thing, got: Where it stands.',
      'src/b.ts: expected at most 400 lines, or a reason ("// Over 400 lines: …"), got 401 lines',
      'test/c.test.ts: expected at most 400 lines, or a reason ("// Over 400 lines: …"), got 401 lines',
    ],
  );
});
