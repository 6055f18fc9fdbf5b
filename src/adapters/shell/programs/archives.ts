// Programs that pack and unpack: what an archive holds is not looked at, so it may fill the whole directory.

import { type Options, type OptionsSpec, otherOptions, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';
import { inDirectory } from './wrappers.ts';

const TAR_LONGS = [
  'create',
  'extract',
  'get',
  'list',
  'append',
  'update',
  'diff',
  'compare',
  'delete',
  'catenate',
  'concatenate',
  'file=',
  'directory=',
  'to-stdout',
  'to-command=',
  'checkpoint-action=',
  'checkpoint?',
  'use-compress-program=',
  'exclude=',
  'exclude-from=',
  'files-from=',
  'strip-components=',
  'one-top-level?',
  'transform=',
  'xform=',
  'remove-files',
  'listed-incremental=',
  'info-script=',
  'new-volume-script=',
  'rsh-command=',
  'rmt-command=',
  'index-file=',
  'owner=',
  'group=',
  'mode=',
  'absolute-names',
  'gzip',
  'bzip2',
  'xz',
  'zstd',
  'auto-compress',
  'verbose',
  'keep-old-files',
  'overwrite',
  'wildcards',
  'no-same-owner',
  'help',
  'version',
];

/** `tar xzf a.tar`: the first word is options although it has no dash. */
function dashed(args: readonly Field[]): readonly Field[] {
  const [first, ...rest] = args;
  if (!isText(first) || first.startsWith('-') || first === '') return args;
  // each letter with a text takes the next word
  const texts = [...first].filter((letter) => 'fCbTXIg'.includes(letter));
  return [
    ...texts.flatMap((letter, index) => [`-${letter}`, rest[index] ?? '']),
    `-${[...first].filter((letter) => !'fCbTXIg'.includes(letter)).join('')}`,
    ...rest.slice(texts.length),
  ];
}

const TAR: OptionsSpec = { short: [...'fCbTXIgFHKLNV'], long: TAR_LONGS };

const tar: Program = (call) => {
  const options = readOptions(dashed(call.args), TAR);
  checkOptions(call, options);
  const { reader, shell } = call;
  const runs = [
    'to-command',
    'checkpoint-action',
    'use-compress-program',
    'I',
    'F',
    'info-script',
    'new-volume-script',
    'rsh-command',
    'rmt-command',
  ];
  if (options.has(...runs)) reader.unresolved('tar runs another program');
  const files = options.all('f', 'file');
  if (options.has('c', 'r', 'u', 'A', 'create', 'append', 'update', 'catenate', 'concatenate', 'delete')) {
    for (const file of files) if (file !== '-') writeFrom(call, file);
  }
  for (const file of options.all('g', 'listed-incremental', 'index-file')) writeFrom(call, file);
  if (options.has('remove-files')) removePacked(call, options);
  if (!options.has('x', 'extract', 'get') || options.has('O', 'to-stdout')) return undefined;
  if (options.has('P', 'absolute-names', 'transform', 'xform'))
    reader.unresolved('tar may write outside of its directory');
  for (const directory of options.all('one-top-level')) {
    if (directory !== '') reader.write(shell, directory, 'tar -x', { tree: true, link: true });
  }
  const directories = options.all('C', 'directory');
  // one after the other: each is seen from the one before
  let at = '';
  for (const directory of directories.length === 0 ? ['.'] : directories) {
    if (!isText(directory)) reader.write(shell, directory, 'tar -x', { tree: true });
    else {
      at = directory.startsWith('/') || at === '' ? directory : `${at}/${directory}`;
      reader.write(shell, at, 'tar -x', { tree: true, link: true });
    }
  }
  return undefined;
};

/** What is packed is looked for in the directory of the last `-C` before it. */
function removePacked(call: Call, options: Options): void {
  const shells = [call.shell];
  for (const directory of options.all('C', 'directory'))
    shells.push(inDirectory(directory, shells.at(-1) ?? call.shell, call));
  const first = readOptions(dashed(call.args), { ...TAR, stopsAtOperand: true }).all('C', 'directory').length;
  for (const shell of shells.slice(first))
    for (const operand of options.operands)
      call.reader.write(shell, operand, 'tar --remove-files', { tree: true, entry: true, removes: true });
}

function writeFrom(call: Call, file: Field): void {
  if (!isText(file) || !/^[^/]*:/.test(file)) call.reader.write(call.shell, file, 'tar -f');
}

const unzip: Program = (call) => {
  const options = readOptions(call.args, { short: ['d', 'x', 'P'] });
  checkOptions(call, options);
  if (options.has('l', 't', 'p', 'c', 'v', 'z', 'Z')) return undefined;
  if (options.has(':')) call.reader.unresolved('unzip -: may write anywhere');
  call.reader.write(call.shell, options.last('d') ?? '.', 'unzip', { tree: true, link: true });
  return undefined;
};

const zip: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['b', 'n', 't', 'x', 'i', 'O', 'P', 's', 'Z'],
    long: ['out=', 'output-file=', 'temp-path='],
  });
  checkOptions(call, options);
  if (options.has('TT', 'unzip-command', 'm', 'move'))
    call.reader.unresolved('zip runs another program or takes files away');
  const file = options.last('O', 'out', 'output-file') ?? options.operands[0];
  if (file === undefined || file === '-') return undefined;
  call.reader.write(call.shell, file, 'zip');
  if (isText(file)) call.reader.write(call.shell, `${file}.zip`, 'zip');
  return undefined;
};

