// Where a teammate's process lives: a home of its own, a directory for temporary files, and who it is by its environment.

import { join } from 'node:path';
import type { MemberRun } from '../../engine/team/members-port.ts';
import { createAgentHome } from '../agent-home.ts';
import { RUN_VARIABLE } from '../processes.ts';
import type { RuntimeDir } from '../runtime-dir.ts';

export type MemberHomeOptions = {
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of further variables to pass on. */
  readonly passed: readonly string[];
  /** What all that this lead starts carries in its environment. */
  readonly mark: string;
};

export type MemberHome = {
  /** Marks the run's processes. */
  readonly id: string;
  readonly tmp: string;
  readonly variables: Readonly<Record<string, string>>;
};

/** What tells a teammate's process, and all that it starts, from others. */
export function memberVariables({
  team,
  name,
  epoch,
}: Pick<MemberRun, 'team' | 'name' | 'epoch'>): Readonly<Record<string, string>> {
  return { TOOL_TEAM: team, TOOL_TEAMMATE: name, TOOL_TEAMMATE_RUN: String(epoch) };
}

/** Makes a run's home; whoever asked removes `tmp` when the run is over. */
export async function createMemberHome(
  { stateDir, runtime, env, passed, mark }: MemberHomeOptions,
  run: MemberRun,
): Promise<MemberHome> {
  const id = `${mark}.${run.team}.${run.name}.${run.epoch}`;
  const tmp = runtime.make(`m-${run.name}-${run.epoch}`);
  const home = await createAgentHome({
    stateDir: join(stateDir, 'teams', run.team, run.name),
    issue: 0,
    attempt: run.epoch,
    run: id,
    tmp,
    env,
    passed,
    carry: null,
  });
  return { id, tmp, variables: { ...home.env, ...run.env, ...memberVariables(run), [RUN_VARIABLE]: id } };
}
