// What a project's own checks leave in it: no part of anybody's work.

/** What checks write themselves; not counted while it is untracked, whether the project ignores it or not. */
export const GENERATED = [
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
