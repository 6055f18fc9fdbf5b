// Fallback triggers: reasons that keep a team from starting or end it early, so that sub-agents replace it.

/** Oldest host version that supports teams. */
export const HOST_VERSION_MIN = '2.1.32';
export const TEAMS_VARIABLE = 'TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS';

/** Triggers of a fallback to sub-agents, each with its description. */
export const FALLBACK_TRIGGERS = {
  variable_unset: `${TEAMS_VARIABLE} is not 1`,
  not_enabled: 'workflow.team.enabled is false',
  settings_broken: '.tool/config/workflow.yaml cannot be used',
  team_create_failed: 'TeamCreate failed',
  spawn_failed: 'a teammate could not be started',
  network_error: 'a network error',
  host_version: `the host is older than ${HOST_VERSION_MIN}, or not known`,
} as const;

/** Replaces a trigger when nothing failed: no team was wanted from the start. */
export const CHOSEN_SOLO = 'solo';

export type FallbackTrigger = keyof typeof FALLBACK_TRIGGERS;

/** The description of a trigger; what is no known one, as an older log may have it, is its own. */
export function triggerWords(trigger: string): string {
  return Object.entries(FALLBACK_TRIGGERS).find(([name]) => name === trigger)?.[1] ?? trigger;
}

const OF_PREREQUISITES: readonly string[] = [
  'variable_unset',
  'not_enabled',
  'settings_broken',
  'host_version',
] satisfies readonly FallbackTrigger[];

/** Whether the trigger is a missing prerequisite, which can be checked again later. */
export function isOfPrerequisite(trigger: string): boolean {
  return OF_PREREQUISITES.includes(trigger);
}
