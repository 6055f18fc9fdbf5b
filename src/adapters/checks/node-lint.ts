// Ways to lint a Node project: its script "lint", another script that runs a linter, or the linter itself.

import { dirname, join } from 'node:path';
import { shellWord } from '../../domain/command-line.ts';
import { found, gap, inside, packageProgram, readText, type Surroundings, type Ways, way } from './project.ts';
import { nameOf, programsOf, type Scripts, type Words } from './script-programs.ts';

const MANIFEST = 'package.json';

const LINTERS = ['eslint', 'oxlint', 'xo', 'standard', 'ts-standard', 'semistandard', 'tslint', 'stylelint'];
/** Those that only look, and may stand beside a linter. */
const CHECKERS = ['tsc', 'vue-tsc', 'svelte-check', 'knip', 'cspell', 'echo'];
const WRITES = /^--(?:fix|write|apply|apply-unsafe|unsafe|watch)(?:=(?!false$)|$)|^-w$/;
const LINT_NAME = /^lint[:_-]|[:_-]lint$/;
/** Run with another script, or for another check. */
const BESIDE = /^(?:pre|post)(?!css)|^(?:audit|security)$/;

/** The linter that a program is; null: it is none. */
function linterOf(words: Words): string | null {
  const name = nameOf(words);
  const verb = words[1]?.text ?? '';
  if (LINTERS.includes(name)) return name;
  if (name === 'biome') return ['check', 'lint', 'ci'].includes(verb) ? name : null;
  return ['next', 'ng'].includes(name) && verb === 'lint' ? name : null;
}

/** Options of these with a word behind them that is no file. */
const TAKES_VALUE =
  /^-[cfo]$|^--(?:config|ext|rule|rulesdir|parser|parser-options|env|global|plugin|format|formatter|output-file|cache-(?:location|file|strategy)|max-warnings|ignore-(?:path|pattern)|exclude|resolve-plugins-relative-to|flag|concurrency|custom-syntax|config-basedir)$/;
/** They look at nothing that they are not told of; tslint is told by a project as well. */
const NEEDS_FILES = ['eslint', 'stylelint', 'tslint'];
const OWN_FILES = /^(?:-p|--project)(?:=|$)/;

/** It names no file to look at, and looks at none. */
function isIdle(words: Words, root: string): boolean {
  const name = linterOf(words);
  if (name === null || !NEEDS_FILES.includes(name)) return false;
  if (name === 'eslint' && (eslintVersion(packageProgram(root, name)) ?? 0) >= 9) return false;
  const rest = words.slice(1).map(({ text }) => text);
  if (name === 'tslint' && rest.some((text) => OWN_FILES.test(text))) return false;
  return rest.every((text, at) => text.startsWith('-') || TAKES_VALUE.test(rest[at - 1] ?? ''));
}

function eslintVersion(program: string | null): number | null {
  const text = program === null ? null : readText(join(dirname(program), '..'), 'eslint/package.json');
  const major = /"version": *"(\d+)\./.exec(text ?? '')?.[1];
  return major === undefined ? null : Number(major);
}

function onlyLooks(words: Words): boolean {
  const name = nameOf(words);
  return CHECKERS.includes(name) || (name === 'prettier' && words.some(({ text }) => /^(?:-[cl]|--check)$/.test(text)));
}

function writes(words: Words): boolean {
  return words.some(({ text }) => WRITES.test(text));
}

/** The programs of a script's own words; null where others than linters and what only looks are among them. */
function lintersIn(text: string): readonly Words[] | null {
  const all = programsOf({ text, where: MANIFEST }, () => null).map(({ words }) => words);
  const isClear = all.every(
    (words) => (linterOf(words) !== null || onlyLooks(words)) && words.every((word) => word.isKnown),
  );
  return isClear && all.length > 0 ? all : null;
}

type Linter = { readonly name: string; readonly configs: readonly string[]; readonly args: readonly string[] };

const FLAT = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((end) => `eslint.config.${end}`);
const OLD = ['', '.js', '.cjs', '.yaml', '.yml', '.json'].map((end) => `.eslintrc${end}`);

