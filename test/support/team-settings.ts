// Settings of a team as they are where a project says nothing, with what a test wants otherwise.

import { DEFAULT_QUALITY } from '../../src/domain/quality.ts';
import { DEFAULT_OWNERSHIP } from '../../src/domain/team/ownership.ts';
import { PATTERNS } from '../../src/domain/team/role.ts';
import type { TeamSettings } from '../../src/domain/team/settings.ts';

export function teamSettings(changed: Partial<TeamSettings> = {}): TeamSettings {
  return {
    executionMode: 'auto',
    enabled: true,
    maxTeammates: 10,
    defaultModel: 'inherit',
    requirePlanApproval: true,
    delegateMode: true,
    teammateDisplay: 'auto',
    autoSelection: { minDomains: 3, minFiles: 10, minComplexity: 7 },
    ownership: DEFAULT_OWNERSHIP,
    patterns: Object.fromEntries(Object.values(PATTERNS).map(({ name, roles }) => [name, roles])),
    hooks: {
      teammateIdle: { enabled: true, validateWork: true },
      taskCompleted: { enabled: true, requireQualityCheck: true },
    },
    fallback: { enabled: true, logLevel: 'warn', preserveProgress: true },
    quality: DEFAULT_QUALITY,
    ...changed,
  };
}
