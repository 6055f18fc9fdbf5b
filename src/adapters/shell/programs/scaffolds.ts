// Programs that make the first files of a project, or of a part of one, whose names are theirs.

import { readOptions } from '../options.ts';
import type { Program } from '../reader.ts';
import { isText } from '../values.ts';
import { unknownProgram } from './unknown.ts';

/** Below the one directory that it is given; else anywhere in the working directory and in what it is given. */
export const initializer: Program = (call) => {
  const { operands } = readOptions(call.args);
  const { reader, shell, name } = call;
  if (operands.length !== 1) reader.write(shell, '.', name, { tree: true, entry: true });
  for (const one of operands) reader.write(shell, one, name, { tree: true });
  return undefined;
};

/** Verbs behind which files are made; without verbs whatever it is given. */
const MAKERS: Readonly<Record<string, readonly string[]>> = {
  'yo hygen plop cookiecutter': [],
  'ng nest': ['new', 'n', 'generate', 'g', 'add', 'update'],
  rails: ['new', 'generate', 'g', 'destroy', 'd'],
  'vue sv': ['create', 'add', 'invoke'],
  'storybook sb': ['init', 'add', 'remove', 'upgrade', 'automigrate', 'migrate'],
  'django-admin': ['startproject', 'startapp', 'makemessages'],
};

/** Those of a database make their steps where an option, or else their configuration, says. */
function stepMaker(verbs: RegExp, places: readonly string[]): Program {
  return (call) => {
    const spec = {
      short: [...'dcn'],
      long: [...places, 'dataSource', 'config', 'name', 'env'].map((one) => `${one}=`),
    };
    const options = readOptions(call.args, spec);
    const verb = options.operands.find((one) => isText(one) && verbs.test(one));
    if (verb === undefined) return unknownProgram(call);
    const place = options.last(...places) ?? '.';
    if (!call.args.includes('--help'))
      call.reader.write(call.shell, place, `${call.name} ${isText(verb) ? verb : ''}`, {
        tree: true,
        entry: place === '.',
      });
    return undefined;
  };
}

/** What it makes is named by a path, before the last part of which a time is put. */
const typeorm: Program = (call) => {
  const options = readOptions(call.args, { short: ['d'], long: ['dataSource=', 'timestamp=', 'name=', 'database='] });
  const [verb, path] = options.operands;
  const { reader, shell, name } = call;
  if (!isText(verb ?? '') || !/^(?:init|(?:migration|entity|subscriber):(?:generate|create))$/.test(`${verb}`))
    return unknownProgram(call);
  if (call.args.includes('--help')) return undefined;
  const directory = isText(path) ? path.replace(/\/*[^/]*\/*$/, '') : path;
  const place = verb === 'init' || directory === undefined || directory === '' ? '.' : directory;
  reader.write(shell, place, `${name} ${verb}`, { tree: true, entry: place === '.' });
  return undefined;
};

function maker(verbs: readonly string[]): Program {
  return (call) => {
    const [verb] = readOptions(call.args).operands;
    const isMaking = verbs.length === 0 ? call.args.length > 0 : !isText(verb ?? '') || verbs.includes(`${verb}`);
    if (!isMaking) return unknownProgram(call);
    if (!call.args.includes('--help') && !call.args.includes('--version'))
      call.reader.write(call.shell, '.', call.name, { tree: true, entry: true });
    return undefined;
  };
}

export const SCAFFOLD_PROGRAMS: readonly (readonly [string, Program])[] = [
  ...Object.entries(MAKERS).flatMap(([names, verbs]) =>
    names.split(' ').map((name): readonly [string, Program] => [name, maker(verbs)]),
  ),
  ['create', initializer],
  ['knex', stepMaker(/^(?:(?:migrate|seed):make|init)$/, ['migrations-directory', 'seeds-directory'])],
  ...['typeorm', 'typeorm-ts-node-commonjs', 'typeorm-ts-node-esm'].map((name): readonly [string, Program] => [
    name,
    typeorm,
  ]),
];

/** `npm create x` runs a program that is called `create-x`. */
export function isInitializer(name: string): boolean {
  return name.startsWith('create-');
}
