// Tools that make or change files of a project by a word: where that is plain from their words the place is told, else any place.

import { readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';
import { writeBelow } from './formatters.ts';
import { anyRunner } from './snapshots.ts';
import { unknownProgram } from './unknown.ts';

export function isAsked({ args }: Call): boolean {
  return ['--help', '-h', '--version', 'help'].some((flag) => args.includes(flag));
}

export function writeTree(call: Call, path: Field, by: string): void {
  call.reader.write(call.shell, path, by, { tree: true, entry: path === '.' });
}

/** Verbs behind which any file of the project may change; what else it is told is for the other program. */
function anywhere(verbs: string, other: Program): Program {
  const making = new Set(verbs.split(' '));
  return (call) => {
    const [verb] = readOptions(call.args).operands;
    if (isText(verb ?? '') && !making.has(`${verb}`)) return other(call);
    if (verb !== undefined && !isAsked(call)) writeTree(call, '.', `${call.name} ${isText(verb) ? verb : ''}`);
    return undefined;
  };
}

const comby: Program = (call) => {
  const options = readOptions(call.args, {
    singleDash: true,
    long: ['d=', 'directory=', 'matcher=', 'config=', 'f=', 'file-filter=', 'rule=', 'jobs=', 'templates=', 'exclude='],
    isExact: true,
  });
  checkOptions(call, options);
  if (options.has('i', 'in-place', 'review')) writeTree(call, options.last('d', 'directory') ?? '.', 'comby -i');
  return undefined;
};

const pythonFixer: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'fjxo'],
    long: ['fix=', 'processes=', 'nofix=', 'output-dir=', 'add-suffix=', 'write', 'list-fixes'],
  });
  checkOptions(call, options);
  const outputs = options.all('o', 'output-dir');
  for (const directory of outputs) writeTree(call, directory, `${call.name} -o`);
  if (options.has('w', 'write') && outputs.length === 0) for (const file of options.operands) writeBelow(call, file);
  return undefined;
};

const AST_GREP: ReadonlySet<string> = new Set(['run', 'scan', 'test', 'new', 'lsp', 'completions', 'help']);

/** Another program that is called `sg` has no such words. */
export function isAstGrep({ args }: Call): boolean {
  const [first] = args;
  return isText(first) && (AST_GREP.has(first) || /^(?:-p|--pattern|-U|--update-all|-[rl])/.test(first));
}

export const astGrep: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'prlckjABCt'],
    long: [
      'pattern=',
      'rewrite=',
      'lang=',
      'config=',
      'rule=',
      'selector=',
      'globs=',
      'threads=',
      'format=',
      'update-all',
    ],
  });
  const [first] = options.operands;
  const isVerb = isText(first) && AST_GREP.has(first);
  checkOptions(call, options);
  if (first === 'new') writeTree(call, '.', `${call.name} new`);
  const isWriting = options.has('U', 'update-all') || (isVerb && first !== 'new' && options.has('i', 'interactive'));
  const files = options.operands.slice(isVerb ? 1 : 0);
  if (isWriting) for (const file of files.length === 0 ? ['.'] : files) writeBelow(call, file);
  return undefined;
};

const corepack: Program = (call) => {
  const { args, reader, shell } = call;
  const [verb] = readOptions(args).operands;
  if (verb === 'use' || verb === 'up') {
    reader.write(shell, 'package.json', `corepack ${verb}`);
    reader.write(shell, 'node_modules', `corepack ${verb}`, { tree: true, entry: true });
  } else if (isText(verb) && /^(?:npm|npx|pnpm|pnpx|yarn)(?:@|$)/.test(verb))
    reader.runWords([verb.replace(/@.*$/, ''), ...args.slice(args.indexOf(verb) + 1)], shell, call.stdin, 'program');
  return undefined;
};

/** Alone it makes only what Git is told to leave out. */
const husky: Program = (call) => {
  const [verb, path] = readOptions(call.args).operands;
  if (verb === 'init') call.reader.write(call.shell, 'package.json', 'husky init');
  if (verb === 'init' || verb === 'install') writeTree(call, path ?? '.husky', `husky ${verb}`);
  if ((verb === 'add' || verb === 'set') && path !== undefined) call.reader.write(call.shell, path, `husky ${verb}`);
  return undefined;
};

