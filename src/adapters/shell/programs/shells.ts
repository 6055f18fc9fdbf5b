// Shells, and programs that run a text as one of them does.

import { option } from '../builtins-assigning.ts';
import { type OptionsSpec, readOptions } from '../options.ts';
import type { Call, Program, ShellKind } from '../reader.ts';
import type { Input, Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { astGrep, isAstGrep } from './generators.ts';
import { runProgram } from './wrappers.ts';

/** A program with a shell's text behind `-c`. */
const withCode =
  (spec: OptionsSpec, names: readonly string[], skip: number): Program =>
  (call) => {
    const options = readOptions(call.args, { ...spec, stopsAtOperand: true });
    const codes = options.all(...names);
    for (const code of codes) runCode(code, call);
    const rest = options.operands.slice(skip);
    const [first, code] = rest;
    if (first === '-c' && code !== undefined) runCode(code, call);
    else if (codes.length === 0) runProgram(rest, call, call.shell);
    return undefined;
  };

export function runCode(
  code: Field,
  call: Call,
  shell: Shell = { ...call.shell, positional: [] },
  kind: ShellKind = 'plain',
): Input {
  if (isText(code)) return call.reader.runChild(code, { ...shell, stdin: call.stdin }, kind).out;
  call.reader.unresolved(`${call.name} runs a text that is known only when it runs`);
  return { kind: 'unknown' };
}

/** `watch` joins its words to a text for a shell. */
const watch: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['n', 'q'],
    long: ['interval=', 'equexit=', 'differences?'],
    stopsAtOperand: true,
  });
  if (options.operands.every(isText)) runCode(options.operands.join(' '), call);
  else call.reader.unresolved('watch runs what is known only when it runs');
  return undefined;
};

const flock: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['w', 'E', 'c'],
    long: ['timeout=', 'wait=', 'conflict-exit-code=', 'command='],
    stopsAtOperand: true,
  });
  const [file, ...rest] = options.operands;
  if (file !== undefined && !(isText(file) && /^\d+$/.test(file))) call.reader.write(call.shell, file, 'flock');
  for (const code of options.all('c', 'command')) runCode(code, call);
  if (rest[0] === '-c' || rest[0] === '--command') runCode(rest[1] ?? '', call);
  else runProgram(rest, call, call.shell);
  return undefined;
};

/** `-n` only reads what it is given. */
function onlyChecks([first, next = '']: readonly Field[]): boolean {
  return isText(first) && /^-[eux]*n[eux]*$/.test(first) && isText(next) && !/^[-+]/.test(next);
}

/** The words of a shell up to its code or its file: options may come in one word, with `c` among them. */
const shellProgram: Program = (call) => {
  const { reader, args, name } = call;
  if (onlyChecks(args)) return undefined;
  let hasCode = false;
  let readsInput = false;
  // a shell that is logged in to or asked reads the person's settings
  let kind: ShellKind = name === 'zsh' ? 'zsh' : 'plain';
  let index = 0;
  for (; index < args.length; index += 1) {
    const arg = args[index];
    if (!isText(arg)) {
      if (!hasCode) reader.unresolved(`${name} runs what is known only when it runs`);
      break;
    }
    if (arg === '--' || arg === '-') {
      index += 1;
      break;
    }
    if (!/^[-+]./.test(arg)) break;
    if (kind === 'plain' && /^-\w*[il]|^--login$/.test(arg)) kind = 'own';
    if (arg === '--rcfile' || arg === '--init-file') {
      index += 1;
      reader.unresolved(`${name} ${arg} runs a file first`);
    } else if (!arg.startsWith('--')) {
      if (arg.includes('c') && arg.startsWith('-')) hasCode = true;
      if (arg.includes('s')) readsInput = true;
      const letters = arg.replace(/[cilsrDp]/g, '');
      if (/[oO]$/.test(arg)) index += 1;
      if (arg.includes('O')) reader.unresolved(`${name} -O changes how words are read`);
      else if (letters.length > 1) option(letters, args[index], call.shell, reader);
    } else if (!['--login', '--norc', '--noprofile', '--version', '--help', '--verbose'].includes(arg)) {
      reader.unresolved(`${name} is given the option ${arg}, which is not known`);
    } else if (arg === '--version' || arg === '--help') return undefined;
  }
  const rest = args.slice(index);
  const [first, ...more] = rest;
  if (hasCode) {
    const positional = more.slice(1);
    const shell = {
      ...call.shell,
      positional: positional.every((field) => isText(field) || !field.many) ? positional : null,
    };
    return first === undefined ? undefined : runCode(first, call, shell, kind);
  }
  if (readsInput || first === undefined || first === '-' || (isText(first) && /^\/(dev|proc)\//.test(first))) {
    return runInput(call, first, readsInput ? rest : more, kind);
  }
  reader.executed(call.shell, first, name);
  return undefined;
};

function runInput(
  call: Call,
  file: Field | undefined,
  positional: readonly Field[],
  kind: ShellKind,
): Input | undefined {
  const { stdin, reader, shell, name } = call;
  const isOther = isText(file) && /^\/(dev\/fd|proc)\//.test(file);
  if (stdin.kind === 'text' && !isOther) {
    const inner: Shell = {
      ...shell,
      stdin: { kind: 'unknown' },
      positional: positional.every(isText) ? positional : null,
    };
    return reader.runChild(stdin.text, inner, kind).out;
  }
  if (stdin.kind !== 'none' || isOther)
    reader.unresolved(`${name} runs what it reads, which is known only when it runs`);
  return undefined;
}

const su: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['c', 'g', 'G', 's', 'w', 'T'],
    long: ['command=', 'session-command=', 'shell=', 'group=', 'supp-group='],
  });
  for (const code of options.all('c', 'command', 'session-command')) {
    const shell = options.has('l', 'login', '') || call.args.includes('-') ? { ...call.shell, cwds: null } : call.shell;
    runCode(code, call, shell, 'own');
  }
  return undefined;
};

/** `man -P`, whose text is a command. */
const man = withCode(
  { short: ['P', 'H', 'S', 's', 'M', 'm', 'e', 'L', 'C', 'R', 'E', 'p'], long: ['pager=', 'html='] },
  ['P', 'pager'],
  99,
);

const SHELLS = ['bash', 'sh', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'rbash', 'yash'];

/** Runs a command for a group of users. */
const ofGroup = withCode({ short: ['c'] }, ['c'], 1);

export const SHELL_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['watch', watch],
  ['flock', flock],
  ['su', su],
  ['man', man],
  ['runuser', withCode({ short: ['u', 'c', 'g', 's'], long: ['command='] }, ['c', 'command'], 0)],
  ['sg', (call) => (isAstGrep(call) ? astGrep(call) : ofGroup(call))],
  ...SHELLS.map((name): readonly [string, Program] => [name, shellProgram]),
];
