// Which commands of git write a repository itself: its index, its refs and history, its settings, or what another holds.

import { type Options, type OptionsSpec, readOptions } from '../options.ts';
import { type Field, isText } from '../values.ts';

type Rule = {
  /** Has what decides in full, since the beginning of a name stands for it. */
  readonly spec?: OptionsSpec;
  /** Whether it surely only reads with these words. */
  readonly reads: (options: Options, args: readonly Field[]) => boolean;
};

const never: Rule = { reads: () => false };

/** It reads with one of these options. */
function readsWith(names: readonly string[], spec: OptionsSpec = {}): Rule {
  return { spec, reads: (options) => !options.isUncertain && options.has(...names) };
}

/** It reads when its first word, behind options, is one of these, or when there is none. */
function readsFor(verbs: string, spec: OptionsSpec = {}): Rule {
  const known = verbs.split(' ');
  return { spec: { ...spec, stopsAtOperand: true }, reads: ({ operands: [verb] }) => isAmong(verb, known) };
}

function isAmong(verb: Field | undefined, known: readonly string[]): boolean {
  return verb === undefined || (isText(verb) && known.includes(verb));
}

const LISTING = ['list', 'contains', 'no-contains', 'merged', 'no-merged', 'points-at'];
const DELETING = ['d', 'D', 'delete'];
const MOVING = ['m', 'M', 'move', 'c', 'C', 'copy', 'f', 'force'];
const OF_UPSTREAM = ['u', 'set-upstream-to', 'unset-upstream', 'edit-description'];

/** It lists when it names nothing, or with one of these; git takes no such option beside one of another command of it. */
function lists(also: readonly string[], changes: readonly string[]): Rule {
  const long = ['format=', 'sort=', 'points-at=', 'message=', 'file=', 'set-upstream-to=', 'color?', 'column?'];
  const flags = [...LISTING, ...also, ...changes].filter((name) => !long.includes(`${name}=`));
  return {
    spec: { short: ['u', 'n?'], long: [...long, ...flags.filter((name) => name.length > 1)] },
    reads: (options) => {
      if (options.has(...changes)) return false;
      if (options.has(...LISTING)) return true;
      return !options.isUncertain && (options.operands.length === 0 || options.has(...also));
    },
  };
}

const READING_SETTINGS = ['get', 'get-all', 'get-regexp', 'get-urlmatch', 'get-color', 'get-colorbool', 'list'];
const CHANGING_SETTINGS = ['unset', 'unset-all', 'edit', 'add', 'replace-all', 'rename-section', 'remove-section'];

const config: Rule = {
  spec: {
    short: ['f'],
    long: ['file=', 'type=', 'default=', 'blob=', ...READING_SETTINGS, ...CHANGING_SETTINGS],
  },
  reads: (options) => {
    const [key, value] = options.operands;
    if (options.isUncertain || options.has(...CHANGING_SETTINGS, 'e')) return false;
    if (options.has(...READING_SETTINGS, 'l') || key === 'get' || key === 'list') return true;
    return isText(key) && key.includes('.') && value === undefined;
  },
};

/** What others hold is noted beside one's own branches, unless the words say which of these it becomes. */
const fetch: Rule = {
  spec: {
    short: ['j', 'o'],
    long: ['depth=', 'jobs=', 'refmap=', 'server-option=', 'upload-pack=', 'filter=', 'stdin', 'set-upstream'],
  },
  reads: (options) =>
    !options.isUncertain &&
    !options.has('refmap', 'stdin', 'set-upstream') &&
    options.operands.slice(1).every((ref) => isText(ref) && !ref.includes(':')),
};

const COMMIT_LONGS = [
  ...['message=', 'file=', 'author=', 'date=', 'trailer=', 'fixup=', 'squash=', 'reuse-message=', 'reedit-message='],
  ...['template=', 'cleanup=', 'pathspec-from-file=', 'dry-run'],
];

const WRITING = [
  ...['commit-tree', 'fast-import', 'gc', 'init', 'maintenance', 'mktag', 'mktree', 'pack-refs', 'prune-packed'],
  ...['repack', 'reset', 'restore', 'switch', 'unpack-objects', 'update-ref', 'update-server-info', 'write-tree'],
];

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...WRITING.map((name): [string, Rule] => [name, never]),
  ['add', readsWith(['n', 'dry-run'], { long: ['chmod=', 'pathspec-from-file='] })],
  ['rm', readsWith(['n', 'dry-run'], { long: ['pathspec-from-file='] })],
  ['prune', readsWith(['n', 'dry-run'], { long: ['expire='] })],
  [
    'push',
    readsWith(['n', 'dry-run'], {
      short: ['o'],
      long: ['push-option=', 'repo=', 'receive-pack=', 'exec=', 'recurse-submodules='],
    }),
  ],
  ['commit', readsWith(['dry-run'], { short: ['m', 'F', 'C', 'c', 't', 'u?', 'S?'], long: COMMIT_LONGS })],
  ['branch', lists(['l', 'a', 'all', 'r', 'remotes'], [...DELETING, ...MOVING, ...OF_UPSTREAM])],
  ['tag', lists(['l', 'n', 'v', 'verify'], [...DELETING, 'f', 'force', 'a', 'annotate', 's', 'sign', 'm', 'F'])],
  ['replace', lists(['l'], ['d', 'delete', 'e', 'edit', 'f', 'force', 'convert-graft-file'])],
  ['stash', readsFor('list show')],
  ['remote', readsFor('show get-url update')],
  ['notes', readsFor('list show get-ref', { long: ['ref='] })],
  ['worktree', readsFor('list')],
  ['bundle', readsFor('create verify list-heads')],
  ['commit-graph', readsFor('verify')],
  // any other word is what it shows
  [
    'reflog',
    { reads: ({ operands: [verb = 'show'] }) => isText(verb) && !['expire', 'delete', 'drop', 'write'].includes(verb) },
  ],
  ['hash-object', { spec: { short: ['t'] }, reads: (options) => !options.isUncertain && !options.has('w') }],
  [
    'symbolic-ref',
    {
      spec: { short: ['m'], long: ['delete'] },
      reads: ({ operands, has, isUncertain }) => !isUncertain && operands.length < 2 && !has('d', 'delete'),
    },
  ],
  ['update-index', { reads: (_, args) => args.every((arg) => isText(arg) && /^(-q|--(really-)?refresh)$/.test(arg)) }],
  [
    'apply',
    {
      spec: { short: ['p', 'C'], long: ['cached', 'index', '3way', 'intent-to-add'] },
      reads: ({ has, isUncertain }) => !isUncertain && !has('cached', 'index', '3way', '3', 'intent-to-add', 'N'),
    },
  ],
  // which files it changes is told apart, and a name that is no path is taken for a change of all of them
  ['checkout', { spec: { long: ['orphan=', 'detach'] }, reads: ({ has }) => !has('b', 'B', 'orphan', 'detach', 'd') }],
  ['config', config],
  ['fetch', fetch],
]);

/** Whether a command may write the repository with these words; which files it changes is told apart. */
export function writesRepository(command: string, args: readonly Field[]): boolean {
  const rule = RULES.get(command);
  const isHelp = args.length === 1 && (args[0] === '-h' || args[0] === '--help');
  return rule !== undefined && !isHelp && !rule.reads(readOptions(args, rule.spec), args);
}
