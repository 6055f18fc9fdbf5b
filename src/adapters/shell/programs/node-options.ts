// Options of Node that make it write files, or run one before the program.

import { type Options, type OptionsSpec, readOptions } from '../options.ts';
import type { Reader } from '../reader.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';

const LOADS = ['r', 'require', 'import', 'loader', 'experimental-loader'];
const TREES = ['cpu-prof-dir', 'heap-prof-dir', 'report-dir', 'report-directory', 'diagnostic-dir'];
const FILES = ['test-reporter-destination', 'redirect-warnings', 'report-filename', 'logfile', 'snapshot-blob'];
const OTHERS = ['cpu-prof-name', 'heap-prof-name', 'heapsnapshot-near-heap-limit', 'heapsnapshot-signal'];
const TEXTS = [
  'conditions',
  'input-type',
  'env-file',
  'env-file-if-exists',
  'title',
  'test-reporter',
  'test-name-pattern',
  'run',
];

export const NODE_TEXTS: readonly string[] = ['C', ...LOADS, ...TREES, ...FILES, ...OTHERS, ...TEXTS];

/** Flags that leave a file whose name is not known in the working directory, unless one of these names another. */
const PROFILES: readonly (readonly [string, readonly string[]])[] = [
  ['cpu-prof', ['cpu-prof-dir', 'diagnostic-dir']],
  ['heap-prof', ['heap-prof-dir', 'diagnostic-dir']],
  ['heapsnapshot-near-heap-limit', ['diagnostic-dir']],
  ['prof', ['logfile']],
  ['trace-event-categories', []],
  ['build-snapshot', ['snapshot-blob']],
  ['test-update-snapshots', []],
];

export function checkNodeOptions(options: Options, shell: Shell, reader: Reader): void {
  for (const text of options.all(...LOADS)) {
    if (!isText(text) || text.startsWith('data:')) reader.unresolved('node loads code that is known only when it runs');
    else if (/^(\.{0,2}\/|file:)/.test(text)) runsFile(text.replace(/^file:(\/\/)?/, ''), shell, reader);
  }
  // it may set NODE_OPTIONS
  for (const file of options.all('env-file', 'env-file-if-exists')) reader.executed(shell, file, 'node --env-file');
  for (const path of options.all(...TREES)) reader.write(shell, path, 'node', { tree: true });
  for (const path of options.all(...FILES))
    if (path !== 'stdout' && path !== 'stderr' && path !== '') reader.write(shell, path, 'node');
  for (const [flag, named] of PROFILES) {
    if (options.has(flag) && !options.has(...named)) reader.write(shell, '.', `node --${flag}`, { tree: true });
  }
}

/** Node finds a file also without its ending. */
export function runsFile(path: string, shell: Shell, reader: Reader): void {
  reader.executed(shell, path, 'node');
  for (const end of ['.js', '.cjs', '.mjs', '.json', '.node', '/index.js', '/package.json'])
    reader.executed(shell, path + end, 'node', 'guess');
}

const SPEC: OptionsSpec = {
  isExact: true,
  short: ['r', 'C'],
  long: NODE_TEXTS.filter((name) => name.length > 1).map((name) => `${name}=`),
};

/** The text of NODE_OPTIONS. */
export function checkNodeText(text: Field, shell: Shell, reader: Reader): void {
  if (!isText(text) || /["'\\]/.test(text)) reader.unresolved('NODE_OPTIONS may hold code');
  else
    checkNodeOptions(
      readOptions(
        text.split(/\s+/).filter((word) => word !== ''),
        SPEC,
      ),
      shell,
      reader,
    );
}
