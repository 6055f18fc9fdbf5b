// Tools that change in its place what they are given, or the files that tell of a project: its versions, settings and secrets.

import { isOn, type Options, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { writeBelow } from './formatters.ts';

function isAsked({ args }: Call): boolean {
  return ['--help', '-h', '--version', '-V'].some((flag) => args.includes(flag));
}

const taze: Program = (call) => {
  const options = readOptions(call.args, { long: ['cwd=', 'include=', 'exclude=', 'write', 'recursive'] });
  const isWriting = isOn(options, 'write', 'w') && !isAsked(call);
  if (isWriting && isOn(options, 'recursive', 'r'))
    call.reader.write(call.shell, '.', 'taze -w -r', { tree: true, entry: true });
  else if (isWriting) call.reader.write(call.shell, 'package.json', 'taze -w');
  return undefined;
};

/** A version is raised where the project says it, and what changed is written down. */
const release: Program = (call) => {
  const options = readOptions(call.args, { long: ['infile=', 'dry-run'] });
  if (isAsked(call) || isOn(options, 'dry-run')) return undefined;
  for (const file of ['package.json', options.last('i', 'infile') ?? 'CHANGELOG.md'])
    call.reader.write(call.shell, file, call.name);
  return undefined;
};

/** The files stand last. */
const xmlstarlet: Program = (call) => {
  const [verb, ...rest] = call.args;
  const isFile = (word: Field) => isText(word) && call.reader.kindAt(call.shell, word) !== 'none';
  const other = rest.findLastIndex((word) => !isFile(word));
  const isInPlace = rest.some((arg) => arg === '-L' || arg === '--inplace');
  if ((verb === 'ed' || verb === 'edit') && isInPlace)
    for (const file of rest.slice(Math.min(other + 1, rest.length - 1)))
      call.reader.write(call.shell, file, 'xmlstarlet ed -L');
  return undefined;
};

const SOPS_VERBS: ReadonlySet<string> = new Set(
  'encrypt decrypt rotate edit set unset updatekeys groups filestatus publish keyservice exec-env exec-file completion help'.split(
    ' ',
  ),
);
const SOPS_CHANGES: ReadonlySet<string> = new Set(['edit', 'set', 'unset', 'updatekeys']);

const sops: Program = (call) => {
  const { reader, shell } = call;
  const options = readOptions(call.args, {
    short: [...'kpaf'],
    long: (
      'in-place output= config= input-type= output-type= kms= pgp= age= gcp-kms= azure-kv= hc-vault-transit= extract= set= ' +
      'encrypted-regex= unencrypted-regex= encrypted-suffix= unencrypted-suffix= filename-override='
    ).split(' '),
  });
  if (isAsked(call)) return undefined;
  const [first] = options.operands;
  const verb = isText(first) && SOPS_VERBS.has(first) ? first : null;
  const file = options.operands[verb === null ? 0 : 1];
  const isChanging = options.has('i', 'in-place', 'set') || (verb !== null && SOPS_CHANGES.has(verb));
  if (isChanging && file !== undefined) reader.write(shell, file, `sops ${verb ?? '-i'}`);
  for (const output of options.all('output')) if (output !== '') reader.write(shell, output, 'sops --output');
  return undefined;
};

/** Behind what is looked for and what takes its place stand the files, in one word with commas too. */
const replaceInFile: Program = (call) => {
  const options = readOptions(call.args, {
    long: 'configFile= ignore= encoding= disableGlobs isRegex verbose quiet dry'.split(' '),
    isExact: true,
  });
  if (isAsked(call) || isOn(options, 'dry')) return undefined;
  const files = options.operands.slice(options.has('configFile') ? 0 : 2);
  const each = files.flatMap((file): readonly Field[] => (isText(file) ? file.split(',') : [file]));
  for (const file of each.length === 0 && options.has('configFile') ? ['.'] : each) writeBelow(call, file);
  return undefined;
};

const SCOPE = { short: ['s', 't', 'e', 'H'], long: ['scope=', 'transport=', 'env=', 'header='] };

/** Servers of the project stand in a file of it; without that word one is looked for there as well when it is to go. */
function ofProject(options: Options, verb: string): boolean {
  const scope = options.last('s', 'scope');
  return scope === undefined ? verb === 'remove' : scope === 'project' || !isText(scope);
}

const claude: Program = (call) => {
  const [group, verb, ...rest] = call.args;
  if (group !== 'mcp' || !isText(verb ?? '') || !/^(?:add|add-json|add-from-claude-desktop|remove)$/.test(`${verb}`))
    return undefined;
  // the name of the server may stand before the option, and its command stands behind them
  const end = rest.indexOf('--');
  const words = end === -1 ? rest : rest.slice(0, end);
  if (!isAsked({ ...call, args: words }) && ofProject(readOptions(words, SCOPE), `${verb}`))
    call.reader.write(call.shell, '.mcp.json', `claude mcp ${verb}`);
  return undefined;
};

const expo: Program = (call) => {
  const options = readOptions(call.args, { short: ['p'], long: ['platform=', 'template=', 'output-dir='] });
  const { reader, shell } = call;
  const [verb, ...packages] = options.operands;
  if (isAsked(call)) return undefined;
  if (verb === 'prebuild') {
    const platform = options.last('p', 'platform');
    for (const directory of platform === undefined || platform === 'all' ? ['ios', 'android'] : [platform])
      reader.write(shell, directory, 'expo prebuild', { tree: true });
    reader.write(shell, 'package.json', 'expo prebuild');
  } else if (verb === 'customize') reader.write(shell, '.', 'expo customize', { tree: true, entry: true });
  else if (verb === 'install' && (packages.length > 0 || options.has('fix')) && !options.has('check'))
    reader.write(shell, 'package.json', 'expo install');
  else if (verb === 'export')
    for (const directory of options.all('output-dir')) reader.write(shell, directory, 'expo export', { tree: true });
  return undefined;
};

export const EDIT_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['taze', taze],
  ...['standard-version', 'commit-and-tag-version', 'release-it'].map((name): readonly [string, Program] => [
    name,
    release,
  ]),
  ['xmlstarlet', xmlstarlet],
  ['sops', sops],
  ['replace-in-file', replaceInFile],
  ['claude', claude],
  ['expo', expo],
];
