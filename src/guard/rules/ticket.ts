// Tickets bring a Bash call of Claude Code under the write guard. The hook adds a comment that names a ticket: a small script that
// starts the guard. Claude Code starts its Bash calls with our shell (CLAUDE_CODE_SHELL), which starts the ticket that a call names.
// Claude Code itself goes back to the user's shell where ours is missing, so a clone on another machine still runs Bash.

import { shellWord } from '../../base/rules/command-line.ts';

/** Names the shell of Bash calls; its path must contain `bash` or `zsh` (2.1.33 and later). */
export const SHELL_VARIABLE = 'CLAUDE_CODE_SHELL';

/** Beside our shell: tickets of calls that carry no mark, found by the text of the call. */
export const UNMARKED_TICKETS = 'waiting';
/** A ticket waits for its call no longer than this, in seconds: for a question to the user, or a call before it. */
const WAITS_S = 600;

/** From here on Claude Code counts the user's permission rules for a marked command as for the command alone. */
export const TICKET_COMMENTS_SINCE = '2.1.100';

/** Before the path of the ticket, in a comment at the end of the command. */
const TICKET_COMMENT = '# tool:';
/** Characters of a ticket's path. Claude Code adds a quote behind the command, so a quote ends the path. */
const PATH = 'A-Za-z0-9/._-';

/** Whether a ticket can have that path. */
export function canNameTicket(path: string): boolean {
  return new RegExp(`^/[${PATH}]+$`).test(path);
}

/** @throws {RangeError} a path that cannot stand in a comment */
export function withTicket(command: string, ticket: string): string {
  if (!canNameTicket(ticket)) throw new RangeError(`${JSON.stringify(ticket)} cannot name a ticket`);
  return `${command}\n${TICKET_COMMENT}${ticket}`;
}

/**
 * The letters and digits of a command, in parts between `*`. Claude Code 2.1.33 quotes a command anew, puts words between the
 * parts of a pipe and drops unset variables.
 * @returns null: the command has neither letters nor digits
 */
export function commandPattern(command: string): string | null {
  const parts = command.split(/\||\$\{[^}]*\}|\$\w+/).map((part) => part.replace(/[^A-Za-z0-9]/g, ''));
  return parts.filter((part) => part !== '').join('*') || null;
}

/**
 * A file of `UNMARKED_TICKETS`.
 * @param strict the ticket for the case that equal calls of others wait too
 * @param now ms
 * @param root the checkout that the call runs in
 */
export function waitingText(text: string, ticket: string, strict: string, now: number, root: string): string {
  return [text, ticket, strict, Math.floor(now / 1000) + WAITS_S, root, ''].join('\n');
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
home="\${0%/*}" ticket=
case "$call" in *"${TICKET_COMMENT}"*) ticket="\${call##*"${TICKET_COMMENT}"}" ticket="\${ticket%%[!${PATH}]*}" ;; esac
if [ -z "$ticket" ]; then
  said= best=
  for one in "$home/${UNMARKED_TICKETS}"/*; do
    { read -r text && read -r its && read -r strict && read -r until && read -r root; } <"$one" || continue
    [ -n "$said" ] || said=$(printf %s "$call" | LC_ALL=C tr -cd A-Za-z0-9):$(pwd -P)/ now=$(date +%s)
    case "$said" in *eval$text*:"$root"/*) [ "$now" -lt "$until" ] || continue ;; *) continue ;; esac
    if [ "\${#text}" -gt "\${#best}" ]; then best=$text ticket=$its; elif [ "$text" = "$best" ]; then ticket=$strict; fi
  done 2>/dev/null
fi
set -- "$SHELL" "$@"
[ -f "$ticket" ] && [ -x "$ticket" ] && . "$ticket"
exec "$@"
`;
}

/**
 * The ticket: a script that our shell sources, with the command to guard as its arguments. Paths are absolute.
 * @param writesHistory whether git may write the repository; otherwise git takes no lock that it can do without
 */
export function ticketScript(guard: string, policy: string, log: string, writesHistory: boolean): string {
  const locks = writesHistory ? '' : 'export GIT_OPTIONAL_LOCKS=0\n';
  return `#!/bin/sh\n${locks}exec ${[guard, policy, log].map(shellWord).join(' ')} -- "$@"\n`;
}
