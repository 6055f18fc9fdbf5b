// git: which files of the work tree each of its commands changes.

import { type Options, readOptions } from '../options.ts';
import { isWithin } from '../paths.ts';
import { repositoryRoot } from '../printed.ts';
import type { Call, Program } from '../reader.ts';
import { type Input, joinDirectories, type Shell } from '../state.ts';
import { type Field, isList, isText, type Value } from '../values.ts';
import { lookUp } from '../variables.ts';
import { startsOf } from './find-xargs.ts';
import type { GitCall, GitCommand } from './git-call.ts';
import { checkSetting, otherCommands } from './git-others.ts';
import { checkoutCommand, pathCommands } from './git-paths.ts';
import { writesRepository } from './git-repository.ts';
import { inDirectory } from './wrappers.ts';

const COMMANDS: ReadonlyMap<string, GitCommand> = new Map([
  ...pathCommands,
  ...otherCommands,
  ['checkout', checkoutCommand],
]);

/** Commands that leave files alone, whatever their words are: but for options that name a file or a program. */
const READING: ReadonlySet<string> = new Set([
  ...'add commit status diff log show branch tag fetch push remote ls-files ls-tree rev-parse blame annotate grep describe'.split(
    ' ',
  ),
  ...'cat-file reflog shortlog notes gc prune count-objects fsck name-rev merge-base rev-list symbolic-ref update-ref'.split(
    ' ',
  ),
  ...'hash-object write-tree check-ignore check-attr var help version for-each-ref show-ref whatchanged cherry range-diff'.split(
    ' ',
  ),
  ...'verify-commit verify-tag verify-pack maintenance mktree mktag commit-tree commit-graph update-index diff-index'.split(
    ' ',
  ),
  ...'diff-tree diff-files ls-remote replace pack-refs repack show-branch merge-tree patch-id stripspace'.split(' '),
  ...'check-ref-format unpack-objects get-tar-commit-id update-server-info column'.split(' '),
]);

/** Options of commands that read, through which they write or run something. */
const NOT_READING: ReadonlySet<string> = new Set([
  ...'open-files-in-pager upload-pack receive-pack exec ext-diff textconv exec-path'.split(' '),
]);

const reading: GitCommand = ({ call, args, command, reader }) => {
  const options = readOptions(args, {
    short: command === 'grep' ? ['O?', 'e', 'f'] : ['m', 'F', 'C?', 'c', 'o'],
    long: ['output=', 'upload-pack=', 'receive-pack=', 'exec=', 'open-files-in-pager?', 'message=', 'file='],
  });
  for (const file of options.all('output')) reader.write(call.shell, file, `git ${command} --output`);
  for (const name of options.given.keys()) {
    if (NOT_READING.has(name) || (command === 'grep' && name === 'O'))
      reader.unresolved(`git ${command} --${name} runs another program`);
  }
  for (const arg of args)
    if (isText(arg) && arg.startsWith('ext::')) reader.unresolved(`git ${command} runs another program`);
  const isUnsure = args.some((arg) => !isText(arg) && (arg.many || /^-{0,2}$/.test(arg.lead)) && arg.within === null);
  // a message or a revision that is not known is as common as an option of these is rare
  if (isUnsure && ['diff', 'log', 'show', 'grep', 'fetch', 'push', 'ls-remote'].includes(command))
    checkUnsure(args, command, reader);
};

/** A word that is not known and stands without quotes may be any option. */
function checkUnsure(args: readonly Field[], command: string, reader: Call['reader']): void {
  const at = args.indexOf('--');
  const before = at === -1 ? args : args.slice(0, at);
  if (
    before.some(
      (arg) => !isText(arg) && arg.within === null && !arg.number && (arg.lead === '' || arg.lead.startsWith('-')),
    )
  ) {
    reader.unresolved(`git ${command} is given a word that is known only when it runs`);
  }
}

export const git: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['C', 'c'],
    long: [
      'git-dir=',
      'work-tree=',
      'namespace=',
      'exec-path?',
      'config-env=',
      'super-prefix=',
      'attr-source=',
      'list-cmds=',
      'no-pager',
      'paginate',
      'bare',
      'no-replace-objects',
      'literal-pathspecs',
      'glob-pathspecs',
      'noglob-pathspecs',
      'icase-pathspecs',
      'no-optional-locks',
      'version',
      'help',
      'html-path',
      'man-path',
      'info-path',
    ],
    stopsAtOperand: true,
  });
  const { reader } = call;
  if (options.isUncertain) reader.unresolved('git is given a word that is known only when it runs');
  if (options.has('config-env', 'exec-path')) reader.unresolved('git is told to take its programs from elsewhere');
  for (const setting of options.all('c')) checkSetting(setting, call.shell, reader);
  let shell = call.shell;
  for (const directory of options.all('C')) if (directory !== '') shell = inDirectory(directory, shell, call);
  const [command, ...args] = options.operands;
  if (command === undefined) return undefined;
  if (!isText(command)) {
    reader.unresolved('which command of git runs is known only when it runs');
    return undefined;
  }
  const roots = rootsOf({ ...call, shell }, options);
  const inner: Call = { ...call, shell: inWorkTree(shell, roots, call) };
  const gitCall: GitCall = { call: inner, reader, args, command, roots };
  if (writesRepository(command, args)) reader.inRepository(`git ${command}`);
  const handler = COMMANDS.get(command) ?? (READING.has(command) ? reading : undefined);
  if (handler === undefined) {
    reader.unresolved(`git ${command} is not known: it may be an alias`);
    return undefined;
  }
  const isAtRoot = roots?.length === 1 && reader.places(shell, '.')?.join('\0') === roots[0];
  return handler(gitCall) ?? printedBy(command, inner, args, isAtRoot);
};

