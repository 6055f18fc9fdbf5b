import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { partScopes, scopesOf } from '../../../src/adapters/checks/coverage-scope.ts';
import type { Scope } from '../../../src/domain/unreported.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

/** What the gate runs, where package.json has it. */
const RUN = [{ text: 'npm test', where: 'quality.commands' }];

type Language = 'javascript' | 'python';

/** What a project with that file says of the language; of patterns those paths that they cover. */
async function said(
  t: Cleanup,
  language: Language,
  name: string,
  text: string,
  paths: readonly string[] = [],
  run = RUN,
) {
  const root = tempDir(t);
  writeFileSync(join(root, name), text);
  const scope: Scope | undefined = (await scopesOf(root, run))[language];
  assert.ok(scope !== undefined);
  return scope.kind === 'patterns' ? paths.filter(scope.covers) : scope;
}

const PATHS = ['src/a.js', 'src/deep/b.js', 'web/c.js', 'web/gen/d.js'];
const OPEN = { kind: 'open' };
const REPORT = { kind: 'report' };

test('scripts of package.json say by their options what coverage is about', async (t) => {
  const script = (text: string) =>
    said(t, 'javascript', 'package.json', JSON.stringify({ scripts: { test: text } }), PATHS);
  assert.deepEqual(await script('node --test'), OPEN);
  const src = ['src/a.js', 'src/deep/b.js'];
  for (const line of [
    "c8 --include 'src/**' node --test",
    'c8 --check-coverage --include=src node --test',
    'npx c8 -n src -x web mocha',
    'nyc -x web mocha',
    "node --test --experimental-test-coverage --test-coverage-include='src/**/*.js'",
    'vitest run --coverage.exclude=web/**',
  ])
    assert.deepEqual(await script(line), src, line);
  assert.deepEqual(await script('c8 --exclude web/gen node --test'), ['src/a.js', 'src/deep/b.js', 'web/c.js']);
  for (const line of [
    'c8 --all node --test',
    "jest --collectCoverageFrom='src/**'",
    "node --no-warnings node_modules/jest/bin/jest.js --collectCoverageFrom='src/**'",
    'vitest --coverage.include=src/**',
    // Has jest look at all of src.
    'react-scripts test --watchAll=false',
  ])
    assert.deepEqual(await script(line), REPORT, line);
  assert.deepEqual(await script('jest --coveragePathIgnorePatterns web'), { kind: 'unread', where: 'package.json' });
  // Of other programs these options say something else.
  assert.deepEqual(await script('eslint --exclude web -x src . && node --test'), OPEN);
});

test('so do the files of c8, nyc, jest and vitest; what is not read is named', async (t) => {
  const file = (name: string, text: string) => said(t, 'javascript', name, text, PATHS);
  assert.deepEqual(await file('package.json', '{"c8":{"include":["src"]}}'), ['src/a.js', 'src/deep/b.js']);
  assert.deepEqual(await file('.nycrc', '{"exclude":"**/gen/**"}'), ['src/a.js', 'src/deep/b.js', 'web/c.js']);
  assert.deepEqual(await file('.c8rc.json', '{"all":true,"exclude":["web"]}'), REPORT);
  assert.deepEqual(await file('package.json', '{"jest":{"collectCoverageFrom":["src/**"]}}'), REPORT);
  assert.deepEqual(await file('jest.config.ts', "export default { collectCoverageFrom: ['src/**'] };"), REPORT);
  assert.deepEqual(await file('.nycrc.yml', 'all: true\nexclude:\n  - web\n'), REPORT);
  assert.deepEqual(await file('nyc.config.js', "module.exports = { 'all': true };"), REPORT);
  assert.deepEqual(await file('nyc.config.js', 'module.exports = { all: false };'), OPEN);
  for (const [name, text] of [
    ['.nycrc', 'exclude:\n  - web\n'],
    ['.nycrc.json', '{"extends":"@x/nyc"}'],
    ['vitest.config.ts', "export default { test: { coverage: { exclude: ['web'] } } };"],
  ] as const)
    assert.deepEqual(await file(name, text), { kind: 'unread', where: name });
});

