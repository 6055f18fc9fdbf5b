// What keeps a team from being made, or ends one early, so that sub-agents take its place.

/** The first host version that knows teams. */
export const HOST_VERSION_MIN = '2.1.32';
export const TEAMS_VARIABLE = 'TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS';

/** What makes a team fall back to sub-agents: five that are to be expected, settings that cannot be read, and a host that is too old or not known. */
export const FALLBACK_TRIGGERS = {
  variable_unset: `${TEAMS_VARIABLE} is not 1`,
  not_enabled: 'workflow.team.enabled is false',
  settings_broken: '.tool/config/workflow.yaml cannot be used',
  team_create_failed: 'TeamCreate failed',
  spawn_failed: 'a teammate could not be started',
  network_error: 'a network error',
  host_version: `the host is older than ${HOST_VERSION_MIN}, or not known`,
} as const;

/** In a trigger's place: nothing failed, a team was not wanted from the first. */
export const CHOSEN_ALONE = 'solo';

export type FallbackTrigger = keyof typeof FALLBACK_TRIGGERS;

const OF_PREREQUISITES: readonly string[] = [
  'variable_unset',
  'not_enabled',
  'settings_broken',
  'host_version',
] satisfies readonly FallbackTrigger[];

/** Whether it says that something which a team needs is missing: whether that is still so can be told. */
export function isOfPrerequisite(trigger: string): boolean {
  return OF_PREREQUISITES.includes(trigger);
}
