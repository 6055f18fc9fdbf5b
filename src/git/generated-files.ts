// Ignore patterns for files that a project's checks generate: coverage reports, caches, installed packages.

/** Excluded while untracked, even if the project does not ignore them. A leading `/` anchors at the project's root. */
const GENERATED = [
  '/coverage/',
  '/.nyc_output/',
  'lcov.info',
  '/coverage.xml',
  '/coverage.lcov',
  '/cobertura.xml',
  '/coverage.out',
  '/cover.out',
  '/c.out',
  '.coverage',
  '.coverage.*',
  '__pycache__/',
  '*.pyc',
  '.pytest_cache/',
  '.ruff_cache/',
  '.mypy_cache/',
  '.eslintcache',
  'node_modules/',
  '.venv/',
];

/** Escapes a path for use as an ignore pattern. */
export function literalPattern(path: string): string {
  // A pattern cannot contain a newline, but `?` matches one.
  return path.replaceAll(/[\\*?[]/g, '\\$&').replaceAll('\n', '?');
}

/**
 * Ignore patterns for a project's generated files, for use at the top of its repository.
 * @param prefix output of `git rev-parse --show-prefix` in the project: empty, or with a trailing `/`
 */
export function generatedIn(prefix: string): readonly string[] {
  const top = `/${literalPattern(prefix)}`;
  return GENERATED.map((pattern) => (pattern.startsWith('/') ? `${top}${pattern.slice(1)}` : pattern));
}
