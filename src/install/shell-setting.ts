// The setting of a user that has Bash calls of Claude Code pass our shell, and the notes about it.

import { type Refusal, refusal } from '../base/rules/codes.ts';
import type { Environment } from '../base/rules/environment.ts';
import { LOCAL_SETTINGS, settingsValues } from '../claude-code/host-settings.ts';
import { tryGit } from '../git/git.ts';
import { isOurShell } from '../guard/guard-shell.ts';
import { SHELL_VARIABLE } from '../guard/rules/ticket.ts';
import type { Payload } from './payload.ts';
import { replacedValue } from './personal.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

const MEMBER = ['env', SHELL_VARIABLE];

/** The shell of Bash calls that the user has set, whatever `tool init` has put over it; null: none. */
export function userShell(root: string, env: Environment): string | null {
  const values = settingsValues(root, env, SHELL_VARIABLE);
  const local = values.filter(({ file }) => file === LOCAL_SETTINGS).map(({ value }) => value);
  const others = values.filter(({ file }) => file !== LOCAL_SETTINGS).map(({ value }) => value);
  const all = [...local, replacedValue(root, LOCAL_SETTINGS, MEMBER), ...others, env[SHELL_VARIABLE]];
  return all.flatMap((one) => (typeof one === 'string' && one !== '' && !isOurShell(one) ? [one] : []))[0] ?? null;
}

/** Entries for settings of one user. @param shell null: our shell is not used */
export function shellEntries(shell: string | null): NonNullable<Payload['personal']> {
  if (shell === null) return [];
  return [{ path: LOCAL_SETTINGS, entries: [{ place: 'member', path: MEMBER, value: shell, mark: 'toolcrew' }] }];
}

export const SHELL_LINE = `In ${LOCAL_SETTINGS}: ${SHELL_VARIABLE} has Bash calls of teammates run under the write guard.`;

export function unguardedNote({ why, mend }: { readonly why: string; readonly mend: string }): Refusal {
  return refusal(INSTALL_CODES.guard_off_here, { why, mend });
}

/** A note where version control would take up the settings of one user. */
export async function ignoreNotes(root: string): Promise<readonly Refusal[]> {
  const { exitCode } = await tryGit(['check-ignore', '-q', LOCAL_SETTINGS], { cwd: root });
  return exitCode === 1 ? [refusal(INSTALL_CODES.personal_settings_not_ignored, { path: LOCAL_SETTINGS })] : [];
}
