// Programs that create, change or delete the files they are given.

import { after, type Options, type OptionsSpec, readOptions } from '../options.ts';
import { absolute, normalize, parentOf } from '../paths.ts';
import type { Call, Program, WriteOptions } from '../reader.ts';
import { fileText } from '../redirects.ts';
import { type Field, isText } from '../values.ts';

/** Says that options are not known, which may change what is written. */
export function checkOptions(call: Call, options: Options): void {
  if (options.isUncertain) call.reader.unresolved(`${call.name} is given a word that is known only when it runs`);
}

/** A program that writes each of its operands, `skip` of them apart. */
function operandWriter(
  spec: OptionsSpec,
  how: (options: Options) => WriteOptions,
  skip: (options: Options) => number = () => 0,
): Program {
  return (call) => {
    const options = readOptions(call.args, spec);
    checkOptions(call, options);
    if (options.has('help', 'version')) return undefined;
    for (const operand of options.operands.slice(skip(options))) {
      call.reader.write(call.shell, operand, call.name, how(options));
    }
    return undefined;
  };
}

const REMOVE_SPEC: OptionsSpec = {
  long: [
    'recursive',
    'force',
    'interactive?',
    'dir',
    'verbose',
    'one-file-system',
    'preserve-root?',
    'no-preserve-root',
    'help',
    'version',
  ],
};

const rm: Program = operandWriter(REMOVE_SPEC, (options) => ({
  tree: options.has('r', 'R', 'recursive'),
  entry: true,
  removes: true,
}));

const MODE_LONGS = [
  'recursive',
  'reference=',
  'changes',
  'quiet',
  'silent',
  'verbose',
  'preserve-root',
  'no-preserve-root',
  'dereference',
  'no-dereference',
  'from=',
  'help',
  'version',
];

/** `chmod`, whose mode may begin with `-`, and its like. */
const mode: Program = (call) => {
  // `-w` is a mode, not an option
  const isMode = (arg: Field) => isText(arg) && /^-[rwxXstugo]+([,=+-].*)?$/.test(arg) && call.name === 'chmod';
  const options = readOptions(
    call.args.filter((arg) => !isMode(arg)),
    { long: MODE_LONGS },
  );
  checkOptions(call, options);
  const hasMode = call.args.some(isMode) || options.has('reference');
  for (const operand of options.operands.slice(hasMode ? 0 : 1)) {
    call.reader.write(call.shell, operand, call.name, { tree: options.has('R', 'recursive') });
  }
  return undefined;
};

const mkdir: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['m'],
    long: ['mode=', 'parents', 'verbose', 'context?', 'help', 'version'],
  });
  checkOptions(call, options);
  for (const operand of options.operands) {
    // One that is there stays as it is.
    if (!isText(operand) || call.reader.kindAt(call.shell, operand) !== 'directory')
      call.reader.write(call.shell, operand, 'mkdir', { directory: true });
    if (options.has('p', 'parents') && isText(operand)) writeParents(operand, call);
  }
  return undefined;
};

/** The directories above a path that are not there yet. */
export function writeParents(path: string, call: Call): void {
  const { reader, shell } = call;
  const bases = path.startsWith('/') ? ['/'] : (shell.cwds ?? []);
  for (const base of bases) {
    // a `..` would leave a directory that is only made on the way
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    for (let count = 1; count < parts.length; count += 1) {
      const raw = absolute(parts.slice(0, count).join('/'), base);
      if (reader.kindAt(shell, raw) !== 'directory') reader.write(shell, raw, call.name, { directory: true });
    }
  }
}

const rmdir: Program = (call) => {
  const options = readOptions(call.args, {
    long: ['parents', 'ignore-fail-on-non-empty', 'verbose', 'help', 'version'],
  });
  checkOptions(call, options);
  for (const operand of options.operands) {
    call.reader.write(call.shell, operand, 'rmdir', { entry: true, removes: true });
    if (!options.has('p', 'parents') || !isText(operand)) continue;
    const bases = operand.startsWith('/') ? ['/'] : (call.shell.cwds ?? []);
    for (const base of bases) {
      const stop = normalize(base);
      for (let path = parentOf(absolute(operand, base)); path !== stop && path !== '/'; path = parentOf(path)) {
        call.reader.write(call.shell, path, 'rmdir -p', { entry: true, removes: true });
      }
    }
  }
  return undefined;
};

