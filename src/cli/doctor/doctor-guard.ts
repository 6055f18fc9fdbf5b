// The row of `tool doctor` about the write guard: whether Bash calls run under it on this machine, and if not, why and what helps.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../base/package-root.ts';
import { refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { settingsValues } from '../../claude-code/host-settings.ts';
import { type GuardMechanism, mechanismOf } from '../../guard/guard-mechanism.ts';
import { GUARD_PROGRAM, guardWorks, type TrialResult } from '../../guard/guard-program.ts';
import {
  guardHome,
  guardHomeUnwritable,
  isOurShell,
  makeGuardHome,
  NO_PROGRAM,
  programBeside,
} from '../../guard/guard-shell.ts';
import { SHELL_VARIABLE } from '../../guard/rules/ticket.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import { type DoctorCheck, ok, warn } from './doctor-row.ts';

type Reason = { readonly why: string; readonly mend: string };
type Setting = { readonly file: string; readonly value: string };

const NAME = 'write guard';
const INSTEAD = 'only obvious writes of shell commands are refused';
const MEND = 'tool init';

function off({ why, mend }: Reason): DoctorCheck {
  return warn(NAME, refusal(DOCTOR_CODES.guard_not_used, { why }), mend);
}

/** The setting that counts. */
function settingOf(root: string, env: Environment): Setting | undefined {
  const [set] = settingsValues(root, env, SHELL_VARIABLE);
  const given = env[SHELL_VARIABLE];
  return set ?? (given === undefined ? undefined : { file: 'the environment', value: given });
}

/** The reason why calls do not pass our shell, although its program works. */
function unsetReason(root: string, setting: Setting | undefined): Reason {
  if (setting !== undefined) {
    const named = `${SHELL_VARIABLE} in ${setting.file} is ${setting.value}`;
    const why = isOurShell(setting.value)
      ? `${named}, and that shell or the ${GUARD_PROGRAM} beside it is gone`
      : `${named}, which is not the shell of toolcrew`;
    return { why, mend: MEND };
  }
  const isPlugin = !existsSync(join(root, '.tool', 'hooks'));
  const why = isPlugin ? `the plugin form cannot set ${SHELL_VARIABLE}` : `${SHELL_VARIABLE} is not set`;
  return { why, mend: MEND };
}

/** @param from the packed programs of the package */
export async function checkGuard(
  root: string,
  env: Environment,
  from = join(packageRoot(), 'dist', 'native'),
  mechanism: GuardMechanism | null = mechanismOf(process.platform),
): Promise<DoctorCheck> {
  if (mechanism === null) return ok(NAME, `no kernel guard on ${process.platform}: ${INSTEAD}`);
  const setting = settingOf(root, env);
  const inUse = setting !== undefined && isOurShell(setting.value) ? programBeside(setting.value) : null;
  try {
    const program = inUse ?? (await mechanism.program(from, makeGuardHome(env)));
    if (program === null) return off(NO_PROGRAM);
    const verdict: TrialResult = await guardWorks(program, guardHome(env), true, mechanism.policyText);
    if (!verdict.works) return off(verdict);
    return inUse === null
      ? off(unsetReason(root, setting))
      : ok(NAME, `Bash calls of teammates run under it: ${mechanism.how}`);
  } catch (error) {
    return off(guardHomeUnwritable(error, env));
  }
}
