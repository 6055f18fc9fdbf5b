// Of a script of the project what it surely writes is told, and what the words behind it add.

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
  format: 'prettier --write .',
  'lint:fix': 'eslint --fix src',
  mended: 'prettier --write src/api/users.test.ts',
  prebuild: 'npm run format && npm run lint:fix && npm install',
  build: 'tsc && esbuild a.ts --outdir=src && vite build && mkdir -p src/out && rm -rf src/old && node -e "$CODE"',
  postbuild: 'cp package.json dist/ && chmod +x bin/x',
  clean: 'rm -rf src',
  check: 'npm run clean',
  'gen:types': 'openapi-typescript api.yaml -o src/types.ts',
  postinstall: 'touch src/installed',
  broken: 'echo "',
  number: 1,
  deep: 'npm run deep2; npm run deep2',
  deep2: 'npm run deep; npm run deep3; touch src/a',
  deep3: 'npm run deep2; npm run deep',
  long: `${'x; '.repeat(6_000)}touch src/a`,
};

/** What tests write that are all of them in one file. */
const UNIT = ['src/api/users.test.ts', 'src/api/__snapshots__/users.test.ts.snap'];

let root = '';

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-scripts-')));
  mkdirSync(join(root, 'src', 'api'), { recursive: true });
  writeFileSync(join(root, 'src', 'api', 'users.test.ts'), '');
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: SCRIPTS }));
});

after(() => rmSync(root, { recursive: true }));

function read(command: string): {
  readonly paths: readonly string[];
  readonly scripts: readonly string[];
  readonly unresolved: number;
} {
  const { writes, unresolved } = readShell(command, {
    cwd: root,
    home: '/nowhere',
    env: { SHELL: '/bin/bash' },
    ...fileView,
  });
  const told = (isOfScript: boolean) =>
    writes
      .filter(({ script }) => (script !== undefined) === isOfScript)
      .map(({ path, tree }) => relative(root, path) + (tree ? '/' : ''));
  return { paths: told(false), scripts: told(true), unresolved: unresolved.length };
}

describe('a script of the project', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['npm test', []],
    ['npm test -- --reporter=dot', []],
    ['npm test -- -u', ['/']],
    ['npm test -u', []],
    // what the script took away may stand for other names
    ['npm t -- -u src/api/users.test.ts', ['/']],
    ['npm run unit -- -u src/api/users.test.ts', UNIT],
    ['cd src/api && npm run unit -- -u', UNIT],
    ['pnpm unit -u', UNIT],
    ['yarn run unit --updateSnapshot', UNIT],
    ['npm run lint', []],
    ['npm run lint -- --fix', ['src/']],
    ['bun lint --fix', ['src/']],
    ['npm run copy -- -t src/api', ['src/api/notes.txt']],
    ['npm run own -- -u', []],
  ];
  for (const [command, paths] of cases)
    it(`${command} writes ${paths.length === 0 ? 'nothing that is told' : paths.join(', ')}`, () => {
      const { paths: told, unresolved } = read(command);
      assert.deepEqual({ told, unresolved }, { told: paths, unresolved: 0 });
    });

  it('that runs itself for ever is told as one that cannot be read', () => {
    assert.ok(read('npm run loop -- -u').unresolved > 0);
  });

  it('of a manifest that the command itself writes is not believed', () => {
    assert.ok(read('cp a.json package.json; npm test -- -u').paths.includes('/'));
  });

  const written: readonly (readonly [string, readonly string[]])[] = [
    ['npm run copy', []],
    ['npm run mended', ['src/api/users.test.ts']],
    ['npm run format', ['/']],
    ['npm run lint:fix', ['src/']],
    ['npm run gen:types', ['src/types.ts/']],
    ['npm run clean', ['src/']],
    ['npm run check', ['src/']],
    ['unheard-of exec -- npm run check', ['src/']],
    ['aws-vault exec far -- npm run check', ['src/']],
    ['npm test', []],
    ['UPDATE_SNAPSHOTS=1 npm test', ['/']],
    ['export UPDATE_SNAPSHOTS=1; cd src/api; npm t', ['/']],
    ['UPDATE_SNAPSHOTS=1; npm test', []],
    ['npm it', ['src/installed']],
    ['npm run build', ['src/installed', 'dist/package.json', 'bin/x']],
    ['npm run build --ignore-scripts', []],
    ['CODE=x npm run build', ['src/installed', 'dist/package.json', 'bin/x']],
    ['npm run broken', []],
    ['npm ci --ignore-scripts', []],
    ['npm ci', ['src/installed']],
    ['npm install', ['src/installed']],
    ['npm run number', []],
    ['npm run toString', []],
    ['npm run deep', ['src/a']],
    ['npm run long', []],
    ['npm run nothing', []],
    ['npm run build && node dist/package.json && ./bin/x', ['src/installed', 'dist/package.json', 'bin/x']],
  ];
  for (const [command, scripts] of written)
    it(`${command} surely writes ${scripts.length === 0 ? 'nothing' : scripts.join(', ')}`, () => {
      const told = read(command);
      assert.deepEqual({ scripts: told.scripts, unresolved: told.unresolved }, { scripts, unresolved: 0 });
    });

  it('of a manifest that is none is left unread', () => {
    for (const text of [
      '{"scripts": {"format": "sed -i s/a/b/ x"',
      '[]',
      'null',
      '{"scripts": 7}',
      '{"scripts": ["x"]}',
    ]) {
      writeFileSync(join(root, 'src', 'package.json'), text);
      assert.deepEqual(read('cd src && npm run format'), { paths: [], scripts: [], unresolved: 0 });
    }
    rmSync(join(root, 'src', 'package.json'));
  });
});