test('so does a file that jest or vitest are told of, and that of a package for itself', async (t) => {
  const root = tempDir(t);
  mkdirSync(join(root, 'config'));
  writeFileSync(join(root, 'config/jest.js'), "module.exports = { collectCoverageFrom: ['src/**'] };");
  writeFileSync(join(root, 'config/vitest.ts'), "export default { test: { coverage: { include: ['src/**'] } } };");
  const scope = async (text: string) => (await scopesOf(root, [{ text, where: 'package.json' }])).javascript;
  assert.deepEqual(await scope('jest --coverage --config config/jest.js'), REPORT);
  assert.deepEqual(await scope('vitest run -c ./config/vitest.ts'), { kind: 'unread', where: './config/vitest.ts' });
  for (const line of ['jest --config gone.js', 'jest -c "$CONFIG"'])
    assert.deepEqual(await scope(line), { kind: 'unread', where: 'package.json' }, line);
  const part = async (scripts: Readonly<Record<string, string>>, config?: string) => {
    writeFileSync(join(root, 'config/package.json'), JSON.stringify({ scripts }));
    writeFileSync(join(root, 'config/vitest.config.ts'), config ?? '');
    return (await partScopes(root, 'config')).javascript;
  };
  const patterns = await part({ test: 'c8 -x gen mocha' });
  assert.ok(patterns?.kind === 'patterns');
  assert.deepEqual([patterns.covers('config/gen/a.js'), patterns.covers('config/src/a.js')], [false, true]);
  assert.deepEqual(await part({ 'test:coverage': "jest --collectCoverageFrom='src/**'", test: 'jest' }), REPORT);
  assert.deepEqual(await part({ test: 'vitest' }, "export default { test: { coverage: { exclude: ['x'] } } };"), {
    kind: 'unread',
    where: 'config/vitest.config.ts',
  });
  assert.deepEqual(await part({ docs: 'c8 --all node x.js', test: 'node --test' }), OPEN);
});

test('of Python, lists of coverage.py in each of its files, and the options of pytest', async (t) => {
  const paths = ['app/a.py', 'app/deep/b.py', 'app/migrations/c.py', 'tools/d.py'];
  const file = (name: string, text: string) => said(t, 'python', name, text, paths);
  const kept = ['app/a.py', 'app/deep/b.py', 'tools/d.py'];
  const toml = '[tool.coverage.run]\nbranch = true\nplugins = ["x"]\n';
  assert.deepEqual(await file('pyproject.toml', toml), OPEN);
  assert.deepEqual(await file('pyproject.toml', `${toml}omit = ["*/migrations/*"]\n`), kept);
  assert.deepEqual(await file('pyproject.toml', `${toml}source = ["app"]\n`), REPORT);
  assert.deepEqual(await file('.coveragerc', '[run]\nbranch = True\nomit =\n    # none\n    */migrations/*\n'), kept);
  assert.deepEqual(await file('setup.cfg', '[coverage:report]\nomit = app/deep/*, app/migrations/**\n'), [
    'app/a.py',
    'tools/d.py',
  ]);
  assert.deepEqual(await file('tox.ini', '[coverage:run]\ninclude = app/*\n'), ['app/a.py']);
  assert.deepEqual(await file('tox.ini', '[testenv]\ninclude = app/*\n'), OPEN);
  assert.deepEqual(await file('pyproject.toml', '[tool.pytest.ini_options]\naddopts = ["-q", "--cov=app"]\n'), REPORT);
  assert.deepEqual(await file('setup.cfg', '[tool:pytest]\naddopts = -q --cov app\n'), REPORT);
  assert.deepEqual(await file('pytest.ini', '[pytest]\naddopts = --cov --strict-markers\n'), OPEN);
  assert.deepEqual(await file('pyproject.toml', 'not toml'), { kind: 'unread', where: 'pyproject.toml' });
});

test('words for the root are no patterns, quotes hold what is in them, and what does not parse is not read', async (t) => {
  const script = (text: string) =>
    said(t, 'javascript', 'package.json', JSON.stringify({ scripts: { test: text } }), PATHS);
  const file = (text: string) => said(t, 'javascript', '.c8rc.json', text, PATHS);
  for (const root of ['', '.', './', './/']) {
    assert.deepEqual(await file(JSON.stringify({ include: [root] })), PATHS, root);
    assert.deepEqual(await file(JSON.stringify({ exclude: [root, 'web'] })), ['src/a.js', 'src/deep/b.js'], root);
  }
  assert.deepEqual(await file('{"exclude":["web","!web/gen/**","!"]}'), ['src/a.js', 'src/deep/b.js', 'web/gen/d.js']);
  for (const line of ['c8 --exclude "" node --test', 'c8 --exclude -r text node --test'])
    assert.deepEqual(await script(line), PATHS, line);
  assert.deepEqual(await script("c8 --include 'src/@(a|deep/b).js' node --test; true"), ['src/a.js', 'src/deep/b.js']);
  const unread = (where: string) => ({ kind: 'unread', where });
  assert.deepEqual(await script('c8 --include "$PLACE/**" node --test'), unread('package.json'));
  assert.deepEqual(await file(JSON.stringify({ include: ['a'.repeat(70_000)] })), unread('.c8rc.json'));
});

