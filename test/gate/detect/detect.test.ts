// The commands that are proposed for a project, from its own files.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import assert from 'node:assert/strict';
import test from 'node:test';
import { detect } from '../../../src/gate/detect/detect.ts';
import { previewPlan } from '../../../src/gate/detect/plan-preview.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { type Commanded, DEFAULT_QUALITY } from '../../../src/gate/rules/quality.ts';
import { type TestProject, testProject } from '../../support/checks.ts';
import { failsWith } from '../../support/codes.ts';
import type { Cleanup } from '../../support/temp.ts';

const NODE =
  '--experimental-test-coverage --test-reporter=spec --test-reporter-destination=stdout --test-reporter=lcov --test-reporter-destination="${TOOL_REPORTS:-/tmp}/lcov.info"';

/** @param programs installed ones; `modules` of Python */
async function proposed(project: TestProject, programs: readonly string[] = [], modules = '') {
  for (const name of programs) project.program(name, '');
  const ask = async (script: string) => (script.startsWith('python3') ? modules : null);
  const all = await detect({ root: project.root, env: { PATH: `${project.root}/../bin` }, ask });
  return (name: Commanded) => all[name];
}

async function ofNode(t: Cleanup, scripts: Record<string, string>, packages: readonly string[] = [], lock = '') {
  const project = testProject(t, null);
  const devDependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  project.write('package.json', JSON.stringify({ scripts, devDependencies }));
  project.write('node_modules/.keep', '');
  if (lock !== '') project.write(lock, '');
  return proposed(project);
}

test('npm, pnpm and yarn: scripts by their names, each with its reason', async (t) => {
  const scripts = {
    test: 'mocha',
    'test:coverage': 'c8 mocha',
    lint: 'eslint .',
    audit: 'npm audit',
    'format:check': 'x',
  };
  for (const [lock, manager] of [
    ['', 'npm'],
    ['pnpm-lock.yaml', 'pnpm'],
    ['yarn.lock', 'yarn'],
  ] as const) {
    const of = await ofNode(t, scripts, [], lock);
    assert.deepEqual(of('tests'), {
      command: `${manager} test`,
      reason: 'package.json: script "test"',
      missing: null,
      install: null,
    });
    assert.equal(of('coverage').command, `${manager} run test:coverage`);
    assert.equal(of('lint').command, `${manager} run lint`);
    assert.equal(of('security').command, `${manager} run audit`);
    assert.equal(of('format').command, `${manager} run format:check`);
  }
});

