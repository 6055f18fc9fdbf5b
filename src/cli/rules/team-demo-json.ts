// The object that `tool demo --team --json` prints.

import type { TeamSummary } from '../../agents/rules/team-summary.ts';

/** Figures of the demo once its issue is done. */
export type TeamDemoFigures = {
  readonly row: { readonly branch: string };
  readonly team: Pick<TeamSummary, 'tasks' | 'messages' | 'rejections' | 'gate'>;
  /** Number of files on the branch. */
  readonly files: number;
  /** Time of the team. */
  readonly seconds: number;
};

/** @param alone seconds that the same tasks take one after the other */
export function teamDemoJson({ row, team, files, seconds }: TeamDemoFigures, alone: number) {
  return {
    tasks: team.tasks.map(({ id, subject, owner, status, note, seconds: took }) => ({
      id,
      subject,
      owner,
      outcome: status,
      note,
      seconds: took,
    })),
    messages: team.messages.count,
    rejections: team.rejections,
    gate: team.gate === null ? null : { ok: team.gate.ok, coverage: team.gate.coverage, checks: team.gate.checks },
    branch: row.branch,
    files,
    seconds,
    solo_seconds: alone,
  };
}
