// Commands of a package manager in a repository of several packages: whose scripts run, and whose manifest and lock file change.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { readShell } from '../../../src/adapters/shell/read-shell.ts';

const manifest = (name: string, scripts: Readonly<Record<string, string>>, more: object = {}) =>
  JSON.stringify({ name, scripts, ...more });

const PACKAGES: Readonly<Record<string, string>> = {
  'packages/ui/package.json': manifest('@shop/ui', { gen: 'echo x > src/gen.ts', pregen: 'touch src/pre.ts' }),
  'packages/api/package.json': manifest('@shop/api', { gen: 'echo x > gen.ts', tidy: 'prettier --write .' }),
  'packages/old/package.json': manifest('@shop/old', { gen: 'rm package.json' }),
  'packages/none/README.md': '',
  'apps/web/package.json': manifest('web', {}),
  'tools/extra.txt': '',
};
const ROOT_SCRIPTS = { ui: 'npm run -w packages/ui gen', here: 'echo x > here.ts' };
const LISTED = ['packages/*', '!packages/old', './apps/web/'];

const REPOSITORIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  npm: { ...PACKAGES, 'package.json': manifest('shop', ROOT_SCRIPTS, { workspaces: LISTED }) },
  classic: { ...PACKAGES, 'package.json': manifest('shop', {}, { workspaces: { packages: LISTED } }) },
  pnpm: {
    ...PACKAGES,
    'package.json': manifest('shop', ROOT_SCRIPTS),
    'pnpm-workspace.yaml':
      'catalog:\n  a: 1\npackages:\n  # all of them\n  - \'packages/*\'\n  - "!packages/old"\n\n  - apps/web # one\nignored:\n  - x\n',
  },
  brackets: { ...PACKAGES, 'package.json': '{}', 'pnpm-workspace.yaml': 'packages: ["packages/*", "!packages/old"]\n' },
  deep: {
    'package.json': manifest('shop', {}, { workspaces: ['src/**'] }),
    'src/a/b/package.json': manifest('b', { gen: 'touch made' }),
    'src/a/b/node_modules/c/package.json': manifest('c', { gen: 'touch made' }),
  },
  many: {
    'package.json': manifest('many', { all: 'pnpm -r gen' }),
    'pnpm-workspace.yaml': 'packages:\n  - packages/**\n',
    ...Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `packages/a/p${index}/package.json`,
        manifest(`p${index}`, { gen: 'touch made' }),
      ]),
    ),
  },
  single: { 'package.json': manifest('shop', ROOT_SCRIPTS), 'src/api/a.ts': '' },
};

let root = '';

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-workspaces-')));
  for (const [repository, files] of Object.entries(REPOSITORIES))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, repository, path)), { recursive: true });
      writeFileSync(join(root, repository, path), text);
    }
});

after(() => rmSync(root, { recursive: true }));

/** Modules are left out, since they are not the project's. */
function read(command: string, repository: string): { readonly paths: readonly string[]; readonly unresolved: number } {
  const cwd = join(root, repository);
  const { writes, unresolved } = readShell(command, { cwd, home: '/nowhere', env: {}, ...fileView });
  const paths = writes
    .map(({ path, tree }) => relative(cwd, path) + (tree ? '/' : ''))
    .filter((path) => !path.endsWith('node_modules/'));
  return { paths: [...new Set(paths)].sort(), unresolved: unresolved.length };
}

describe('a repository of many packages', () => {
  it('is looked through once, however many of them a command is told to work in', () => {
    const cwd = join(root, 'many');
    const listed: string[] = [];
    const directoriesIn = (path: string) => {
      listed.push(path);
      return fileView.directoriesIn(path);
    };
    const context = { cwd, home: '/nowhere', env: {}, ...fileView, directoriesIn };
    const { writes } = readShell('pnpm -r exec ls; pnpm up -r', context);
    assert.equal(writes.filter(({ path }) => path.endsWith('/package.json')).length, 60);
    assert.equal(listed.length, 62);
    assert.equal(new Set(listed).size, listed.length);
  });

  it('has the script of each of them told, also where a script runs these', () => {
    assert.equal(read('pnpm -r gen', 'many').paths.length, 60);
    assert.equal(read('pnpm all', 'many').paths.length, 60);
  });
});

const UI = ['packages/ui/src/gen.ts', 'packages/ui/src/pre.ts'];
const EACH = ['packages/api/gen.ts', ...UI];

type Case = readonly [repository: string, command: string, paths: readonly string[], unresolved?: number];

