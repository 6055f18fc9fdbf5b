// The format check of changed files, by the formatter that the project is set up for. It changes no file.

import { existsSync, statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { couldNotRun } from '../../domain/check-results.ts';
import { shellWord } from '../../domain/command-line.ts';
import type { CommandEnd } from '../../domain/test-ends.ts';
import { lastLines, oneLine } from '../../domain/text.ts';
import type { Finding, FormatFacts, Unmeasured } from '../../domain/trust5-facts.ts';
import type { Commands } from './command.ts';
import { hasProgram, inside, isInstalled, keysOf, packageProgram, readText } from './project.ts';
import { readToml } from './toml.ts';

type Formatter = {
  /** As a person types it, without the files. */
  readonly command: string;
  /** What of a file's name it formats; null: it takes no files, and looks at all that is its own. */
  readonly extensions: RegExp | null;
  /** What the shell is given; files are quoted. */
  readonly script: (files: string) => string;
  /** It was given by the user, and decides itself what counts. */
  readonly isGiven?: boolean;
};

export type FormatOptions = {
  readonly root: string;
  /** `quality.commands.format`. */
  readonly command: string | null;
  /** Changed files that are there. */
  readonly files: readonly string[];
  readonly commands: Commands;
};

const PRETTIER = /\.(?:[cm]?[jt]sx?|vue|css|scss|less|html|json5?|ya?ml|mdx?|graphql|hbs)$/;
const BIOME = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|css|jsonc?|graphql|html)$/;
const SCRIPTS = ['format:check', 'check:format', 'format-check', 'fmt:check', 'prettier:check'];

/** A formatter, or what would be needed for it; null: nothing speaks of one. */
type Found = Formatter | Unmeasured | null;

function findNodeFormatter(root: string): Found {
  const text = readText(root, 'package.json');
  let manifest: unknown = null;
  try {
    manifest = text === null ? null : JSON.parse(text);
  } catch {
    return { unmeasured: 'package.json is no JSON' };
  }
  const script = SCRIPTS.find((name) => typeof inside(manifest, 'scripts', name) === 'string');
  if (script !== undefined)
    return { command: `npm run ${script}`, extensions: null, script: () => `npm run --silent ${script}` };
  const packages = ['dependencies', 'devDependencies'].flatMap((part) => keysOf(inside(manifest, part)));
  const isThere = (...names: readonly string[]) => names.some((name) => existsSync(join(root, name)));
  const tool = (name: string, wanted: boolean, extensions: RegExp, args: string): Found => {
    if (!wanted) return null;
    const program = packageProgram(root, name);
    if (program === null) return { unmeasured: `${name} is set up, but not installed` };
    return { command: `${name} ${args}`, extensions, script: (files) => `${shellWord(program)} ${args} ${files}` };
  };
  const isBiome = packages.includes('@biomejs/biome') || isThere('biome.json', 'biome.jsonc');
  const isPrettier =
    packages.includes('prettier') ||
    inside(manifest, 'prettier') !== undefined ||
    ['', '.json', '.yaml', '.yml', '.js', '.cjs', '.mjs', '.ts', '.toml'].some((end) => isThere(`.prettierrc${end}`)) ||
    ['js', 'cjs', 'mjs', 'ts'].some((end) => isThere(`prettier.config.${end}`));
  return (
    tool('biome', isBiome, BIOME, 'format --no-errors-on-unmatched --max-diagnostics=200') ??
    tool('prettier', isPrettier, PRETTIER, '--check --ignore-unknown')
  );
}

function findGoFormatter(root: string, env: Readonly<Record<string, string>>): Found {
  if (!existsSync(join(root, 'go.mod'))) return null;
  if (!isInstalled('gofmt', env)) return { unmeasured: 'gofmt is not installed' };
  // It ends with 0 whatever it lists.
  const script = (files: string) =>
    `out=$(gofmt -l ${files}) || exit 2; [ -z "$out" ] || { printf '%s\\n' "$out"; exit 1; }`;
  return { command: 'gofmt -l', extensions: /\.go$/, script };
}

