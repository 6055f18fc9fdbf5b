// Compilers, linkers and the like: the files that their words name, and those that they name after their sources.

import { type Options, readOptions } from '../options.ts';
import { baseOf } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';
import { tsc } from './tsc.ts';

/** Options of C compilers whose text may stand in the next word. */
const C_OPTIONS = [
  ...'o MF MJ MT MQ I L D U l x include imacros isystem iquote idirafter isysroot Xlinker Xassembler Xpreprocessor'.split(
    ' ',
  ),
  ...'Xclang T u z e arch target framework aux-info dumpbase dumpdir wrapper B param specs'.split(' '),
].map((name) => `${name}=`);
/** Ending of what each of them writes beside the output. */
const BESIDE: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^MM?D$/, ['.d']],
  [/^(-coverage|coverage|ftest-coverage)$/, ['.gcno']],
  [/^gsplit-dwarf$/, ['.dwo']],
  [/^save-temps$/, ['.i', '.ii', '.s', '.o', '.bc']],
];

/** Options through which one writes, or runs, what is not worked out. */
const C_OTHERS = /^(-?fdump|dump-|fplugin|wrapper$|specs$|fopt-info|fcallgraph-info|fdiagnostics-format|aux-info$|B|@)/;

function stemOf(path: string): string {
  return path.replace(/(?<=[^/])\.[^./]*$/, '');
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1) || '.';
}

/** The sources' names without directory and ending; null when one is not known. */
function stems(operands: readonly Field[]): readonly string[] | null {
  const sources = operands.filter((operand) => !isText(operand) || !/\.(o|a|so|obj|lib)$/.test(operand));
  return sources.every(isText) ? sources.map((source) => stemOf(baseOf(source))) : null;
}

/** Attached texts, as in `-oFILE`, beside those that stand alone. */
function textsOf(options: Options, name: string): readonly Field[] {
  const attached = [...options.given.keys()].filter((key) => key.startsWith(name) && !C_OPTIONS.includes(`${key}=`));
  return [...options.all(name), ...attached.filter((key) => key !== name).map((key) => key.slice(name.length))];
}

function writeAll(call: Call, files: readonly Field[], by = call.name): void {
  for (const file of files) if (file !== '-' && file !== '') call.reader.write(call.shell, file, by);
}

const compiler: Program = (call) => {
  const { reader, name } = call;
  const options = readOptions(call.args, { singleDash: true, isExact: true, long: C_OPTIONS });
  checkOptions(call, options);
  const { operands } = options;
  if (
    [...options.given.keys()].some((key) => C_OTHERS.test(key)) ||
    operands.some((one) => isText(one) && one.startsWith('@'))
  )
    reader.unresolved(`${name} is given options that may write other files`);
  const passed = [...options.all('Xlinker'), ...[...options.given.keys()].filter((key) => key.startsWith('Wl,'))];
  if (passed.some((text) => !isText(text) || /(^|[,-])(Map|o|out-implib|dependency-file)\b/.test(text)))
    reader.unresolved(`${name} passes on options that may write other files`);
  const isAsked = [...options.given.keys()].some((key) =>
    /^(-?version|-?help|dump(version|machine)|print-.*|###|fsyntax-only)$/.test(key),
  );
  const outputs = textsOf(options, 'o');
  const printed = name === 'cpp' || options.has('E') || (options.has('M', 'MM') && !options.has('MD', 'MMD'));
  writeAll(call, [...outputs, ...textsOf(options, 'MF'), ...textsOf(options, 'MJ')], `${name} -o`);
  if (name === 'cpp') writeAll(call, operands.slice(1, 2));
  if (operands.length === 0 || isAsked) return undefined;
  const sources = stems(operands);
  if (sources === null) {
    if (outputs.length === 0 && !printed)
      reader.unresolved(`${name} writes beside a file that is known only when it runs`);
    return undefined;
  }
  const own = options.has('S') ? ['.s', '.ll'] : ['.o', '.bc'];
  if (outputs.length === 0 && !printed)
    writeAll(call, options.has('c', 'S') ? sources.flatMap((source) => own.map((end) => source + end)) : ['a.out']);
  const ends = [...options.given.keys()].flatMap((key) => BESIDE.find(([flag]) => flag.test(key))?.[1] ?? []);
  for (const end of ends) {
    const bases = outputs.filter(isText).flatMap((output) => [output, stemOf(output)]);
    const around = (bases.length === 0 ? ['a'] : bases).flatMap((base) => sources.map((source) => `${base}-${source}`));
    writeAll(
      call,
      [...sources, ...bases, ...around].map((base) => base + end),
    );
  }
  return undefined;
};

/** Writes what its options name, or else a file whose name follows from its sources. */
function builder(
  names: readonly string[],
  takes: readonly string[],
  others: (sources: readonly string[]) => readonly string[],
): Program {
  return (call) => {
    const options = readOptions(call.args, {
      singleDash: true,
      isExact: true,
      long: [...names, ...takes].map((one) => `${one}=`),
    });
    checkOptions(call, options);
    const files = names.flatMap((name) => textsOf(options, name));
    for (const file of files) call.reader.write(call.shell, file, `${call.name} -${names[0]}`, { tree: true });
    if (files.length > 0 || options.operands.length === 0 || options.has('version', '-version', 'help'))
      return undefined;
    if (!options.operands.every(isText))
      call.reader.unresolved(`${call.name} writes beside a file that is known only when it runs`);
    else writeAll(call, others(options.operands));
    return undefined;
  };
}

const rustc: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'oLlCAWDFZ'],
    long: [
      'out-dir=',
      'emit=',
      'crate-type=',
      'crate-name=',
      'edition=',
      'cfg=',
      'extern=',
      'target=',
      'print=',
      'cap-lints=',
      'codegen=',
      'sysroot=',
      'test',
      'version',
      'explain=',
    ],
  });
  checkOptions(call, options);
  const { reader, shell } = call;
  for (const directory of options.all('out-dir')) reader.write(shell, directory, 'rustc', { tree: true });
  for (const file of options.all('o')) {
    reader.write(shell, file, 'rustc -o');
    // of several kinds each has its own ending
    if (options.has('emit')) reader.write(shell, isText(file) ? directoryOf(file) : file, 'rustc', { tree: true });
  }
  if (options.has('o', 'out-dir', 'version', 'V', 'print', 'explain') || options.operands.length === 0)
    return undefined;
  const [source] = options.operands;
  if (options.has('emit', 'crate-type', 'crate-name') || !isText(source))
    reader.write(shell, '.', 'rustc', { tree: true });
  else writeAll(call, [stemOf(baseOf(source))]);
  return undefined;
};

