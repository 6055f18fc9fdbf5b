// Errors in a command line: the words of the parser with a code, and where the help of the very command is.

import type { Command } from 'commander';
import { failure, type ToolError } from '../base/rules/errors.ts';
import { failedJson, failedText } from './failed-command.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

/** `words` are the parser's, like "error: unknown command 'serv'\n(Did you mean serve?)". */
function usageError(words: string, hint: string): ToolError {
  const [first = '', suggestion = ''] = words.trim().split(/\n(?=\(Did you mean )/);
  const said = first.replace(/^error: ./, (start) => start.slice(-1).toUpperCase());
  const near = /^\(Did you mean (.+)\?\)$/.exec(suggestion)?.[1];
  return failure(CLI_CODES.command_line_invalid, {
    said: said.endsWith('.') ? said : `${said}.`,
    hint,
    ...(near === undefined ? {} : { near }),
  });
}

/** Whether the command, or one below it, takes `--json`. */
function takesJson(command: Command): boolean {
  return command.options.some(({ long }) => long === '--json') || command.commands.some(takesJson);
}

/** `--json` may stand behind what was wrong, so it is not parsed yet. */
function wantsJson(command: Command): boolean {
  const end = process.argv.indexOf('--');
  const args = end === -1 ? process.argv : process.argv.slice(0, end);
  return args.includes('--json') && takesJson(command);
}

/** Has the parser write its errors as those of commands are written, for a command and all below it. */
export function codeUsageErrors(command: Command, name: string): void {
  const hint = `\`${name} --help\` ${command.commands.length === 0 ? 'says more' : 'lists the commands'}.`;
  command.configureOutput({
    outputError: (words, write) => {
      const error = usageError(words, hint);
      if (wantsJson(command)) process.stdout.write(`${failedJson(error)}\n`);
      write(`${failedText(error)}\n`);
    },
  });
  for (const inner of command.commands) codeUsageErrors(inner, `${name} ${inner.name()}`);
}
