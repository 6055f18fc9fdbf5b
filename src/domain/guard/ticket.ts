// Tickets bring a Bash call of Claude Code under the write guard: its hook adds a comment that names a ticket, a small script that starts
// the guard, and the prefix that Claude Code puts before each call of a shell (CLAUDE_CODE_SHELL_PREFIX) starts that ticket.
// A call without a ticket runs as it would without us, also where nothing else of ours is there.

import { shellWord } from '../command-line.ts';

/** Before the path of the ticket, in a comment at the end of the command. */
const MARK = '# tool:';
/** Chars of a ticket's path: what Claude Code quotes around the command ends it. */
const PATH = 'A-Za-z0-9/._-';

/** The variable with the prefix that was set before ours: shell text, to which the call is added as one word. */
export const PREFIX_BEFORE = 'TOOL_SHELL_PREFIX_BEFORE';

/** @throws {RangeError} a path that cannot stand in a comment */
export function marked(command: string, ticket: string): string {
  if (!new RegExp(`^/[${PATH}]+$`).test(ticket)) throw new RangeError(`${JSON.stringify(ticket)} cannot name a ticket`);
  return `${command}\n${MARK}${ticket}`;
}

/** Whether somebody else has written such a comment into a command. */
export function isMarked(command: string): boolean {
  return command.includes(MARK);
}

/** The kind of shell in which Claude Code makes its calls. */
const SHELL = 'case "$SHELL" in */bash|*/zsh) s=$SHELL;; *) s=bash;; esac';

/**
 * The prefix. Claude Code takes what stands before the last ` -` for the program, and passes the rest on as shell text, with the
 * call behind it as one word, which is `$0` here. So there is one ` -` in it.
 */
export const SHELL_PREFIX = `/bin/sh -c '${[
  `t="\${0##*${MARK}}"`,
  `t="\${t%%[!${PATH}]*}"`,
  `if [ "$t" != "$0" ] && [ \\-x "$t" ]; then exec "$t" "$0"; fi`,
  `if [ "$${PREFIX_BEFORE}" ]; then eval "exec $${PREFIX_BEFORE} \\"\\$0\\""; fi`,
  SHELL,
  'exec "$s" \\-c "$0"',
].join('; ')}'`;

/** The ticket: a script whose argument is the call. Paths are absolute. */
export function ticketScript(guard: string, policy: string, log: string): string {
  const start = `exec ${[guard, policy, log].map(shellWord).join(' ')} -- "$s" -c`;
  return `#!/bin/sh
${SHELL}
[ -z "$${PREFIX_BEFORE}" ] || ${start} "exec $${PREFIX_BEFORE} \\"\\$0\\"" "$1"
${start} "$1"
`;
}
