// What the settings of a tool say about where it writes is read.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { readShell } from '../../../src/adapters/shell/read-shell.ts';

let root: string;
let projects = 0;

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-settings-')));
});

after(() => rmSync(root, { recursive: true, force: true }));

/** The places that a command writes in a project of these files, from its root. */
function placesOf(
  command: string,
  files: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>> = {},
): readonly string[] {
  projects += 1;
  const cwd = join(root, `project-${projects}`);
  for (const [path, text] of Object.entries({ 'src/a.ts': '', ...files })) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(cwd, path));
  const { writes, unresolved } = readShell(command, { cwd, home: cwd, env: { SHELL: '/bin/bash' }, ...fileView });
  assert.deepEqual(unresolved, []);
  return writes.map(({ path, tree }) => `${relative(cwd, path) || '.'}${tree ? '/' : ''}`);
}

describe('the settings of TypeScript', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
    ['npx tsc', {}, []],
    ['npx tsc', { 'tsconfig.json': '{}' }, ['./']],
    ['npx tsc', { 'tsconfig.json': '{ "compilerOptions": { "noEmit": true } }' }, []],
    ['npx tsc --noEmit', { 'tsconfig.json': '{}' }, []],
    ['tsc -v', { 'tsconfig.json': '{}' }, []],
    [
      'tsc --pretty false',
      { 'tsconfig.json': '{\n  // where it goes\n  "compilerOptions": { "outDir": "./dist", /* , */ },\n}' },
      ['dist/'],
    ],
    [
      'tsc -w',
      { 'tsconfig.json': '{ "include": ["src/**/*.ts", "bin/a.ts"], "files": ["test/b.ts"] }' },
      ['src/', 'bin/', 'test/'],
    ],
    ['tsc', { 'tsconfig.json': '{ "files": [], "references": [{ "path": "./a" }] }' }, []],
    ['cd src && tsc', { 'tsconfig.json': '{ "compilerOptions": { "outDir": "out" } }' }, ['out/']],
    [
      'tsc -p src',
      { 'src/tsconfig.json': '{ "compilerOptions": { "outDir": "../out", "declarationDir": "../types" } }' },
      ['out/', 'types/'],
    ],
    ['tsc --project src/tsconfig.build.json', { 'src/tsconfig.build.json': '{}' }, ['src/']],
    [
      'tsc',
      {
        'tsconfig.json': '{ "extends": "./config/base" }',
        'config/base.json': '{ "compilerOptions": { "outDir": "../out" } }',
      },
      ['out/'],
    ],
    [
      'tsc',
      {
        'tsconfig.json': '{ "extends": ["./base.json"], "include": ["src"] }',
        'base.json': '{ "compilerOptions": { "noEmit": true } }',
      },
      [],
    ],
    // a base that is not there changes nothing, nor does one that goes round
    ['tsc', { 'tsconfig.json': '{ "extends": "@tsconfig/node20/tsconfig.json" }' }, ['./']],
    ['tsc', { 'tsconfig.json': '{ "extends": "./tsconfig.json" }' }, ['./']],
    [
      'tsc',
      {
        'tsconfig.json': '{ "extends": "@tsconfig/node20/tsconfig.json" }',
        'node_modules/@tsconfig/node20/tsconfig.json': '{ "compilerOptions": { "strict": true } }',
      },
      ['./'],
    ],
    [
      'tsc -p src',
      {
        'src/tsconfig.json': '{ "extends": "house" }',
        'node_modules/house/package.json': '{ "tsconfig": "base.json" }',
        'node_modules/house/base.json': '{ "compilerOptions": { "noEmit": true } }',
      },
      [],
    ],
    [
      'tsc',
      {
        'tsconfig.json': '{ "extends": "./base", "compilerOptions": { "outDir": null } }',
        'base.json': '{ "compilerOptions": { "outDir": "out" } }',
      },
      ['./'],
    ],
    [
      'tsc',
      {
        'tsconfig.json': '{ "extends": ["./out", "./strict"] }',
        'out.json': '{ "compilerOptions": { "outDir": "out" }, "include": ["src"] }',
        'strict.json': '{ "compilerOptions": { "strict": true } }',
      },
      ['out/'],
    ],
    // declarations elsewhere leave the rest beside its sources
    [
      'tsc',
      { 'tsconfig.json': '{ "include": ["src"], "compilerOptions": { "declarationDir": "types" } }' },
      ['src/', 'types/'],
    ],
    ['tsc --declarationDir types', { 'tsconfig.json': '{ "include": ["src"] }' }, ['src/', 'types/']],
    [
      'tsc --emitDeclarationOnly',
      { 'tsconfig.json': '{ "include": ["src"], "compilerOptions": { "declarationDir": "types" } }' },
      ['types/'],
    ],
    // what is said goes before what is set
    ['tsc --noEmit false', { 'tsconfig.json': '{ "compilerOptions": { "noEmit": true } }' }, ['./']],
    ['tsc --noEmit true --pretty false', { 'tsconfig.json': '{}' }, []],
    ['tsc --noemit', { 'tsconfig.json': '{}' }, []],
    ['tsc --outdir out', { 'tsconfig.json': '{}' }, ['out/']],
    ['tsc -outDir out', { 'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }' }, ['out/']],
    ['tsc --outDir null', { 'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }' }, ['./']],
    ['tsc -outFile out.js src/a.ts', {}, ['out.js/']],
    ['tsc', { 'tsconfig.json': 'no settings' }, []],
    ['tsc -b', { 'tsconfig.json': '{}' }, ['./', 'tsconfig.tsbuildinfo/']],
    ['tsc --build --dry', { 'tsconfig.json': '{}' }, []],
    ['tsc -b other', { 'tsconfig.json': '{}' }, []],
    ['cd src && tsc -b', { 'tsconfig.json': '{}' }, []],
    [
      'tsc --build src/tsconfig.build.json -v',
      { 'src/tsconfig.build.json': '{ "compilerOptions": { "outDir": "../out", "tsBuildInfoFile": "../kept" } }' },
      ['out/', 'kept/'],
    ],
    [
      'tsc -b',
      { 'tsconfig.json': '{ "include": ["src"], "compilerOptions": { "outDir": "dist", "rootDir": "src" } }' },
      ['dist/', 'tsconfig.tsbuildinfo/'],
    ],
    [
      'tsc -b . src',
      {
        'tsconfig.json': '{ "files": [], "references": [{ "path": "./src" }, { "path": "./lib/tsconfig.lib.json" }] }',
        'src/tsconfig.json': '{ "references": [{ "path": ".." }], "compilerOptions": { "noEmit": true } }',
        'lib/tsconfig.lib.json': '{ "compilerOptions": { "outDir": "../out" } }',
      },
      ['src/tsconfig.tsbuildinfo/', 'out/', 'out/tsconfig.lib.tsbuildinfo/'],
    ],
  ];
  for (const [command, files, places] of cases)
    it(`${command} ${JSON.stringify(files)}`, () => assert.deepEqual(placesOf(command, files), places));

  it('are followed as far as they go', () => {
    const bases = Array.from({ length: 12 }, (_, index) => [`${index}.json`, `{ "extends": "./${index + 1}" }`]);
    const last = '{ "compilerOptions": { "outDir": "out" } }';
    const files = { ...Object.fromEntries(bases), 'tsconfig.json': '{ "extends": "./0" }', '12.json': last };
    assert.deepEqual(placesOf('tsc', files), ['out/']);
    const projects = Array.from({ length: 12 }, (_, index) => [
      `${index}.json`,
      `{ "files": [], "references": [{ "path": "${index + 1}.json" }] }`,
    ]);
    assert.deepEqual(placesOf('tsc -b 0.json', { ...Object.fromEntries(projects), '12.json': last }), [
      'out/',
      'out/12.tsbuildinfo/',
    ]);
  });

  it('that extend one another in too many ways are left', () => {
    const names = ['tsconfig', ...'abcdefgh'];
    const all = JSON.stringify({ extends: names.map((name) => `./${name}`) });
    const files = Object.fromEntries(names.map((name) => [`${name}.json`, all]));
    assert.throws(() => placesOf('tsc', files), /too much to read/);
  });
});

