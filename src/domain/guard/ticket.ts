// Tickets bring a Bash call of Claude Code under the write guard. The hook adds a comment that names a ticket: a small script that
// starts the guard. Claude Code starts its Bash calls with our shell (CLAUDE_CODE_SHELL), which starts the ticket that a call names.
// Claude Code itself goes back to the user's shell where ours is missing, so a clone on another machine still runs Bash.

import { shellWord } from '../command-line.ts';

/** Names the shell of Bash calls; its path must contain `bash` or `zsh` (2.1.33 and later). */
export const SHELL_VARIABLE = 'CLAUDE_CODE_SHELL';

/** From here on Claude Code counts the user's permission rules for a marked command as for the command alone. */
export const MARKS_SINCE = '2.1.100';

/** Before the path of the ticket, in a comment at the end of the command. */
const MARK = '# tool:';
/** Characters of a ticket's path. Claude Code adds a quote behind the command, so a quote ends the path. */
const PATH = 'A-Za-z0-9/._-';

/** Whether a ticket can have that path. */
export function canNameTicket(path: string): boolean {
  return new RegExp(`^/[${PATH}]+$`).test(path);
}

/** @throws {RangeError} a path that cannot stand in a comment */
export function marked(command: string, ticket: string): string {
  if (!canNameTicket(ticket)) throw new RangeError(`${JSON.stringify(ticket)} cannot name a ticket`);
  return `${command}\n${MARK}${ticket}`;
}

/**
 * The text of our shell: `-c [-l] CALL`, as Claude Code starts it.
 * @param real path of the shell that runs the calls
 */
export function shellScript(real: string): string {
  return `#!/bin/sh
# toolcrew: Claude Code runs Bash calls with this (${SHELL_VARIABLE}). A call that names a ticket runs under the write guard.
SHELL=${shellWord(real)}
[ -x "$SHELL" ] || SHELL=$(command -v bash || command -v zsh || echo /bin/sh)
export SHELL
for call in "$@"; do :; done
ticket="\${call##*${MARK}}"
ticket="\${ticket%%[!${PATH}]*}"
if [ "$ticket" != "$call" ] && [ -x "$ticket" ]; then exec "$ticket" "$SHELL" "$@"; fi
exec "$SHELL" "$@"
`;
}

/**
 * The ticket: a script whose arguments are the command to guard. Paths are absolute.
 * @param writesHistory whether git may write the repository; otherwise git takes no lock that it can do without
 */
export function ticketScript(guard: string, policy: string, log: string, writesHistory: boolean): string {
  const locks = writesHistory ? '' : 'export GIT_OPTIONAL_LOCKS=0\n';
  return `#!/bin/sh\n${locks}exec ${[guard, policy, log].map(shellWord).join(' ')} -- "$@"\n`;
}
