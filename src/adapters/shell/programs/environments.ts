// Programs that run another one with a version of a language, with variables or with tools of the project's.

import { type OptionsSpec, readOptions } from '../options.ts';
import type { Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { writeBelow } from './formatters.ts';
import { runCode } from './shells.ts';
import { runProgram } from './wrappers.ts';

type Environment = {
  /** The verb behind which the other program stands; without it, it stands first. */
  readonly verb?: RegExp;
  readonly spec?: OptionsSpec;
  /** A word of its own that may stand before the other program. */
  readonly before?: RegExp;
};

function environment({ verb, spec = {}, before }: Environment): Program {
  return (call) => {
    const [first] = call.args;
    if (verb !== undefined && !(isText(first) && verb.test(first))) return undefined;
    const options = readOptions(verb === undefined ? call.args : call.args.slice(1), { ...spec, stopsAtOperand: true });
    if (options.isUncertain) call.reader.unresolved(`${call.name} runs what is known only when it runs`);
    const [own, ...rest] = options.operands;
    const isOwn = before !== undefined && isText(own) && before.test(own);
    const words = isOwn ? rest : options.operands;
    return runProgram(words[0] === '--' ? words.slice(1) : words, call, call.shell);
  };
}

const NVM = /^(?:v?\d[\w.]*|node|iojs|stable|unstable|default|system|lts\/.*)$/;

/** `nvm run` is Node of that version. */
const nvm: Program = (call) => {
  const [verb, ...rest] = call.args;
  if (verb !== 'run') return environment({ verb: /^exec$/, before: NVM })(call);
  const options = readOptions(rest, { stopsAtOperand: true });
  const [version, ...words] = options.operands;
  const isVersion = isText(version) && NVM.test(version);
  return runProgram(['node', ...(isVersion ? words : options.operands)], call, call.shell);
};

const nix: Program = (call) => {
  const { args, reader, shell } = call;
  const at = args.findIndex((arg) => arg === '-c' || arg === '--command');
  const end = args.indexOf('--');
  const [verb, what] = args;
  if ((verb === 'develop' || verb === 'shell') && at !== -1) return runProgram(args.slice(at + 1), call, shell);
  if (verb === 'run') return runProgram([toolOf(what), ...(end === -1 ? [] : args.slice(end + 1))], call, shell);
  const files = readOptions(args.slice(1)).operands;
  if (verb === 'fmt') for (const file of files.length === 0 ? ['.'] : files) writeBelow(call, file);
  if (verb === 'flake' && (what === 'update' || what === 'lock'))
    reader.write(shell, 'flake.lock', `nix flake ${what}`);
  if (verb === 'flake' && (what === 'init' || what === 'new'))
    reader.write(shell, '.', `nix flake ${what}`, { tree: true, entry: true });
  return undefined;
};

/** `nixpkgs#prettier` is prettier. */
function toolOf(installable: Field | undefined): Field {
  return isText(installable ?? '') ? `${installable ?? ''}`.replace(/^.*[#.]/s, '') : 'nix';
}

const nixShell: Program = (call) => {
  for (const code of readOptions(call.args, { short: [...'pAIE'], long: ['run=', 'command='] }).all('run', 'command'))
    runCode(code, call);
  return undefined;
};

const pixi: Program = (call) => {
  const [verb] = call.args;
  for (const file of verb === 'add' || verb === 'remove' ? ['pixi.toml', 'pixi.lock'] : [])
    call.reader.write(call.shell, file, `pixi ${verb}`);
  return environment({
    verb: /^(?:run|exec|x|r)$/,
    spec: { short: [...'espc'], long: 'manifest-path= environment= spec= channel= platform='.split(' ') },
  })(call);
};

const DOTENVX: OptionsSpec = {
  short: [...'ef'],
  long: ['env=', 'env-file=', 'env-vault-file=', 'env-keys-file=', 'convention='],
};

/** Some verbs change the file of variables, and that of its keys. */
const dotenvx: Program = (call) => {
  const [verb, ...rest] = call.args;
  if (!/^(?:set|encrypt|decrypt|rotate)$/.test(`${verb}`)) return environment({ verb: /^run$/, spec: DOTENVX })(call);
  const options = readOptions(rest, DOTENVX);
  if (options.has('stdout', 'help', 'h')) return undefined;
  const files = options.all('f', 'env-file');
  for (const file of [...(files.length === 0 ? ['.env'] : files), options.last('env-keys-file') ?? '.env.keys'])
    call.reader.write(call.shell, file, `dotenvx ${verb}`);
  return undefined;
};

/** Older ones are given the file of variables first. */
const envCmd = environment({
  spec: { short: [...'fre'], long: ['file=', 'rc-file=', 'environments='] },
  before: /^\.|\.(?:env|json|js|cjs)$/,
});

const named = (names: string, program: Program): readonly (readonly [string, Program])[] =>
  names.split(' ').map((name) => [name, program]);

export const ENVIRONMENT_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['nvm', nvm],
  ['fnm', environment({ verb: /^exec$/, spec: { long: ['using=', 'fnm-dir=', 'log-level='] } })],
  ['volta', environment({ verb: /^run$/, spec: { long: ['node=', 'npm=', 'yarn=', 'pnpm=', 'env='] } })],
  ['dotenvx', dotenvx],
  ['env-cmd', envCmd],
  ...named('rbenv pyenv nodenv goenv jenv plenv phpenv', environment({ verb: /^exec$/ })),
  [
    'aws-vault',
    environment({
      verb: /^exec$/,
      spec: { short: [...'dt'], long: ['duration=', 'region=', 'mfa-token=', 'backend=', 'prompt='] },
      before: /^(?!--$)/,
    }),
  ],
  ['nix', nix],
  ['nix-shell', nixShell],
  ['pixi', pixi],
];
