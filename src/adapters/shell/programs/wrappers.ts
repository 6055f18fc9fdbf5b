// Programs that run another program with the words they are given, and shells.

import { option } from '../builtins-assigning.ts';
import { type Options, type OptionsSpec, readOptions } from '../options.ts';
import { normalize } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { checkAssigned } from '../simple.ts';
import { type Input, type Shell, setVariable } from '../state.ts';
import { type Field, isText, UNKNOWN } from '../values.ts';

/** Runs words as a program of their own. */
function runProgram(words: readonly Field[], call: Call, shell: Shell): Input | undefined {
  if (words.length === 0) return undefined;
  return call.reader.runWords(words, shell, call.stdin, 'program').out;
}

/** The shell in another directory. */
export function inDirectory(directory: Field | undefined, shell: Shell, call: Call): Shell {
  if (directory === undefined) return shell;
  if (!isText(directory)) return { ...shell, cwds: null };
  const places = directory.startsWith('/') ? [normalize(directory)] : call.reader.places(shell, directory);
  return { ...shell, cwds: places };
}

/** A program that only changes how another runs; `skip` words before it are its own. */
function wrapper(spec: OptionsSpec, skip = 0, more?: (options: Options, call: Call) => void): Program {
  return (call) => {
    const options = readOptions(call.args, { ...spec, stopsAtOperand: true });
    if (options.isUncertain) call.reader.unresolved(`${call.name} runs what is known only when it runs`);
    more?.(options, call);
    return runProgram(options.operands.slice(skip), call, call.shell);
  };
}

const ASSIGNMENT = /^([^=]+)=([\s\S]*)$/;

/** Takes the assignments before the program's name. */
function assigned(
  words: readonly Field[],
  shell: Shell,
  call: Call,
): { readonly words: readonly Field[]; readonly shell: Shell } {
  let now = shell;
  for (const [index, word] of words.entries()) {
    const text = isText(word) ? word : word.lead;
    const match = ASSIGNMENT.exec(text);
    if (match?.[1] === undefined) return { words: words.slice(index), shell: now };
    const value: Field = isText(word) ? (match[2] ?? '') : UNKNOWN;
    if (!/^\w+$/.test(match[1])) call.reader.unresolved(`${call.name} sets ${match[1]}, which may hold commands`);
    checkAssigned(match[1], value, now, call.reader);
    now = setVariable(now, match[1], value);
    now = { ...now, exported: new Set([...now.exported, match[1]]) };
  }
  return { words: [], shell: now };
}

const env: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['u', 'C', 'S', 'P'],
    long: [
      'unset=',
      'chdir=',
      'split-string=',
      'ignore-environment',
      'null',
      'block-signal?',
      'default-signal?',
      'ignore-signal?',
      'debug',
      'list-signal-handling',
      'help',
      'version',
    ],
    stopsAtOperand: true,
  });
  const { reader } = call;
  if (options.isUncertain) reader.unresolved('env runs what is known only when it runs');
  if (options.has('S', 'split-string')) reader.unresolved('env -S splits a text into words in ways of its own');
  let shell = inDirectory(options.last('C', 'chdir'), call.shell, call);
  if (options.has('i', 'ignore-environment', '') || call.args.includes('-')) shell = { ...shell, opaque: true };
  for (const name of options.all('u', 'unset'))
    shell = isText(name) ? setVariable(shell, name, null) : { ...shell, opaque: true };
  const rest = assigned(
    options.operands.filter((word, index) => !(index === 0 && word === '-')),
    shell,
    call,
  );
  return runProgram(rest.words, call, rest.shell);
};

const sudo: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['C', 'D', 'g', 'h', 'p', 'R', 'r', 'T', 't', 'U', 'u'],
    long: [
      'chdir=',
      'group=',
      'user=',
      'host=',
      'prompt=',
      'chroot=',
      'role=',
      'type=',
      'command-timeout=',
      'close-from=',
      'other-user=',
      'preserve-env?',
      'login',
      'shell',
      'edit',
      'list',
      'version',
      'help',
    ],
    stopsAtOperand: true,
  });
  const { reader } = call;
  if (options.isUncertain) reader.unresolved(`${call.name} runs what is known only when it runs`);
  if (options.has('R', 'chroot')) reader.unresolved(`${call.name} runs in another root directory`);
  if (options.has('e', 'edit') || call.name === 'sudoedit') {
    for (const operand of options.operands) reader.write(call.shell, operand, 'sudo -e');
    return undefined;
  }
  let shell = inDirectory(options.last('D', 'chdir'), call.shell, call);
  if (options.has('i', 'login')) shell = { ...shell, cwds: null };
  const rest = assigned(options.operands, shell, call);
  return runProgram(rest.words, call, rest.shell);
};

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

function runCode(code: Field, call: Call, shell: Shell = call.shell): Input {
  if (isText(code)) return call.reader.runChild(code, { ...shell, stdin: call.stdin }).out;
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

/** `find` and others as one program: its first word is the name. */
const busybox: Program = (call) => runProgram(call.args, call, call.shell);

/** The words of a shell up to its code or its file: options may come in one word, with `c` among them. */
export const shellProgram: Program = (call) => {
  const { reader, args, name } = call;
  let hasCode = false;
  let readsInput = false;
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
    return first === undefined ? undefined : runCode(first, call, shell);
  }
  if (
    readsInput ||
    first === undefined ||
    first === '-' ||
    (isText(first) && (first === '/dev/stdin' || first.startsWith('/dev/fd/')))
  ) {
    return runInput(call, first, readsInput ? rest : more);
  }
  reader.executed(call.shell, first, name);
  return undefined;
};

