// A Cargo package or workspace: cargo, and the subcommands that are installed.

import { found, gap, inside, isInstalled, type Project, readText, type Surroundings, way } from './project.ts';
import { readToml } from './toml.ts';

export async function findRustProject({ root, env }: Surroundings): Promise<Project | null> {
  const text = readText(root, 'Cargo.toml');
  if (text === null) return null;
  const all = inside(await readToml(text, 'Cargo.toml'), 'workspace') === undefined ? '' : ' --workspace';
  const hasCoverage = isInstalled('cargo-llvm-cov', env);
  return {
    manifest: 'Cargo.toml',
    languages: ['rust'],
    tests: found(way(`cargo test${all}`)),
    coverage: hasCoverage
      ? found(
          way(`cargo llvm-cov${all}`, {
            script: `cargo llvm-cov${all} --lcov --output-path "$TOOL_REPORTS/rust.info"`,
            report: 'rust.info',
          }),
        )
      : gap('cargo-llvm-cov is not installed', 'cargo install cargo-llvm-cov'),
    // It leaves out the tests in the documentation.
    coverageRunsTests: false,
    lint: isInstalled('cargo-clippy', env)
      ? found(way(`cargo clippy${all} -- -D warnings`))
      : gap('clippy is not installed', 'rustup component add clippy'),
    security: isInstalled('cargo-audit', env)
      ? found(way('cargo audit'))
      : gap('cargo-audit is not installed', 'cargo install cargo-audit'),
  };
}
