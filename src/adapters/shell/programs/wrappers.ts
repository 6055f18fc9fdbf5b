// Programs that run another program with the words they are given, and shells.

import { checkAssigned } from '../assigned.ts';
import { type OptionsSpec, readOptions } from '../options.ts';
import { normalize } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { type Input, type Shell, setVariable } from '../state.ts';
import { type Field, isText, UNKNOWN } from '../values.ts';

/** Runs words as a program of their own. */
export function runProgram(words: readonly Field[], call: Call, shell: Shell): Input | undefined {
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

const TIMEOUT: OptionsSpec = {
  short: ['s', 'k'],
  long: ['signal=', 'kill-after=', 'foreground', 'preserve-status', 'verbose'],
};

/** A program that only changes how another runs; `skip` words before it are its own. */
function wrapper(spec: OptionsSpec, skip = 0): Program {
  return (call) => {
    const options = readOptions(call.args, { ...spec, stopsAtOperand: true });
    if (options.isUncertain) call.reader.unresolved(`${call.name} runs what is known only when it runs`);
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
  if (options.isUncertain)
    reader.unresolved(
      'env runs what is known only when it runs; a file of variables is read with `set -a; . ./FILE; set +a`',
    );
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

/** `find` and others as one program: its first word is the name. */
const busybox: Program = (call) => runProgram(call.args, call, call.shell);

const time: Program = (call) => {
  const options = readOptions(call.args, { short: ['o', 'f'], long: ['output=', 'format='], stopsAtOperand: true });
  for (const file of options.all('o', 'output')) call.reader.write(call.shell, file, 'time -o');
  return runProgram(options.operands, call, call.shell);
};

/**
 * A program that runs another somewhere behind options that are not all known here: each of its words may be the
 * other's name.
 */
const runsSomewhere: Program = (call) => {
  for (const [index, arg] of call.args.entries()) {
    if (!isText(arg)) call.reader.unresolved(`${call.name} may run what is known only when it runs`);
    else if (!arg.startsWith('-') && !ASSIGNMENT.test(arg)) runProgram(call.args.slice(index), call, call.shell);
    const output = call.args[index + 1];
    if (isText(arg) && /^(-\w*o|--output|--log-file)$/.test(arg) && output !== undefined) {
      call.reader.write(call.shell, output, call.name);
    } else if (isText(arg) && /^(-o.|--(output|log-file)=)/.test(arg)) {
      call.reader.write(call.shell, arg.startsWith('--') ? arg.slice(arg.indexOf('=') + 1) : arg.slice(2), call.name);
    }
  }
  return undefined;
};

const RUNNING_SOMEWHERE =
  'ionice chrt taskset setsid unbuffer chronic catchsegv fakeroot dbus-run-session xvfb-run caffeinate arch linux32 ' +
  'linux64 i386 uname26 setarch ssh-agent prlimit setpriv strace ltrace perf valgrind rlwrap dotenv direnv proxychains torsocks tsocks ' +
  'firejail bwrap faketime eatmydata choom cgexec uclampset numactl systemd-inhibit retry op doppler infisical chpst c8 nyc';

export const WRAPPER_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['env', env],
  ['sudo', sudo],
  ['sudoedit', sudo],
  ['doas', wrapper({ short: ['u', 'C'] })],
  ['nohup', wrapper({})],
  ...['timeout', 'gtimeout'].map((name): readonly [string, Program] => [name, wrapper(TIMEOUT, 1)]),
  ['nice', wrapper({ short: ['n', ...[...'0123456789'].map((digit) => `${digit}?`)], long: ['adjustment='] })],
  ['stdbuf', wrapper({ short: ['i', 'o', 'e'], long: ['input=', 'output=', 'error='] })],
  [
    'unshare',
    (call) => {
      call.reader.unresolved('unshare may run in another directory');
      return runsSomewhere(call);
    },
  ],
  ...RUNNING_SOMEWHERE.split(' ').map((name): readonly [string, Program] => [name, runsSomewhere]),
  [
    'cross-env',
    (call) => {
      const rest = assigned(call.args, call.shell, call);
      return runProgram(rest.words, call, rest.shell);
    },
  ],
  ['time', time],
  ['gtime', time],
  ['busybox', busybox],
  ['toybox', busybox],
];
