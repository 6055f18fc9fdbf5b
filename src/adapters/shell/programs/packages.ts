// Package managers of Node: the files they write as far as that is clear from their words, and the scripts that they run.

import { isOn, type Options, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { pack, writeManifests } from './manifests.ts';
import { initializer } from './scaffolds.ts';
import { hasScript, readWords, scriptsOf, tellWrites } from './scripts.ts';
import { bunTest } from './snapshots.ts';
import { runTool } from './tool-runners.ts';
import { unknownProgram } from './unknown.ts';
import { at, selectedBy, workspacesNamed } from './workspaces.ts';
import { inDirectory } from './wrappers.ts';

const MANIFEST: ReadonlySet<string> = new Set(
  'add remove rm r un uninstall unlink up update upgrade link dedupe version init pkg set create'.split(' '),
);
const INSTALL: ReadonlySet<string> = new Set(
  'install i in ins isntall add ci clean-install ic install-clean rebuild prune import shrinkwrap'.split(' '),
);

/** Other names of npm's verbs that write. */
const NPM_ALIASES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'inst insta instal isnt isnta isntal isntall it install-test'.split(' ').map((one) => [one, 'install']),
  ),
  ...Object.fromEntries(
    'isntall-clean cit clean-install-test sit install-ci-test'.split(' ').map((one) => [one, 'ci']),
  ),
  ...{ u: 'update', udpate: 'update', ddp: 'dedupe', ln: 'link', verison: 'version' },
};
/** Those that run the tests behind it. */
const NPM_TESTING: ReadonlySet<string> = new Set(
  'it install-test cit clean-install-test sit install-ci-test'.split(' '),
);

/** `npm explore`: its words are run where that package was installed. */
function explore(call: Call, [title, ...words]: readonly Field[], inside: Shell): undefined {
  const { reader } = call;
  if (title === undefined || words.length === 0) return undefined;
  if (!isText(title) || !words.every(isText)) reader.unresolved('npm explore runs what is known only when it runs');
  else reader.runChild(words.join(' '), inDirectory(`node_modules/${title}`, inside, call));
  return undefined;
}

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];

const LONG = (
  'prefix= cwd= dir= workspace= filter= filter-prod= call= package= registry= loglevel= userconfig= script-shell= ' +
  'pack-destination= save-dev global production'
).split(' ');
const SHORT: Readonly<Record<string, readonly string[]>> = { npm: ['C', 'w', 'c'], yarn: ['C', 'c'] };

/** npm knows two flags that are no single letters. */
function spelled(args: readonly Field[]): readonly Field[] {
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    if (end !== -1 && index > end) return arg;
    return arg === '-ws' ? '--workspaces' : arg === '-iwr' ? '--include-workspace-root' : arg;
  });
}