const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  gzip: ['.gz', '.tgz', '.z', '.Z'],
  bzip2: ['.bz2', '.tbz2', '.tbz', '.bz'],
  xz: ['.xz', '.txz', '.lzma', '.tlz'],
  zstd: ['.zst', '.tzst'],
  lz4: ['.lz4'],
  compress: ['.Z'],
  brotli: ['.br'],
};

const ALIASES: Readonly<Record<string, string>> = {
  gunzip: 'gzip',
  bunzip2: 'bzip2',
  unxz: 'xz',
  lzma: 'xz',
  unlzma: 'xz',
  unzstd: 'zstd',
  unlz4: 'lz4',
  uncompress: 'compress',
  pigz: 'gzip',
  unpigz: 'gzip',
};

/** One file becomes another with an ending, or loses it. */
const compress: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['S', 'o', 'b', 'T'],
    long: ['suffix=', 'threads=', 'block-size=', 'output-dir-flat=', 'output-dir-mirror='],
  });
  checkOptions(call, options);
  const { reader, shell, name } = call;
  const kind = ALIASES[name] ?? name;
  for (const file of options.all('o')) reader.write(shell, file, name);
  if (options.has('output-dir-flat', 'output-dir-mirror')) reader.unresolved(`${name} writes to another directory`);
  if (options.has('c', 'stdout', 'to-stdout', 'l', 'list', 't', 'test')) return undefined;
  const endings = [...(ENDINGS[kind] ?? ['']), ...options.all('S', 'suffix').filter(isText)];
  for (const operand of options.operands) {
    if (!isText(operand)) reader.write(shell, operand, name);
    else if (options.has('r', 'recursive')) reader.write(shell, operand, name, { tree: true });
    else {
      reader.write(shell, operand, name, { removes: true, entry: true });
      const isPacked = endings.some((ending) => operand.endsWith(ending));
      const [first = ''] = endings;
      const others = isPacked
        ? endings.map((ending) => operand.slice(0, operand.endsWith(ending) ? -ending.length : undefined))
        : [operand + first, ...endings.slice(ENDINGS[kind]?.length ?? 1).map((ending) => operand + ending)];
      // `a.tgz` becomes `a.tar`
      for (const other of new Set(others)) {
        if (other === operand) continue;
        reader.write(shell, other, name);
        if (isPacked && /\.t\w+$/.test(operand)) reader.write(shell, `${other}.tar`, name);
      }
      if (!isPacked) continue;
      reader.write(shell, `${operand}${first}`, name);
    }
  }
  return undefined;
};

const cpio: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['C', 'D', 'E', 'F', 'H', 'I', 'M', 'O', 'R'],
    long: ['file=', 'directory='],
  });
  checkOptions(call, options);
  for (const file of options.all('O', 'F', 'file')) call.reader.write(call.shell, file, 'cpio');
  const isListing =
    options.has('t', 'list') ||
    (options.has('o', 'create') && otherOptions(options, ['o', 'create']).length >= 0 && !options.has('i', 'p'));
  if (!isListing) call.reader.unresolved('cpio unpacks to paths that are not looked at');
  return undefined;
};

const seven: Program = (call) => {
  if (call.args[0] !== 'l' && call.args[0] !== 't')
    call.reader.unresolved(`${call.name} writes files that are not worked out`);
  return undefined;
};

export const ARCHIVE_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['tar', tar],
  ['gtar', tar],
  ['bsdtar', tar],
  ['unzip', unzip],
  ['zip', zip],
  ...[...Object.keys(ENDINGS), ...Object.keys(ALIASES)].map((name): readonly [string, Program] => [name, compress]),
  ['cpio', cpio],
  ...['7z', '7za', '7zz', 'unrar', 'rar', 'ar', 'unar', 'jar', 'pax'].map((name): readonly [string, Program] => [
    name,
    seven,
  ]),
];
