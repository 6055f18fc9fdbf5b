// Generators of Go, and tools that make the steps of a database: the place is told that an option or their custom names, else any place.

import { type OptionsSpec, readOptions } from '../options.ts';
import { parentOf } from '../paths.ts';
import type { Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { writeBelow } from './formatters.ts';
import { codegen, isAsked, writeTree } from './generators.ts';
import { unknownProgram } from './unknown.ts';

/** Go's tools take one hyphen before a long option. */
const GO: OptionsSpec = {
  singleDash: true,
  isExact: true,
  long: (
    'type= output= trimprefix= tags= ext= dir= format= digits= path= source= database= s= table= certfile= ' +
    'output_file_prefix= header_file='
  ).split(' '),
};

const sqlc: Program = (call) => {
  const [verb] = readOptions(call.args, { short: ['f'], long: ['file='] }).operands;
  if (verb === 'init') call.reader.write(call.shell, 'sqlc.yaml', 'sqlc init');
  return verb === 'generate' ? codegen(call) : unknownProgram(call);
};

const buf: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['o'],
    long: 'output= template= path= exclude-path= config= error-format= log-format= timeout= type='.split(' '),
  });
  const [verb, ...files] = options.operands;
  const places = options.all('o', 'output').filter((one) => one !== '-');
  if (isAsked(call)) return undefined;
  if (verb === 'generate' && places.length === 0) return codegen(call);
  for (const place of places) writeTree(call, place, `buf ${isText(verb) ? verb : ''} -o`);
  if (verb === 'format' && options.has('w', 'write'))
    for (const file of files.length === 0 ? ['.'] : files) writeBelow(call, file);
  return undefined;
};

const swag: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'godp'],
    long: 'output= dir= generalInfo= exclude= propertyStrategy= outputTypes= ot= instanceName='.split(' '),
  });
  const [verb] = options.operands;
  if (isAsked(call)) return undefined;
  if (verb === 'init' || verb === 'i') writeTree(call, options.last('o', 'output') ?? 'docs', 'swag init');
  else if (verb === 'fmt' || verb === 'f') writeTree(call, options.last('d', 'dir') ?? '.', 'swag fmt');
  return undefined;
};

const wire: Program = (call) => {
  const [first, ...others] = readOptions(call.args, GO).operands;
  if (isAsked(call) || (isText(first) && /^(?:diff|check|show|commands|flags)$/.test(first))) return undefined;
  const packages = first === undefined || first === 'gen' ? others : [first, ...others];
  for (const one of packages.length === 0 ? ['.'] : packages)
    writeTree(call, isText(one) ? one.replace(/\/?\.\.\.$/, '') || '.' : one, 'wire');
  return undefined;
};

const ent: Program = (call) => {
  const options = readOptions(call.args, {
    long: 'target= package= feature= template= storage= header= idtype='.split(' '),
  });
  const [verb, schema] = options.operands;
  if (isAsked(call)) return undefined;
  // what is made from a schema lies beside its directory
  const beside = isText(schema) && !/^(?:[./]*)$/.test(schema) ? schema.replace(/\/*[^/]*\/*$/, '') || '.' : '.';
  if (verb === 'generate') writeTree(call, options.last('target') ?? beside, 'ent generate');
  else if (verb === 'new' || verb === 'init') writeTree(call, options.last('target') ?? 'ent', `ent ${verb}`);
  return undefined;
};

/** One file beside the first of the package, named after its first type. */
const stringer: Program = (call) => {
  const { reader, shell } = call;
  const options = readOptions(call.args, GO);
  const type = options.last('type');
  const output = options.last('output');
  if (isAsked(call) || type === undefined) return undefined;
  const [first = '.'] = options.operands;
  const [place, ...others] = isText(first) ? (reader.places(shell, first) ?? []) : [];
  if (output !== undefined) reader.write(shell, output, 'stringer -output');
  else if (place === undefined || others.length > 0 || !isText(type)) writeTree(call, '.', 'stringer');
  else {
    const directory = reader.kindAt(shell, place) === 'directory' ? place : parentOf(place);
    reader.write(shell, `${directory}/${(type.split(',')[0] ?? '').toLowerCase()}_string.go`, 'stringer');
  }
  return undefined;
};

/** Tools that make a step of a database where `-dir` says. */
function stepMaker(verbs: ReadonlySet<Field>): Program {
  return (call) => {
    const options = readOptions(call.args, GO);
    const verb = options.operands.find((one) => verbs.has(one));
    if (verb === undefined || isAsked(call)) return unknownProgram(call);
    writeTree(call, options.last('dir') ?? '.', `${call.name} ${isText(verb) ? verb : ''}`);
    return undefined;
  };
}

/** Alone, or as a verb of cargo. */
const sqlx: Program = (call) => {
  const options = readOptions(call.args, { short: ['D'], long: ['source=', 'database-url='] });
  const [verb, next] = options.operands;
  if (isAsked(call)) return undefined;
  if (verb === 'prepare' && !options.has('check')) writeTree(call, '.sqlx', 'sqlx prepare');
  if (verb === 'migrate' && next === 'add') writeTree(call, options.last('source') ?? 'migrations', 'sqlx migrate add');
  return undefined;
};

/** What it makes, the option that names where, and where that lies without any. */
const SEQUELIZE: readonly (readonly [RegExp, string, string])[] = [
  [/^model:/, 'models-path', 'models'],
  [/^(?:model|migration):/, 'migrations-path', 'migrations'],
  [/^seed:/, 'seeders-path', 'seeders'],
];

const sequelize: Program = (call) => {
  const { reader, shell } = call;
  const options = readOptions(call.args, {
    long: 'models-path= migrations-path= seeders-path= name= attributes= options-path= config= env= url='.split(' '),
  });
  const [verb] = options.operands;
  if (isAsked(call) || !isText(verb)) return undefined;
  if (/^init(?::|$)/.test(verb)) writeTree(call, '.', `${call.name} ${verb}`);
  if (!/:(?:generate|create)$/.test(verb)) return undefined;
  const isElsewhere = options.has('options-path') || reader.kindAt(shell, '.sequelizerc') !== 'none';
  for (const [made, option, place] of SEQUELIZE)
    if (made.test(verb)) writeTree(call, options.last(option) ?? (isElsewhere ? '.' : place), `${call.name} ${verb}`);
  return undefined;
};

/** Words of a program that `go run` and `go tool` name by where its module lies. */
export function goTool(words: readonly Field[]): readonly Field[] | null {
  const [path, ...others] = words;
  if (!isText(path) || !/^[\w-]+(?:\.[\w-]+)+\/./.test(path)) return null;
  const parts = path.replace(/@.*$/, '').split('/');
  const name = parts.findLast((part) => !/^(?:v\d+)?$/.test(part));
  return name === undefined ? null : [name, ...others];
}

export const SQL_AND_GO_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['sqlc', sqlc],
  ['buf', buf],
  ['swag', swag],
  ['wire', wire],
  ['ent', ent],
  ['stringer', stringer],
  ['migrate', stepMaker(new Set<Field>(['create']))],
  ['goose', stepMaker(new Set<Field>(['create', 'fix']))],
  ['sqlx', sqlx],
  ...['sequelize', 'sequelize-cli'].map((name): readonly [string, Program] => [name, sequelize]),
];