function packageManager(name: string): Program {
  return ({ args, ...others }) => {
    const call: Call = { ...others, name, args: name === 'npm' ? spelled(args) : args };
    const spec = { short: SHORT[name] ?? ['C', 'c', 'F'], long: LONG };
    const options = readOptions(call.args, spec);
    const { reader } = call;
    const { operands } = options;
    const [given, ...rest] = operands;
    const verb = name === 'npm' && isText(given) ? (NPM_ALIASES[given] ?? given) : given;
    if (options.isUncertain && verb !== 'run' && verb !== 'test') {
      reader.unresolved(`${name} is given a word that is known only when it runs`);
    }
    const directory = options.last('prefix', 'cwd', 'C', 'dir');
    const inside = inDirectory(directory, call.shell, call);
    if (name === 'bun' && options.has('e', 'eval', 'print')) reader.unresolved('bun -e: its code may write files');
    if (options.has('script-shell')) reader.unresolved(`${name} runs its scripts with another program`);
    // behind the name of a script or a tool words are its own; npm takes options there too
    const own = name === 'npm' ? options : readOptions(call.args.slice(0, behindOwn(call, operands)), spec);
    const chosen = selectedBy(call, own, inside);
    const where = toolsShell(call, chosen, inside);
    const shells = (chosen ?? []).length === 0 ? [inside] : (chosen ?? []).map((one) => at(one, inside));
    // npm makes the first one where it stands, and looks for none above the place that it is given
    const isHere = verb === 'init' || (name === 'npm' && directory !== undefined);
    const change = (isChanged: boolean, isLocked: boolean = true) => {
      writeManifests(call, shells, { isChanged, isLocked, isHere });
    };
    for (const code of options.all('c', 'call')) {
      if (isText(code)) reader.runChild(code, where);
      else reader.unresolved(`${name} runs what is known only when it runs`);
    }
    if (verb === undefined) {
      if (name === 'yarn' && !options.has('version', 'help', 'v', 'h')) change(false);
      return undefined;
    }
    if (!isText(verb)) {
      reader.unresolved(`${name} is given a word that is known only when it runs`);
      return undefined;
    }
    if (verb === 'workspace' || verb === 'workspaces') return inWorkspace(call, verb, rest, inside);
    if (verb === 'exec' || verb === 'x' || verb === 'dlx' || verb === 'npx') return runTool(call, verb, where);
    if (options.has('g') || isOn(options, 'global')) return undefined;
    if (name === 'bun' && verb === 'pm') return bunPm({ ...call, args: wordsBehind(call, verb), shell: inside });
    if (name === 'bun' && verb === 'build') return void unknownProgram(call);
    if (name === 'bun' && verb === 'test') return bunTest({ ...call, shell: inside, args: wordsBehind(call, verb) });
    if (name === 'npm' && verb === 'explore') return explore(call, rest, inside);
    if (name === 'npm' && NPM_TESTING.has(`${given}`)) runNamed(call, 'test', options, shells, chosen);
    if (isScript(call, shells, verb)) return runNamed(call, verb, options, shells, chosen);
    if (verb === 'create' || verb === 'c' || verb === 'innit' || (verb === 'init' && rest.length > 0))
      return initializer({ ...call, shell: inside, args: wordsBehind(call, rest[0] ?? verb, 'all') });
    // as npm does with a word behind a flag
    const isTried = isOn(options, 'dry-run') && !rest.includes('false') && TRIED[name]?.has(verb) === true;
    if (verb === 'pack') return pack(call, isTried, inside);
    if (isTried || isReading(name, verb, rest)) return undefined;
    const isFrozen =
      FROZEN.has(verb) || isOn(options, 'frozen-lockfile', 'immutable', 'no-package-lock', 'no-lockfile');
    const isSaved = !(isOn(options, 'no-save') && !options.has('save') && SAVING[name]?.has(verb) === true);
    if (verb === 'audit') {
      if (rest[0] === 'fix' || options.has('fix')) change(true);
    } else if (MANIFEST.has(verb) || (INSTALL.has(verb) && rest.length > 0 && !FROZEN.has(verb)))
      change(isSaved, isSaved);
    else if (INSTALL.has(verb)) {
      change(false, !isFrozen && isSaved);
      if (!isOn(options, 'ignore-scripts'))
        for (const script of scriptsOf(call, inside, INSTALL_SCRIPTS)) tellWrites(call, script, inside);
    } else if (name !== 'npm' && !SCRIPT_VERBS.has(verb))
      runTool({ ...call, args: call.args.slice(call.args.indexOf(verb)) }, null, where);
    return undefined;
  };
}

/** Where tools are run: npm looks for them in the package that `--prefix` names, and runs them where it was called, or in each workspace. */
function toolsShell(call: Call, chosen: readonly string[] | null, inside: Shell): Shell {
  const shell = call.name === 'npm' ? call.shell : inside;
  return chosen === null ? shell : { ...shell, cwds: chosen.length === 0 ? null : chosen };
}

/** Where the words of the script or the tool begin that a manager is told to run. */
function behindOwn({ args }: Call, [verb, named]: readonly Field[]): number {
  if (!isText(verb ?? '')) return args.length;
  const isRun = RUN_VERBS.has(`${verb}`) || /^(?:exec|x|dlx)$/.test(`${verb}`);
  const isOwn = !isRun && isTaken(`${verb}`) && SCRIPTS[`${verb}`] === undefined;
  const at = isOwn ? -1 : args.indexOf((isRun ? named : verb) ?? '');
  return at === -1 ? args.length : at;
}

const RUN_VERBS: ReadonlySet<string> = new Set(['run', 'run-script', 'rum', 'urn']);
/** Verbs that stand for scripts of these names. */
const SCRIPTS: Readonly<Record<string, string>> = {
  test: 'test',
  tst: 'test',
  t: 'test',
  start: 'start',
  stop: 'stop',
  restart: 'restart',
};

function isTaken(verb: string): boolean {
  return MANIFEST.has(verb) || INSTALL.has(verb) || SCRIPT_VERBS.has(verb);
}

/** Others than npm run a script by its name alone. */
function isScript(call: Call, shells: readonly Shell[], verb: string): boolean {
  if (RUN_VERBS.has(verb) || SCRIPTS[verb] !== undefined) return true;
  return call.name !== 'npm' && !isTaken(verb) && shells.some((inside) => hasScript(call, inside, verb));
}

