// Proposes a command for each part of the quality gate, from the files of an npm, pnpm, yarn, pytest, Go or Cargo project.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDED, type Commanded } from '../rules/quality.ts';
import { detectNode } from './detect-node.ts';
import { readText } from './project-files.ts';
import {
  type DetectionInput,
  firstInstalled,
  needing,
  type Proposal,
  type Proposals,
  type Proposed,
  propose,
  proposeNone,
  REPORTS,
} from './proposal.ts';

function detectGo({ root, env }: DetectionInput): Proposed | null {
  if (readText(root, 'go.mod') === null) return null;
  const run = propose(`go test -coverpkg=./... -coverprofile="${REPORTS}/go.out" ./...`, 'go.mod');
  const wanted = (program: string, command: string, install: string) =>
    firstInstalled(env, [program, true, command]) ?? proposeNone(`${program} is not installed: ${install}`);
  return {
    tests: run,
    coverage: run,
    lint:
      firstInstalled(env, ['golangci-lint', true, 'go vet ./... && golangci-lint run'], ['go', true, 'go vet ./...']) ??
      proposeNone('go is not installed'),
    security: wanted('govulncheck', 'govulncheck ./...', 'go install golang.org/x/vuln/cmd/govulncheck@latest'),
    format: wanted('gofmt', 'out=$(gofmt -l .) && { [ -z "$out" ] || { echo "$out"; false; }; }', 'install Go'),
    complexity: wanted('gocyclo', 'gocyclo -over 15 .', 'go install github.com/fzipp/gocyclo/cmd/gocyclo@latest'),
  };
}

