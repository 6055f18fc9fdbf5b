// The commands of git that bring in other commits, apply patches, or write single files.

import { checkAssigned } from '../assigned.ts';
import { readOptions } from '../options.ts';
import type { Reader } from '../reader.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { type GitCommand, writeAll } from './git-call.ts';
import { isNumber, patchText, pathsOfPatch } from './patches.ts';

/** Settings that make git run nothing. */
const SETTINGS =
  /^(user|author|committer|color|advice|init\.defaultbranch|safe|pull|push|branch|column|status|log|fetch|rerere|versionsort|blame|gc|grep|commit\.gpgsign|tag\.gpgsign|core\.(quotepath|autocrlf|eol|safecrlf|filemode|ignorecase|abbrev|longpaths|compression|precomposeunicode|whitespace)|merge\.conflictstyle|diff\.(algorithm|renames|mnemonicprefix|noprefix|context|colormoved|colormovedws|interhunkcontext|statgraphwidth|submodule|wserrorhighlight))(\.|$)/i;

/** Settings that are commands, with the variables that name the same. */
const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:core\.pager|pager\..+)$/i, 'GIT_PAGER'],
  [/^core\.editor$/i, 'GIT_EDITOR'],
  [/^sequence\.editor$/i, 'GIT_SEQUENCE_EDITOR'],
];

/** A setting for one call of git. */
export function checkSetting(setting: Field, shell: Shell, reader: Reader): void {
  const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(isText(setting) ? setting : '') ?? [];
  const [, variable] = COMMANDS.find(([named]) => named.test(key)) ?? [];
  if (variable === undefined) checkConfig(setting, reader);
  else checkAssigned(variable, value, shell, reader);
}

function checkConfig(setting: Field, reader: Reader): void {
  const key = isText(setting)
    ? (setting.split('=')[0] ?? '')
    : setting.lead.includes('=')
      ? (setting.lead.split('=')[0] ?? '')
      : '';
  if (!SETTINGS.test(key) || /insteadof$|\.(uploadpack|receivepack|vcs|merge)$/i.test(key)) {
    reader.unresolved(
      `git: the setting ${key === '' ? 'that is known only when it runs' : key} may make it run other programs`,
    );
  }
}

const applyCommand: GitCommand = (git) => {
  const { call, reader, roots } = git;
  const options = readOptions(git.args, {
    short: ['p', 'C'],
    long: [
      'directory=',
      'include=',
      'exclude=',
      'whitespace=',
      'build-fake-ancestor=',
      'check',
      'stat',
      'numstat',
      'summary',
      'apply',
      'cached',
      'index',
      '3way',
      'reverse',
      'reject',
      'recount',
      'unidiff-zero',
      'unsafe-paths',
      'allow-empty',
      'inaccurate-eof',
      'verbose',
      'quiet',
      'no-add',
      'allow-overlap',
      'intent-to-add',
      'binary',
      'ours',
      'theirs',
      'union',
    ],
  });
  for (const file of options.all('build-fake-ancestor')) reader.write(call.shell, file, 'git apply');
  const isLook = options.has('check', 'stat', 'numstat', 'summary') && !options.has('apply');
  if (!options.isUncertain && (isLook || (options.has('cached') && !options.has('3way', '3')))) return;
  const count = options.last('p') ?? '1';
  const directory = options.last('directory') ?? '';
  const text = patchText(options.operands, call, call.shell);
  const paths = text === null || !isNumber(count) ? null : pathsOfPatch(text, Number(count));
  if (
    paths === null ||
    options.isUncertain ||
    !isText(directory) ||
    roots === null ||
    (paths.length === 0 && text?.trim() !== '')
  ) {
    return reader.unresolved('git apply: which files it changes is not known before it runs');
  }
  const link = text?.includes('120000') === true;
  const prefix = directory === '' ? '' : `${directory}/`;
  for (const path of paths) {
    // a patch of git counts from the root, another from the directory
    for (const from of [...roots, '.']) {
      const full = `${from}/${prefix}${path}`;
      reader.write(call.shell, full, 'git apply', { entry: true, removes: true, link });
      if (options.has('reject')) reader.write(call.shell, `${full}.rej`, 'git apply', { entry: true });
    }
  }
};

const all: GitCommand = (git) => writeAll(git);

/** Commands that take a program to run on the way. */
const allWithPrograms: GitCommand = (git) => {
  writeAll(git);
  const options = readOptions(git.args, {
    short: ['x', 's', 'X', 'm', 'F'],
    long: ['exec=', 'strategy=', 'onto=', 'extcmd=', 'tool='],
  });
  for (const text of options.all('x', 'exec')) {
    if (isText(text)) git.reader.runChild(text, { ...git.call.shell, cwds: git.roots });
    else git.reader.unresolved(`git ${git.command} runs what is known only when it runs`);
  }
};

const unresolved: GitCommand = (git) => git.reader.unresolved(`git ${git.command}: what it writes is not worked out`);

/** A command that writes the files that some of its options name. */
const outputs =
  (names: readonly string[]): GitCommand =>
  (git) => {
    const options = readOptions(git.args, {
      short: names.filter((name) => name.length === 1),
      long: [
        ...names.filter((name) => name.length > 1).map((name) => `${name}=`),
        'exec=',
        'remote=',
        'format=',
        'prefix=',
      ],
    });
    for (const file of options.all(...names))
      git.reader.write(git.call.shell, file, `git ${git.command}`, { tree: git.command === 'format-patch' });
    if (options.isUncertain || options.has('exec'))
      git.reader.unresolved(`git ${git.command} is given options that may write other files`);
    if (git.command === 'format-patch' && !options.has(...names, 'stdout'))
      git.reader.write(git.call.shell, '.', 'git format-patch', { tree: true });
  };

