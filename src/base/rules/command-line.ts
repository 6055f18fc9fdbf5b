// Command lines as the workflow file states them.

/** File and arguments of a command line: a list as it stands, a string by the shell. */
export function splitCommand(command: CommandLine): readonly [string, readonly string[]] {
  if (typeof command === 'string') return ['/bin/sh', ['-c', command]];
  const [file = '', ...args] = command;
  return [file, args];
}

/** The variable that names the patch agent's test command, as JSON. */
export const TEST_COMMAND_VARIABLE = 'TOOL_TEST_COMMAND';

/** A text as one word for the shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Program to start: a list directly, a string through the shell. */
export type CommandLine = string | readonly string[];
