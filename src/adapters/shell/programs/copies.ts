// Programs that copy, move and link: which path each source becomes.

import { type Options, type OptionsSpec, readOptions } from '../options.ts';
import { baseOf } from '../paths.ts';
import type { Call, Program, WriteOptions } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions, writeParents } from './files.ts';

const COMMON = [
  'backup?',
  'force',
  'interactive',
  'no-clobber',
  'suffix=',
  'target-directory=',
  'no-target-directory',
  'update?',
  'verbose',
  'strip-trailing-slashes',
  'context?',
  'help',
  'version',
];

const COPY: OptionsSpec = {
  short: ['t', 'S'],
  long: [
    ...COMMON,
    'archive',
    'attributes-only',
    'copy-contents',
    'dereference',
    'link',
    'no-dereference',
    'preserve?',
    'no-preserve=',
    'parents',
    'recursive',
    'reflink?',
    'remove-destination',
    'sparse=',
    'symbolic-link',
    'one-file-system',
  ],
};

const LINK: OptionsSpec = {
  short: ['t', 'S'],
  long: [...COMMON, 'symbolic', 'logical', 'physical', 'relative', 'no-dereference', 'directory'],
};

const INSTALL: OptionsSpec = {
  short: ['t', 'S', 'g', 'm', 'o'],
  long: [
    ...COMMON,
    'group=',
    'mode=',
    'owner=',
    'directory',
    'preserve-timestamps',
    'strip',
    'strip-program=',
    'compare',
  ],
};

/** Where a source goes when the destination is a directory: `null` when its name is not known. */
function nameOf(source: Field): string | null {
  if (!isText(source)) return null;
  const base = baseOf(source);
  return base === '.' || base === '..' || base === '' ? null : base;
}

type Target = { readonly path: Field; readonly isDirectory: 'yes' | 'no' | 'maybe' };

function targetOf(
  call: Call,
  options: Options,
  operands: readonly Field[],
): { readonly sources: readonly Field[]; readonly target: Target } | null {
  const directory = options.last('t', 'target-directory');
  if (directory !== undefined) return { sources: operands, target: { path: directory, isDirectory: 'yes' } };
  const sources = operands.slice(0, -1);
  const path = operands.at(-1);
  if (path === undefined || (sources.length === 0 && call.name !== 'ln')) return null;
  if (sources.length === 0) return { sources: operands, target: { path: '.', isDirectory: 'yes' } };
  if (options.has('T', 'no-target-directory')) return { sources, target: { path, isDirectory: 'no' } };
  if (!isText(path)) return { sources, target: { path, isDirectory: 'maybe' } };
  const kind = call.reader.kindAt(call.shell, path);
  if (kind === 'directory' || path.endsWith('/') || sources.length > 1)
    return { sources, target: { path, isDirectory: 'yes' } };
  // a link to a directory is replaced with `ln -n`
  const isLink = options.has('n', 'no-dereference') && call.name === 'ln';
  return { sources, target: { path, isDirectory: kind === 'maybe' || isLink ? 'maybe' : 'no' } };
}

/** Writes what one source becomes. */
function writeTarget(call: Call, source: Field, target: Target, how: WriteOptions): void {
  const { reader, shell, name } = call;
  if (!isText(target.path)) {
    reader.write(shell, target.path, name, { ...how, tree: true });
    return;
  }
  if (target.isDirectory !== 'yes') reader.write(shell, target.path, name, how);
  if (target.isDirectory === 'no') return;
  const base = nameOf(source);
  if (base === null) reader.write(shell, target.path, name, { ...how, tree: true });
  else reader.write(shell, `${target.path}/${base}`, name, how);
}

/** Backups get the name of what they keep, with an ending. */
function writeBackups(call: Call, options: Options, target: Target): void {
  if (!options.has('b', 'backup', 'S', 'suffix') || !isText(target.path)) return;
  const directory = target.isDirectory === 'yes' ? target.path : parentPath(target.path);
  call.reader.write(call.shell, directory, `${call.name} --backup`, { tree: true });
}

const cp: Program = (call) => {
  const options = readOptions(call.args, COPY);
  checkOptions(call, options);
  const found = targetOf(call, options, options.operands);
  if (found === null) return undefined;
  const tree = options.has('r', 'R', 'recursive', 'a', 'archive');
  const link = tree || options.has('d', 'P', 'l', 's', 'link', 'symbolic-link', 'no-dereference');
  writeBackups(call, options, found.target);
  for (const source of found.sources) {
    if (options.has('l', 'link')) call.reader.write(call.shell, source, 'cp --link', { tree });
    if (options.has('parents')) call.reader.write(call.shell, found.target.path, 'cp --parents', { tree: true, link });
    const isDirectory = isText(source) && call.reader.kindAt(call.shell, source) !== 'file';
    writeTarget(call, source, found.target, {
      tree: tree && isDirectory,
      link: link && mayBeLink(source, call, isDirectory, options),
    });
  }
  return undefined;
};

