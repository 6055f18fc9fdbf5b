// Each command of the table gets its verdict; a slow test runs them and holds that against what they change.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { DEFAULT_OWNERSHIP, ownerOf } from '../../../src/domain/team/ownership.ts';
import { COMMANDS, ONLY_READ } from './commands.ts';
import { ZSH } from './commands-zsh.ts';
import { decide, readIn } from './decide.ts';
import { copyTemplate, createTemplate } from './scratch-project.ts';

let template: ReturnType<typeof createTemplate>;

before(() => {
  template = createTemplate();
});

after(() => template.remove());

describe('the table of commands', () => {
  it('has enough rows, few of them too cautious, and none twice', () => {
    const commands = [...COMMANDS, ...ONLY_READ].map(({ command }) => command);
    assert.ok(COMMANDS.length >= 140);
    assert.ok(COMMANDS.filter(({ cautious }) => cautious !== undefined).length <= 6);
    assert.deepEqual(
      commands.filter((command, index) => commands.indexOf(command) !== index),
      [],
    );
  });

  it('is told apart before anything runs', () => {
    const scratch = copyTemplate(template.root, 'only-read');
    const problems = [...COMMANDS, ...ONLY_READ].flatMap(({ command, verdict }) => {
      const effects = readIn(command.replaceAll('@P@', scratch.project).replaceAll('@O@', scratch.outside), scratch);
      const got = decide(effects, scratch.project);
      return got === verdict
        ? []
        : [`${command}: expected ${verdict}, got ${got} ${JSON.stringify({ ...effects, commands: undefined })}`];
    });
    assert.deepEqual(problems, []);
    assert.equal(fileView.kindOf(scratch.project), 'directory');
  });

  it('is read as zsh would where the shell may be zsh', () => {
    const scratch = copyTemplate(template.root, 'zsh');
    const zsh = { ...scratch, env: { ...scratch.env, SHELL: '/opt/bin/zsh' } };
    const problems = ZSH.flatMap(({ command, verdict }) => {
      const effects = readIn(command, zsh);
      const got = decide(effects, zsh.project);
      return got === verdict ? [] : [`${command}: expected ${verdict}, got ${got} ${JSON.stringify(effects)}`];
    });
    assert.deepEqual(problems, []);
    for (const env of [{ CLAUDE_CODE_SHELL: '/bin/zsh' }, { CLAUDE_CODE_SHELL: 'fish', SHELL: '/bin/zsh' }]) {
      const effects = readIn('repeat 2 touch tests/x', { ...scratch, env: { ...scratch.env, ...env } });
      assert.equal(decide(effects, scratch.project), 'deny');
    }
  });

  it('says of code that may write that it is not read for which files, literal as they may be', () => {
    const scratch = copyTemplate(template.root, 'code');
    const said = [
      `python3 -c "open('src/api/a.ts', 'w')"`,
      `python3 - <<'E'\nopen('src/api/a.ts', 'w')\nE`,
      `node -e "require('fs').writeFileSync('src/api/a.ts', '')"`,
      `perl -e 'open(F, ">", "src/api/a.ts")'`,
    ].map((command) => readIn(command, scratch).unresolved);
    assert.deepEqual(
      said,
      ['python3 -c', 'python3 runs code from its standard input', 'node -e', 'perl -e'].map((by) => [
        `${by}: its code may write unknown files`,
      ]),
    );
  });

  it('says of variables that come from a file how they are read', () => {
    const scratch = copyTemplate(template.root, 'variables');
    for (const command of ["export $(grep -v '^#' .env | xargs) && npm test", 'env $(cat .env) npm test'])
      assert.match(
        readIn(command, scratch).unresolved[0] ?? '',
        /; a file of .* is read with `set -a; \. \.\/FILE; set \+a`$/,
      );
    writeFileSync(join(scratch.project, '.env'), 'PORT=3000\n');
    assert.deepEqual(readIn('set -a; . ./.env; set +a; npm test', scratch).unresolved, []);
  });

  it('counts with a name that is set nowhere, and reads what the environment holds of one that is', () => {
    const scratch = copyTemplate(template.root, 'counters');
    const command = 'until curl -s localhost:1; do sleep 1; ((n++)); [ $n -ge 5 ] && break; done';
    const unresolved = (n: string) => readIn(command, { ...scratch, env: { ...scratch.env, n } }).unresolved;
    assert.deepEqual(readIn(command, scratch).unresolved, []);
    assert.deepEqual(unresolved('3'), []);
    assert.match(unresolved('a[$(touch src/components/x)]')[0] ?? '', /^arithmetic on the text "a\[\$\(touch/);
  });

  it('says of a runner that updates snapshots which tests and snapshots it writes', () => {
    const scratch = copyTemplate(template.root, 'snapshots');
    const files = [
      'packages/web/src/a.test.tsx',
      'packages/web/src/__snapshots__/gone.test.ts.snap',
      'packages/web/src/plain.ts',
      'packages/web/node_modules/a/a.test.js',
      '__tests__/deep/b.js',
      'tests/c.spec.ts',
      'tests/c.spec.ts-snapshots/d.png',
    ];
    for (const path of files) {
      mkdirSync(dirname(join(scratch.project, path)), { recursive: true });
      writeFileSync(join(scratch.project, path), '');
    }
    writeFileSync(join(scratch.project, 'package.json'), '{"scripts":{"test":"vitest run"}}');
    const written = (command: string) => {
      const { writes, unresolved } = readIn(command, scratch);
      assert.deepEqual(unresolved, []);
      return writes.map(({ path, tree }) => relative(scratch.project, path) + (tree ? '/' : '')).sort();
    };
    const web = [
      'packages/web/src/__snapshots__/a.test.tsx.snap',
      'packages/web/src/__snapshots__/gone.test.ts.snap',
      'packages/web/src/a.test.tsx',
    ];
    const all = [
      '__tests__/deep/__snapshots__/b.js.snap',
      '__tests__/deep/b.js',
      ...web,
      'tests/__snapshots__/api.test.ts.snap',
      'tests/__snapshots__/c.spec.ts.snap',
      'tests/api.test.ts',
      'tests/c.spec.ts',
      'tests/c.spec.ts-snapshots/d.png',
    ];
    assert.deepEqual(written('cd packages/web && npx vitest run -u'), web);
    for (const command of ['npm test -- -u', 'npx jest -u', 'jest -u -t "a name"'])
      assert.deepEqual(written(command), all);
    assert.deepEqual(written('npx playwright test --update-snapshots'), [
      '__tests__/deep/b.js',
      'packages/web/src/__snapshots__/gone.test.ts.snap',
      'packages/web/src/a.test.tsx',
      'tests/api.test.ts',
      'tests/c.spec.ts',
      'tests/c.spec.ts-snapshots/',
      'tests/c.spec.ts-snapshots/d.png',
    ]);
    assert.deepEqual(
      all.map((path) => ownerOf(path, DEFAULT_OWNERSHIP).owner).filter((owner) => owner !== 'tester'),
      [],
    );
  });

  it('says of a directory that a container is given how it would only be read', () => {
    const scratch = copyTemplate(template.root, 'container');
    const hints = ['-v $PWD/src:/s', '--mount type=bind,source=src,target=/s', '-v $PWD/src:/s:ro'].map((option) =>
      readIn(`docker run --rm ${option} alpine ls /s`, scratch).writes.map(({ hint }) => hint),
    );
    assert.deepEqual(hints, [
      ['with `:ro` behind the directory the container only reads it'],
      ['with `,readonly` behind the mount the container only reads it'],
      [],
    ]);
  });
});
