// The states of a team's session, and what leads from one to the next.

/** `none`: proposed at most · `fallback`: its tasks go on one at a time, in sub-agents. */
export type SessionState =
  | 'none'
  | 'created'
  | 'assigned'
  | 'spawned'
  | 'working'
  | 'spec_generated'
  | 'awaiting_approval'
  | 'approved'
  | 'gate'
  | 'complete'
  | 'shutting_down'
  | 'shut_down'
  | 'fallback'
  | 'deleted';

/** Events that are recorded as they are; others follow from records of their own. */
export const MOVED_EVENTS = [
  'ownership_assigned',
  'spec_generated',
  'approval_asked',
  'approved',
  'changes_asked',
  'gate_started',
  'gate_passed',
  'gate_failed',
  'cause_proven',
] as const;
export type MovedEvent = (typeof MOVED_EVENTS)[number];

export type SessionEvent =
  | MovedEvent
  | 'team_created'
  | 'member_spawned'
  | 'work_began'
  | 'shutdown_requested'
  | 'all_ended'
  | 'restarted'
  | 'fell_back'
  | 'team_deleted';

/** What has to hold besides; the fold looks at the team for it. */
export type EdgeCondition =
  | 'plan phase'
  | 'run phase'
  | 'debug phase'
  | 'every task completed'
  | 'every teammate ended'
  | 'approval required'
  | 'approval not required';

export type Edge = {
  readonly from: SessionState;
  readonly event: SessionEvent;
  readonly to: SessionState;
  readonly conditions: readonly EdgeCondition[];
};

function edges(
  from: readonly SessionState[],
  event: SessionEvent,
  to: SessionState,
  ...conditions: readonly EdgeCondition[]
): readonly Edge[] {
  return from.map((one) => ({ from: one, event, to, conditions }));
}

/** States in which teammates may be at work. */
const AT_WORK = [
  'created',
  'assigned',
  'spawned',
  'working',
  'spec_generated',
  'awaiting_approval',
  'approved',
  'gate',
  'complete',
] as const satisfies readonly SessionState[];

/** Where all may be done already: after a restart nobody is started for it again. */
const DONE = ['assigned', 'spawned', 'working'] as const satisfies readonly SessionState[];

/** Every step that a session can take; there is no other. */
export const EDGES: readonly Edge[] = [
  ...edges(['none'], 'team_created', 'created'),
  ...edges(['created'], 'ownership_assigned', 'assigned'),
  ...edges(['created', 'assigned'], 'member_spawned', 'spawned'),
  ...edges(['spawned'], 'work_began', 'working'),
  ...edges(DONE, 'spec_generated', 'spec_generated', 'plan phase', 'every task completed'),
  ...edges(['spec_generated'], 'approval_asked', 'awaiting_approval', 'approval required'),
  ...edges(['spec_generated'], 'approved', 'approved', 'approval not required'),
  ...edges(['awaiting_approval'], 'approved', 'approved'),
  ...edges(['awaiting_approval'], 'changes_asked', 'working'),
  ...edges(['assigned', 'working'], 'gate_started', 'gate', 'run phase', 'every task completed'),
  ...edges(['gate'], 'gate_passed', 'complete'),
  ...edges(['gate'], 'gate_failed', 'working'),
  ...edges(DONE, 'cause_proven', 'complete', 'debug phase'),
  ...edges(AT_WORK, 'shutdown_requested', 'shutting_down'),
  ...edges(['shutting_down'], 'all_ended', 'shut_down', 'every teammate ended'),
  ...edges([...AT_WORK, 'shutting_down', 'shut_down', 'fallback'], 'restarted', 'assigned'),
  ...edges([...AT_WORK, 'shutting_down', 'shut_down'], 'fell_back', 'fallback'),
  ...edges(['shut_down', 'fallback'], 'team_deleted', 'deleted', 'every teammate ended'),
];

/** What a step of the session comes to: where it leads, or what stands in its way. */
export type SessionStep =
  | { readonly ok: true; readonly to: SessionState }
  | { readonly ok: false; readonly missing: readonly EdgeCondition[] };

/** The table as it is asked: a step is tried for most records of a log. */
const BY_EVENT = new Map(EDGES.map(({ event }) => [event, EDGES.filter((edge) => edge.event === event)]));

/** The step from `state` on `event`; `missing`: its unmet conditions, empty when no edge has that event. */
export function sessionStep(
  state: SessionState,
  event: SessionEvent,
  holds: (condition: EdgeCondition) => boolean,
): SessionStep {
  const missing: EdgeCondition[] = [];
  for (const edge of BY_EVENT.get(event) ?? []) {
    if (edge.from !== state) continue;
    const open = edge.conditions.filter((condition) => !holds(condition));
    if (open.length === 0) return { ok: true, to: edge.to };
    missing.push(...open);
  }
  return { ok: false, missing };
}
