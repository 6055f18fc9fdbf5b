// A script of the project is run unread; what the words behind it add is told.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { readShell } from '../../../src/adapters/shell/read-shell.ts';

const SCRIPTS = {
  test: 'rm -rf coverage && vitest run',
  unit: 'jest',
  lint: 'eslint src',
  copy: 'cp notes.txt',
  loop: 'npm run loop --',
  own: 'node scripts/own.mjs',
};

let root = '';

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-scripts-')));
  mkdirSync(join(root, 'src', 'api'), { recursive: true });
  writeFileSync(join(root, 'src', 'api', 'users.test.ts'), '');
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: SCRIPTS }));
});

after(() => rmSync(root, { recursive: true }));

function read(command: string): { readonly paths: readonly string[]; readonly unresolved: number } {
  const { writes, unresolved } = readShell(command, { cwd: root, home: '/nowhere', env: {}, ...fileView });
  return {
    paths: writes.map(({ path, tree }) => relative(root, path) + (tree ? '/' : '')),
    unresolved: unresolved.length,
  };
}

describe('a script of the project', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['npm test', []],
    ['npm test -- --reporter=dot', []],
    ['npm test -- -u', ['/']],
    ['npm test -u', []],
    // what the script took away may stand for other names
    ['npm t -- -u src/api/users.test.ts', ['/']],
    ['npm run unit -- -u src/api/users.test.ts', ['src/api/users.test.ts', 'src/api/__snapshots__/users.test.ts.snap']],
    ['cd src/api && npm run unit -- -u', ['/']],
    ['pnpm unit -u', ['/']],
    ['yarn run unit --updateSnapshot', ['/']],
    ['npm run lint', []],
    ['npm run lint -- --fix', ['src/']],
    ['bun lint --fix', ['src/']],
    ['npm run copy -- -t src/api', ['src/api/notes.txt']],
    ['npm run own -- -u', []],
  ];
  for (const [command, paths] of cases)
    it(`${command} writes ${paths.length === 0 ? 'nothing that is told' : paths.join(', ')}`, () => {
      assert.deepEqual(read(command), { paths, unresolved: 0 });
    });

  it('that runs itself for ever is told as one that cannot be read', () => {
    assert.ok(read('npm run loop -- -u').unresolved > 0);
  });

  it('of a manifest that the command itself writes is not believed', () => {
    assert.ok(read('cp a.json package.json; npm test -- -u').paths.includes('/'));
  });
});
