// Default ownership: patterns by role, for a project whose settings name none.

import { SHARED } from '../../guard/rules/ownership.ts';
import type { RoleName } from './role.ts';

type DefaultOwner = Extract<RoleName, 'backend-dev' | 'frontend-dev' | 'designer' | 'tester'> | typeof SHARED;

/** Globs over paths from the root of the project. */
export const DEFAULT_OWNERSHIP: readonly { readonly owner: DefaultOwner; readonly patterns: readonly string[] }[] = [
  {
    owner: 'backend-dev',
    patterns: [
      'src/api/**',
      'src/services/**',
      'src/repositories/**',
      'src/models/**',
      'src/middleware/**',
      'prisma/migrations/**',
    ],
  },
  {
    owner: 'frontend-dev',
    patterns: ['src/components/**', 'src/pages/**', 'src/app/**', 'src/hooks/**', 'src/stores/**', 'src/styles/**'],
  },
  { owner: 'designer', patterns: ['design/**', 'src/styles/tokens/**'] },
  {
    owner: 'tester',
    patterns: ['tests/**', '__tests__/**', '**/*.test.*', '**/*.spec.*', 'cypress/**', 'playwright/**'],
  },
  { owner: SHARED, patterns: ['src/types/**', 'src/utils/**', 'src/lib/**'] },
];