function detectCargo({ root, env }: DetectionInput): Proposed | null {
  const text = readText(root, 'Cargo.toml');
  if (text === null) return null;
  const all = /^\s*\[workspace\b/m.test(text) ? ' --workspace' : '';
  const clippy = (lint: string) =>
    firstInstalled(env, ['cargo-clippy', true, `cargo clippy${all} -- ${lint}`]) ??
    proposeNone('clippy is not installed', 'rustup component add clippy');
  return {
    tests: propose(`cargo test${all}`, 'Cargo.toml'),
    coverage:
      firstInstalled(env, [
        'cargo-llvm-cov',
        true,
        `cargo llvm-cov${all} --lcov --output-path "${REPORTS}/rust.info"`,
      ]) ?? proposeNone('cargo-llvm-cov is not installed', 'cargo install cargo-llvm-cov'),
    lint: clippy('-D warnings'),
    security:
      firstInstalled(env, ['cargo-audit', true, 'cargo audit']) ??
      proposeNone('cargo-audit is not installed', 'cargo install cargo-audit'),
    format:
      firstInstalled(env, ['cargo-fmt', true, 'cargo fmt --all --check']) ??
      proposeNone('rustfmt is not installed', 'rustup component add rustfmt'),
    complexity: clippy('-D clippy::cognitive_complexity'),
  };
}

const PYTHON = ['pyproject.toml', 'setup.cfg', 'setup.py', 'requirements.txt', 'pytest.ini', 'tox.ini', 'conftest.py'];

function pipInstall(root: string, name: string, isManaged: boolean): string {
  if (readText(root, 'uv.lock') !== null) return `uv add --dev ${name}`;
  if (readText(root, 'poetry.lock') !== null) return `poetry add --group dev ${name}`;
  const own = ['.venv', 'venv'].find((one) => existsSync(join(root, one, 'bin', 'python')));
  if (own !== undefined || !isManaged) return `${own ? `${own}/bin/python` : 'python3'} -m pip install ${name}`;
  return `git check-ignore -q .venv/ || echo /.venv/ >> .gitignore; python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install ${name}`;
}

async function detectPython({ root, env, ask }: DetectionInput): Promise<Proposed | null> {
  const manifest = PYTHON.find((name) => readText(root, name) !== null);
  if (manifest === undefined) return null;
  const text = PYTHON.map((name) => readText(root, name) ?? '').join('\n');
  const said = await ask(
    `python3 -c 'import importlib.util as u, os, sys, sysconfig as c; print(*[m for m in ("pytest", "pytest_cov") if u.find_spec(m)], *["managed"] * (sys.prefix == sys.base_prefix and os.path.exists(c.get_path("stdlib") + "/EXTERNALLY-MANAGED")))'`,
  );
  const modules = (said ?? '').split(/\s+/);
  // A manifest that stands there for tools of another language has neither tests nor a word of pytest.
  const isTested =
    /\bpytest\b/.test(text) ||
    ['pytest.ini', 'conftest.py'].some((name) => readText(root, name) !== null) ||
    (await ask('ls -d test_*.py tests/test_*.py tests/*/test_*.py test/test_*.py 2>/dev/null | grep .')) !== null;
  if (!isTested) return null;
  // An environment may have another checkout of the same package installed: the code below src comes first.
  const source = (await ask('[ -d src ]')) === null ? '' : 'PYTHONPATH=src ';
  const install = (name: string) => pipInstall(root, name, modules.includes('managed'));
  const measures = /^\s*addopts\s*=[^\n]*--cov\b/m.test(text) ? '' : ' --cov';
  const where =
    measures === '' || /\[(?:tool\.)?coverage[.:]run\]/.test(text) || readText(root, '.coveragerc') !== null;
  const covered = `${source}COVERAGE_FILE="${REPORTS}/.coverage" python3 -m pytest${measures}${where ? '' : '=.'} --cov-report=xml:"${REPORTS}/python.xml"`;
  const hasCoverage = modules.includes('pytest') && modules.includes('pytest_cov');
  const bare = propose(`${source}python3 -m pytest`, manifest);
  const plain = modules.includes('pytest') ? bare : needing(bare, 'pytest is not installed', install('pytest-cov'));
  const run = hasCoverage ? propose(covered, `${manifest}, pytest-cov is installed`) : plain;
  const isRuff =
    /\[tool\.ruff\b/.test(text) || ['ruff.toml', '.ruff.toml'].some((name) => readText(root, name) !== null);
  const isFlake8 = readText(root, '.flake8') !== null || /^\[flake8\]/m.test(text);
  return {
    tests: run,
    coverage: hasCoverage ? run : proposeNone('pytest-cov is not installed', install('pytest-cov')),
    lint:
      firstInstalled(env, ['ruff', isRuff, 'ruff check .'], ['flake8', isFlake8, 'flake8']) ??
      proposeNone(`no ruff or flake8 is both configured and installed: ${install('ruff')}`),
    security:
      firstInstalled(env, ['pip-audit', true, 'pip-audit'], ['bandit', true, 'bandit -q -r .']) ??
      proposeNone(`pip-audit is not installed: ${install('pip-audit')}`),
    format:
      firstInstalled(
        env,
        ['black', /\[tool\.black\b/.test(text), 'black --check .'],
        ['ruff', isRuff, 'ruff format --check .'],
      ) ?? proposeNone(`no black or ruff is both configured and installed: ${install('ruff')}`),
    complexity:
      firstInstalled(env, ['ruff', true, 'ruff check --select C901 .']) ??
      proposeNone(`ruff is not installed: ${install('ruff')}`),
  };
}

type Ecosystem = {
  /** Its row in docs/quality.md. */
  readonly page: string;
  /** null: the project has no such manifest. */
  readonly detect: (around: DetectionInput) => Proposed | null | Promise<Proposed | null>;
};

/** By manifest, in the order in which their commands run. */
export const ECOSYSTEMS: Readonly<Record<string, Ecosystem>> = {
  'package.json': { page: 'npm, pnpm, yarn', detect: detectNode },
  'go.mod': { page: 'Go', detect: detectGo },
  'pytest configuration': { page: 'pytest', detect: detectPython },
  'Cargo.toml': { page: 'Cargo', detect: detectCargo },
};

const MANIFESTS = Object.keys(ECOSYSTEMS)
  .join(', ')
  .replace(/, ([^,]+)$/, ' or $1');

/** Several manifests: every command, one after the other; of those without one the reason. */
function joined(name: Commanded, all: readonly Proposed[]): Proposal {
  const own = all.flatMap((one) => one[name] ?? []);
  const there = own.filter(({ command }) => command !== null);
  const used = there.length > 0 ? there : own;
  return {
    command: there.map(({ command }) => command).join(' && ') || null,
    reason:
      own.map(({ reason }) => reason).join('; ') || `the project has no ${MANIFESTS}: set quality.commands.${name}`,
    missing: used.flatMap(({ missing }) => missing ?? []).join('; ') || null,
    install: used.flatMap(({ install }) => install ?? []).join(' && ') || null,
  };
}

/** Throws a ToolError where a manifest cannot be read. */
export async function detect(around: DetectionInput): Promise<Proposals> {
  const found = await Promise.all(Object.values(ECOSYSTEMS).map((one) => one.detect(around)));
  const all = found.filter((one) => one !== null);
  // A manifest may stand there for its tools alone: the others' tests are those of the project.
  const tested = all.filter(({ tests }) => typeof tests?.command === 'string');
  const rows = COMMANDED.map((name) => {
    const isTests = name === 'tests' || name === 'coverage';
    return [name, joined(name, isTests && tested.length > 0 ? tested : all)] as const;
  });
  return Object.fromEntries(rows) as Record<Commanded, Proposal>;
}