const SCRIPTS: readonly Case[] = [
  ['npm', 'npm run gen -w packages/ui', UI],
  ['npm', 'npm run gen -w @shop/ui', UI],
  ['npm', 'npm run gen --workspace=@shop/ui', UI],
  ['npm', 'npm -w packages/ui run gen', UI],
  ['npm', 'npm run gen -w @shop/ui -w @shop/api', EACH],
  ['npm', 'npm run gen -w packages', EACH],
  ['npm', 'npm run gen -ws', EACH],
  ['npm', 'npm run gen --workspaces --if-present', EACH],
  ['npm', 'npm run gen --workspaces=false', []],
  ['npm', 'npm run here -ws', []],
  ['npm', 'npm run here -ws -iwr', ['here.ts']],
  ['npm', 'npm run ui', UI],
  ['npm', 'cd packages && npm run gen -w ui', UI],
  ['npm', 'cd packages/api && npm run gen -w ../ui', UI],
  ['npm', 'cd packages/api/src && npm run gen', ['packages/api/gen.ts']],
  ['npm', 'npm run gen --ignore-scripts -w @shop/ui', ['packages/ui/src/gen.ts']],
  ['npm', 'npm run tidy -w @shop/api', ['packages/api/']],
  // what is not one of them, or is not known, is run unread
  ['npm', 'npm run gen -w packages/old', []],
  ['npm', 'npm run gen -w nothing', []],
  ['npm', 'npm run here -w nothing', []],
  ['npm', 'npm run gen -w "$X"', []],
  ['npm', 'npm run gen -w @shop/ui -w nothing', []],
  ['npm', 'cp a.json packages/ui/package.json; npm run gen -w @shop/ui', ['packages/ui/package.json']],
  ['npm', 'npm exec -w @shop/ui -- touch a', ['packages/ui/a']],
  ['npm', 'npm exec -ws -- touch a', ['apps/web/a', 'packages/api/a', 'packages/ui/a']],
  ['npm', 'npm exec -w nothing -- touch a', [], 1],
  ['npm', 'yarn workspace @shop/ui gen', UI],
  ['npm', 'yarn workspace @shop/ui run gen', UI],
  ['npm', 'yarn workspace nothing gen', []],
  ['npm', 'yarn workspaces foreach -A run gen', EACH],
  ['npm', 'yarn workspaces foreach -A exec touch a', ['apps/web/a', 'packages/api/a', 'packages/ui/a']],
  ['npm', 'yarn workspaces foreach --from @shop/ui exec touch a', [], 1],
  ['npm', 'yarn workspaces foreach --from @shop/ui run gen', []],
  ['classic', 'yarn workspaces run gen', EACH],
  ['npm', 'bun --filter @shop/ui run gen', UI],
  ['npm', 'bun run --filter "@shop/u*" gen', UI],
  ['pnpm', 'pnpm --filter @shop/ui run gen', UI],
  ['pnpm', 'pnpm --filter=ui gen', UI],
  ['pnpm', 'pnpm -F "@shop/*" run gen', EACH],
  ['pnpm', 'pnpm --filter ./packages/ui gen', UI],
  ['pnpm', 'pnpm --filter "{packages/ui}" gen', UI],
  ['pnpm', 'pnpm --filter "./packages/**" gen', EACH],
  ['pnpm', 'pnpm --filter ui... gen', UI],
  ['pnpm', 'pnpm --filter "...^ui" gen', []],
  ['pnpm', 'pnpm --filter "!ui" gen', []],
  ['pnpm', 'pnpm --filter "[main]" gen', []],
  ['pnpm', 'pnpm -r gen', EACH],
  ['pnpm', 'pnpm run --recursive gen', EACH],
  ['pnpm', 'pnpm gen -r', []],
  ['pnpm', 'cd packages/api && pnpm -w run here', ['here.ts']],
  ['pnpm', 'pnpm --filter ui exec touch a', ['packages/ui/a']],
  ['pnpm', 'pnpm --filter ui prettier --write .', ['packages/ui/']],
  ['brackets', 'pnpm -r gen', EACH],
  ['deep', 'npm run gen -ws', ['src/a/b/made']],
  ['deep', 'bun --filter "./src/**" gen', ['src/a/b/made']],
  ['npm', 'node --run here', ['here.ts']],
  ['npm', 'node --run=here -- --fix', ['here.ts']],
  ['npm', 'cd packages/ui && node --run gen', ['packages/ui/src/gen.ts']],
  ['npm', 'node --run nothing', []],
];

const INSTALLS: readonly Case[] = [
  ['npm', 'cd packages/api && npm install zod', ['package-lock.json', 'packages/api/package.json']],
  ['npm', 'cd packages/api/src && npm install zod', ['package-lock.json', 'packages/api/package.json']],
  ['npm', 'npm install zod -w @shop/api', ['package-lock.json', 'packages/api/package.json']],
  ['npm', 'cd packages/api && yarn add zod', ['packages/api/package.json', 'yarn.lock']],
  ['npm', 'yarn workspace @shop/api add zod', ['packages/api/package.json', 'yarn.lock']],
  ['npm', 'cd packages/api && bun add zod', ['bun.lock', 'bun.lockb', 'packages/api/package.json']],
  ['npm', 'cd packages/api && npm ci', []],
  ['npm', 'cd packages/old && npm install zod', ['packages/old/package-lock.json', 'packages/old/package.json']],
  ['npm', 'npm install zod -w nothing', ['package-lock.json', 'package.json']],
  ['npm', 'cd tools && npm install zod', ['package-lock.json', 'package.json']],
  ['npm', 'npm --prefix tools install zod', ['tools/package-lock.json', 'tools/package.json']],
  ['npm', 'cd tools && npm init -y', ['tools/package-lock.json', 'tools/package.json']],
  ['pnpm', 'cd packages/api && pnpm add zod', ['packages/api/package.json', 'pnpm-lock.yaml']],
  ['pnpm', 'pnpm --filter api add zod', ['packages/api/package.json', 'pnpm-lock.yaml']],
  ['pnpm', 'pnpm -w add zod', ['package.json', 'pnpm-lock.yaml']],
  ['pnpm', 'cd packages/api && npm install zod', ['packages/api/package-lock.json', 'packages/api/package.json']],
  ['single', 'npm install zod', ['package-lock.json', 'package.json']],
  ['single', 'cd src/api && npm install zod', ['package-lock.json', 'package.json']],
];

for (const [title, cases] of Object.entries({ 'scripts and tools': SCRIPTS, 'manifests and locks': INSTALLS }))
  describe(`${title} of several packages`, () => {
    for (const [repository, command, paths, unresolved = 0] of cases)
      it(`${repository}: ${command} writes ${paths.length === 0 ? 'nothing that is told' : paths.join(', ')}`, () => {
        assert.deepEqual(read(command, repository), { paths, unresolved });
      });
  });
