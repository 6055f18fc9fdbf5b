// Our shell for Bash calls of Claude Code, in the guard home: one directory of the user, for all projects.

import { accessSync, constants, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { ensureFile } from '../base/files/atomic-write.ts';
import { stateHome } from '../base/files/state-home.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import type { Environment } from '../base/rules/environment.ts';
import { messageOf, ToolError } from '../base/rules/errors.ts';
import { type GuardMechanism, mechanismOf } from './guard-mechanism.ts';
import { GUARD_PROGRAM, guardWorks, PACKED_PROGRAM, refusalReason } from './guard-program.ts';
import { GUARD_CODES } from './rules/guard-codes.ts';
import { canNameTicket, shellScript } from './rules/ticket.ts';

const OWNER_ONLY = 0o700;

/** Where common shells are. */
const PLACES = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];
const COMMON = ['bash', 'zsh'].flatMap((name) => PLACES.map((place) => join(place, name)));

/**
 * The directory of our shell, the guard's program, policies, tickets and logs; in the user's own home, since Claude Code starts
 * whatever has the shell's path.
 */
export function guardHome(env: Environment): string {
  return join(stateHome(env), 'toolcrew', 'guard');
}

function unfit(home: string): Refusal {
  return refusal(GUARD_CODES.guard_home_unfit, { path: home });
}

/** @throws where it cannot be made, or its path cannot stand in a ticket's */
export function makeGuardHome(env: Environment): string {
  const home = guardHome(env);
  if (!canNameTicket(home)) throw new ToolError(unfit(home));
  mkdirSync(home, { recursive: true, mode: OWNER_ONLY });
  return home;
}

/** Whether the path is that of our shell, in whatever guard home. */
export function isOurShell(path: string): boolean {
  return /\/toolcrew\/guard\/(?:bash|zsh)$/.test(path);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The program beside our shell; null where the shell or the program is not there. */
export function programBeside(shell: string): string | null {
  const program = join(dirname(shell), GUARD_PROGRAM);
  return isProgram(shell) && isProgram(program) ? program : null;
}

/** Whether Claude Code takes the path for a shell, and it is not ours: our shell would start itself without end. */
function isRealShell(path: string): boolean {
  if (!isAbsolute(path) || !/bash|zsh/.test(path) || !isProgram(path)) return false;
  return !isOurShell(path) && !isOurShell(realpathSync(path));
}

export type ShellOptions = {
  readonly env: Environment;
  /** The user's own shell of Bash calls; null: they have set none. */
  readonly before: string | null;
  /** The directory of packed programs: `dist/native` of the package. */
  readonly from: string;
  /** Of this platform, where none is given; null: it has none. */
  readonly mechanism?: GuardMechanism | null;
};

/** `mend`: the user can do it. */
export type PreparedShell =
  | { readonly ok: true; readonly shell: string }
  | { readonly ok: false; readonly why: string; readonly mend: string };

type NoShell = Extract<PreparedShell, { readonly ok: false }>;

function noShell(one: Refusal): NoShell {
  return { ok: false, ...refusalReason(one) };
}

const NO_SHELL = noShell(refusal(GUARD_CODES.guard_shell_missing, {}));

const NO_MECHANISM = noShell(refusal(GUARD_CODES.guard_system_unsupported, { system: process.platform }));

export const NO_PROGRAM = noShell(refusal(GUARD_CODES.guard_program_missing, { path: PACKED_PROGRAM }));

/** The refusal for a guard home that cannot be written. */
export function guardHomeUnwritable(error: unknown, env: Environment): NoShell {
  const home = guardHome(env);
  if (!canNameTicket(home)) return noShell(unfit(home));
  return noShell(refusal(GUARD_CODES.guard_home_unwritable, { path: home, said: messageOf(error) }));
}

function realShell({ env, before }: ShellOptions): string | undefined {
  return [before ?? '', env.SHELL ?? '', ...COMMON].find(isRealShell);
}

function pathFor(real: string, home: string): string {
  return join(home, basename(real).includes('zsh') ? 'zsh' : 'bash');
}

/** The answer of `prepareShell` as far as it is known without writing and without a trial. */
export function previewShell(options: ShellOptions): PreparedShell {
  const real = realShell(options);
  if (real === undefined) return NO_SHELL;
  const { mechanism = mechanismOf(process.platform) } = options;
  if (mechanism === null) return NO_MECHANISM;
  if (!mechanism.isPacked(options.from)) return NO_PROGRAM;
  const home = guardHome(options.env);
  return canNameTicket(home) ? { ok: true, shell: pathFor(real, home) } : noShell(unfit(home));
}

/** Places our shell and the guard's program in the guard home, if the guard works on this machine. */
export async function prepareShell(options: ShellOptions): Promise<PreparedShell> {
  const { env, from, mechanism = mechanismOf(process.platform) } = options;
  const real = realShell(options);
  if (real === undefined) return NO_SHELL;
  if (mechanism === null) return NO_MECHANISM;
  try {
    const home = makeGuardHome(env);
    const program = await mechanism.program(from, home);
    if (program === null) return NO_PROGRAM;
    const verdict = await guardWorks(program, home, false, mechanism.policyText);
    if (!verdict.works) return { ok: false, why: verdict.why, mend: verdict.mend };
    ensureFile(join(home, GUARD_PROGRAM), readFileSync(program), 0o700);
    const shell = pathFor(real, home);
    ensureFile(shell, Buffer.from(shellScript(real)), 0o755);
    return { ok: true, shell };
  } catch (error) {
    return guardHomeUnwritable(error, env);
  }
}
