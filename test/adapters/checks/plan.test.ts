import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { reporting, runsSameTests } from '../../../src/adapters/checks/node-coverage.ts';
import { planChecks } from '../../../src/adapters/checks/plan.ts';
import { DEFAULT_QUALITY, type QualitySettings } from '../../../src/domain/quality.ts';
import { type TestProject, testProject } from '../../support/checks.ts';

type Found = {
  readonly commands?: Partial<QualitySettings['commands']>;
  readonly modules?: string;
  readonly path?: string;
};

async function plan({ root }: TestProject, { commands = {}, modules = '', path = '/nowhere' }: Found = {}) {
  const settings = { ...DEFAULT_QUALITY, commands: { ...DEFAULT_QUALITY.commands, ...commands } };
  const asked: string[] = [];
  const planned = await planChecks(settings, {
    root,
    env: { PATH: path },
    ask: async (script) => {
      asked.push(script);
      return modules;
    },
  });
  const [first] = planned.testing;
  return {
    planned,
    asked,
    tests: first?.tests.ways.map((way) => way.command) ?? [],
    coverage: first?.coverage.ways[0],
    gap: first?.coverage.gap,
    isOneRun: first?.isOneRun,
    lint: planned.lint.ways.map((way) => way.command),
    security: planned.security.ways.map((way) => way.command),
  };
}

function manifest(project: TestProject, scripts: Record<string, string>, packages: readonly string[] = []): void {
  const devDependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  project.write('package.json', JSON.stringify({ scripts, devDependencies }));
}

const WRAPPED = '--reporter=lcovonly --reporter=text-summary --report-dir="$TOOL_REPORTS/wrapped"';
const NODE =
  '--experimental-test-coverage --test-reporter=spec --test-reporter-destination=stdout --test-reporter=lcov --test-reporter-destination="$TOOL_REPORTS/lcov.info"';

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