test('commands that were given say it too', async (t) => {
  const root = tempDir(t);
  const { python } = await scopesOf(root, [{ text: 'pytest --cov=app --cov-report=xml', where: 'quality.commands' }]);
  assert.deepEqual(python, REPORT);
});

test('only what the gate runs says it, up to the program that it wraps', async (t) => {
  const scripts = (all: Readonly<Record<string, string>>, text = 'npm test') =>
    said(t, 'javascript', 'package.json', JSON.stringify({ scripts: all }), PATHS, [
      { text, where: 'quality.commands' },
    ]);
  const src = ['src/a.js', 'src/deep/b.js'];
  // Scripts that no check runs.
  const others = { docs: 'typedoc --source src --all', bundle: 'c8 --all -x web node x.js', e2e: 'pytest --cov=app' };
  assert.deepEqual(await scripts({ ...others, test: 'node --test' }), OPEN);
  assert.deepEqual(await scripts({ ...others, test: 'tool --source src && rollup --all' }), OPEN);
  // Options of what is wrapped are no options of the wrapper.
  for (const line of ["c8 mocha -n 'src/**' -x web", 'c8 --reporter lcov mocha --exclude web', 'nyc ava --all'])
    assert.deepEqual(await scripts({ test: line }), OPEN, line);
  for (const line of [
    'c8 -x web mocha -n x',
    "cross-env NODE_ENV=test npx --no-install c8 --check-coverage --lines 80 -x 'web' mocha",
    'npm run build && npm run unit',
    'bash -c "npm run unit"',
  ])
    assert.deepEqual(await scripts({ test: line, build: 'tsc --all', unit: 'c8 -x web mocha' }), src, line);
  // What is handed on belongs to the script.
  assert.deepEqual(await scripts({ test: 'npm run unit -- --coverage.exclude=web/**', unit: 'vitest run' }), src);
  assert.deepEqual(await scripts({ unit: 'c8 -x web mocha', test: 'npm test' }, 'pnpm unit'), src);
  // Circles end.
  assert.deepEqual(await scripts({ test: 'npm run again', again: 'npm test' }), OPEN);
});

test('options of one language say nothing of another, and the gate’s own for the root say nothing', async (t) => {
  const root = tempDir(t);
  const of = async (text: string) => {
    const { javascript, python } = await scopesOf(root, [{ text, where: 'quality.commands' }]);
    return [javascript, python].map((scope) => scope?.kind);
  };
  assert.deepEqual(await of("c8 --include 'src/**' npm test"), ['patterns', 'open']);
  assert.deepEqual(await of('pytest --cov app'), ['open', 'report']);
  assert.deepEqual(await of('poetry run python -m coverage run --source=app -m pytest --omit x'), ['open', 'report']);
  assert.deepEqual(await of('python3 -m coverage run --source=. -m pytest; python3 -m coverage xml -q -o x'), [
    'open',
    'open',
  ]);
  assert.deepEqual(await of('coverage run manage.py test --source app && coverage xml --omit=app/x.py,app/y.py'), [
    'open',
    'patterns',
  ]);
});

test('a comment of a configuration says nothing', async (t) => {
  const file = (name: string, text: string) => said(t, 'javascript', name, text, PATHS, []);
  assert.deepEqual(
    await file(
      'jest.config.js',
      "module.exports = {\n  // collectCoverageFrom: ['src/**'],\n  /* coveragePathIgnorePatterns */\n};",
    ),
    OPEN,
  );
  assert.deepEqual(
    await file('jest.config.js', "module.exports = { roots: ['src/**'], collectCoverageFrom: ['src/**/*.js'] };"),
    REPORT,
  );
  assert.deepEqual(await file('.nycrc.yml', '# exclude: web\nall: false\n'), OPEN);
});