function findRustFormatter(root: string, env: Readonly<Record<string, string>>): Found {
  if (!existsSync(join(root, 'Cargo.toml'))) return null;
  if (!isInstalled('cargo-fmt', env)) return { unmeasured: 'rustfmt is not installed; `rustup component add rustfmt`' };
  const command = 'cargo fmt --all --check';
  return { command, extensions: null, script: () => command };
}

async function findPythonFormatter(root: string, env: Readonly<Record<string, string>>): Promise<Found> {
  const text = readText(root, 'pyproject.toml');
  const toml = text === null ? null : await readToml(text, 'pyproject.toml');
  const isSetUp = (name: string, ...files: readonly string[]) =>
    inside(toml, 'tool', name) !== undefined || files.some((file) => existsSync(join(root, file)));
  // A project may use ruff to lint and black to format: who says so has a section for it.
  const name = isSetUp('black') ? 'black' : isSetUp('ruff', 'ruff.toml', '.ruff.toml') ? 'ruff' : null;
  if (name === null) return null;
  const own = ['.venv/bin', 'venv/bin'].find((place) => hasProgram(root, `${place}/${name}`));
  if (own === undefined && !isInstalled(name, env)) return { unmeasured: `${name} is set up, but not installed` };
  const args = name === 'black' ? '--check' : 'format --check';
  const program = own === undefined ? name : `${own}/${name}`;
  return { command: `${name} ${args}`, extensions: /\.pyi?$/, script: (files) => `${program} ${args} ${files}` };
}

/** Those that the project is set up for, each with what would be needed where it is not there. */
async function findFormatters({
  root,
  command,
  commands: { env },
}: Omit<FormatOptions, 'files'>): Promise<readonly (Formatter | Unmeasured)[]> {
  if (command !== null) return [{ command, extensions: null, script: () => command, isGiven: true }];
  const all = [
    findNodeFormatter(root),
    findGoFormatter(root, env),
    await findPythonFormatter(root, env),
    findRustFormatter(root, env),
  ];
  return all.filter((one) => one !== null);
}

/** So many files go on one command line; biome tells of no more at once. */
const BATCH = 200;

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Whether a tool's output names a file: from the root or in full, and not as the end of another's name. */
function names(output: string, path: string, root: string): boolean {
  const before = `(?:^|[\\s"'\`(:]|\\./|${escaped(root)}/)`;
  return new RegExp(`${before}${escaped(path)}(?=$|[\\s"'\`):,])`, 'm').test(output);
}

/** `unmeasured`: why nothing can be told of these files. */
type Outcome = { readonly files: number | null; readonly findings: readonly Finding[]; readonly unmeasured?: string };

/** Source, and neither a formatter's own settings nor a script that runs one: those are named where it breaks down. */
function isFormatted(word: string): boolean {
  return (
    /\.(?:[cm]?[jt]sx?|vue|svelte|s?css|less|html?|md|py|go|rs|java|kt|rb|php|cs|c|cc|cpp|h|hpp|swift)$/.test(word) &&
    !/(?:^|\/)(?:\.|scripts?\/|tools?\/|bin\/)|\.config\.\w+$|^file:/.test(word)
  );
}