const CONFIGURED: readonly Linter[] = [
  { name: 'eslint', configs: [...FLAT, ...OLD], args: ['.'] },
  { name: 'biome', configs: ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'], args: ['lint', '.'] },
  { name: 'oxlint', configs: ['.oxlintrc.json'], args: ['.'] },
];

/** Directories that Git ignores: not every linter leaves them out by itself. */
async function ignoredIn({ ask }: Surroundings): Promise<readonly string[]> {
  const said = await ask('git ls-files --others --ignored --exclude-standard --directory');
  return (said ?? '')
    .split('\n')
    .filter((path) => path.endsWith('/') && !path.includes('node_modules'))
    .slice(0, 200);
}

/** What a linter is told beside its files, so that it looks at the project alone. */
async function leftOut(name: string, around: Surroundings): Promise<string> {
  if (name === 'eslint') {
    const ignored = await ignoredIn(around);
    return [' --no-error-on-unmatched-pattern', ...ignored.map((path) => ` --ignore-pattern ${shellWord(path)}`)].join(
      '',
    );
  }
  if (name !== 'biome') return '';
  const isIgnoring = readText(around.root, '.gitignore') !== null;
  return ` --no-errors-on-unmatched${isIgnoring ? ' --vcs-enabled=true --vcs-client-kind=git --vcs-use-ignore-file=true' : ''}`;
}

/** Why a linter cannot be run by its configuration; null: it can. */
function whyNot(linter: string, config: string, program: string | null): string | null {
  if (program === null) return `${linter} is configured (${config}), but not installed`;
  if (linter !== 'eslint' || FLAT.includes(config)) return null;
  const version = eslintVersion(program) ?? 0;
  return version >= 9 ? `eslint ${version} does not read its settings in ${config}` : null;
}

/** So that who is named has an error: changed files are told by it. */
function errorsOnly(name: string, words: readonly string[]): string {
  if (name === 'biome') return ' --diagnostic-level=error --max-diagnostics=200';
  return words.some((text) => text.startsWith('--max-warnings')) ? '' : ' --quiet';
}

/** @param writing what scripts run that mends as well, or names no file: they say which files it is about */
async function byConfiguration(around: Surroundings, manifest: unknown, writing: readonly Words[]): Promise<Ways> {
  const ways = [];
  const gaps = [];
  for (const { name, configs, args } of CONFIGURED) {
    const inManifest = name === 'eslint' && inside(manifest, 'eslintConfig') !== undefined ? MANIFEST : undefined;
    const config = configs.find((file) => readText(around.root, file) !== null) ?? inManifest;
    if (config === undefined) continue;
    const program = packageProgram(around.root, name);
    const why = whyNot(name, config, program);
    if (why !== null || program === null) {
      gaps.push(why ?? '');
      continue;
    }
    const said = writing.find((words) => linterOf(words) === name);
    const isWhole = said === undefined || isIdle(said, around.root);
    const own = said?.slice(1).flatMap(({ text }) => (WRITES.test(text) ? [] : [text])) ?? [];
    const rest = isWhole ? [...own, ...args] : own;
    const words = rest.map((text) => (/^[\w./:=@-]+$/.test(text) ? text : shellWord(text))).join(' ');
    const more = `${errorsOnly(name, rest)}${isWhole ? await leftOut(name, around) : ''}`;
    ways.push(way(`npx ${name} ${words}`, { script: `${shellWord(program)} ${words}${more}`, byConfiguration: true }));
  }
  if (ways.length > 0) return found(...ways);
  return gap([`${MANIFEST} has no script "lint"`, ...gaps].join('; '));
}

/** @param test the script of the tests */
export async function findLint(
  around: Surroundings,
  manifest: unknown,
  {
    scripts,
    names,
    run,
    test,
  }: {
    readonly scripts: Scripts;
    /** Of all scripts. */
    readonly names: readonly string[];
    readonly run: (name: string) => string;
    readonly test: string | null;
  },
): Promise<Ways> {
  const idle = (programs: readonly Words[]) =>
    programs.length > 0 && programs.every((words) => isIdle(words, around.root));
  if (scripts('lint') !== null && !idle(lintersIn(scripts('lint') ?? '') ?? [])) return found(way(run('lint')));
  const all = names.flatMap((name) => {
    const programs = BESIDE.test(name) ? null : lintersIn(scripts(name) ?? '');
    return programs === null ? [] : [{ name, programs }];
  });
  const looking = all.filter(({ programs }) => !programs.some(writes) && !idle(programs));
  const linters = (programs: readonly Words[]) => programs.flatMap((words) => linterOf(words) ?? []);
  const named = looking.filter(({ name }) => LINT_NAME.test(name));
  if (named.some(({ programs }) => linters(programs).length > 0))
    return found(...named.map(({ name }) => way(run(name))));
  const done = new Set<string>();
  const others = looking.filter(({ programs }) => {
    const left = linters(programs).filter((linter) => !done.has(linter));
    for (const linter of left) done.add(linter);
    return left.length > 0;
  });
  if (others.length > 0) return found(...others.map(({ name }) => way(run(name))));
  const tested =
    test === null ? [] : programsOf({ text: run(test), where: MANIFEST }, scripts).map(({ words }) => words);
  const inTests = tested.find((words) => linterOf(words) !== null && !writes(words));
  if (inTests !== undefined)
    return gap(`${linterOf(inTests)} is part of the script "${test}", and measured with the tests`);
  return byConfiguration(
    around,
    manifest,
    all.flatMap(({ programs }) => programs),
  );
}