function runInput(call: Call, file: Field | undefined, positional: readonly Field[]): Input | undefined {
  const { stdin, reader, shell, name } = call;
  const isOther = isText(file) && file.startsWith('/dev/fd/');
  if (stdin.kind === 'text' && !isOther) {
    return reader.runChild(stdin.text, {
      ...shell,
      stdin: { kind: 'unknown' },
      positional: positional.every(isText) ? positional : null,
    }).out;
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
    runCode(code, call, shell);
  }
  return undefined;
};

const make: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['C', 'E', 'f', 'I', 'j?', 'l?', 'o', 'O?', 'W'],
    long: ['directory=', 'eval=', 'file=', 'makefile=', 'include-dir=', 'jobs?', 'old-file=', 'what-if='],
  });
  const { reader, shell } = call;
  if (options.has('E', 'eval')) reader.unresolved('make --eval runs a text');
  const inside = inDirectory(options.last('C', 'directory'), shell, call);
  for (const file of options.all('f', 'file', 'makefile')) {
    if (file === '-' || (isText(file) && file.startsWith('/dev/'))) reader.unresolved('make runs what it reads');
    else reader.executed(inside, file, 'make');
  }
  for (const file of ['Makefile', 'makefile', 'GNUmakefile']) reader.executed(inside, file, 'make');
  for (const operand of options.operands) {
    if (isText(operand) ? /^(SHELL|\.SHELLFLAGS)\W*=|\$\(|`|!=/.test(operand) : operand.lead === '') {
      reader.unresolved('make is given a variable that may hold commands');
    }
  }
  return undefined;
};

const time: Program = (call) => {
  const options = readOptions(call.args, { short: ['o', 'f'], long: ['output=', 'format='], stopsAtOperand: true });
  for (const file of options.all('o', 'output')) call.reader.write(call.shell, file, 'time -o');
  return runProgram(options.operands, call, call.shell);
};

const traced: Program = (call) => {
  const options = readOptions(call.args, { short: [...'abEeIoOpPsSuUX'], long: ['output='], stopsAtOperand: true });
  for (const file of options.all('o', 'output')) call.reader.write(call.shell, file, `${call.name} -o`);
  return runProgram(options.operands, call, call.shell);
};

export const WRAPPER_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['env', env],
  ['sudo', sudo],
  ['sudoedit', sudo],
  ['doas', wrapper({ short: ['u', 'C'] })],
  ['nohup', wrapper({})],
  [
    'timeout',
    wrapper({ short: ['s', 'k'], long: ['signal=', 'kill-after=', 'foreground', 'preserve-status', 'verbose'] }, 1),
  ],
  ['gtimeout', wrapper({ short: ['s', 'k'], long: ['signal=', 'kill-after='] }, 1)],
  ['nice', wrapper({ short: ['n', ...'0123456789'], long: ['adjustment='] })],
  ['ionice', wrapper({ short: ['c', 'n', 'p', 'P', 'u'], long: ['class=', 'classdata=', 'pid='] })],
  ['chrt', wrapper({ short: ['T', 'P', 'D'], long: ['sched-runtime=', 'sched-period=', 'sched-deadline='] }, 1)],
  ['taskset', wrapper({ short: ['p'] }, 1)],
  ['stdbuf', wrapper({ short: ['i', 'o', 'e'], long: ['input=', 'output=', 'error='] })],
  ['setsid', wrapper({})],
  ['unbuffer', wrapper({})],
  ['chronic', wrapper({})],
  ['catchsegv', wrapper({})],
  ['fakeroot', wrapper({ short: ['l', 's', 'i', 'b'] })],
  ['dbus-run-session', wrapper({})],
  ['xvfb-run', wrapper({ short: ['e', 'f', 'n', 'p', 's', 'w'] })],
  ['caffeinate', wrapper({ short: ['t', 'w'] })],
  ['arch', wrapper({})],
  ['linux64', wrapper({})],
  ['setarch', wrapper({}, 1)],
  ['prlimit', wrapper({})],
  ['setpriv', wrapper({ long: ['reuid=', 'regid=', 'groups=', 'inh-caps=', 'bounding-set='] })],
  [
    'unshare',
    wrapper({ long: ['map-user=', 'map-group=', 'setuid=', 'setgid='], short: ['S', 'G'] }, 0, (options, call) => {
      if (options.has('R', 'root', 'w', 'wd')) call.reader.unresolved('unshare runs in another directory');
    }),
  ],
  ['strace', traced],
  ['ltrace', traced],
  ['perf', wrapper({}, 1)],
  ['valgrind', wrapper({})],
  ['dotenv', wrapper({ short: ['e', 'v', 'f'] })],
  [
    'cross-env',
    (call) => {
      const rest = assigned(call.args, call.shell, call);
      return runProgram(rest.words, call, rest.shell);
    },
  ],
  ['time', time],
  ['gtime', time],
  ['watch', watch],
  ['flock', flock],
  ['busybox', busybox],
  ['toybox', busybox],
  ['su', su],
  ['runuser', withCode({ short: ['u', 'c', 'g', 's'], long: ['command='] }, ['c', 'command'], 0)],
  ['sg', withCode({ short: ['c'] }, ['c'], 1)],
  ['make', make],
  ['gmake', make],
  ...['bash', 'sh', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'rbash', 'yash'].map((name): readonly [string, Program] => [
    name,
    shellProgram,
  ]),
];