const configCommand: GitCommand = (git) => {
  const { call, reader } = git;
  const options = readOptions(git.args, {
    short: ['f'],
    long: [
      'file=',
      'type=',
      'default=',
      'blob=',
      'global',
      'system',
      'local',
      'worktree',
      'get',
      'get-all',
      'get-regexp',
      'get-urlmatch',
      'list',
      'unset',
      'unset-all',
      'edit',
      'add',
      'replace-all',
      'name-only',
      'show-origin',
      'includes',
      'bool',
      'int',
    ],
  });
  const [first, ...rest] = options.operands;
  const isVerb =
    isText(first) && ['get', 'list', 'set', 'unset', 'edit', 'rename-section', 'remove-section'].includes(first);
  const isRead =
    options.has('get', 'get-all', 'get-regexp', 'get-urlmatch', 'list', 'l') ||
    first === 'get' ||
    first === 'list' ||
    (!isVerb && rest.length === 0 && !options.has('unset', 'unset-all', 'edit', 'e', 'add', 'replace-all'));
  if (isRead && !options.isUncertain) return;
  for (const file of options.all('f', 'file')) reader.write(call.shell, file, 'git config');
  const key = isVerb ? rest[0] : first;
  if (key === undefined || options.has('edit', 'e') || options.isUncertain)
    reader.unresolved('git config changes settings that are known only when it runs');
  else checkConfig(key, reader);
};

const bundleCommand: GitCommand = (git) => {
  const [verb, ...rest] = git.args;
  const options = readOptions(rest);
  if (verb === 'create' && options.operands[0] !== undefined && options.operands[0] !== '-')
    git.reader.write(git.call.shell, options.operands[0], 'git bundle');
};

/** The index lies beside its pack. */
const indexPack: GitCommand = (git) => {
  const options = readOptions(git.args, {
    short: ['o'],
    long: ['stdin', 'object-format=', 'threads=', 'max-input-size='],
  });
  for (const file of options.all('o')) git.reader.write(git.call.shell, file, 'git index-pack -o');
  const [pack] = options.operands;
  if (isText(pack))
    for (const end of ['.idx', '.rev', '.keep'])
      git.reader.write(git.call.shell, pack.replace(/\.pack$/, end), 'git index-pack');
  else if (pack !== undefined) git.reader.write(git.call.shell, pack, 'git index-pack');
};

/** Packs get the name that is given, with more behind it. */
const packObjects: GitCommand = (git) => {
  const options = readOptions(git.args, { long: ['stdout', 'window=', 'depth=', 'threads='] });
  const [base] = options.operands;
  if (base === undefined || options.has('stdout')) return;
  const directory = isText(base) ? base.slice(0, base.lastIndexOf('/') + 1) || '.' : base;
  git.reader.write(git.call.shell, directory, 'git pack-objects', { tree: true });
};

const mergeFile: GitCommand = (git) => {
  const options = readOptions(git.args, { short: ['L'], long: ['stdout', 'object-id', 'marker-size='] });
  if (options.has('p', 'stdout')) return;
  git.reader.write(git.call.shell, options.operands[0] ?? '', 'git merge-file');
};

const submodule: GitCommand = (git) => {
  const verb = git.args.find((arg) => !isText(arg) || !arg.startsWith('-'));
  if (verb === 'status' || verb === 'summary') return;
  writeAll(git);
  if (verb === 'foreach') git.reader.unresolved('git submodule foreach runs commands in other directories');
};

const trailers: GitCommand = (git) => {
  const options = readOptions(git.args, { long: ['in-place', 'trailer=', 'where=', 'if-exists=', 'if-missing='] });
  if (!options.has('in-place')) return;
  for (const file of options.operands) git.reader.write(git.call.shell, file, 'git interpret-trailers');
};

const bisect: GitCommand = (git) => {
  if (git.args[0] === 'log' || git.args[0] === 'help' || git.args[0] === 'terms') return;
  writeAll(git);
  if (git.args[0] === 'run')
    git.reader.runWords(git.args.slice(1), { ...git.call.shell, cwds: git.roots }, { kind: 'none' }, 'program');
};

export const otherCommands: readonly (readonly [string, GitCommand])[] = [
  ['apply', applyCommand],
  ['config', configCommand],
  ['bundle', bundleCommand],
  ['merge-file', mergeFile],
  ['submodule', submodule],
  ['interpret-trailers', trailers],
  ['bisect', bisect],
  ['rebase', allWithPrograms],
  ['fast-export', outputs(['export-marks'])],
  ['fast-import', outputs(['export-marks', 'export-pack-edges'])],
  ['index-pack', indexPack],
  ['pack-objects', packObjects],
  ['archive', outputs(['o', 'output'])],
  ['format-patch', outputs(['o', 'output-directory'])],
  ...[
    'am',
    'merge',
    'cherry-pick',
    'revert',
    'pull',
    'read-tree',
    'checkout-index',
    'sparse-checkout',
    'subtree',
    'lfs',
    'rerere',
    'filter-branch',
    'filter-repo',
    'svn',
    'p4',
    'quiltimport',
    'mergetool',
    'backfill',
    'replay',
    'history',
  ].map((name): readonly [string, GitCommand] => [name, all]),
  ...[
    'difftool',
    'mailsplit',
    'mailinfo',
    'send-email',
    'unpack-file',
    'hook',
    'gui',
    'citool',
    'instaweb',
    'daemon',
    'shell',
    'cvsimport',
    'scalar',
    'diagnose',
    'bugreport',
    'credential',
  ].map((name): readonly [string, GitCommand] => [name, unresolved]),
];
