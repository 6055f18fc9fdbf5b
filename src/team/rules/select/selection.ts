// The figures of a piece of work, each with its source, and the team that suits it. The same input gives the same answer.

import picomatch from 'picomatch';
import { DOMAINS, type DomainName } from '../../../guard/rules/areas.ts';
import { insideProject, matcherOf } from '../../../guard/rules/ownership.ts';
import { PATTERNS } from '../role.ts';
import type { TeamSettings } from '../settings.ts';
import { type ScoreLine, scoreOf } from './complexity.ts';
import { areasIn, askedOf, type Critical, criticalIn, namedIn } from './named-files.ts';

/** By how many files change: fewer than 5, 5 to 20, more. */
export type Size = 'solo' | 'medium' | 'large';

export type FigureName = 'domains' | 'files' | 'complexity';

/** `value` null: not known, `source` says why. */
export type Figure = { readonly value: number | null; readonly source: string };

export type Threshold = Figure & { readonly what: FigureName; readonly needed: number };

export type Selection = {
  readonly figures: Readonly<Record<FigureName, Figure>>;
  /** Of the plan or of the named paths, whatever the figure was set to. */
  readonly domains: readonly DomainName[];
  /** Of the plan or named in the text, whatever the figure was set to; by path. */
  readonly files: readonly string[];
  /** The sum of the complexity; empty where it is not known or was set. */
  readonly scoreLines: readonly ScoreLine[];
  readonly critical: Critical;
  /** Null: the number of files is not known. */
  readonly size: Size | null;
  /** Of the team that would build it, if a team does. */
  readonly pattern: string;
  readonly roles: readonly string[];
  readonly thresholds: readonly Threshold[];
  /** Why that pattern. */
  readonly patternWhy: string;
};

/** The fields of a plan's task that figures are counted from. */
export type PlannedTask = {
  /** Paths and globs from the project's root. */
  readonly files: readonly string[];
  readonly domain: string;
  readonly dependsOn: readonly string[];
};

export type SelectionInput = {
  /** A feature's words, an issue or a whole SPEC. */
  readonly text: string;
  /** The repository's tracked paths, in any order. */
  readonly files: readonly string[];
  readonly settings: TeamSettings;
  /** The tasks of the SPEC's plan; null: there is none, and the text is read. */
  readonly plan?: readonly PlannedTask[] | null;
  /** Figures that the user set. */
  readonly set?: Readonly<Partial<Record<FigureName, number>>>;
};

export const SIZES = { medium: 5, large: 21 } as const;

type Known = {
  readonly domains: readonly DomainName[];
  readonly domainsFrom: string;
  readonly files: readonly string[];
  readonly filesFrom: string;
  /** How often a task of the plan depends on another; null: there is no plan. */
  readonly dependencies: number | null;
};

/** A pattern stands for the files that it matches; a path, and a pattern that matches none, for itself. */
function filesOfPlan(tasks: readonly PlannedTask[], files: readonly string[]): readonly string[] {
  const tracked = new Set(files);
  const found = new Set<string>();
  for (const named of tasks.flatMap((task) => task.files)) {
    const path = insideProject(named) ?? named;
    const isPattern = !tracked.has(path) && picomatch.scan(path).isGlob;
    const matches = isPattern ? files.filter(matcherOf(path)) : [];
    for (const file of matches.length > 0 ? matches : [path]) found.add(file);
  }
  return [...found].sort();
}

function knownFromPlan(tasks: readonly PlannedTask[], files: readonly string[]): Known {
  return {
    domains: DOMAINS.filter((name) => tasks.some(({ domain }) => domain === name)),
    domainsFrom: 'plan.md',
    files: filesOfPlan(tasks, files),
    filesFrom: 'plan.md',
    dependencies: tasks.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0),
  };
}