test('scripts are made to leave a report, by the tool that runs them', () => {
  const script = (text: string, packages: readonly string[] = []) => reporting(text, 'npm test', packages)?.script;
  assert.equal(script('node --test'), `node ${NODE} --test`);
  assert.equal(
    script('tsc && node --import tsx --test "test/*.ts"'),
    `tsc && node ${NODE} --import tsx --test "test/*.ts"`,
  );
  assert.equal(script('node --test --test-reporter=dot --experimental-test-coverage x.js'), `node ${NODE} --test x.js`);
  assert.equal(script('tsx --test a.ts'), `tsx ${NODE} --test a.ts`);
  assert.equal(script('c8 node --test'), `c8 ${WRAPPED} node --test`);
  assert.equal(script('NODE_ENV=test nyc mocha'), `NODE_ENV=test nyc ${WRAPPED} mocha`);
  assert.match(
    script('vitest run') ?? '',
    /^vitest run --coverage\.enabled --coverage\.reportOnFailure .*TOOL_REPORTS\/vitest"$/,
  );
  assert.match(script('npx vitest') ?? '', /^npx vitest --coverage\.enabled /);
  assert.equal(script('c8 --reporter=text --report-dir out mocha'), `c8 ${WRAPPED} --reporter=text mocha`);
  assert.equal(script('nyc mocha -r esm'), `nyc ${WRAPPED} mocha -r esm`);
  assert.match(script('jest --coverageDirectory=x') ?? '', /^jest --coverage .*TOOL_REPORTS\/jest"$/);
  assert.match(script('jest --coverage-directory cov') ?? '', /^jest --coverage .*TOOL_REPORTS\/jest"$/);
  assert.equal(script('c8 -o cov --reporter=lcov mocha'), `c8 ${WRAPPED} --reporter=lcov mocha`);
  assert.equal(script('c8 --reporter=text mocha json.js'), `c8 ${WRAPPED} --reporter=text mocha json.js`);
  assert.equal(script('c8 mocha && c8 report'), `c8 ${WRAPPED} --temp-directory=coverage/tmp mocha && c8 report`);
  assert.equal(script('node --test | faucet'), `node ${NODE.replace('=spec', '=tap')} --test | faucet`);
  assert.doesNotMatch(script('vitest run --coverage.enabled true --coverage.reportsDirectory=x') ?? '', / true|=x/);
  assert.match(script('jest --coverageReporters text --config json.js') ?? '', /^jest --coverage .*jest" --coverageR/);
  assert.match(script('jest --coverageReporters text') ?? '', /^jest --coverage .*jest" --coverageReporters text$/);
  assert.match(script('jest --ci') ?? '', /^jest --coverage --coverageReporters=lcovonly .*jest" --ci$/);
  for (const text of [
    'node node_modules/jest/bin/jest.js',
    'node --experimental-vm-modules node_modules/.bin/jest',
    'node -r dotenv/config --no-warnings ./node_modules/jest/bin/jest.js',
    "NODE_OPTIONS='--a --b' jest",
    'NODE_OPTIONS="--a --b" NODE_ENV=test npx jest',
    'tsc && pnpm exec jest',
    'pnpm jest',
    'yarn jest',
    'yarn run jest',
    'npm exec -- jest',
    './node_modules/.bin/jest',
    'npx --no-install jest',
    'cross-env A=1 b=2 node_modules/.bin/react-scripts test',
  ])
    assert.match(script(`${text} unit`) ?? '', new RegExp(`^${escaped(text)} --coverage .*/jest" unit$`));
  for (const text of ['pnpm exec vitest run', 'node ./node_modules/vitest/vitest.mjs', "A='b c' vitest"])
    assert.match(script(text) ?? '', new RegExp(`^${escaped(text)} --coverage\\.enabled `));
  assert.equal(script('node node_modules/c8/bin/c8.js mocha'), `node node_modules/c8/bin/c8.js ${WRAPPED} mocha`);
  assert.equal(script("A='b c' node --test"), `A='b c' node ${NODE} --test`);
  for (const text of ['npm exec jest', 'node run.js node_modules/.bin/jest', 'run-s lint test:*', 'yarn-jest', 'jests'])
    assert.equal(script(text), undefined, text);
  for (const said of ['--no-coverage', '--coverage', '--coverage=false', '--coverage false', '--collectCoverage'])
    assert.equal(script(`jest ${said} unit`), script('jest unit'), said);
  for (const said of ['--no-coverage', '--coverage', '--coverage=false', '--coverage.enabled=false'])
    assert.equal(script(`vitest run ${said} unit`), script('vitest run unit'), said);
  assert.equal(script('mocha "a b"', ['c8']), `c8 ${WRAPPED} sh -c 'mocha "a b"'`);
  assert.equal(script("mocha 'a b'", ['nyc']), `nyc ${WRAPPED} sh -c 'mocha '\\''a b'\\'''`);
  assert.equal(script('mocha'), undefined);
  assert.equal(script('node run-tests.js'), undefined);
});

test('what a person types to see the coverage', () => {
  const command = (text: string, packages: readonly string[] = []) => reporting(text, 'npm test', packages)?.command;
  assert.equal(command('node --test'), 'node --experimental-test-coverage --test');
  assert.equal(command('vitest run unit'), 'npx vitest run --coverage unit');
  assert.equal(command('jest'), 'npx jest --coverage');
  assert.equal(command('jest --coverage'), 'npx jest --coverage');
  assert.equal(command('jest --no-coverage a'), 'npx jest --coverage a');
  assert.equal(command("A='b c' jest"), "A='b c' npx jest --coverage");
  assert.equal(command('cross-env A=b jest'), 'npx cross-env A=b jest --coverage');
  assert.equal(command('node node_modules/.bin/jest'), 'node node_modules/.bin/jest --coverage');
  assert.equal(command('c8 mocha'), 'npm test');
  assert.equal(command('mocha', ['c8']), 'npx c8 npm test');
});

test('scripts that say themselves where their report goes stay as they are', () => {
  for (const text of [
    'c8 --reporter=lcov node --test',
    'nyc -r json mocha',
    'node --test --test-reporter=lcov',
    'vitest run --coverage.reporter=json',
    'jest --coverageReporters=text --coverageReporters=json-summary',
    'jest --coverageReporters text lcov',
  ])
    assert.deepEqual(reporting(text, 'npm test', []), { script: text, command: 'npm test', report: null });
});

test('which coverage script runs the tests of the test script', () => {
  for (const [coverage, tests] of [
    ['c8 node --test', 'node --test'],
    ['c8 --reporter=lcov --all npm test', 'node run.js'],
    ['nyc npm run test', 'mocha'],
    ['vitest run --coverage', 'vitest run'],
    ['jest --coverage --coverageReporters=lcov', 'jest'],
    ['node --test --experimental-test-coverage', 'node --test'],
    ['jest --coverage', 'jest --no-coverage'],
    ['node --experimental-test-coverage --test-reporter=lcov --test', 'node --test'],
  ] as const)
    assert.ok(runsSameTests(coverage, tests), coverage);
  for (const [coverage, tests] of [
    ['c8 node --test test/unit', 'node --test'],
    ['vitest run --coverage unit', 'vitest run'],
  ] as const)
    assert.ok(!runsSameTests(coverage, tests), coverage);
});

test('a Node project: scripts by their names, run by the manager of the lock file', async (t) => {
  const project = testProject(t, null);
  manifest(project, { test: 'node --test', coverage: 'c8 node --test', lint: 'eslint .', security: 'audit-ci' });
  const npm = await plan(project);
  assert.deepEqual([npm.tests, npm.coverage?.command, npm.isOneRun], [['npm test'], 'npm run coverage', true]);
  assert.deepEqual([npm.lint, npm.security], [['npm run lint'], ['npm run security']]);
  for (const [lock, test, lint] of [
    ['pnpm-lock.yaml', 'pnpm test', 'pnpm run lint'],
    ['yarn.lock', 'yarn test', 'yarn run lint'],
    ['bun.lock', 'bun run test', 'bun run lint'],
  ] as const) {
    const other = testProject(t, null);
    manifest(other, { test: 'node --test', lint: 'eslint .' });
    other.write(lock, '');
    const planned = await plan(other);
    assert.deepEqual([planned.tests, planned.lint], [[test], [lint]]);
  }
});

test('a Node project: where the coverage comes from, and why it does not', async (t) => {
  const of = async (scripts: Record<string, string>, packages: readonly string[] = []) => {
    const project = testProject(t, null);
    manifest(project, scripts, packages);
    return plan(project);
  };
  const own = await of({ test: 'node --test', pretest: 'tsc' });
  assert.equal(own.coverage?.command, 'node --experimental-test-coverage --test');
  assert.match(own.coverage?.script ?? '', /^npm run pretest && \(\nnode --experimental-test-coverage .*\n\)$/);
  assert.equal(own.isOneRun, true);
  const vitest = await of({ test: 'vitest run --coverage src' }, ['@vitest/coverage-v8']);
  assert.match(vitest.coverage?.script ?? '', /^vitest run --coverage\.enabled .*"\$TOOL_REPORTS\/vitest" src$/);
  assert.equal(vitest.coverage?.command, 'npx vitest run --coverage src');
  const other = await of({ test: 'node --test', 'test:coverage': 'sh coverage.sh', coverage: 'never' });
  assert.deepEqual(
    [other.coverage?.command, other.coverage?.script, other.isOneRun],
    ['npm run test:coverage', 'npm run test:coverage', false],
  );
  assert.match((await of({ test: 'vitest run' })).gap ?? '', /@vitest\/coverage-v8/);
  assert.equal((await of({ test: 'vitest run' }, ['@vitest/coverage-v8'])).coverage?.report, 'vitest/lcov.info');
  assert.match(
    (await of({ test: 'make test' })).gap ?? '',
    /its script "test" names no known test runner; install c8,/,
  );
  for (const test of ['npm test --workspaces --if-present', 'npm test -ws', 'pnpm -r test', 'turbo run test'])
    assert.match(
      (await of({ test })).gap ?? '',
      /runs those of its packages: install c8 if they run in Node itself, else add one by which each leaves a report in its coverage\/ \(ignored by Git\), as "npm run test:coverage -w/,
      test,
    );
  assert.match((await of({})).planned.testing[0]?.tests.gap ?? '', /^package\.json has no script "test"$/);
});

test('commands that are given take the place of those that are found', async (t) => {
  const project = testProject(t, null);
  manifest(project, { test: 'node --test', lint: 'eslint .' });
  const tests = await plan(project, { commands: { tests: 'make test' } });
  assert.deepEqual(
    [tests.tests, tests.coverage?.command, tests.isOneRun],
    [['make test'], 'node --experimental-test-coverage --test', false],
  );
  const coverage = await plan(project, { commands: { coverage: 'make coverage' } });
  assert.deepEqual(
    [coverage.tests, coverage.coverage?.command, coverage.isOneRun],
    [['npm test'], 'make coverage', false],
  );
  const same = await plan(project, {
    commands: { tests: 'make', coverage: 'make', lint: 'make lint', security: 'make audit' },
  });
  assert.deepEqual([same.isOneRun, same.lint, same.security], [true, ['make lint'], ['make audit']]);
});

test('where every command is given, the project’s own files are not read', async (t) => {
  const project = testProject(t, null);
  project.write('package.json', '{');
  const all = { tests: 'a', coverage: 'b', lint: 'c', security: 'd' };
  assert.deepEqual((await plan(project, { commands: all })).tests, ['a']);
  await assert.rejects(plan(project), /^ToolError: package\.json: expected JSON/);
});

test('a package.json without tests beside another project leaves the tests to that one', async (t) => {
  const project = testProject(t, 'go');
  manifest(project, { lint: 'prettier --check .' });
  project.program('go', '');
  const { planned, tests, lint } = await plan(project, { path: `${project.root}/../bin` });
  assert.equal(planned.testing.length, 1);
  assert.deepEqual([tests, lint], [['go test ./...'], ['npm run lint', 'go vet ./...']]);
});

const PYTEST = 'python3 -m pytest';

test('a script that only calls the runner of another language leaves the tests to that one', async (t) => {
  const project = testProject(t, 'go');
  project.write('pytest.ini', '');
  project.write('pyproject.toml', '');
  const testsBeside = async (test: string, more: Record<string, string> = {}) => {
    manifest(project, { test, ...more });
    const { planned } = await plan(project);
    return planned.testing.map(({ tests }) => tests.ways[0]?.command);
  };
  for (const script of [
    'pytest',
    'go test ./...',
    'python3 -m pytest -q',
    '.venv/bin/pytest',
    'uv run pytest -v',
    'poetry run python -m pytest',
  ])
    assert.deepEqual(await testsBeside(script), ['go test ./...', PYTEST], script);
  // It may run others than are found.
  const others = ['go test -tags integration ./...', 'CI=1 pytest', 'pytest integration', 'uv run pytest -W error'];
  for (const script of [
    ...others,
    'pytest && mocha',
    'node pytest',
    'cargo test',
    'pytest | tee log',
    'python3 -m unittest',
  ])
    assert.deepEqual(await testsBeside(script), ['npm test', 'go test ./...', PYTEST], script);
  assert.equal((await testsBeside('pytest', { coverage: 'sh coverage.sh' }))[0], 'npm test');
});

test('a Python project: pytest where it is wanted or there, else unittest', async (t) => {
  const of = async (files: Record<string, string>, modules: string) => {
    const project = testProject(t, null);
    for (const [path, text] of Object.entries({ 'pyproject.toml': '', ...files })) project.write(path, text);
    return plan(project, { modules });
  };
  assert.deepEqual((await of({}, 'pytest')).tests, [PYTEST]);
  assert.deepEqual((await of({}, '')).tests, ['python3 -m unittest discover']);
  assert.deepEqual((await of({ 'tests/test_a.py': '' }, '')).tests, ['python3 -m unittest discover -s tests']);
  assert.deepEqual((await of({ 'tests/test_a.py': '', 'tests/__init__.py': '' }, '')).tests, [
    'python3 -m unittest discover',
  ]);
  for (const files of [
    { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
    { 'pyproject.toml': '[project.optional-dependencies]\ntest = ["pytest>=8"]\n' },
    { 'pytest.ini': '' },
    { 'conftest.py': '' },
    { 'setup.cfg': '[tool:pytest]\n' },
  ])
    assert.deepEqual((await of(files, '')).tests, [PYTEST], JSON.stringify(files));
  const wanted = await of({ 'pytest.ini': '' }, '');
  assert.equal(wanted.planned.testing[0]?.tests.gap, 'pytest cannot be imported by python3');
  await assert.rejects(of({ 'pyproject.toml': '[' }, ''), /^ToolError: pyproject\.toml: expected TOML: /);
});

test('a Python project: coverage by what can be imported, of what is configured', async (t) => {
  const of = async (pyproject: string, modules: string) => {
    const project = testProject(t, null);
    project.write('pyproject.toml', pyproject);
    return plan(project, { modules });
  };
  const plugin = await of('', 'pytest pytest_cov');
  assert.equal(plugin.coverage?.command, `${PYTEST} --cov=.`);
  assert.match(
    plugin.coverage?.script ?? '',
    /^COVERAGE_FILE="\$TOOL_REPORTS\/\.coverage" python3 -m pytest --cov=\. --cov-report=xml:"\$TOOL_REPORTS\/python\.xml"$/,
  );
  assert.equal(plugin.isOneRun, true);
  const configured = await of('[tool.coverage.run]\nbranch = true\n', 'pytest pytest_cov');
  assert.equal(configured.coverage?.command, `${PYTEST} --cov`);
  assert.equal((await of('', 'pytest coverage')).coverage?.command, 'python3 -m coverage run --source=. -m pytest');
  assert.equal((await of('', 'coverage')).coverage?.command, 'python3 -m coverage run --source=. -m unittest discover');
  assert.equal((await of('', 'pytest')).gap, 'pytest-cov cannot be imported by python3');
  assert.equal((await of('', '')).gap, 'coverage cannot be imported by python3');
  const install = async (modules: string) => (await of('', modules)).planned.testing[0]?.coverage.install;
  assert.equal(await install('pytest'), 'python3 -m pip install pytest-cov');
  const locked = testProject(t, null);
  for (const [path, text] of [
    ['pyproject.toml', ''],
    ['uv.lock', ''],
  ] as const)
    locked.write(path, text);
  const { planned } = await plan(locked, { modules: 'pytest' });
  assert.equal(planned.testing[0]?.coverage.install, 'uv add --dev pytest-cov');
  assert.equal(
    await install('managed'),
    'echo /.venv/ >> .gitignore && python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install coverage',
  );
});

test('a Python project: coverage that pytest measures by itself is of what it says', async (t) => {
  for (const [path, text] of [
    ['pyproject.toml', '[tool.pytest.ini_options]\naddopts = ["-q", "--cov=shop"]\n[tool.coverage.report]\n'],
    ['pytest.ini', '[pytest]\naddopts =\n    -q\n    --cov shop\n'],
    ['tox.ini', '[pytest]\naddopts = --cov\n'],
    ['setup.cfg', '[tool:pytest]\naddopts = --cov=shop --cov-report=term\n'],
  ] as const) {
    const project = testProject(t, null);
    project.write('pyproject.toml', '');
    project.write(path, text);
    const { coverage } = await plan(project, { modules: 'pytest pytest_cov coverage lcov' });
    assert.equal(coverage?.command, PYTEST, path);
    assert.match(coverage?.script ?? '', / pytest --cov-report=lcov:"\$TOOL_REPORTS\/python\.lcov"$/, path);
  }
  const project = testProject(t, null);
  project.write('pyproject.toml', '[tool.pytest.ini_options]\naddopts = "--cov-report=term"\n');
  assert.equal((await plan(project, { modules: 'pytest pytest_cov' })).coverage?.command, `${PYTEST} --cov=.`);
});

test('a Python project: lcov where its coverage.py and pytest-cov can write that', async (t) => {
  const project = testProject(t, null);
  project.write('setup.py', '');
  const { asked } = await plan(project);
  for (const [coverage, plugin, isThere] of [
    ['6.3', '4.0.0', true],
    ['7.10.1', '7.0', true],
    ['6.2', '4.0.0', false],
    ['7.0', '3.0.0', false],
  ] as const) {
    const place = testProject(t, null);
    for (const [module, name, version] of [
      ['coverage', 'coverage', coverage],
      ['pytest_cov', 'pytest-cov', plugin],
    ] as const) {
      place.write(`${module}/__init__.py`, '');
      place.write(
        `${module}-${version}.dist-info/METADATA`,
        `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
      );
    }
    const said = execFileSync('sh', ['-c', asked[0] ?? ''], { env: { ...process.env, PYTHONPATH: place.root } });
    assert.equal(said.toString().trim().split(' ').includes('lcov'), isThere, `${coverage} ${plugin}`);
  }
  const lone = await plan(project, { modules: 'coverage lcov' });
  assert.match(lone.coverage?.script ?? '', /-m coverage lcov -q -o "\$TOOL_REPORTS\/python\.lcov"; exit \$code$/);
});

test('a Python project: a linked work tree means its own code, also where the environment has the main one installed', async (t) => {
  const project = testProject(t, null);
  for (const path of ['pyproject.toml', 'src/shop/__init__.py']) project.write(path, '');
  const main = realpathSync(project.root);
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: main });
  git('add', '-A');
  git('commit', '-q', '-m', 'a');
  const linked = join(main, 'linked');
  git('worktree', 'add', '-q', linked);
  // Stands for what an installation in place adds.
  const env = { PATH: process.env.PATH ?? '', PYTHONPATH: [`${main}/src`, `${main}/gone`, '/elsewhere'].join(':') };
  const pathOf = async (root: string) => {
    const ask = async (script: string) => execFileSync('sh', ['-c', script], { cwd: root, env }).toString();
    const { testing } = await planChecks(DEFAULT_QUALITY, { root, env, ask });
    return testing[0]?.tests.ways[0]?.env.PYTHONPATH;
  };
  assert.equal(await pathOf(linked), `${linked}/src:${env.PYTHONPATH}`);
  assert.equal(await pathOf(main), undefined);
});

test('a Python project: its own environment, and the tools that are configured', async (t) => {
  const project = testProject(t, null);
  project.write('pyproject.toml', '[tool.ruff]\n[tool.bandit]\n[dependency-groups]\ndev = ["pip-audit"]\n');
  project.write('.flake8', '');
  const planned = await plan(project, { modules: 'ruff' });
  assert.deepEqual(planned.lint, ['python3 -m ruff check .', 'flake8']);
  assert.deepEqual(planned.security, ['python3 -m bandit -q -r . -c pyproject.toml', 'python3 -m pip_audit']);
  assert.match(planned.asked[0] ?? '', /^python3 -c '/);

  const bare = testProject(t, null);
  bare.write('setup.py', '');
  const none = await plan(bare);
  assert.equal(none.planned.lint.gap, 'neither ruff nor flake8 is configured beside setup.py');
  assert.equal(none.planned.security.gap, 'neither bandit nor pip-audit is configured beside setup.py');
  bare.write('poetry.lock', '');
  bare.program('poetry', '');
  assert.deepEqual((await plan(bare, { path: `${bare.root}/../bin` })).tests, [
    'poetry run python -m unittest discover',
  ]);
  bare.write('uv.lock', '');
  bare.program('uv', '');
  assert.deepEqual((await plan(bare, { path: `${bare.root}/../bin` })).tests, ['uv run python -m unittest discover']);
});

test('Go and Rust: what is installed is used, what is not is named', async (t) => {
  const go = testProject(t, 'go');
  const none = (await plan(go, { path: `${go.root}/../bin` })).planned;
  assert.equal(
    none.testing[0]?.coverage.ways[0]?.script,
    'go test -coverpkg=./... -coverprofile="$TOOL_REPORTS/go.out" ./...; code=$?; f="$TOOL_REPORTS/go.out"; if [ -f "$f" ]; then { head -n 1 "$f"; tail -n +2 "$f" | sort -u; } >"$f.once" && mv "$f.once" "$f"; fi; exit $code',
  );
  assert.deepEqual([none.lint.gap, none.security.gap], ['go is not installed', 'govulncheck is not installed']);
  go.program('go', '');
  assert.deepEqual((await plan(go, { path: `${go.root}/../bin` })).lint, ['go vet ./...']);
  go.program('golangci-lint', '');
  assert.deepEqual((await plan(go, { path: `${go.root}/../bin` })).lint, ['go vet ./...', 'golangci-lint run']);

  const rust = testProject(t, 'rust');
  const bare = await plan(rust);
  assert.deepEqual([bare.tests, bare.isOneRun], [['cargo test'], false]);
  assert.match(bare.gap ?? '', /^cargo-llvm-cov is not installed/);
  assert.match(bare.planned.lint.gap, /^clippy is not installed/);
  rust.edit('Cargo.toml', '[package]', '[workspace]\n[package]');
  rust.program('cargo-llvm-cov', '');
  const whole = await plan(rust, { path: `${rust.root}/../bin` });
  assert.deepEqual([whole.tests, whole.coverage?.command], [['cargo test --workspace'], 'cargo llvm-cov --workspace']);
});
