// What a piece of work touches in a repository, and which team would suit it. Deterministic; says why of everything.

import { type ScoreLine, scoreOf } from './complexity.ts';
import { type Critical, criticalOf, type Domain, domainsOf, filesToChange, isCode, some } from './domains.ts';
import { findEvidence } from './evidence.ts';
import { type NamedPath, namedPaths } from './named-path.ts';
import { ownerOf } from './ownership.ts';
import { indexPaths } from './path-index.ts';
import { type Asked, readAsked } from './requirement.ts';
import { PATTERNS } from './role.ts';
import type { TeamSettings } from './settings.ts';
import { externalHintsOf, hintsOf, schemaHintsOf } from './vocabulary.ts';

/** By how many files change: fewer than 5, 5 to 20, more. */
export type Size = 'solo' | 'medium' | 'large';

export type Threshold = { readonly what: string; readonly has: number; readonly needed: number };

export type Selection = {
  readonly domains: readonly Domain[];
  /** Files that would change, those that a text names to be made among them; by path. */
  readonly files: readonly string[];
  /** As many as `files`, or, where there is no repository to read yet, an estimate from the requirements. */
  readonly fileCount: number;
  readonly isEstimate: boolean;
  readonly score: number;
  readonly scoreLines: readonly ScoreLine[];
  readonly critical: Critical;
  readonly size: Size;
  /** Of the team that would build it, if a team does. */
  readonly pattern: string;
  readonly roles: readonly string[];
  readonly thresholds: readonly Threshold[];
  /** Why that pattern. */
  readonly patternWhy: string;
  /** In their order, one line each. */
  readonly reasons: readonly string[];
};

export type SelectionInput = {
  /** A feature's words, an issue or a whole SPEC. */
  readonly text: string;
  /** The repository's tracked paths, in any order. */
  readonly files: readonly string[];
  readonly settings: TeamSettings;
  /** Paths or globs that are meant beside those that the text names. */
  readonly mentioned?: readonly string[];
};

export const SIZES = { medium: 5, large: 21 } as const;