/** Runs a script, or in its place a tool, that is named by the verb or behind it, in each of these places. */
function runNamed(
  call: Call,
  verb: string,
  options: Options,
  shells: readonly Shell[],
  chosen: readonly string[] | null,
): undefined {
  const isBehind = RUN_VERBS.has(verb);
  const named = isBehind ? options.operands[1] : verb;
  if (named === undefined) return undefined;
  const script = isText(named) && !isBehind ? (SCRIPTS[named] ?? named) : named;
  const words = wordsBehind(call, named);
  // those of packages that cannot be told are not looked for
  const names = isText(script) && chosen?.length !== 0 ? [`pre${script}`, script, `post${script}`] : [];
  let isFound = false;
  for (const inside of shells) {
    const scripts = scriptsOf(call, inside, names);
    const found = scripts.find((one) => one.name === script);
    if (found === undefined) continue;
    isFound = true;
    for (const one of scripts) if (one === found || !isOn(options, 'ignore-scripts')) tellWrites(call, one, inside);
    readWords(call, inside, found, words);
  }
  if (isFound) return undefined;
  for (const inside of shells) readWords(call, inside, undefined, words);
  if (isBehind && call.name !== 'npm') for (const inside of shells) runTool(call, verb, inside);
  return undefined;
}

/** Options by which not every one of them is meant. */
const SOME = /^(?:--(?:include|exclude|from|since|no-private|recursive)(?:=|$)|-R)/;

/** `yarn workspace NAME …`, `yarn workspaces foreach … run …` and `… exec …`: what is behind is run where that lies. */
function inWorkspace(call: Call, verb: string, rest: readonly Field[], inside: Shell): undefined {
  const run = rest.find((word) => isText(word) && (RUN_VERBS.has(word) || word === 'exec'));
  const word = verb === 'workspace' ? rest[0] : run;
  if (word === undefined) return undefined;
  const start = call.args.indexOf(word) + (word === run ? 0 : 1);
  const isSome = word === run && !call.args.slice(0, start).every((one) => isText(one) && !SOME.test(one));
  const places = isSome ? [] : workspacesNamed(call, word === run ? null : word, inside);
  for (const shell of places.length === 0 ? [{ ...inside, cwds: null }] : places.map((one) => at(one, inside)))
    packageManager(call.name)({ ...call, args: call.args.slice(start), shell });
  return undefined;
}

/** What the script or tool behind the manager is given; npm keeps options before the first `--` for itself. */
function wordsBehind({ name, args }: Call, word: Field, how: 'all' | 'given' = 'given'): readonly Field[] {
  const at = args.indexOf(word);
  const behind = args.slice(at + 1);
  const end = behind.indexOf('--');
  const isKept = name === 'npm' && how === 'given';
  if (end === -1) return isKept ? [] : behind;
  return isKept ? behind.slice(end + 1) : behind.filter((_, index) => index !== end);
}

const NPM_TREES = 'install i in ins isntall add uninstall remove rm r un unlink update up upgrade dedupe'.split(' ');
const BUN_TREES = 'install i add a remove rm update'.split(' ');

/** Verbs of which `--dry-run` is only tried; to others it means nothing. */
const TRIED: Readonly<Record<string, ReadonlySet<string>>> = {
  npm: new Set([...NPM_TREES, ...'ci clean-install ic install-clean prune audit pack publish'.split(' ')]),
  bun: new Set([...BUN_TREES, 'pack', 'publish']),
  yarn: new Set(['pack']),
  pnpm: new Set(['publish']),
};

/** Verbs that leave manifest and lock file alone with `--no-save`. */
const SAVING: Readonly<Record<string, ReadonlySet<string>>> = { npm: new Set(NPM_TREES), bun: new Set(BUN_TREES) };

/** Verbs that install what the lock file says, and leave it as it is. */
const FROZEN: ReadonlySet<string> = new Set('ci clean-install ic install-clean rebuild'.split(' '));

/** `npm pkg get`, and `npm version` alone; yarn is told by options what the next one is. */
function isReading(name: string, verb: string, rest: readonly Field[]): boolean {
  return (verb === 'pkg' && rest[0] === 'get') || (verb === 'version' && rest.length === 0 && name !== 'yarn');
}

/** `bun pm version`, `pkg` and `pack` are what they are to npm. */
const bunPm: Program = (call) => {
  const [verb] = readOptions(call.args).operands;
  return verb === 'version' || verb === 'pkg' || verb === 'pack' ? packageManager('bun')(call) : undefined;
};

/** Verbs behind which no tool is named. */
const SCRIPT_VERBS: ReadonlySet<string> = new Set(
  'run run-script test t start pack publish config cache info view list ls why audit outdated login logout whoami store env setup workspaces workspace bin root help'.split(
    ' ',
  ),
);

export const PACKAGE_PROGRAMS: readonly (readonly [string, Program])[] = ['npm', 'pnpm', 'yarn', 'bun'].map((name) => [
  name,
  packageManager(name),
]);
