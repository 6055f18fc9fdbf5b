// What a team's log comes to, phase by phase: the kinds of its records, without times, counts, and who was first.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TeamHistory } from '../../src/adapters/event-log/team-history.ts';
import type { TeamRecord } from '../../src/domain/team/record.ts';
import type { SessionState } from '../../src/domain/team/session.ts';
import type { TeamState } from '../../src/domain/team/state.ts';
import { LEAD } from './played-agents.ts';

export type ToldPhase = readonly [phase: string, ...kinds: string[]];

/** Who starts before whose work has begun is chance. */
const AT_WORK: readonly SessionState[] = ['created', 'assigned', 'spawned', 'working'];

/** Whoever has stopped already ends with being asked: then there is nothing to wait for. */
const ENDING: readonly SessionState[] = ['shutting_down', 'shut_down'];

function phaseOf(session: SessionState): string {
  if (AT_WORK.includes(session)) return 'at work';
  return ENDING.includes(session) ? 'ending' : session;
}

/**
 * What a log has in the host alone, or in another number, and why:
 * - `decision`: hooks judge each write, stop and start in the host; a scripted process has no hooks.
 * - `member_bound`: the host's own names of its runs; a process is told who it is.
 * - `member_seen`, `member_idle`, `mail_seen`, `member_ended`: signs of life, as often as there is something to see; a process
 *   confirms its end, an agent of the host that has stopped ends by being asked.
 * - `lead_moved`: a session that is resumed leads in another process.
 * - `base_measured`: it is measured beside the first agents, and in the host only where somebody asks for it.
 * - `progress` to the lead: one that is a model has to be told what came to pass; code looks at the log.
 */
function kindOf(record: TeamRecord): string | null {
  switch (record.type) {
    case 'decision':
    case 'member_bound':
    case 'member_seen':
    case 'member_idle':
    case 'member_ended':
    case 'mail_seen':
    case 'base_measured':
    case 'lead_moved':
      return null;
    case 'message_sent':
      return record.kind === 'progress' && record.to === LEAD ? null : `${record.kind} from ${record.by}`;
    case 'task_updated':
      return `task ${record.task} ${record.status} by ${record.by}`;
    case 'task_created':
      return `task for ${record.owner ?? 'anybody'}`;
    case 'gate_measured':
      return `gate of ${record.task === null ? 'all' : 'a task'} ${record.ok ? 'passed' : 'not passed'}`;
    case 'moved':
      return `${record.event} by ${record.by}`;
    case 'member_registered':
    case 'member_spawned':
      return `${record.type} ${record.name}`;
    default:
      return record.type;
  }
}

/** @param name what the name of its directory begins with */
function archived(root: string, name: string): string {
  const archive = join(root, '.tool', 'teams', 'archive');
  return join(archive, readdirSync(archive).find((one) => one.startsWith(name)) ?? name);
}

/** The state that a team was put away in. */
/** Of a team that stands. */
export function liveState(root: string, name: string): TeamState {
  const history = new TeamHistory({ directory: join(root, '.tool', 'teams', name), from: 'beginning' });
  const { state } = history;
  void history.close();
  return state;
}

export function archivedState(root: string, name: string): TeamState {
  const history = new TeamHistory({ directory: archived(root, name), from: 'beginning' });
  const { state } = history;
  void history.close();
  return state;
}

export function toldPhases(root: string, name: string): readonly ToldPhase[] {
  const phases: { readonly phase: string; readonly kinds: Set<string> }[] = [];
  const history = new TeamHistory({
    directory: archived(root, name),
    from: 'beginning',
    onRecord: (record, refusal, { session }) => {
      const phase = phaseOf(session);
      if (record.type === 'restarted') phases.push({ phase: 'restarted', kinds: new Set() });
      if (phases.at(-1)?.phase !== phase) phases.push({ phase, kinds: new Set() });
      const kind = refusal === null ? kindOf(record) : null;
      if (kind !== null) phases.at(-1)?.kinds.add(kind);
    },
  });
  void history.close();
  return phases.map(({ phase, kinds }) => [phase, ...[...kinds].sort()]);
}

/** The log from where the team was taken up again. */
export function toldAfterRestart(root: string, name: string): readonly ToldPhase[] {
  const phases = toldPhases(root, name);
  return phases.slice(phases.findIndex(([phase]) => phase === 'restarted'));
}
