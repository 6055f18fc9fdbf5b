// Changed source that a coverage report does not name: it counts with all its lines as not reached.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { type Coverage, fileLine, isTestFile, MAX_NAMED, percentText } from './coverage.ts';
import { GATE_CODES } from './gate-codes.ts';
import { isGeneratedPath, isMarkedGenerated } from './generated-code.ts';
import { type GateResult, gateResult, type QualitySettings } from './quality.ts';

/** Declarations, settings of tools, and what is copied into the project: no test is for them. */
const BESIDE =
  /\.d\.[cm]?ts$|\.(?:config|bench|stories)\.\w+$|^(?:scripts?|tools?|bin|bench(?:es|marks?)?|examples?|docs?)\/|(?:^|\/)(?:\.|vendor\/|third_party\/|fixtures?\/|__mocks__\/|dist\/|build\/)|(?:^|\/)(?:setup|manage|noxfile|build)\.(?:py|rs)$/;
/** Its author says that it is measured otherwise. */
const LEFT_OUT =
  /\b(?:c8|v8|istanbul) ignore\b|\bnode:coverage (?:disable|ignore)\b|pragma: no cover|^\/\/go:build |^\/\/ ?\+build /m;
const SCRIPT = /\.[cm]?[jt]sx?$/;
/** A line of a script that does something. */
const RUNS =
  /^(?!\s*(?:export\s+)?(?:declare|type|interface|import)\b).*(?:\b(?:function|class|enum|new|throw)\b|=>|\w\()/m;

/** A shape has members that look like calls, and nothing that runs. */
function withoutTypes(text: string): string {
  return text
    .replace(/^(?:export\s+)?(?:declare\s+)?(?:interface\b|type\s[^;{]*\{[ \t]*$)[\s\S]*?^\}[^\n]*$/gm, '')
    .replace(/^(?:export\s+)?(?:declare\s+)?type\s[^;]*;$/gm, '');
}

function endingOf(path: string): string {
  return /[^/](\.[^./]+)$/.exec(path)?.[1] ?? '';
}

/** How many lines of a file a test could reach; 0 where it is not for tests. */
export function reachableLines(path: string, text: string): number {
  if (LEFT_OUT.test(text) || isMarkedGenerated(text)) return 0;
  const bare = text.replace(/\/\*[\s\S]*?\*\//g, '');
  const code = (/\.[cm]?tsx?$/.test(path) ? withoutTypes(bare) : bare)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*(?:\/\/|#(?!\[))/.test(line));
  return SCRIPT.test(path) && !RUNS.test(code.join('\n')) ? 0 : code.length;
}

/**
 * Source that the report could name and does not: files of an ending that it knows. An ending counts where the report's
 * paths are those of the project: a report on built code says nothing about its source.
 */
export function unreportedPaths({ files: reported }: Coverage, files: readonly string[]): readonly string[] {
  const there = new Set(files);
  const named = new Set(reported.map(({ path }) => path));
  const isKnown = new Map<string, boolean>();
  for (const ending of new Set(reported.map(({ path }) => endingOf(path)))) {
    const own = reported.filter(({ path, total }) => total > 0 && endingOf(path) === ending);
    isKnown.set(ending, own.length > 0 && 2 * own.filter(({ path }) => there.has(path)).length >= own.length);
  }
  return files.filter((path) => {
    if (named.has(path) || isKnown.get(endingOf(path)) !== true) return false;
    return !isTestFile(path) && !isGeneratedPath(path) && !BESIDE.test(path);
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

/**
 * The coverage result of a change: changed source that the report does not name counts as 0 %.
 * @param changed paths; null: it is not known what changed
 */
export function coverageOfChange(
  gate: GateResult,
  changed: readonly string[] | null,
  { coverageTarget: target }: QualitySettings,
): GateResult {
  const { reach } = gate;
  const paths = new Set(changed ?? []);
  const left = (reach?.unreported ?? []).filter(({ path }) => paths.has(path)).sort((a, b) => b.lines - a.lines);
  if (reach === undefined || left.length === 0) return gate;
  const total = reach.total + left.reduce((sum, { lines }) => sum + lines, 0);
  const percent = (100 * reach.covered) / total;
  const isMet = percent >= target;
  const figure = percentText(percent);
  const unreported =
    left.length === 1
      ? 'a changed file that the report does not name'
      : `${left.length} changed files that the report does not name`;
  const reason = isMet
    ? `the tests reach ${figure} of the lines, those of ${unreported} among them (expected ${target} %)`
    : textOf(refusal(GATE_CODES.coverage_below_target, { reached: figure, target, unreported }));
  const checks = gate.checks.map((one) =>
    one.check !== 'coverage'
      ? one
      : {
          ...one,
          outcome: isMet ? one.outcome : ('failed' as const),
          reason: isMet && one.outcome === 'failed' ? one.reason : reason,
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