/** With fewer files of code than this there is nothing yet to read a change from. */
export const GREENFIELD_BELOW = 5;
/** A source and its test. */
export const FILES_PER_REQUIREMENT = 2;
export function select({ text, files, settings, mentioned = [] }: SelectionInput): Selection {
  const index = indexPaths(files);
  const asked = readAsked(text);
  const named = namedPaths(
    text,
    index.entries.map((one) => one.path),
    settings.ownership,
    mentioned,
  );
  // What is named is found already; the parts of its path are no words of the text.
  const prose = (line: string) => named.reduce((rest, one) => rest.replaceAll(one.named, ' '), line);
  const pages = new Set(index.entries.filter((one) => one.area === 'documentation').map((one) => one.path));
  const lines = linesOf(asked).map((line) => (isAboutPages(line, named, pages) ? '' : prose(line)));
  const evidence = findEvidence(prose(asked.title), lines, index);
  const words = prose(text);
  const hints = hintsOf(words);
  const touched = filesToChange(named, evidence, index, hints);
  const domains = domainsOf(touched, evidence, hints, index);
  const codeFiles = index.entries.filter(({ area }) => isCode(area)).length;
  const isNew = codeFiles < GREENFIELD_BELOW;
  // Whoever has planned the files has nothing to be estimated.
  const isEstimate = isNew && mentioned.length === 0;
  const paths = touched.map((one) => one.path);
  const estimate = Math.max(1, domains.length, asked.requirements.length * FILES_PER_REQUIREMENT);
  const fileCount = Math.max(paths.length, isEstimate ? estimate : isNew ? new Set(mentioned).size : 0);
  const critical = criticalOf(words, paths);
  const { score, lines: scoreLines } = complexity(words, asked, {
    domains,
    paths,
    fileCount,
    critical,
    settings,
    isEstimate,
  });
  const size = fileCount >= SIZES.large ? 'large' : fileCount >= SIZES.medium ? 'medium' : 'solo';
  const { pattern, roles, why } = teamFor(size, critical, settings);
  const { minDomains, minFiles, minComplexity } = settings.autoSelection;
  return {
    domains,
    files: paths,
    fileCount,
    isEstimate,
    score,
    scoreLines,
    critical,
    size,
    pattern,
    roles,
    patternWhy: why,
    thresholds: [
      { what: 'domains', has: domains.length, needed: minDomains },
      { what: 'files', has: fileCount, needed: minFiles },
      { what: 'complexity', has: score, needed: minComplexity },
    ],
    reasons: [
      domains.length === 0
        ? 'no domain: nothing in the text points at a part of this repository'
        : `${counted(domains.length, 'domain')}: ${domains.map((one) => `${one.name} (${one.why})`).join('; ')}`,
      isEstimate
        ? `about ${counted(fileCount, 'file')}: an estimate from ${counted(asked.requirements.length, 'requirement')}, since there is no code to read yet`
        : `${counted(fileCount, 'file')} to change`,
      `complexity ${score} of 10: ${scoreLines.map((line) => `${line.points} ${line.why}`).join(', ')}`,
      ...(critical === null ? [] : [`critical: ${critical.feature} (${critical.why})`]),
      size === 'solo' && critical === null
        ? `${why}: one agent, unless a team is asked for (pattern ${pattern})`
        : `pattern ${pattern}${size === 'large' ? ' with a designer' : ''}: ${why}`,
    ],
  };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function linesOf({ title, requirements }: Asked): readonly string[] {
  return requirements.length === 0 ? [title] : [title, ...requirements.map((one) => one.text)];
}

const WRITING =
  /\b(?:describe|document|explain|link|list|write|rewrite|reword|clarify|mention|guides?|pages?|sections?|chapters?)\b/i;

/** A line that names pages of documentation and no other file, and says to write, asks for words, whatever they are about. */
function isAboutPages(line: string, named: readonly NamedPath[], pages: ReadonlySet<string>): boolean {
  if (!WRITING.test(line)) return false;
  const here = named.filter((one) => line.includes(one.named));
  return (
    here.length > 0 &&
    here.every(({ files }) => files.every((file) => pages.has(file) || /\.(?:mdx?|rst|adoc)$/.test(file)))
  );
}

type Found = {
  readonly domains: readonly Domain[];
  readonly paths: readonly string[];
  readonly fileCount: number;
  readonly critical: Critical;
  readonly settings: TeamSettings;
  readonly isEstimate: boolean;
};

function complexity(text: string, { requirements }: Asked, found: Found) {
  const { domains, paths, critical, settings, fileCount, isEstimate } = found;
  const names = new Set(domains.map((one) => one.name));
  const layers = (['frontend', 'backend', 'database'] as const).filter((one) => names.has(one));
  const schema = names.has('database') ? schemaHintsOf(text) : [];
  const external = externalHintsOf(text);
  const shared = paths.filter((path) => ownerOf(path, settings.ownership).owner === 'shared');
  return scoreOf(
    {
      domains: domains.length,
      files: fileCount,
      layers: layers.length,
      critical: critical === null ? 0 : 1,
      schema: Math.min(1, schema.length),
      external: Math.min(1, external.length),
      requirements: requirements.length,
      shared: shared.length,
    },
    {
      domains: `${domains.length} (${domains.map((one) => one.name).join(', ')})`,
      files: `${fileCount}${isEstimate ? ', estimated' : ''}`,
      layers: layers.join(', '),
      ...(critical === null ? {} : { critical: critical.feature }),
      schema: schema.map((one) => `"${one}"`).join(', '),
      external: external.map((one) => `"${one}"`).join(', '),
      shared: some(shared),
    },
  );
}

/** The roles of a pattern, as the settings have them, else as the program brings them; none for a name that nobody knows. */
export function rolesOf(pattern: string, settings: TeamSettings): readonly string[] {
  if (Object.hasOwn(settings.patterns, pattern)) return settings.patterns[pattern] ?? [];
  return Object.values(PATTERNS).find((one) => one.name === pattern)?.roles ?? [];
}

function teamFor(size: Size, critical: Critical, settings: TeamSettings) {
  const pattern = size === 'large' || critical !== null ? 'quality_gate' : 'implementation';
  const roles = rolesOf(pattern, settings);
  const withDesigner = size === 'large' && !roles.includes('designer');
  const why =
    size === 'large'
      ? `more than ${SIZES.large - 1} files`
      : critical !== null
        ? `${critical.feature} is critical`
        : size === 'medium'
          ? `${SIZES.medium} to ${SIZES.large - 1} files`
          : `fewer than ${SIZES.medium} files`;
  return { pattern, roles: withDesigner ? beforeTester(roles) : roles, why };
}

function beforeTester(roles: readonly string[]): readonly string[] {
  const at = roles.indexOf('tester');
  return at === -1 ? [...roles, 'designer'] : [...roles.slice(0, at), 'designer', ...roles.slice(at)];
}
