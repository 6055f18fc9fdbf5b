// A Python project: pytest or unittest, and the tools that it is configured for, in its own environment.

import { existsSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { measuresByItself } from './coverage-scope.ts';
import {
  found,
  gap,
  hasProgram,
  inside,
  isInstalled,
  type Project,
  readText,
  type Surroundings,
  type Ways,
  way,
} from './project.ts';
import { readToml } from './toml.ts';

const MANIFESTS = ['pyproject.toml', 'setup.cfg', 'setup.py', 'requirements.txt'];
const MODULES = ['pytest', 'pytest_cov', 'coverage', 'ruff', 'flake8', 'bandit', 'pip_audit'];
/** Said beside them where coverage.py, and pytest-cov if it is there, can write that. */
const LCOV = 'lcov';
/** Said beside them where the system's package manager keeps the interpreter, and pip installs nothing into it. */
const MANAGED = 'managed';

export async function findPythonProject(around: Surroundings): Promise<Project | null> {
  const { root } = around;
  const manifest = MANIFESTS.find((name) => readText(root, name) !== null);
  if (manifest === undefined) return null;
  const text = (name: string) => readText(root, name) ?? '';
  const toml = await readToml(text('pyproject.toml'), 'pyproject.toml');
  const hasTool = (name: string) => inside(toml, 'tool', name) !== undefined;
  const hasSection = (name: string) => ['setup.cfg', 'tox.ini'].some((file) => text(file).includes(`[${name}]`));
  const isThere = (name: string) => readText(root, name) !== null;
  const python = pythonOf(around);
  const modules = await importable(python, around);
  const env = await searchPath(python, around);

  const namesPytest = /["']?pytest\b/.test(text('pyproject.toml')) || /^pytest\b/m.test(text('requirements.txt'));
  const wantsPytest =
    namesPytest ||
    hasTool('pytest') ||
    isThere('pytest.ini') ||
    isThere('conftest.py') ||
    hasSection('pytest') ||
    hasSection('tool:pytest');
  const runner = wantsPytest || modules.has('pytest') ? 'pytest' : unittest(root);
  // pytest-cov brings pytest: one command is enough for both.
  const install = (name: string) => installOf(name, { python, isManaged: modules.has(MANAGED), root });
  const lacking = (name: string) =>
    gap(`${name} cannot be imported by ${python}`, install(runner === 'pytest' ? 'pytest-cov' : 'coverage'));
  const isConfigured = hasTool('coverage') || isThere('.coveragerc') || hasSection('coverage:run');

  const coverage = (): Ways => {
    // In XML files of several sources that have one name are told apart no more.
    const format = modules.has(LCOV) ? 'lcov' : 'xml';
    const report = `python.${format}`;
    const place = `"$TOOL_REPORTS/${report}"`;
    const data = 'COVERAGE_FILE="$TOOL_REPORTS/.coverage"';
    if (runner === 'pytest' && modules.has('pytest_cov')) {
      const option = measuresByItself(root, toml) ? '' : isConfigured ? ' --cov' : ' --cov=.';
      const command = `${python} -m pytest${option}`;
      return found(way(command, { env, report, script: `${data} ${command} --cov-report=${format}:${place}` }));
    }
    if (!modules.has('coverage')) return lacking(runner === 'pytest' ? 'pytest-cov' : 'coverage');
    const command = `${python} -m coverage run${isConfigured ? '' : ' --source=.'} -m ${runner}`;
    const script = `export ${data}; ${command}; code=$?; ${python} -m coverage ${format} -q -o ${place}; exit $code`;
    return found(way(command, { env, report, script }));
  };
  const lint = (): Ways => {
    const own = (name: string, rest: string) => (modules.has(name) ? `${python} -m ${name}${rest}` : `${name}${rest}`);
    const ways = [
      ...(hasTool('ruff') || isThere('ruff.toml') || isThere('.ruff.toml') ? [way(own('ruff', ' check .'))] : []),
      ...(isThere('.flake8') || hasSection('flake8') ? [way(own('flake8', ''))] : []),
    ];
    return ways.length > 0 ? found(...ways) : gap(`neither ruff nor flake8 is configured beside ${manifest}`);
  };
  const security = (): Ways => {
    const ways = [
      ...(hasTool('bandit') ? [way(`${python} -m bandit -q -r . -c pyproject.toml`)] : []),
      ...(isThere('.bandit') ? [way(`${python} -m bandit -q -r . --ini .bandit`)] : []),
      ...(hasTool('pip-audit') || /["']pip-audit\b/.test(text('pyproject.toml'))
        ? [way(`${python} -m pip_audit`)]
        : []),
    ];
    return ways.length > 0 ? found(...ways) : gap(`neither bandit nor pip-audit is configured beside ${manifest}`);
  };
  return {
    manifest,
    languages: ['python'],
    tests: {
      ...found(way(`${python} -m ${runner}`, { env })),
      ...(runner === 'pytest' && !modules.has('pytest')
        ? { gap: lacking('pytest').gap, install: install('pytest-cov') }
        : {}),
    },
    coverage: coverage(),
    coverageRunsTests: true,
    lint: lint(),
    security: security(),
  };
}

function pythonOf({ root, env }: Surroundings): string {
  const own = ['.venv/bin/python', 'venv/bin/python'].find((path) => hasProgram(root, path));
  if (own !== undefined) return own;
  if (existsSync(join(root, 'uv.lock')) && isInstalled('uv', env)) return 'uv run python';
  if (existsSync(join(root, 'poetry.lock')) && isInstalled('poetry', env)) return 'poetry run python';
  return isInstalled('python3', env) || !isInstalled('python', env) ? 'python3' : 'python';
}

/** Which of the tools the interpreter can import; a plain directory of that name has no origin. */
async function importable(python: string, { ask }: Surroundings): Promise<ReadonlySet<string>> {
  const code = `from importlib.util import find_spec
there = [m for m in "${MODULES.join(' ')}".split() if getattr(find_spec(m), "origin", None)]
try:
    from importlib.metadata import version
    least = {"coverage": [6, 3], "pytest-cov": [4, 0]}
    parts = [p for p in least if p.replace("-", "_") in there]
    if parts and all([int(n) for n in version(p).split(".")[:2]] >= least[p] for p in parts):
        there.append("${LCOV}")
except Exception:
    pass
import os, sys, sysconfig
if sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")):
    there.append("${MANAGED}")
print(" ".join(there))`;
  const answer = await ask(`${python} -c '${code}'`);
  return new Set((answer ?? '').trim().split(/\s+/));
}

/** The command that installs a package for the interpreter. */
function installOf(
  name: string,
  { python, isManaged, root }: { readonly python: string; readonly isManaged: boolean; readonly root: string },
): string {
  // What keeps the lock file keeps the environment, which may have no pip, and loses what it does not know of.
  if (existsSync(join(root, 'uv.lock'))) return `uv add --dev ${name}`;
  if (existsSync(join(root, 'poetry.lock'))) return `poetry add --group dev ${name}`;
  if (!isManaged) return `${python} -m pip install ${name}`;
  const isIgnored = /^\/?\.venv\b/m.test(readText(root, '.gitignore') ?? '');
  const ignore = isIgnored ? '' : 'echo /.venv/ >> .gitignore && ';
  return `${ignore}${python} -m venv --system-site-packages .venv && .venv/bin/python -m pip install ${name}`;
}

/** In a linked work tree: what the environment has installed in place from the main one is meant as it is here. */
async function searchPath(python: string, { root, env, ask }: Surroundings): Promise<Readonly<Record<string, string>>> {
  const place = /^gitdir: (.+)\/\.git\/worktrees\/[^/\n]+$/m.exec(readText(root, '.git') ?? '')?.[1];
  if (place === undefined) return {};
  const main = resolve(root, place);
  const isBelow = (path: string, base: string) => `${path}/`.startsWith(`${base}/`);
  const said = await ask(`${python} -c 'import sys; print("\\n".join(sys.path))'`);
  const own = (said ?? '')
    .split('\n')
    .filter((path) => isBelow(path, main) && !isBelow(path, root))
    .map((path) => join(root, relative(main, path)))
    .filter((path) => existsSync(path));
  if (own.length === 0) return {};
  return { PYTHONPATH: [...own, ...(env.PYTHONPATH === undefined ? [] : [env.PYTHONPATH])].join(delimiter) };
}

/** Discovery enters no directory that is no package: the usual ones are named. */
function unittest(root: string): string {
  const start = ['tests', 'test'].find(
    (name) => existsSync(join(root, name)) && !existsSync(join(root, name, '__init__.py')),
  );
  return start === undefined ? 'unittest discover' : `unittest discover -s ${start}`;
}
