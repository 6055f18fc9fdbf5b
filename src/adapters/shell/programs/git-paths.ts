// The commands of git that change the paths they are given, or the whole work tree when none is.

import { readOptions } from '../options.ts';
import { type Field, isText } from '../values.ts';
import { writeParents } from './files.ts';
import { type GitCall, type GitCommand, writeAll, writePathspec } from './git-call.ts';

const PATHSPEC_LONGS = ['pathspec-from-file=', 'pathspec-file-nul'];

/** The words before and behind `--`. */
function divided(args: readonly Field[]): {
  readonly before: readonly Field[];
  readonly behind: readonly Field[] | null;
} {
  const at = args.indexOf('--');
  return at === -1 ? { before: args, behind: null } : { before: args.slice(0, at), behind: args.slice(at + 1) };
}

/** Whether a word surely names a commit: HEAD and its like, a hash, a branch or a tag that is there. */
function isRevision(word: string, git: GitCall): boolean {
  if (/^(HEAD|@|FETCH_HEAD|ORIG_HEAD|MERGE_HEAD)([~^@].*)?$/.test(word) || /^[\da-f]{7,64}([~^].*)?$/.test(word))
    return true;
  const name = word.replace(/[~^@].*$/, '');
  const { context } = git.reader;
  return (git.roots ?? []).some((root) =>
    ['heads', 'remotes', 'tags'].some((kind) => {
      if (context.kindOf(`${root}/.git/refs/${kind}/${name}`) === 'file') return true;
      return context.readText?.(`${root}/.git/packed-refs`)?.includes(` refs/${kind}/${name}\n`) === true;
    }),
  );
}

