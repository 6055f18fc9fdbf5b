// Digest of a team's log by phase: the set of its record kinds, without times, counts or order.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TeamHistory } from '../../src/team/log/team-history.ts';
import type { TeamRecord } from '../../src/team/rules/log/record.ts';
import type { SessionState } from '../../src/team/rules/log/session.ts';
import type { TeamState } from '../../src/team/rules/log/state.ts';
import { LEAD } from './played-agents.ts';

export type ToldPhase = readonly [phase: string, ...kinds: string[]];

/** One phase, because the order of starts and first calls is random. */
const AT_WORK: readonly SessionState[] = ['created', 'assigned', 'spawned', 'working'];

/** One phase, because the request alone ends teammates that have stopped already. */
const ENDING: readonly SessionState[] = ['shutting_down', 'shut_down'];

function phaseOf(session: SessionState): string {
  if (AT_WORK.includes(session)) return 'at work';
  return ENDING.includes(session) ? 'ending' : session;
}

/**
 * Returns null for records that only the host writes, or that it writes in another number:
 * - `decision`: hooks judge each write, stop and start in the host; a scripted process has no hooks.
 * - `member_bound`: the host names its runs itself; a process knows its role from its environment.
 * - `member_seen`, `member_idle`, `mail_seen`, `member_ended`: their number depends on the agents' activity. A process
 *   confirms its end; the request alone ends a stopped agent of the host.
 * - `lead_moved`: a resumed session leads in another process.
 * - `base_measured`: a code lead measures it beside the first agents, the host only on request.
 * - `progress` to the lead: a model lead needs messages; a code lead reads the log.
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

/** @param name prefix of the directory's name */
function archived(root: string, name: string): string {
  const archive = join(root, '.tool', 'teams', 'archive');
  return join(archive, readdirSync(archive).find((one) => one.startsWith(name)) ?? name);
}

/** State of an active team. */
export function liveState(root: string, name: string): TeamState {
  const history = new TeamHistory({ directory: join(root, '.tool', 'teams', name), from: 'beginning' });
  const { state } = history;
  void history.close();
  return state;
}

/** Last state of an archived team. */
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

/** Phases of the log, from the restart of the team on. */
export function toldAfterRestart(root: string, name: string): readonly ToldPhase[] {
  const phases = toldPhases(root, name);
  return phases.slice(phases.findIndex(([phase]) => phase === 'restarted'));
}
