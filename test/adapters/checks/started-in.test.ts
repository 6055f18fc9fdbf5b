// Where commands start what measures, and whose files a report of it is about.

import assert from 'node:assert/strict';
import test from 'node:test';
import { startedIn } from '../../../src/adapters/checks/started-in.ts';
import { DEFAULT_QUALITY } from '../../../src/domain/quality.ts';
import { heldAgainst } from '../../../src/domain/unreported.ts';
import { checkOf, commands, testProject } from '../../support/checks.ts';

test('the words of a command say where what measures is started', (t) => {
  const project = testProject(t, null);
  project.write('package.json', JSON.stringify({ scripts: { web: 'cd web && vitest run', build: 'cd web && vite' } }));
  project.write(
    'web/package.json',
    JSON.stringify({ scripts: { test: 'vitest run', pretest: 'cd ..', all: 'cd a; jest' } }),
  );
  for (const [script, place] of [
    ['vitest run', null],
    ['cd web && vitest run', 'web'],
    ['cd ./web/ && npx c8 node --test', 'web'],
    ['(cd web && npm run build) && vitest run', null],
    ['( cd web && vitest run ) && cd api && go test ./...', 'web'],
    ['cd web && (cd ../api && vitest run)', 'api'],
    ['cd web && vitest run && cd ../api && vitest run', null],
    ['cd web && vitest run; cd .. && (cd web && jest)', 'web'],
    ['cd "$WEB" && vitest run', null],
    ['cd /srv/web && vitest run', null],
    ['cd .. && vitest run', null],
    ['pushd web && vitest run && popd', 'web'],
    ['npm run build && npm run web', 'web'],
    ['npm run build && vitest run', null],
    ['npm --prefix web test', 'web'],
    ['npm test --prefix=web -- --root a', 'web/a'],
    ['npm test -- --prefix web', null],
    ['yarn --cwd web all', 'web/a'],
    ['pnpm -C web exec vitest run', 'web'],
    ['npm --prefix web run none', null],
    ['c8 npm --prefix web test', null],
    ["sh -c 'cd web && vitest run'", 'web'],
    ['vitest run --root web', 'web'],
    ['vitest run --root=./web', 'web'],
    ['jest --rootDir web', 'web'],
  ] as const)
    assert.equal(startedIn(project.root, [script]), place, script);
  assert.equal(startedIn(project.root, ['cd web && jest', 'jest --rootDir=web']), 'web');
  assert.equal(startedIn(project.root, ['cd web && jest', 'jest']), null);
});

test('a report of what was started in a directory is about the files that lie there', async (t) => {
  const project = testProject(t, null);
  const source = 'exports.add = (a, b) => a + b;\n';
  project.write('package.json', JSON.stringify({ scripts: { test: 'cd web && node --test' } }));
  project.write('web/package.json', '{}');
  project.write('src/index.js', source);
  project.write('web/src/index.js', source);
  project.write('web/src/index.test.js', "require('node:test')('adds', () => require('./index.js').add(1, 2));\n");
  const held = async (path: string) => checkOf(heldAgainst(await project.gate(), [path], DEFAULT_QUALITY), 'coverage');
  assert.equal((await held('web/src/index.js')).outcome, 'passed');
  assert.match((await held('src/index.js')).details.join('\n'), /^src\/index\.js: not in the coverage report/);
  // What lies there says which of its files count.
  project.write('web/src/left.js', source);
  assert.equal((await held('web/src/left.js')).outcome, 'failed');
  project.write('web/.c8rc.json', '{"exclude":["src/left.js"]}');
  assert.equal((await held('web/src/left.js')).outcome, 'passed');
  // A file that is not there is named from elsewhere.
  const named = 'SF:src/index.js\\nDA:1,1\\nend_of_record\\nSF:src/other.js\\nDA:1,1\\nend_of_record\\n';
  project.write('src/other.js', source);
  const both = `cd web && node --test && printf '${named}' > ../lcov.info`;
  const whole = await project.gate(commands({ tests: both, coverage: both }));
  assert.equal(checkOf(heldAgainst(whole, ['src/index.js'], DEFAULT_QUALITY), 'coverage').outcome, 'passed');
});
