// Programs that run the tools of a project by name, and the package managers of other languages: what they write themselves.

import { readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { isText } from '../values.ts';
import { inDirectory } from './wrappers.ts';

/** Runs the tool that is named behind `exec`, or first. */
export function runTool(call: Call, verb: string | null, inside: Call['shell']): undefined {
  const at = verb === null ? -1 : call.args.indexOf(verb);
  const words = call.args.slice(at + 1);
  const options = readOptions(words, {
    short: call.name.endsWith('mamba') || call.name === 'conda' ? ['p', 'n'] : ['p', 'c', 'w', 'C'],
    long: ['name=', 'spec=', 'package=', 'call=', 'workspace=', 'dir=', 'prefix=', 'yes', 'no-install', 'quiet'],
    stopsAtOperand: true,
  });
  for (const code of options.all('c', 'call')) {
    if (isText(code)) call.reader.runChild(code, inside);
    else call.reader.unresolved(`${call.name} runs what is known only when it runs`);
  }
  const [tool, ...given] = options.operands;
  if (tool === undefined) return undefined;
  // npm takes the `--` between a tool and its words for its own
  const rest = call.name === 'npm' && given[0] === '--' ? given.slice(1) : given;
  // `prettier@3` is prettier
  const named = isText(tool) ? tool.replace(/(.)@[^/]*$/, '$1') : tool;
  const plain = isText(named) ? (TOOLS.get(named) ?? named) : named;
  call.reader.runWords([plain, ...rest], inside, call.stdin, 'program');
  return undefined;
}

/** Packages whose tool is called otherwise. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['@biomejs/biome', 'biome'],
  ['@svgr/cli', 'svgr'],
  ['@graphql-codegen/cli', 'graphql-codegen'],
  ['@changesets/cli', 'changeset'],
  ['@tailwindcss/cli', 'tailwindcss'],
  ['@ast-grep/cli', 'ast-grep'],
  ['@angular/cli', 'ng'],
  ['@nestjs/cli', 'nest'],
  ['@vue/cli', 'vue'],
]);

const runner: Program = (call) => runTool(call, null, call.shell);

/** Runs the tool that is named behind one of the verbs, as in `conda run`. */
function verbRunner(...verbs: readonly string[]): Program {
  return (call) => {
    const [verb] = call.args;
    return isText(verb) && verbs.includes(verb) ? runTool(call, verb, call.shell) : undefined;
  };
}

const bundle: Program = (call) => {
  const [verb] = call.args;
  if (verb === 'exec') return runTool(call, verb, call.shell);
  const isAdded = verb === 'add' || verb === 'remove' || verb === 'init';
  if (isAdded) call.reader.write(call.shell, 'Gemfile', `bundle ${verb}`);
  if (isAdded || verb === 'update' || verb === 'lock') call.reader.write(call.shell, 'Gemfile.lock', `bundle ${verb}`);
  return undefined;
};

const composer: Program = (call) => {
  const [verb] = call.args;
  const isAdded = verb === 'require' || verb === 'remove';
  if (isAdded) call.reader.write(call.shell, 'composer.json', `composer ${verb}`);
  if (isAdded || verb === 'update') call.reader.write(call.shell, 'composer.lock', `composer ${verb}`);
  if (isAdded || verb === 'update')
    call.reader.write(call.shell, 'vendor', `composer ${verb}`, { tree: true, entry: true });
  return undefined;
};

/** Runs tools of Python's managers: `poetry run black .`. */
const pythonRunner: Program = (call) => {
  const options = readOptions(call.args, {
    long: ['directory=', 'project=', 'with=', 'python='],
    short: ['C', 'p'],
    stopsAtOperand: true,
  });
  const inside = inDirectory(options.last('directory', 'C'), call.shell, call);
  const [verb, ...rest] = options.operands;
  if (verb === 'run') {
    const inner = readOptions(rest, {
      long: ['with=', 'python=', 'directory=', 'project=', 'extra=', 'group=', 'env-file='],
      short: ['p'],
      stopsAtOperand: true,
    });
    call.reader.runWords(inner.operands, inside, call.stdin, 'program');
    return undefined;
  }
  const { name, reader } = call;
  const isFormatted = (verb === 'fmt' && name === 'hatch') || (verb === 'format' && name === 'uv');
  if (isFormatted && !rest.includes('--check') && !rest.includes('--diff'))
    reader.write(inside, '.', `${name} ${verb}`, { tree: true, entry: true });
  const words = rest.filter((word) => !isText(word) || !word.startsWith('-'));
  const has = (...flags: readonly string[]) => rest.some((word) => isText(word) && flags.includes(word));
  const isAdded =
    verb === 'add' ||
    verb === 'remove' ||
    (verb === 'version' && (words.length > 0 || has('--bump'))) ||
    (verb === 'install' && name === 'pipenv' && words.length > 0);
  // a lock file that others find out of date is theirs to mend
  const isLocked =
    verb === 'lock' ||
    verb === 'update' ||
    (verb === 'sync' && name === 'uv' && !has('--frozen', '--locked')) ||
    (verb === 'install' && name !== 'poetry');
  const manifest = name === 'pipenv' ? 'Pipfile' : 'pyproject.toml';
  if (isAdded) reader.write(inside, manifest, `${name} ${verb}`);
  if (isAdded || isLocked)
    reader.write(inside, name === 'pipenv' ? 'Pipfile.lock' : `${name}.lock`, `${name} ${isText(verb) ? verb : ''}`);
  if (name === 'uv' && (isAdded || verb === 'sync' || verb === 'venv'))
    reader.write(inside, '.venv', 'uv', { tree: true, entry: true });
  return undefined;
};

export const TOOL_RUNNER_PROGRAMS: readonly (readonly [string, Program])[] = [
  ...['npx', 'pnpx', 'bunx', 'uvx'].map((name): readonly [string, Program] => [name, runner]),
  ...['poetry', 'uv', 'pipenv', 'pdm', 'rye', 'hatch'].map((name): readonly [string, Program] => [name, pythonRunner]),
  ...['conda', 'mamba', 'micromamba'].map((name): readonly [string, Program] => [name, verbRunner('run')]),
  ...['mise', 'asdf'].map((name): readonly [string, Program] => [name, verbRunner('exec', 'x')]),
  ['pipx', verbRunner('run')],
  ['bundle', bundle],
  ['composer', composer],
];