/** Files of the project that an output names; where a program broke down is none of them. */
function filesNamed(output: string, root: string): readonly string[] {
  const lines = output.split('\n').filter((line) => !/^\s+at\s|node_modules\//.test(line));
  const words = lines.flatMap((line) => line.match(/[^\s"'`():,[\]]+\.\w+/g) ?? []);
  return words.filter(
    (word) => isFormatted(word) && statSync(resolve(root, word), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** What a command said of these files; `files` null: it chose them itself. */
function outcomeOf(end: CommandEnd, files: readonly string[] | null, root: string): Outcome {
  const counted = files === null ? null : files.length;
  if (end.exitCode === 0) return { files: counted, findings: [] };
  const bad =
    files === null || end.timedOut || couldNotRun(end) ? [] : files.filter((path) => names(end.output, path, root));
  if (bad.length > 0)
    return {
      files: counted,
      findings: bad.map((path) => ({ path, line: null, words: `not formatted (${end.command})` })),
    };
  const said = oneLine(lastLines(end.output, 3).replaceAll('\n', '; ')) || 'it said nothing';
  const how = end.timedOut
    ? 'did not end in time'
    : couldNotRun(end)
      ? 'cannot be run'
      : `ended with ${end.exitCode ?? 'a signal'}`;
  return { files: null, findings: [{ path: null, line: null, words: `${end.command} ${how}: ${said}` }] };
}

/** Runs a formatter on what it formats; null when nothing of it was changed. */
async function runFormatter(
  formatter: Formatter,
  { root, files, commands }: FormatOptions,
): Promise<readonly Outcome[]> {
  const { command, extensions, script, isGiven } = formatter;
  if (extensions === null) {
    // What it prints names files or does not; all that it looks at is the project's business.
    const end = await commands.run(command, script(''));
    const bad = end.timedOut || couldNotRun(end) ? [] : files.filter((path) => names(end.output, path, root));
    const isTold = end.exitCode !== 0 && !end.timedOut && !couldNotRun(end);
    if (bad.length === 0 && isTold && !isGiven) {
      // What was so before the change is no finding of it.
      if (filesNamed(end.output, root).length > 0) return [{ files: null, findings: [] }];
      const unmeasured = `${command} ended with ${end.exitCode ?? 'a signal'} and names no file`;
      return [{ files: null, findings: [], unmeasured }];
    }
    if (end.exitCode === 0 || bad.length === 0) return [outcomeOf(end, null, root)];
    return [
      { files: files.length, findings: bad.map((path) => ({ path, line: null, words: `not formatted (${command})` })) },
    ];
  }
  const own = files.filter((path) => extensions.test(path));
  const outcomes: Outcome[] = [];
  for (let index = 0; index < own.length; index += BATCH) {
    const batch = own.slice(index, index + BATCH);
    const end = await commands.run(command, script(batch.map((path) => shellWord(`./${path}`)).join(' ')));
    outcomes.push(outcomeOf(end, batch, root));
  }
  return outcomes;
}

const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|go|pyi?|rs|java|kt|cs|rb|php|c|cc|cpp|h|hpp|swift|scala|ex|exs)$/;

/** What formatting would be told by; or why by nothing. */
export async function planFormat(options: Omit<FormatOptions, 'files'>): Promise<readonly Formatter[] | Unmeasured> {
  const found = await findFormatters(options);
  const there = found.filter((one) => 'command' in one);
  const missing = found.flatMap((one) => ('unmeasured' in one ? [one.unmeasured] : []));
  return there.length === 0 || missing.length > 0
    ? { unmeasured: missing.join('; ') || 'the project is set up for no formatter that is known here' }
    : there;
}

export async function measureFormat(options: FormatOptions): Promise<FormatFacts | Unmeasured> {
  const there = await planFormat(options);
  if ('unmeasured' in there) return there;
  const outcomes: Outcome[] = [];
  for (const formatter of there) outcomes.push(...(await runFormatter(formatter, options)));
  const isOwnChoice = there.some(({ extensions }) => extensions === null);
  const left = options.files.filter(
    (path) => CODE.test(path) && !there.some(({ extensions }) => extensions === null || extensions.test(path)),
  );
  const findings = outcomes.flatMap((one) => one.findings);
  const [first] = left;
  const untold = outcomes.flatMap(({ unmeasured }) => unmeasured ?? []);
  if (findings.length === 0 && untold.length > 0) return { unmeasured: untold.join('; ') };
  if (findings.length === 0 && first !== undefined)
    return { unmeasured: `no formatter is set up for ${extname(first)} files, like ${first}` };
  const files = outcomes.map((one) => one.files);
  const isCounted = !isOwnChoice || findings.length > 0;
  return {
    source: there.map(({ command }) => command).join('; '),
    files: isCounted && !files.includes(null) ? files.reduce<number>((sum, one) => sum + (one ?? 0), 0) : null,
    findings,
  };
}
