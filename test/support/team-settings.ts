// Settings of a team where a project only switched it on, with what a test wants otherwise.

import { DEFAULT_TEAM_SETTINGS } from '../../src/domain/team/default-settings.ts';
import type { TeamSettings } from '../../src/domain/team/settings.ts';

export function teamSettings(changed: Partial<TeamSettings> = {}): TeamSettings {
  return { ...DEFAULT_TEAM_SETTINGS, enabled: true, ...changed };
}