describe('a virtual environment of Python', () => {
  const activate = `deactivate () {
  if [ -n "\${_OLD_VIRTUAL_PYTHONHOME:-}" ] ; then
    PYTHONHOME="\${_OLD_VIRTUAL_PYTHONHOME:-}"
    export PYTHONHOME
  fi
  unset VIRTUAL_ENV
}
deactivate nondestructive
export VIRTUAL_ENV=here PATH="here/bin:$PATH"
if [ -n "\${PYTHONHOME:-}" ] ; then unset PYTHONHOME ; fi
hash -r
`;
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['source .venv/bin/activate && pytest', []],
    ['[ -d .venv ] || python3 -m venv .venv', ['.venv/']],
    ['rm -rf .venv && python3 -m venv .venv', ['.venv/', '.venv/']],
    ['uv venv', ['.venv/']],
  ];
  for (const [command, places] of cases)
    it(`${command}: its programs lie elsewhere`, () => {
      const files = { '.venv/bin/activate': activate };
      const link = { '.venv/bin/python3': join(root, 'python3') };
      assert.deepEqual(placesOf(command, files, link), places);
    });
});

describe('the settings of Alembic', () => {
  it('say where its steps lie', () => {
    assert.deepEqual(
      placesOf('alembic revision -m x', { 'alembic.ini': '[alembic]\nscript_location = %(here)s/db\n' }),
      ['db/versions/'],
    );
    assert.deepEqual(placesOf('alembic revision -m x', { 'alembic.ini': '[alembic]\nscript_location = db:steps\n' }), [
      './',
    ]);
  });
});

describe('the schema of Prisma', () => {
  const generator = (output: string) =>
    `datasource db {\n  url = env("DB")\n}\ngenerator client {\n  provider = "prisma-client"\n  output   = ${output}\n}\n`;
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
    ['npx prisma generate', {}, []],
    [
      'npx prisma generate',
      { 'prisma/schema.prisma': generator('"../src/lib/generated/prisma" // here') },
      ['src/lib/generated/prisma/'],
    ],
    ['npx prisma generate', { 'schema.prisma': generator('"./src/made"') }, ['src/made/']],
    ['cd src && npx prisma generate --schema ../db/a.prisma', { 'db/a.prisma': generator('"made"') }, ['db/made/']],
    ['npx prisma generate', { 'prisma/schema.prisma': generator('env("WHERE")') }, []],
    ['npx prisma generate', { 'prisma/schema.prisma': '// generator a {\n//  output = "../src"\n// }\n' }, []],
    ['npx prisma validate', { 'prisma/schema.prisma': generator('"../src"') }, []],
  ];
  for (const [index, [command, files, places]] of cases.entries())
    it(`says where ${command} writes (${index + 1})`, () => assert.deepEqual(placesOf(command, files), places));
});
