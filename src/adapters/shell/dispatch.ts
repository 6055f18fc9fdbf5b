// Who answers to a command's name: a function, the shell itself, or a program.

import { ASSIGNING_BUILTINS } from './builtins-assigning.ts';
import { DIRECTORY_BUILTINS } from './builtins-directories.ts';
import { RUNNING_BUILTINS } from './builtins-running.ts';
import { baseOf } from './paths.ts';
import { programOf } from './programs/table.ts';
import { unknownProgram } from './programs/unknown.ts';
import { type Builtin, both, type Call, type Lookup, type Outcome, type Reader } from './reader.ts';
import { forgetAll, type Input, join, type Shell, UNKNOWN_INPUT } from './state.ts';
import { type Field, isText } from './values.ts';
import { ZSH_BUILTINS } from './zsh.ts';

const BUILTINS: ReadonlyMap<string, Builtin> = new Map([
  ...DIRECTORY_BUILTINS,
  ...ASSIGNING_BUILTINS,
  ...RUNNING_BUILTINS,
]);

export function dispatch(words: readonly Field[], shell: Shell, stdin: Input, how: Lookup, reader: Reader): Outcome {
  reader.step();
  const [first, ...args] = words;
  if (first === undefined) return both(shell);
  reader.command(words);
  if (!isText(first)) {
    reader.unresolved('which program it runs is known only when it runs');
    return both(forgetAll(shell));
  }
  if (how === 'all') {
    if (shell.aliases.has(first)) reader.unresolved(`${first} is an alias that the command itself defines`);
    const known = shell.functions.get(first);
    if (known !== undefined) {
      const called = reader.runFunction(first, args, shell, stdin);
      if (known.certain) return called;
      const other = dispatch(words, shell, stdin, 'builtin', reader);
      return { ok: join(called.ok, other.ok), fail: join(called.fail, other.fail), out: UNKNOWN_INPUT };
    }
  }
  const call: Call = { reader, shell, name: first, args, stdin };
  const builtin = how === 'program' ? undefined : (shell.zsh && ZSH_BUILTINS.get(first)) || BUILTINS.get(first);
  if (builtin !== undefined) return builtin(call);
  const name = baseOf(first);
  const program = programOf(name) ?? unknownProgram;
  const before = reader.changes();
  const out = program({ ...call, name }) ?? UNKNOWN_INPUT;
  if (first.includes('/')) reader.executed(shell, first, first, before);
  return both(shell, out);
}