const tailwind: Program = (call) => {
  const { reader, shell } = call;
  const options = readOptions(call.args, { short: [...'iocf'], long: ['input=', 'output=', 'config=', 'content='] });
  checkOptions(call, options);
  for (const file of options.all('o', 'output'))
    if (file !== '-') reader.write(shell, file, 'tailwindcss -o', { tree: true });
  const [verb, file] = options.operands;
  if (verb !== 'init' || isAsked(call)) return undefined;
  for (const one of file === undefined ? ['js', 'cjs', 'mjs', 'ts'].map((end) => `tailwind.config.${end}`) : [file])
    reader.write(shell, one, 'tailwindcss init');
  if (options.has('p', 'postcss')) reader.write(shell, 'postcss.config.js', 'tailwindcss init');
  return undefined;
};

const msw: Program = (call) => {
  const options = readOptions(call.args);
  const [verb, directory] = options.operands;
  if (verb !== 'init' || isAsked(call)) return undefined;
  if (directory === undefined) writeTree(call, '.', 'msw init');
  else if (isText(directory))
    call.reader.write(call.shell, `${directory}/mockServiceWorker.js`, 'msw init', { renews: true });
  else writeTree(call, directory, 'msw init');
  if (options.has('save')) call.reader.write(call.shell, 'package.json', 'msw init --save');
  return undefined;
};

export const codegen: Program = (call) => {
  if (!isAsked(call) && !call.args.includes('--check'))
    call.reader.unresolved(`${call.name} writes where its configuration says: ask who owns what it makes to run it`);
  return undefined;
};

const changeset: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['o', 'm'],
    long: ['output=', 'message=', 'since=', 'open', 'empty'],
  });
  const [verb] = options.operands;
  if (isAsked(call)) return undefined;
  if (verb === 'version') writeTree(call, '.', 'changeset version');
  else if (verb === undefined || verb === 'add' || verb === 'init' || verb === 'pre')
    writeTree(call, '.changeset', `changeset ${verb ?? 'add'}`);
  else for (const file of options.all('o', 'output')) call.reader.write(call.shell, file, 'changeset -o');
  return undefined;
};

/** Where Alembic keeps its steps; null when its settings do not say so plainly. */
function revisions({ reader, shell }: Call): string | null {
  const [place, ...others] = reader.places(shell, 'alembic.ini') ?? [];
  if (place === undefined || others.length > 0 || reader.kindAt(shell, 'alembic.ini') !== 'file') return null;
  const text = reader.context.readText?.(place) ?? '';
  const found = /^script_location\s*=\s*(?:%\(here\)s\/)?([\w./-]+)\s*$/m.exec(text)?.[1];
  return found === undefined || /^version_locations\s*=/m.test(text) ? null : `${found}/versions`;
}

const alembic: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'cnxmt'],
    long: ['config=', 'name=', 'message=', 'version-path=', 'head=', 'rev-id=', 'template=', 'branch-label=', 'splice'],
  });
  checkOptions(call, options);
  const [verb, directory] = options.operands;
  if (isAsked(call)) return undefined;
  if (verb === 'init' && directory !== undefined) {
    writeTree(call, directory, 'alembic init');
    call.reader.write(call.shell, options.last('c', 'config') ?? 'alembic.ini', 'alembic init');
  } else if (verb === 'revision' || verb === 'merge') {
    const place = options.last('version-path') ?? (options.has('c', 'config') ? null : revisions(call));
    writeTree(call, place ?? '.', `alembic ${verb}`);
  }
  return undefined;
};

/** Behind `flask db`, which keeps its steps in one directory. */
const flask: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'dmxA'],
    long: ['directory=', 'message=', 'app=', 'version-path='],
  });
  const [first, verb] = options.operands;
  if (first !== 'db' || !/^(?:init|migrate|revision|merge|edit)$/.test(`${verb}`)) return unknownProgram(call);
  if (!isAsked(call))
    writeTree(call, options.last('version-path', 'd', 'directory') ?? 'migrations', `flask db ${verb}`);
  return undefined;
};

