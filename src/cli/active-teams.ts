// The teams of a project that may be at work.

import type { Teams } from '../team/ports.ts';
import { isActive } from '../team/rules/log/state.ts';

/** Their names; one whose log cannot be read may stand. */
export function activeTeams(teams: Teams): readonly string[] {
  return teams.list().filter((team) => {
    try {
      const log = teams.open(team);
      void log?.close();
      return log !== undefined && isActive(log.state);
    } catch {
      return true;
    }
  });
}