/** A file that surely is no link stays none when it is copied or moved. */
function mayBeLink(source: Field, call: Call, isTree: boolean, options?: Options): boolean {
  if (isTree || !isText(source) || options?.has('l', 's', 'link', 'symbolic-link')) return true;
  return isLink(source, call);
}

function isLink(source: string, call: Call): boolean {
  const parents = call.reader.places(call.shell, parentPath(source));
  const place = parents?.[0];
  if (place === undefined || parents?.length !== 1 || call.reader.kindAt(call.shell, source) === 'maybe') return true;
  return call.reader.context.linkTo(`${place}/${baseOf(source)}`) !== null;
}

function parentPath(path: string): string {
  const parts = path.split('/');
  while (parts.length > 1 && parts.at(-1) === '') parts.pop();
  if (parts.length === 1) return '.';
  return parts.slice(0, -1).join('/') || '/';
}

const mv: Program = (call) => {
  const options = readOptions(call.args, { short: ['t', 'S'], long: [...COMMON, 'no-copy', 'exchange'] });
  checkOptions(call, options);
  const found = targetOf(call, options, options.operands);
  if (found === null) return undefined;
  writeBackups(call, options, found.target);
  for (const source of found.sources) {
    const kind = isText(source) ? call.reader.kindAt(call.shell, source) : 'maybe';
    const tree = kind !== 'file';
    call.reader.write(call.shell, source, 'mv', { tree: tree && kind !== 'none', entry: true, removes: true });
    const base = nameOf(source);
    if (isText(source) && base === null)
      call.reader.write(call.shell, source, 'mv', { tree: true, entry: true, removes: true });
    writeTarget(call, source, found.target, { tree, entry: true, link: mayBeLink(source, call, tree) });
  }
  return undefined;
};

const ln: Program = (call) => {
  const options = readOptions(call.args, LINK);
  checkOptions(call, options);
  const found = targetOf(call, options, options.operands);
  if (found === null) return undefined;
  writeBackups(call, options, found.target);
  const isSymbolic = options.has('s', 'symbolic');
  for (const source of found.sources) {
    // From then on the file has two names, and whoever may write one of them writes both.
    if (!isSymbolic) call.reader.write(call.shell, source, 'ln');
    writeTarget(call, source, found.target, { entry: true, link: true });
  }
  return undefined;
};

const install: Program = (call) => {
  const options = readOptions(call.args, INSTALL);
  checkOptions(call, options);
  if (options.has('strip-program')) call.reader.unresolved('install runs another program');
  if (options.has('d', 'directory')) {
    for (const operand of options.operands) {
      call.reader.write(call.shell, operand, 'install -d');
      if (isText(operand)) writeParents(operand, call);
    }
    return undefined;
  }
  const found = targetOf(call, options, options.operands);
  if (found === null) return undefined;
  writeBackups(call, options, found.target);
  for (const source of found.sources) writeTarget(call, source, found.target, { removes: false });
  if (options.has('D') && isText(found.target.path)) {
    writeParents(found.target.isDirectory === 'yes' ? `${found.target.path}/x` : found.target.path, call);
  }
  return undefined;
};

/** The last operand of rsync and scp, taken as a whole; one on another machine is none of ours. */
const rsync: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...(call.name === 'rsync' ? 'efBTM' : 'FiloPSc')],
    long: [
      'exclude=',
      'include=',
      'filter=',
      'files-from=',
      'exclude-from=',
      'include-from=',
      'rsh=',
      'log-file=',
      'backup-dir=',
      'temp-dir=',
      'partial-dir=',
      'rsync-path=',
      'write-batch=',
      'chmod=',
      'chown=',
      'compare-dest=',
      'copy-dest=',
      'link-dest=',
      'max-size=',
      'min-size=',
      'suffix=',
      'out-format=',
      'info=',
      'debug=',
    ],
  });
  checkOptions(call, options);
  if (options.has('e', 'rsh', 'rsync-path', 'F', 'S', 'o')) call.reader.unresolved(`${call.name} runs another program`);
  for (const path of options.all('log-file', 'write-batch', 'backup-dir', 'temp-dir', 'partial-dir', 'T')) {
    call.reader.write(call.shell, path, call.name, { tree: true });
  }
  const isDry = options.has('n', 'dry-run', 'list-only');
  const path = options.operands.length > 1 ? options.operands.at(-1) : undefined;
  if (options.has('remove-source-files')) {
    for (const source of options.operands.slice(0, -1))
      call.reader.write(call.shell, source, call.name, { tree: true });
  }
  if (path === undefined || isDry || (isText(path) && /^[^/]*:/.test(path))) return undefined;
  call.reader.write(call.shell, path, call.name, { tree: true, link: true });
  return undefined;
};

const linkProgram: Program = (call) => {
  const [source, path] = call.args;
  if (source !== undefined) call.reader.write(call.shell, source, 'link');
  if (path !== undefined) call.reader.write(call.shell, path, 'link', { entry: true, link: true });
  return undefined;
};

export const COPY_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['cp', cp],
  ['mv', mv],
  ['ln', ln],
  ['link', linkProgram],
  ['install', install],
  ['rsync', rsync],
  ['scp', rsync],
];