/** `manage.py`, whose steps lie in the directory of each application. */
const manage: Program = (call) => {
  const { reader, shell } = call;
  const options = readOptions(call.args, { short: [...'vnlo'], long: ['settings=', 'name=', 'output=', 'verbosity='] });
  const [verb, ...labels] = options.operands;
  if (isAsked(call)) return undefined;
  const by = `manage.py ${isText(verb) ? verb : ''}`;
  if (verb === 'makemigrations' && !options.has('dry-run', 'check')) {
    const isPlain =
      labels.length > 0 && labels.every((one) => isText(one) && reader.kindAt(shell, one) === 'directory');
    for (const one of isPlain ? labels.map((label) => `${label}/migrations`) : ['.']) writeTree(call, one, by);
  } else if (verb === 'startapp' || verb === 'startproject') {
    const place = labels[1] ?? labels[0];
    if (place !== undefined) writeTree(call, place, by);
  } else if (verb === 'makemessages' || verb === 'squashmigrations') writeTree(call, '.', by);
  else if (verb === 'dumpdata') for (const file of options.all('o', 'output')) reader.write(shell, file, by);
  return undefined;
};

const flutter: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'tia'],
    long: [
      'template=',
      'org=',
      'platforms=',
      'project-name=',
      'description=',
      'sample=',
      'ios-language=',
      'android-language=',
    ],
  });
  const [verb, next] = options.operands;
  if (verb === 'create' && !isAsked(call)) writeTree(call, next ?? '.', 'flutter create');
  else if (verb === 'pub' && /^(?:add|remove|upgrade|downgrade)$/.test(`${next}`))
    for (const file of ['pubspec.yaml', 'pubspec.lock']) call.reader.write(call.shell, file, `flutter pub ${next}`);
  return unknownProgram(call);
};

/** Verbs of Mercurial that change the files that are checked out. */
const HG_CHANGES: ReadonlySet<string> = new Set(
  'update up checkout co revert merge rebase import patch unshelve graft backout transplant purge'.split(' '),
);

const hg: Program = (call) => {
  const options = readOptions(call.args, { short: [...'Rrm'], long: ['repository=', 'rev=', 'message=', 'cwd='] });
  const [verb, ...rest] = options.operands;
  if (isAsked(call) || !isText(verb)) return undefined;
  if (verb === 'init') writeTree(call, isText(rest[0] ?? '') ? `${rest[0] ?? '.'}/.hg` : (rest[0] ?? '.'), 'hg init');
  else if (verb === 'clone') for (const one of rest.slice(1, 2)) writeTree(call, one, 'hg clone');
  else if (HG_CHANGES.has(verb) || (verb === 'pull' && options.has('u', 'update')))
    writeTree(call, options.last('R', 'repository', 'cwd') ?? '.', `hg ${verb}`);
  return undefined;
};

export const GENERATOR_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['comby', comby],
  ...['2to3', 'futurize', 'pasteurize'].map((name): readonly [string, Program] => [name, pythonFixer]),
  ['ast-grep', astGrep],
  ['corepack', corepack],
  ['husky', husky],
  ['nx', anywhere('g generate add init migrate new import repair sync format format:write release', anyRunner)],
  ['lerna', anywhere('version publish init create add import', anyRunner)],
  ...['shadcn', 'shadcn-ui', 'shadcn-vue', 'shadcn-svelte'].map((name): readonly [string, Program] => [
    name,
    anywhere('add init update migrate', unknownProgram),
  ]),
  ['tailwindcss', tailwind],
  ['msw', msw],
  ...['graphql-codegen', 'graphql-code-generator', 'gql-gen', 'orval'].map((name): readonly [string, Program] => [
    name,
    codegen,
  ]),
  ['changeset', changeset],
  ['alembic', alembic],
  ['flask', flask],
  ['manage.py', manage],
  ['flutter', flutter],
  ['hg', hg],
];