test('a test script is made to leave a report by its runner, and then runs once for both', async (t) => {
  for (const [script, packages, command] of [
    ['node --test', [], `node ${NODE} --test`],
    ['tsc && node --import tsx --test a.ts', [], `tsc && node ${NODE} --import tsx --test a.ts`],
    ['c8 mocha', [], 'c8 --reporter=lcovonly --reporter=text-summary --report-dir="${TOOL_REPORTS:-/tmp}/c8" mocha'],
    [
      'mocha',
      ['c8'],
      'npx c8 --reporter=lcovonly --reporter=text-summary --report-dir="${TOOL_REPORTS:-/tmp}/c8" npm test',
    ],
  ] as const) {
    const of = await ofNode(t, { test: script }, packages);
    assert.deepEqual([of('tests').command, of('coverage').command], [command, command]);
  }
  const jest = await ofNode(t, { test: 'jest' });
  assert.match(jest('coverage').command ?? '', /^npm test -- --coverage --coverageReporters=lcovonly .*\/jest"$/);
  const vitest = await ofNode(t, { test: 'vitest run' }, ['@vitest/coverage-v8'], 'pnpm-lock.yaml');
  assert.match(vitest('coverage').command ?? '', /^pnpm test --run --coverage\.enabled .*\/vitest"$/);
  const around = await ofNode(t, { test: 'node --test', pretest: 'tsc', posttest: 'tsc' });
  assert.equal(around('tests').command, `npm run pretest && node ${NODE} --test && npm run posttest`);
});

test('what nothing measures is said with the line that would measure it', async (t) => {
  const plain = await ofNode(t, { test: 'sh run.sh' });
  assert.equal(plain('tests').command, 'npm test');
  assert.deepEqual([plain('coverage').command, plain('coverage').install], [null, null]);
  assert.match(plain('coverage').reason, /install c8 \(npm install --save-dev c8\), add a script "test:coverage"/);
  assert.match(plain('lint').reason, /no script "lint"; add one, for example "eslint \."$/);
  const vitest = await ofNode(t, { test: 'vitest' }, ['vitest']);
  assert.equal(vitest('coverage').install, 'npm install --save-dev @vitest/coverage-v8');
  const none = await ofNode(t, { test: 'echo "Error: no test specified" && exit 1' });
  assert.equal(none('tests').command, null);
  const nothing = await proposed(testProject(t, null));
  assert.match(
    nothing('tests').reason,
    /^the project has no package\.json, .*Cargo\.toml: set quality\.commands\.tests$/,
  );
});

test('tools that the project depends on stand in for scripts', async (t) => {
  const eslint = await ofNode(t, {}, ['eslint', 'prettier']);
  assert.equal(eslint('lint').command, 'npx eslint .');
  assert.equal(eslint('complexity').command, `npx eslint --rule '{"complexity":["error",15]}' .`);
  assert.equal(eslint('format').command, 'npx prettier --check .');
});

test('workspaces: the tests of each package, in its own directory', async (t) => {
  for (const [lock, all] of [
    ['package-lock.json', 'npm test --workspaces --if-present'],
    ['pnpm-workspace.yaml', 'pnpm -r test'],
    ['yarn.lock', 'yarn workspaces run test'],
  ] as const) {
    const project = testProject(t, null);
    project.write('package.json', JSON.stringify({ workspaces: ['packages/*'] }));
    project.write(lock, lock.endsWith('yaml') ? "packages:\n  - 'packages/*'\n" : '');
    if (lock.startsWith('pnpm')) project.write('pnpm-lock.yaml', '');
    project.write('packages/a/package.json', '{"scripts":{"test":"node --test"}}');
    project.write('packages/b/package.json', '{}');
    const measured = await proposed(project);
    assert.equal(
      measured('coverage').command,
      `(cd 'packages/a' && export TOOL_REPORTS="\${TOOL_REPORTS:-/tmp}/packages/a" && mkdir -p "$TOOL_REPORTS" && node ${NODE} --test)`,
    );
    assert.equal(measured('tests').command, measured('coverage').command);
    project.write('packages/b/package.json', '{"scripts":{"test":"sh run.sh"}}');
    const unknown = await proposed(project);
    assert.deepEqual([unknown('tests').command, unknown('coverage').command], [all, null]);
    assert.match(unknown('coverage').reason, /^packages\/b: package\.json: script "test" is not seen to measure/);
  }
});

test('pytest: with pytest-cov one command, without it the line that installs it', async (t) => {
  const project = testProject(t, null);
  project.write('pyproject.toml', '[tool.pytest.ini_options]\n[tool.ruff]\n');
  const bare = await proposed(project, [], 'pytest\n');
  assert.deepEqual(bare('tests'), {
    command: 'python3 -m pytest',
    reason: 'pyproject.toml',
    missing: null,
    install: null,
  });
  assert.deepEqual(bare('coverage').install, 'python3 -m pip install pytest-cov');
  assert.match(
    (await proposed(project, [], 'pytest managed\n'))('coverage').install ?? '',
    /; python3 -m venv --system-site-packages \.venv && \.venv\/bin\/python -m pip install pytest-cov$/,
  );
  const whole = await proposed(project, ['ruff'], 'pytest pytest_cov\n');
  assert.equal(
    whole('coverage').command,
    'COVERAGE_FILE="${TOOL_REPORTS:-/tmp}/.coverage" python3 -m pytest --cov=. --cov-report=xml:"${TOOL_REPORTS:-/tmp}/python.xml"',
  );
  assert.deepEqual(whole('tests'), whole('coverage'));
  assert.deepEqual([whole('lint').command, whole('format').command], ['ruff check .', 'ruff format --check .']);
  project.write('.venv/bin/python', '');
  assert.equal(
    (await proposed(project, [], 'pytest managed\n'))('coverage').install,
    '.venv/bin/python -m pip install pytest-cov',
  );
  project.write('uv.lock', '');
  assert.equal((await proposed(project, [], ''))('tests').install, 'uv add --dev pytest-cov');
});

test('Go and Cargo; a manifest that is there for its tools alone leaves the tests to the other', async (t) => {
  const project = testProject(t, 'go');
  project.write('package.json', '{"scripts":{"lint":"eslint ."}}');
  const go = await proposed(project, ['go', 'gofmt']);
  assert.equal(go('tests').command, 'go test -coverpkg=./... -coverprofile="${TOOL_REPORTS:-/tmp}/go.out" ./...');
  assert.equal(go('lint').command, 'npm run lint && go vet ./...');
  const crate = await proposed(testProject(t, 'rust'), ['cargo-clippy']);
  assert.deepEqual([crate('tests').command, crate('lint').command], ['cargo test', 'cargo clippy -- -D warnings']);
  assert.equal(crate('coverage').install, 'cargo install cargo-llvm-cov');
});

test('packages that are not installed are told before anything runs; a broken manifest is refused', async (t) => {
  const project = testProject(t, null);
  project.write('package.json', '{"scripts":{"test":"node --test"},"devDependencies":{"tsx":"4"}}');
  project.write('package-lock.json', '{}');
  const of = await proposed(project);
  assert.deepEqual([of('tests').install, of('coverage').install], ['npm ci', 'npm ci']);
  assert.equal(of('tests').reason, 'package.json: script "test"');
  assert.equal(of('tests').missing, 'the packages of package.json are not installed');
  // The same command, once it stands in the settings, can run no sooner.
  const commands = { ...DEFAULT_QUALITY.commands, tests: of('tests').command, coverage: 'npm run measured' };
  const plan = await previewPlan(project.root, { ...DEFAULT_QUALITY, commands }, process.env);
  assert.ok(!('of' in plan));
  assert.deepEqual(
    plan.slice(0, 2).map(({ name, gap, install }) => [name, gap, install]),
    [
      ['tests', 'the packages of package.json are not installed', 'npm ci'],
      ['coverage', '', null],
    ],
  );
  project.write('package.json', '{');
  await failsWith(proposed(project), GATE_CODES.json_unreadable, { file: 'package.json' });
});

test('a project without a manifest is told each of them', async (t) => {
  const of = await proposed(testProject(t, null));
  const manifests = 'package.json, go.mod, pytest configuration or Cargo.toml';
  assert.equal(of('lint').reason, `the project has no ${manifests}: set quality.commands.lint`);
});