export const checkoutCommand: GitCommand = (git) => {
  const { before, behind } = divided(git.args);
  const options = readOptions(before, {
    short: ['b', 'B'],
    long: [
      'orphan=',
      'conflict=',
      'track?',
      'force',
      'patch',
      'detach',
      'merge',
      'ours',
      'theirs',
      'quiet',
      'guess',
      'no-guess',
      'recurse-submodules?',
      'overlay',
      'no-overlay',
      ...PATHSPEC_LONGS,
    ],
  });
  const { operands } = options;
  if (options.isUncertain || options.has('pathspec-from-file', 'p', 'patch', 'm', 'merge', 'recurse-submodules'))
    return writeAll(git);
  if (behind !== null && behind.length > 0) {
    for (const path of behind) writePathspec(git, path);
    return;
  }
  const isForced = options.has('f', 'force');
  const [first, ...rest] = operands;
  if (options.has('b', 'B', 'orphan')) {
    // a new branch at the same commit leaves every file as it is
    if (isForced || operands.length > 0) writeAll(git);
    return;
  }
  if (first === undefined) {
    if (isForced || options.has('t', 'track')) writeAll(git);
    return;
  }
  if (!isText(first) || behind !== null) return writeAll(git);
  const isPath = git.reader.kindAt(git.call.shell, first) !== 'none' || first.startsWith(':') || /[*?[]/.test(first);
  if (!isPath && (rest.length === 0 || !isRevision(first, git))) return writeAll(git);
  for (const path of isPath ? operands : rest) writePathspec(git, path);
};

const switchCommand: GitCommand = (git) => {
  const options = readOptions(git.args, {
    short: ['c', 'C'],
    long: [
      'create=',
      'force-create=',
      'orphan=',
      'conflict=',
      'track?',
      'force',
      'discard-changes',
      'detach',
      'merge',
      'quiet',
      'guess',
      'no-guess',
    ],
  });
  const isNew = options.has('c', 'C', 'create', 'force-create') && options.operands.length === 0;
  if (!isNew || options.isUncertain || options.has('f', 'force', 'discard-changes', 'orphan')) writeAll(git);
};

const restoreCommand: GitCommand = (git) => {
  const { before, behind } = divided(git.args);
  const options = readOptions(before, {
    short: ['s'],
    long: [
      'source=',
      'staged',
      'worktree',
      'patch',
      'conflict=',
      'ours',
      'theirs',
      'merge',
      'quiet',
      'progress',
      'ignore-unmerged',
      'overlay',
      'no-overlay',
      'recurse-submodules',
      ...PATHSPEC_LONGS,
    ],
  });
  if (options.isUncertain) return writeAll(git);
  if (options.has('S', 'staged') && !options.has('W', 'worktree')) return;
  if (options.has('pathspec-from-file', 'recurse-submodules')) return writeAll(git);
  for (const path of [...options.operands, ...(behind ?? [])]) writePathspec(git, path);
  if (options.operands.length === 0 && behind === null) writeAll(git);
};

const resetCommand: GitCommand = (git) => {
  const options = readOptions(git.args, {
    long: ['hard', 'merge', 'keep', 'soft', 'mixed', 'quiet', 'patch', 'intent-to-add', ...PATHSPEC_LONGS],
  });
  if (options.isUncertain || options.has('hard', 'merge', 'keep')) writeAll(git);
};

const cleanCommand: GitCommand = (git) => {
  const options = readOptions(git.args, {
    short: ['e'],
    long: ['exclude=', 'force', 'dry-run', 'quiet', 'interactive'],
  });
  if (options.has('n', 'dry-run') && !options.isUncertain) return;
  const paths = options.operands.length === 0 ? ['.'] : options.operands;
  for (const path of paths) writePathspec(git, path, { tree: true, entry: true, removes: true });
};

const STASH_QUIET: ReadonlySet<string> = new Set(['list', 'show', 'drop', 'clear', 'create', 'store']);

const stashCommand: GitCommand = (git) => {
  const [verb, ...rest] = git.args;
  if (isText(verb) && STASH_QUIET.has(verb)) {
    if (rest.some((arg) => isText(arg) && arg.startsWith('--output')))
      git.reader.unresolved('git stash show --output writes a file');
    return;
  }
  if (verb !== 'push') return writeAll(git);
  const options = readOptions(rest, {
    short: ['m'],
    long: ['message=', 'keep-index', 'include-untracked', 'all', 'patch', 'staged', 'quiet', ...PATHSPEC_LONGS],
  });
  if (options.isUncertain || options.operands.length === 0 || options.has('pathspec-from-file', 'S', 'staged'))
    return writeAll(git);
  for (const path of options.operands) writePathspec(git, path, { removes: true });
};

const moveCommand: GitCommand = (git) => {
  const { call, reader } = git;
  const options = readOptions(git.args, { long: ['force', 'dry-run', 'verbose', 'sparse'] });
  if (options.has('n', 'dry-run') && !options.isUncertain) return;
  reader.runWords(['mv', '--', ...options.operands], call.shell, { kind: 'none' }, 'program');
  if (options.isUncertain) writeAll(git);
};

const removeCommand: GitCommand = (git) => {
  const options = readOptions(git.args, {
    long: ['cached', 'dry-run', 'force', 'ignore-unmatch', 'quiet', 'sparse', ...PATHSPEC_LONGS],
  });
  if (options.isUncertain || options.has('pathspec-from-file')) return writeAll(git);
  if (options.has('cached', 'n', 'dry-run')) return;
  for (const path of options.operands) writePathspec(git, path, { entry: true, removes: true });
};

const worktreeCommand: GitCommand = (git) => {
  const { call, reader } = git;
  const [verb, ...rest] = git.args;
  if (verb === 'list' || verb === 'prune' || verb === 'lock' || verb === 'unlock' || verb === 'repair') return;
  const options = readOptions(rest, {
    short: ['b', 'B'],
    long: ['reason=', 'orphan', 'force', 'detach', 'lock', 'track', 'quiet'],
  });
  if (verb !== 'add' && verb !== 'remove' && verb !== 'move') return writeAll(git);
  const paths = verb === 'add' ? options.operands.slice(0, 1) : options.operands;
  for (const path of paths) {
    reader.write(call.shell, path, 'git worktree', { tree: true, link: true, removes: verb !== 'add' });
    if (isText(path)) writeParents(path, call);
  }
  if (options.isUncertain) writeAll(git);
};

/** What git calls the directory of a repository with this address. */
function directoryOf(url: string): string {
  const parts = url.split('/').filter((part) => part !== '');
  if (parts.at(-1) === '.git') parts.pop();
  return (parts.at(-1) ?? '').replace(/\.(git|bundle)$/, '');
}

const cloneCommand: GitCommand = (git) => {
  const { call, reader } = git;
  const options = readOptions(git.args, {
    short: ['b', 'c', 'j', 'o', 'u'],
    long: [
      'branch=',
      'depth=',
      'origin=',
      'upload-pack=',
      'template=',
      'config=',
      'reference=',
      'reference-if-able=',
      'separate-git-dir=',
      'jobs=',
      'filter=',
      'server-option=',
      'shallow-since=',
      'shallow-exclude=',
      'bundle-uri=',
      'revision=',
    ],
  });
  const [url, directory] = options.operands;
  const isRisky =
    options.isUncertain ||
    options.has('u', 'upload-pack', 'template', 'c', 'config', 'separate-git-dir', 'recurse-submodules', 'recursive');
  if (isRisky || (isText(url) && url.startsWith('ext::'))) reader.unresolved('git clone may run other programs');
  if (directory !== undefined) {
    reader.write(call.shell, directory, 'git clone', { tree: true, link: true });
    if (isText(directory)) writeParents(directory, call);
    return;
  }
  const name = isText(url) ? directoryOf(url) : '';
  const last = name.split(':').at(-1) ?? '';
  if (last === '' || last === '.' || last === '..')
    reader.unresolved('git clone: the name of its directory is not worked out');
  else
    for (const ending of ['', '.git']) reader.write(call.shell, last + ending, 'git clone', { tree: true, link: true });
};

const initCommand: GitCommand = (git) => {
  const { call, reader } = git;
  const options = readOptions(git.args, {
    short: ['b'],
    long: ['initial-branch=', 'template=', 'separate-git-dir=', 'object-format=', 'shared?', 'bare', 'quiet'],
  });
  if (options.isUncertain || options.has('template', 'separate-git-dir'))
    reader.unresolved('git init is given options that may write elsewhere');
  const directory = options.operands[0] ?? '.';
  if (!isText(directory)) return reader.write(call.shell, directory, 'git init', { tree: true });
  if (directory !== '.') reader.write(call.shell, directory, 'git init');
  reader.write(call.shell, options.has('bare') ? directory : `${directory}/.git`, 'git init', { tree: true });
};

export const pathCommands: readonly (readonly [string, GitCommand])[] = [
  ['switch', switchCommand],
  ['restore', restoreCommand],
  ['reset', resetCommand],
  ['clean', cleanCommand],
  ['stash', stashCommand],
  ['mv', moveCommand],
  ['rm', removeCommand],
  ['worktree', worktreeCommand],
  ['clone', cloneCommand],
  ['init', initCommand],
];