/** From outside of the work tree git goes to its root first. */
function inWorkTree(shell: Shell, roots: readonly string[] | null, { reader }: Call): Shell {
  const places = reader.places(shell, '.');
  if (places === null || roots === null) return { ...shell, cwds: null };
  const isInside = places.every((place) => roots.some((root) => isWithin(place, root)));
  return isInside ? shell : { ...shell, cwds: joinDirectories(shell.cwds, roots) };
}

/** Where the work tree is; null when that is not known. */
function rootsOf(call: Call, options: Options): readonly string[] | null {
  const { shell, reader } = call;
  const tree = options.last('work-tree') ?? given('GIT_WORK_TREE', shell, call);
  if (tree !== undefined && tree !== null && !isList(tree)) {
    return isText(tree) ? reader.places(shell, tree) : null;
  }
  const directory = options.last('git-dir') ?? given('GIT_DIR', shell, call);
  // with a repository that is named the work tree is the directory itself
  if (directory !== undefined && directory !== null) return reader.places(shell, '.');
  const places = reader.places(shell, '.');
  return places === null ? null : [...new Set(places.map((place) => repositoryRoot(place, reader) ?? place))];
}

function given(name: string, shell: Shell, call: Call): Value | undefined {
  return lookUp(name, shell, call.reader.context);
}

const LISTING = /^(-[cmodz]|--(cached|modified|others|deleted|exclude-standard)|--)$/;

/** Options of `git diff` that leave the names as they are, and those of `git grep`. */
const NAMING = /^(--(name-only|cached|staged|diff-filter=\w+|no-renames|merge-base)|-z)$/;
const FINDING =
  /^(-[liwEFGPzI]+|--(files-with-matches|name-only|ignore-case|word-regexp|fixed-strings|untracked|cached))$/;

/** The pathspecs of what prints paths; null when it may print anything else. */
function pathspecsOf(command: string, { reader, shell }: Call, args: readonly Field[], isAtRoot: boolean) {
  const end = args.indexOf('--');
  const behind = end < 0 ? [] : args.slice(end + 1);
  const before = end < 0 ? args : args.slice(0, end);
  const isPlain = (one: Field, options: RegExp) => isText(one) && (options.test(one) || !one.startsWith('-'));
  // what is there can be no revision: git would ask which of both is meant
  const isThere = (one: Field) => isText(one) && !one.startsWith('-') && reader.kindAt(shell, one) !== 'none';
  if (command === 'ls-files') return args.filter((arg) => !isText(arg) || !LISTING.test(arg));
  // these paths are told from the root
  if (command === 'diff' && isAtRoot && before.includes('--name-only')) {
    // a pattern, or what begins at the root, may stand for more than what is there
    const isNamed = before.every((one) => isPlain(one, NAMING) && (isThere(one) || !/[*?[\\:]/.test(`${one}`)));
    const paths = end < 0 ? before.filter(isThere) : behind;
    return isNamed && paths.length > 0 ? paths : null;
  }
  if (command === 'grep' && before.every((one) => isPlain(one, FINDING))) {
    const lists = before.some((one) => isText(one) && /^(-\w*l\w*|--files-with-matches|--name-only)$/.test(one));
    const [pattern, ...others] = before.filter((one) => isText(one) && !one.startsWith('-'));
    // before the paths of a revision stands its name
    const isNamed = pattern !== undefined && (end < 0 ? others.every(isThere) : others.length === 0);
    return lists && isNamed ? [...others, ...behind] : null;
  }
  return null;
}

/** `git ls-files` prints paths below the directory it runs in, of those that its words name; so do `git diff --name-only` and `git grep -l`. */
function printedBy(command: string, call: Call, args: readonly Field[], isAtRoot: boolean): Input | undefined {
  const paths = pathspecsOf(command, call, args, isAtRoot);
  if (paths === null) return undefined;
  const starts = paths.map((arg) => (isText(arg) && /^[\w./][^:\\]*$/.test(arg) ? directoryOf(arg, call) : null));
  if (starts.includes(null)) return undefined;
  const places = startsOf(
    starts.filter((start) => start !== null),
    call,
  );
  if (places === null) return undefined;
  // git never prints absolute paths
  return { kind: 'paths', within: { ...places, cwds: call.shell.cwds }, nul: args.includes('-z') };
}

/** What a pathspec names, up to the directory before its first sign. */
function directoryOf(path: string, { reader, shell }: Call): string {
  const sign = path.search(/[*?[]/);
  if (sign < 0 && reader.kindAt(shell, path) !== 'none') return path;
  return path.slice(0, path.lastIndexOf('/', sign < 0 ? undefined : sign) + 1) || '.';
}
