// Programs that read texts and write files when an option says so, editors, and programs that fetch files.

import { readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { isText } from '../values.ts';
import { asField, lookUp } from '../variables.ts';
import { checkOptions } from './files.ts';
import { outputOptions } from './output-options.ts';

const sort = outputOptions(
  ['o', 'output'],
  {
    short: ['k', 'o', 'S', 't', 'T'],
    long: [
      'key=',
      'output=',
      'buffer-size=',
      'field-separator=',
      'temporary-directory=',
      'parallel=',
      'batch-size=',
      'sort=',
      'random-source=',
      'compress-program=',
      'files0-from=',
      'check?',
    ],
  },
  ['compress-program'],
);

/** Pieces get the name that is given, with an ending: anything beside it may be one. */
const split: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['a', 'b', 'C', 'l', 'n', 't', 'f'],
    long: [
      'suffix-length=',
      'bytes=',
      'line-bytes=',
      'lines=',
      'number=',
      'separator=',
      'filter=',
      'additional-suffix=',
      'numeric-suffixes?',
      'hex-suffixes?',
      'prefix=',
      'suffix-format=',
      'digits=',
    ],
  });
  checkOptions(call, options);
  const { reader, shell } = call;
  for (const filter of options.all('filter')) {
    if (isText(filter)) reader.runChild(filter, shell);
    else reader.unresolved('split --filter runs what is known only when it runs');
  }
  const prefix = call.name === 'csplit' ? (options.last('f', 'prefix') ?? 'xx') : (options.operands[1] ?? 'x');
  if (!isText(prefix)) reader.write(shell, prefix, call.name, { tree: true });
  else
    reader.write(shell, prefix.includes('/') ? prefix.slice(0, prefix.lastIndexOf('/') + 1) : '.', call.name, {
      tree: true,
    });
  return undefined;
};

/** Editors take commands that write other files and run programs. */
const editor: Program = (call) => {
  if (call.args.length === 1 && call.args[0] === '--version') return undefined;
  const options = readOptions(call.args, {
    short: ['c', 'S', 'u', 'i', 'w', 'W', 'T', 't', 'U'],
    long: ['cmd=', 'command='],
  });
  for (const operand of options.operands) {
    if (!isText(operand) || !operand.startsWith('+')) call.reader.write(call.shell, operand, call.name);
  }
  call.reader.unresolved(`${call.name}: what its commands write is not known before they run`);
  return undefined;
};

const mktemp: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['p', 't?'],
    long: ['tmpdir?', 'suffix=', 'directory', 'dry-run', 'quiet'],
  });
  checkOptions(call, options);
  const { reader, shell } = call;
  const [template] = options.operands;
  const directory = options.last('p', 'tmpdir');
  if (options.has('u', 'dry-run')) return undefined;
  if (directory === '' || options.has('t') || (directory === undefined && template === undefined)) {
    const place = asField(lookUp('TMPDIR', shell, reader.context) ?? '/tmp');
    const isOurs = shell.vars.has('TMPDIR') || shell.opaque || !isText(place);
    if (isOurs) reader.write(shell, place, 'mktemp', { tree: true });
    else
      reader.write(
        shell,
        `${place}/${isText(template) && template !== undefined ? template : 'tmp.XXXXXXXXXX'}`,
        'mktemp',
      );
    return undefined;
  }
  if (directory !== undefined && directory !== '') reader.write(shell, directory, 'mktemp', { tree: true });
  else if (template !== undefined && !options.has('t', 'tmpdir')) {
    if (!isText(template)) reader.write(shell, template, 'mktemp');
    else
      reader.write(shell, template.includes('/') ? template.slice(0, template.lastIndexOf('/') + 1) : '.', 'mktemp', {
        tree: true,
      });
  }
  return undefined;
};

/** `--in-place` of programs that otherwise print. */
const inPlace: Program = (call) => {
  const options = readOptions(call.args, { long: ['in-place', 'inplace', 'write', 'modify'] });
  checkOptions(call, options);
  if (!options.has('i', 'm', 'in-place', 'inplace', 'write', 'modify')) return undefined;
  for (const operand of options.operands) call.reader.write(call.shell, operand, `${call.name} -i`);
  return undefined;
};

/** Its first word is an expression, behind the name of a command. */
const yq: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['I', 'o', 'p'],
    long: ['inplace', 'expression=', 'from-file=', 'indent=', 'output-format=', 'input-format=', 'arg=', 'argjson='],
  });
  checkOptions(call, options);
  if (!options.has('i', 'inplace')) return undefined;
  const words = options.operands.slice(/^(e|ea|eval|eval-all)$/.test(`${options.operands[0]}`) ? 1 : 0);
  // a file alone is one, and a file in the expression's place
  const [first] = words;
  const isFile = words.length === 1 || (isText(first) && call.reader.kindAt(call.shell, first) === 'file');
  for (const file of words.slice(isFile || options.has('expression', 'from-file') ? 0 : 1))
    call.reader.write(call.shell, file, 'yq -i');
  return undefined;
};

const script: Program = (call: Call) => {
  const options = readOptions(call.args, {
    short: ['c', 'T', 'B', 'I', 'O', 'E', 'o', 'm'],
    long: ['command=', 'log-in=', 'log-out=', 'log-io=', 'log-timing=', 'timing?'],
  });
  for (const text of options.all('c', 'command')) {
    if (isText(text)) call.reader.runChild(text, call.shell);
    else call.reader.unresolved('script runs what is known only when it runs');
  }
  for (const file of [
    ...options.operands,
    ...options.all('T', 'B', 'I', 'O', 'log-in', 'log-out', 'log-io', 'log-timing', 'timing'),
  ]) {
    if (file !== '') call.reader.write(call.shell, file, 'script');
  }
  if (options.operands.length === 0) call.reader.write(call.shell, 'typescript', 'script');
  return undefined;
};

export const TEXT_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['sort', sort],
  ['split', split],
  ['csplit', split],
  [
    'less',
    outputOptions(['o', 'O', 'log-file', 'LOG-FILE'], {
      short: [...'oObhjkpPtTxyz'],
      long: ['log-file=', 'LOG-FILE='],
    }),
  ],
  [
    'pip',
    outputOptions(
      ['t', 'd', 'target', 'dest', 'prefix', 'root'],
      { short: [...'trcdw'], long: ['target=', 'dest=', 'prefix=', 'root=', 'requirement='] },
      [],
      true,
    ),
  ],
  ['mktemp', mktemp],
  ['yq', yq],
  ['tidy', inPlace],
  ['clang-format', inPlace],
  ['script', script],
  ...[
    'ed',
    'red',
    'ex',
    'vi',
    'vim',
    'nvim',
    'view',
    'gvim',
    'nano',
    'pico',
    'joe',
    'mcedit',
    'emacsclient',
    'micro',
    'code',
  ].map((name): readonly [string, Program] => [name, editor]),
];