function knownFromText(text: string, files: readonly string[]): Known {
  const named = namedIn(text, files);
  const areas = areasIn(named, files);
  const domains = DOMAINS.filter((name) => areas.includes(name));
  return {
    domains,
    domainsFrom: domains.length > 0 ? 'the paths in the text' : 'the text names no file and no directory that exists',
    files: named.files,
    filesFrom: named.files.length > 0 ? 'the paths in the text' : 'the text names no file that exists',
    dependencies: null,
  };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  if (names.length === 0) return '';
  return `: ${shown}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`;
}

/** @param names nothing counted is not known: the text may be about more than it names */
function figureOf(name: FigureName, set: number | undefined, names: readonly string[], from: string): Figure {
  if (set !== undefined) return { value: set, source: `set by --${name}` };
  return { value: names.length === 0 ? null : names.length, source: `${from}${listed(names)}` };
}

export function select({ text, files, settings, plan = null, set = {} }: SelectionInput): Selection {
  const asked = askedOf(text);
  const known = plan === null ? knownFromText(asked, files) : knownFromPlan(plan, files);
  const critical = criticalIn(asked, known.files);
  const domains = figureOf('domains', set.domains, known.domains, known.domainsFrom);
  const fileCount = figureOf('files', set.files, known.files, known.filesFrom);
  const isKnown = domains.value !== null || fileCount.value !== null;
  const { score, lines } = scoreOf({
    domains: domains.value,
    files: fileCount.value,
    dependencies: known.dependencies,
    critical: critical === null ? 0 : 1,
  });
  const complexity =
    set.complexity !== undefined
      ? figureOf('complexity', set.complexity, [], '')
      : isKnown
        ? { value: score, source: sumOf(lines) }
        : { value: null, source: 'neither files nor domains are known' };
  const size = sizeOf(fileCount.value);
  const { pattern, roles, why } = teamFor(size, critical, settings);
  const { minDomains, minFiles, minComplexity } = settings.autoSelection;
  return {
    figures: { domains, files: fileCount, complexity },
    domains: known.domains,
    files: known.files,
    scoreLines: isKnown && set.complexity === undefined ? lines : [],
    critical,
    size,
    pattern,
    roles,
    patternWhy: why,
    thresholds: [
      { what: 'domains', ...domains, needed: minDomains },
      { what: 'files', ...fileCount, needed: minFiles },
      { what: 'complexity', ...complexity, needed: minComplexity },
    ],
  };
}

function sumOf(lines: readonly ScoreLine[]): string {
  const counted = lines.filter(({ points }) => points !== 0);
  return counted.map(({ points, why }) => `${points} ${why}`).join(' + ');
}

function sizeOf(files: number | null): Size | null {
  if (files === null) return null;
  return files >= SIZES.large ? 'large' : files >= SIZES.medium ? 'medium' : 'solo';
}

/** The roles of a pattern, as the settings have them, else as the program brings them; none for a name that nobody knows. */
export function rolesOf(pattern: string, settings: TeamSettings): readonly string[] {
  if (Object.hasOwn(settings.patterns, pattern)) return settings.patterns[pattern] ?? [];
  return Object.values(PATTERNS).find((one) => one.name === pattern)?.roles ?? [];
}

const SIZE_WORDS: Readonly<Record<Size, string>> = {
  solo: `fewer than ${SIZES.medium} files`,
  medium: `${SIZES.medium} to ${SIZES.large - 1} files`,
  large: `more than ${SIZES.large - 1} files`,
};

function teamFor(size: Size | null, critical: Critical, settings: TeamSettings) {
  const pattern = size === 'large' || critical !== null ? 'quality_gate' : 'implementation';
  const roles = rolesOf(pattern, settings);
  const withDesigner = size === 'large' && !roles.includes('designer');
  const bySize = size === null ? 'the number of files is unknown' : SIZE_WORDS[size];
  const why = critical !== null && size !== 'large' ? `${critical.feature} is critical` : bySize;
  return { pattern, roles: withDesigner ? beforeTester(roles) : roles, why };
}

function beforeTester(roles: readonly string[]): readonly string[] {
  const at = roles.indexOf('tester');
  return at === -1 ? [...roles, 'designer'] : [...roles.slice(0, at), 'designer', ...roles.slice(at)];
}