const tee: Program = (call) => {
  const options = readOptions(call.args, { long: ['append', 'ignore-interrupts', 'output-error?', 'help', 'version'] });
  checkOptions(call, options);
  for (const operand of options.operands) call.reader.write(call.shell, operand, 'tee');
  return call.stdin;
};

const dd: Program = (call) => {
  for (const arg of call.args) {
    const path = after(arg, 'of=');
    if (path !== undefined) call.reader.write(call.shell, path, 'dd');
    else if (!isText(arg) && arg.lead === '')
      call.reader.unresolved('dd is given a word that is known only when it runs');
  }
  return undefined;
};

/** The second of two operands is written. */
const second: Program = (call) => {
  const short = call.name === 'xxd' ? ['c', 'g', 'l', 'n', 'o', 's'] : ['f', 's', 'w'];
  const options = readOptions(call.args, {
    short,
    long: ['skip-fields=', 'skip-chars=', 'check-chars=', 'all-repeated?', 'group?'],
    singleDash: false,
  });
  checkOptions(call, options);
  for (const operand of options.operands.slice(1)) call.reader.write(call.shell, operand, call.name);
  return undefined;
};

const cat: Program = (call) => {
  if (call.args.length === 0 || (call.args.length === 1 && call.args[0] === '-')) return call.stdin;
  const texts = call.args.map((arg) => (isText(arg) && !arg.startsWith('-') ? fileText(arg, call, call.reader) : null));
  const known = texts.map((text) => (text?.kind === 'text' ? text.text : null));
  return known.every((text) => text !== null) ? { kind: 'text', text: known.join('') } : undefined;
};

const TOUCH: OptionsSpec = {
  short: ['d', 'r', 't'],
  long: ['date=', 'reference=', 'time=', 'no-create', 'no-dereference', 'help', 'version'],
};
const TRUNCATE: OptionsSpec = {
  short: ['s', 'r'],
  long: ['size=', 'reference=', 'no-create', 'io-blocks', 'help', 'version'],
};
const SHRED: OptionsSpec = {
  short: ['n', 's'],
  long: ['iterations=', 'size=', 'random-source=', 'remove?', 'force', 'zero', 'help', 'version'],
};

export const FILE_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['rm', rm],
  ['srm', rm],
  ['trash', rm],
  ['unlink', operandWriter({}, () => ({ entry: true, removes: true }))],
  ['rmdir', rmdir],
  ['mkdir', mkdir],
  ['chmod', mode],
  ['chown', mode],
  ['chgrp', mode],
  ['touch', operandWriter(TOUCH, () => ({}))],
  ['truncate', operandWriter(TRUNCATE, () => ({}))],
  ['fallocate', operandWriter({ short: ['l', 'o'], long: ['length=', 'offset='] }, () => ({}))],
  ['shred', operandWriter(SHRED, () => ({ removes: true }))],
  ['mkfifo', operandWriter({ short: ['m'], long: ['mode='] }, () => ({}))],
  ['mknod', operandWriter({ short: ['m'], long: ['mode='] }, () => ({}))],
  [
    'setfacl',
    operandWriter({ short: ['m', 'x', 'M', 'X'], long: ['modify=', 'remove=', 'set='] }, () => ({ tree: true })),
  ],
  ['chattr', operandWriter({}, () => ({ tree: true }))],
  ['sponge', operandWriter({}, () => ({}))],
  ['dos2unix', operandWriter({ short: ['c', 'i?'] }, () => ({}))],
  ['unix2dos', operandWriter({ short: ['c', 'i?'] }, () => ({}))],
  ['tee', tee],
  ['dd', dd],
  ['xxd', second],
  ['uniq', second],
  ['cat', cat],
];
