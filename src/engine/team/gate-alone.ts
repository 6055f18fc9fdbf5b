// The gate where no team stands: the project's own checks, and nothing else.

import { rejection } from '../../domain/quality.ts';
import type { TeamSettings } from '../../domain/team/settings.ts';
import type { TeamContext } from './context.ts';
import { type HookAnswer, SILENT } from './event.ts';

/** Why the gate stays open; null when it does not. */
function whyOff({ enabled, hooks }: TeamSettings): string | null {
  if (!enabled)
    return 'workflow.team.enabled is not true in .tool/config/workflow.yaml (it is off where that file is missing; `tool init` writes it)';
  if (!hooks.taskCompleted.enabled) return 'the hook is switched off (task_completed.enabled: false)';
  return hooks.taskCompleted.requireQualityCheck ? null : 'require_quality_check is false';
}

/** Judges the completion of a task that is no team's. */
export async function checkAlone({ settings, checks }: Pick<TeamContext, 'settings' | 'checks'>): Promise<HookAnswer> {
  const loaded = await settings();
  const off = whyOff(loaded);
  if (off !== null) return { kind: 'note', text: `nothing is checked: ${off}` };
  const result = await checks.run(loaded.quality, new AbortController().signal);
  return result.ok ? SILENT : { kind: 'reject', reason: rejection(result, loaded.quality) };
}
