// Modules of Python that run or compile code which they are given.

import { readOptions } from '../options.ts';
import type { Call } from '../reader.ts';
import { type Field, isText } from '../values.ts';

/** Whether the words of `timeit` are code that surely only reads. */
function onlyTimes(args: readonly Field[], onlyReads: (code: string) => boolean): boolean {
  const options = readOptions(args, {
    short: ['n', 'r', 's', 'u'],
    long: ['number=', 'repeat=', 'setup=', 'unit=', 'process', 'verbose', 'help'],
    stopsAtOperand: true,
  });
  const code = [...options.all('s', 'setup'), ...options.operands];
  return !options.isUncertain && code.every((text) => isText(text) && onlyReads(text));
}

/** `profile` and `pdb` run what stands behind their own options as Python itself would. */
function runBehind(call: Call, rest: readonly Field[]): void {
  call.reader.runWords([call.name, ...rest], call.shell, call.stdin, 'program');
}

/**
 * Reads the words of such a module; answers whether it is told what is written. Code that is compiled lies beside its
 * source in `__pycache__`, as of any program of Python.
 */
export function readsModule(
  call: Call,
  module: string,
  args: readonly Field[],
  onlyReads: (code: string) => boolean,
): boolean {
  const texts = args.filter(isText);
  if (texts.length !== args.length) return false;
  if (module === 'py_compile') return !texts.includes('-');
  // `-b` puts it beside the source itself, `-i` and `-s` take words
  if (module === 'compileall') return texts.every((text) => !text.startsWith('-') || /^-[qflr\d]+$/.test(text));
  if (module === 'timeit') return onlyTimes(args, onlyReads);
  if (module === 'pdb') {
    if (call.stdin.kind !== 'none' || texts[0]?.startsWith('-') !== false) return false;
    runBehind(call, args);
    return true;
  }
  if (module !== 'cProfile' && module !== 'profile') return false;
  const options = readOptions(args, { short: ['o', 's', 'm'], long: ['outfile=', 'sort='], stopsAtOperand: true });
  for (const file of options.all('o', 'outfile')) call.reader.write(call.shell, file, `${call.name} -m ${module} -o`);
  const name = options.last('m');
  if (name === undefined && options.operands.length === 0) return false;
  runBehind(call, name === undefined ? options.operands : ['-m', name, ...options.operands]);
  return true;
}
