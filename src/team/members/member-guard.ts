// The write guard around a teammate's whole process: its policy, and the words before its command line.

import type { Environment } from '../../base/rules/environment.ts';
import { dropUnrecorded } from '../../guard/lease-files.ts';
import { waysToMerge } from '../../guard/rules/git-calls.ts';
import { SHELL_VARIABLE } from '../../guard/rules/ticket.ts';
import { createShellGuard } from '../../guard/shell-guard.ts';
import { asRole } from '../rules/caller.ts';
import { rulesOf } from '../rules/caller-rules.ts';
import type { TeamSettings } from '../rules/settings.ts';
import type { MemberRequest } from './members-port.ts';

export type GuardedMember = {
  /** Before the program's own command line. */
  readonly command: readonly string[];
  /** Directories that the guard, and hooks below it, write to. */
  readonly writable: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Frees paths that the run was the first to write, and that no hook has put on record. */
  readonly end: () => void;
};

export type MemberGuard = (run: MemberRequest) => Promise<GuardedMember | null>;

/**
 * @param main the checkout that holds the project's teams
 * @param shell our shell, with the guard's program beside it
 */
export function createMemberGuard(
  main: string,
  shell: string,
  env: Environment,
  settings: () => Promise<TeamSettings>,
): MemberGuard {
  return async (run) => {
    const guard = createShellGuard({ root: run.cwd, main, env: { ...env, [SHELL_VARIABLE]: shell } });
    if (guard === null) return null;
    const rules = rulesOf(asRole(run.name, run.team, run.readOnly), await settings(), {
      checkout: run.cwd === main ? 'shared' : 'own',
      alone: false,
      approval: false,
      allowedGit: waysToMerge(run.team, run.name),
    });
    const { command, writable } = await guard.whole({ team: run.team, caller: run.name }, `run-${run.epoch}`, rules);
    const [, leases = ''] = writable;
    return { command, writable, variables: { [SHELL_VARIABLE]: shell }, end: () => dropUnrecorded(leases, run.name) };
  };
}
