// What a project's own checks leave in it: no part of anybody's work.

/** What checks write themselves; not counted while it is untracked, whether the project ignores it or not. `/`: at its top. */
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

/** A path as a pattern that means it and nothing else. */
export function literalPattern(path: string): string {
  // No pattern goes over a line; what stands for any one character stands for that one as well.
  return path.replaceAll(/[\\*?[]/g, '\\$&').replaceAll('\n', '?');
}

/**
 * What checks leave in a project, as patterns for the whole repository around it.
 * @param prefix from the repository's top to the project, as `git rev-parse --show-prefix` says it: empty, or with `/` at its end
 */
export function generatedIn(prefix: string): readonly string[] {
  const top = `/${literalPattern(prefix)}`;
  return GENERATED.map((pattern) => (pattern.startsWith('/') ? `${top}${pattern.slice(1)}` : pattern));
}
