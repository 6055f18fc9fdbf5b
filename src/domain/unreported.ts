// Source that a coverage report does not name: no test has loaded it, so that none reaches its lines.

import { type Coverage, fileLine, isTestFile, MAX_NAMED, percentText, type Reach } from './coverage.ts';
import { isGeneratedPath, saysGenerated } from './generated.ts';
import { withoutOldLint } from './old-lint.ts';
import { type GateResult, gateResult, type QualitySettings } from './quality.ts';
import { areaOf, isSettled } from './team/areas.ts';
import { withUnrun } from './unrun.ts';

export type Language = 'javascript' | 'typescript' | 'python' | 'go' | 'rust';

type Kind = {
  readonly name: Language;
  readonly files: RegExp;
  /** What a file has that can be run. */
  readonly runs: RegExp;
};

const SCRIPT =
  /^(?!\s*(?:export\s+)?(?:declare|type|interface|import)\b).*(?:\b(?:function|class|enum|new|throw)\b|=>|\w\()/m;
const LANGUAGES: readonly Kind[] = [
  { name: 'javascript', files: /\.[cm]?jsx?$/, runs: SCRIPT },
  { name: 'typescript', files: /(?<!\.d)\.(?:[cm]?ts|tsx)$/, runs: SCRIPT },
  { name: 'python', files: /\.py$/, runs: /^\s*(?:async\s+)?def\s/m },
  { name: 'go', files: /\.go$/, runs: /^func\s.*\{/m },
  { name: 'rust', files: /\.rs$/, runs: /\bfn\s.*\{/ },
];

/** No part of the program that tests are for. */
const BESIDE =
  /^(?:scripts?|tools?|bin|bench(?:es|marks?)?|examples?|docs?)\/|(?:^|\/)(?:\.|third_party\/|__mocks__\/|mocks?\/|fixtures?\/|stories\/|static\/|public\/|assets\/|build\/|out\/)|\.(?:config|stories|bench(?:mark)?)\.\w+$|(?:^|\/)(?:setup|manage|noxfile|build)\.(?:py|rs)$|(?:^|\/)(?:gulp|grunt)file\.\w+$|_(?:windows|darwin|linux)\.go$/i;
/** Its author says that it is measured otherwise. */
const LEFT_OUT =
  /\b(?:c8|v8|istanbul) ignore\b|\bnode:coverage (?:disable|ignore)\b|pragma: no cover|^\/\/go:build |^\/\/ ?\+build /m;
const AREAS = ['backend', 'frontend', 'database', 'core'];

function languageOf(path: string): Kind | undefined {
  return LANGUAGES.find(({ files }) => files.test(path));
}

/** What only describes a shape has members that look like calls, and nothing that runs. */
function withoutTypes(text: string, { name }: Kind): string {
  if (name !== 'typescript') return text;
  return text
    .replace(/^(?:export\s+)?(?:declare\s+)?(?:interface\b|type\s[^;{]*\{[ \t]*$)[\s\S]*?^\}[^\n]*$/gm, '')
    .replace(/^(?:export\s+)?(?:declare\s+)?type\s[^;]*;$/gm, '');
}

function isProgram(path: string): boolean {
  if (isTestFile(path) || isSettled(path) || isGeneratedPath(path) || BESIDE.test(path)) return false;
  return AREAS.includes(areaOf(path, []));
}

/** Whether a file is source that tests are for, by its path, in one of these languages. */
export function isSourceIn(path: string, languages: readonly Language[]): boolean {
  const language = languageOf(path);
  return language !== undefined && languages.includes(language.name) && isProgram(path);
}

export const ALL_LANGUAGES: readonly Language[] = LANGUAGES.map(({ name }) => name);

/** How many lines of a file a test could reach; 0 where it is none that tests are for. */
export function reachableLines(path: string, text: string): number {
  const language = languageOf(path);
  if (language === undefined || LEFT_OUT.test(text) || saysGenerated(text)) return 0;
  const bare = withoutTypes(text.replace(/\/\*[\s\S]*?\*\//g, ''), language).split('\n');
  const code = bare.filter((line) => line.trim() !== '' && !/^\s*(?:\/\/|#(?!\[))/.test(line));
  return language.runs.test(code.join('\n')) ? code.length : 0;
}

/**
 * Which files a project wants its coverage to be about. `open`: it says nothing · `report`: the report names all of them ·
 * `unread`: it says so in words that are not understood.
 */
export type Scope =
  | { readonly kind: 'open' | 'report' }
  | { readonly kind: 'patterns'; readonly covers: (path: string) => boolean }
  | { readonly kind: 'unread'; readonly where: string };

export type Scopes = Readonly<Partial<Record<Language, Scope>>>;

export type ListedFiles = {
  /** All of the project. */
  readonly files: readonly string[];
  /** Missing: nothing is said about that language. */
  readonly scopes: Scopes;
  /** Packages, each of which has a report of its own; where one says nothing, the project speaks for it. */
  readonly parts?: readonly { readonly directory: string; readonly scopes: Scopes }[];
};

/** `unread`: the file that may say that it does not count. */
type Unreported = { readonly path: string; readonly unread?: string };

/**
 * Paths of source that the report could name and does not. Only of languages that it is about, and where its paths are those
 * of the project: a report on what was built from the source, or of another directory, says nothing about it.
 */
export function unreportedPaths(
  { files: reported }: Coverage,
  { files, scopes, parts = [] }: ListedFiles,
): readonly Unreported[] {
  const there = new Set(files);
  const named = new Set(reported.map(({ path }) => path));
  // What is a file of the tree speaks for itself alone; other paths may be those of a part of it, or of what it is a part of.
  const others = reported.filter(({ path }) => !there.has(path));
  const ends = new Set(others.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)));
  const isNamed = (path: string) =>
    named.has(path) ||
    (ends.has(path.slice(path.lastIndexOf('/') + 1)) &&
      others.some((one) => path.endsWith(`/${one.path}`) || one.path.endsWith(`/${path}`)));
  const isTold = (language: Kind) => {
    const own = reported.filter(({ path, total }) => total > 0 && language.files.test(path));
    return own.length > 0 && 2 * own.filter(({ path }) => there.has(path)).length >= own.length;
  };
  const told = LANGUAGES.filter(isTold);
  const scopeOf = (path: string, { name }: Kind): Scope => {
    const own = parts.find(({ directory }) => path.startsWith(`${directory}/`))?.scopes[name] ?? { kind: 'open' };
    return own.kind === 'open' ? (scopes[name] ?? own) : own;
  };
  return files.flatMap((path) => {
    const language = told.find((one) => one.files.test(path));
    if (language === undefined) return [];
    const scope = scopeOf(path, language);
    if (scope.kind === 'report' || (scope.kind === 'patterns' && !scope.covers(path))) return [];
    if (!isProgram(path) || isNamed(path)) return [];
    return [scope.kind === 'unread' ? { path, unread: scope.where } : { path }];
  });
}

/** The result with the files first that are somebody's own, of those below the target. */
export function ownFirst(gate: GateResult, isOwn: (path: string) => boolean): GateResult {
  const below = gate.reach?.below ?? [];
  const own = below.filter(({ path }) => isOwn(path));
  if (own.length === 0) return gate;
  const named = [...own, ...below.filter(({ path }) => !isOwn(path))].slice(0, MAX_NAMED);
  const checks = gate.checks.map((one) => (one.check === 'coverage' ? { ...one, details: named.map(fileLine) } : one));
  return { ...gate, checks, uncoveredFiles: named.map(({ path }) => path) };
}

/** What is said of changed files that may be none that count. */
function uncountedWords(unnamed: Reach['unreported']): string {
  const places = [...new Set(unnamed.flatMap(({ unread }) => unread ?? []))];
  const count = unnamed.filter(({ unread }) => unread !== undefined).length;
  if (count === 0) return '';
  const which = `${count} changed ${count === 1 ? 'file' : 'files'} that the report does not name`;
  return `; not counted: ${which}, since which files count is said in ${places.join(', ')} in a form that is not read`;
}

/**
 * The result as it is of a change: changed source that the report does not name counts with all its lines as not reached,
 * where tests of a changed package were not run they do not pass, and lint errors that no script looks for count in changed files.
 * @param changed paths; null: it is not known what changed
 */
export function heldAgainst(
  whole: GateResult,
  changed: readonly string[] | null,
  { coverageTarget: target }: QualitySettings,
): GateResult {
  const gate = withoutOldLint(withUnrun(whole, changed), changed);
  const { reach } = gate;
  const paths = new Set(changed ?? []);
  const unnamed = (reach?.unreported ?? []).filter(({ path }) => paths.has(path)).sort((a, b) => b.lines - a.lines);
  const left = unnamed.filter(({ unread }) => unread === undefined);
  const said = uncountedWords(unnamed);
  if (reach === undefined || unnamed.length === 0) return gate;
  if (left.length === 0) {
    const checks = gate.checks.map((one) =>
      one.check === 'coverage' ? { ...one, reason: `${one.reason}${said}` } : one,
    );
    return { ...gate, checks };
  }
  const total = reach.total + left.reduce((sum, { lines }) => sum + lines, 0);
  const percent = (100 * reach.covered) / total;
  const isMet = percent >= target;
  const figure = percentText(percent);
  const which =
    left.length === 1
      ? 'a changed file that the report does not name'
      : `${left.length} changed files that the report does not name`;
  const reason = `the tests reach ${figure} of the lines, those of ${which} among them${isMet ? ` (expected ${target} %)` : `, expected ${target} %`}`;
  const checks = gate.checks.map((one) =>
    one.check !== 'coverage'
      ? one
      : {
          ...one,
          outcome: isMet ? one.outcome : ('failed' as const),
          reason: `${isMet && one.outcome === 'failed' ? one.reason : reason}${said}`,
          details: [
            ...left.map(
              ({ path, lines }) => `${path}: not in the coverage report: no test loads it (0 of ${lines} lines)`,
            ),
            ...one.details,
          ],
          figure,
        },
  );
  const uncoveredFiles = [...left.map(({ path }) => path), ...gate.uncoveredFiles];
  const { ok: _, ...rest } = gate;
  return gateResult({ ...rest, checks, coverage: percent, uncoveredFiles });
}
