// Default team settings of a project that has none of its own.

import { DEFAULT_QUALITY } from '../../gate/rules/quality.ts';
import { DEFAULT_OWNERSHIP } from './default-ownership.ts';
import { PATTERNS } from './role.ts';
import type { TeamSettings } from './settings.ts';

export const DEFAULT_TEAM_SETTINGS: TeamSettings = {
  executionMode: 'auto',
  // Team mode is opt-in: the file that an installation writes enables it.
  enabled: false,
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
  copies: [],
  budget: { teammate: { softUsd: null, hardUsd: null }, task: { softUsd: null, hardUsd: null } },
  quality: DEFAULT_QUALITY,
};