/** Classes go below a directory, or beside their sources. */
const javac: Program = (call) => {
  const options = readOptions(call.args, {
    singleDash: true,
    isExact: true,
    long: [
      'd=',
      'h=',
      's=',
      'cp=',
      'classpath=',
      '-class-path=',
      'sourcepath=',
      'source=',
      'target=',
      '-release=',
      'processorpath=',
      'processor=',
      'encoding=',
      'g',
      'Xlint',
    ],
  });
  checkOptions(call, options);
  const { reader, shell } = call;
  if (options.operands.some((one) => isText(one) && one.startsWith('@')))
    reader.unresolved('javac reads more options from a file');
  for (const directory of options.all('d', 'h', 's')) reader.write(shell, directory, 'javac', { tree: true });
  if (options.has('d')) return undefined;
  for (const source of options.operands) {
    const directory = isText(source) ? directoryOf(source) : source;
    reader.write(shell, directory, 'javac', { tree: true, entry: true });
  }
  return undefined;
};

/** It takes symbols out of each file, or of one into another. */
const strip: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'oKNRFIO'],
    long: [
      'keep-symbol=',
      'strip-symbol=',
      'remove-section=',
      'output-target=',
      'input-target=',
      'target=',
      'strip-all',
      'strip-debug',
      'strip-unneeded',
      'version',
      'help',
    ],
  });
  checkOptions(call, options);
  if (options.has('version', 'help', 'V')) return undefined;
  writeAll(call, options.has('o') ? options.all('o') : options.operands);
  return undefined;
};

export const COMPILER_PROGRAMS: readonly (readonly [string, Program])[] = [
  ...'gcc g++ cc c++ clang clang++ cpp c99 c89 gfortran'
    .split(' ')
    .map((name): readonly [string, Program] => [name, compiler]),
  ...'ld ld.lld ld.gold lld as'
    .split(' ')
    .map((name): readonly [string, Program] => [
      name,
      builder(['o', 'Map', 'MD'], ['T', 'L', 'l', 'e', 'm', 'I', 'soname', 'rpath', 'dynamic-linker', 'march'], () => [
        'a.out',
      ]),
    ]),
  ...'nasm yasm'
    .split(' ')
    .map((name): readonly [string, Program] => [
      name,
      builder(['o', 'l', 'MF'], ['f', 'I', 'F', 'p'], (sources) =>
        sources.flatMap((source) => [stemOf(source), `${stemOf(source)}.o`, `${stemOf(source)}.obj`]),
      ),
    ]),
  ['rustc', rustc],
  ['javac', javac],
  ['tsc', tsc],
  ['strip', strip],
];
