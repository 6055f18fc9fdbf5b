// The ownership that holds where a project states none.

import { SHARED } from '../../guard/rules/ownership.ts';
import type { RoleName } from './role.ts';

type DefaultOwner = Extract<RoleName, 'backend-dev' | 'frontend-dev' | 'designer' | 'tester'> | typeof SHARED;

/** What holds where the configuration says nothing else. */
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
