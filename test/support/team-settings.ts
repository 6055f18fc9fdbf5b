// Settings of a team where a project only switched it on, with what a test wants otherwise.

import { DEFAULT_TEAM_SETTINGS } from '../../src/team/rules/default-settings.ts';
import type { TeamSettings } from '../../src/team/rules/settings.ts';

export function teamSettings(changed: Partial<TeamSettings> = {}): TeamSettings {
  return { ...DEFAULT_TEAM_SETTINGS, enabled: true, ...changed };
}
