// TRUST 5: five scores of finished work, each made of facts that were measured; docs/quality.md says how.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { oneLine } from '../../base/rules/text.ts';
import { GATE_CODES } from './gate-codes.ts';
import {
  type CheckOutcome,
  type CheckResult,
  type Commanded,
  DIMENSIONS,
  type Dimension,
  type GateResult,
  type QualitySettings,
} from './quality.ts';
import type {
  CommandFacts,
  CommitFact,
  CommitFacts,
  Finding,
  SecretFacts,
  Unmeasured,
  WrittenFacts,
} from './trust5-facts.ts';

export type Trust5Facts = {
  readonly gate: Pick<GateResult, 'checks' | 'coverage'>;
  readonly format: CommandFacts | Unmeasured;
  readonly complexity: CommandFacts | Unmeasured;
  readonly secrets: SecretFacts | Unmeasured;
  /** What says which part of the work is for which task. */
  readonly commits: CommitFacts | WrittenFacts | Unmeasured;
};

export type DimensionResult = {
  readonly dimension: Dimension;
  readonly state: CheckOutcome;
  /** From 0 to 5, of the parts that were measured; null when none was, or a required one was not. */
  readonly score: number | null;
  /** One line for each part: what was found, or why nothing was. */
  readonly figures: readonly string[];
  /** The commands and files that the figures are from. */
  readonly source: string;
  readonly findings: readonly Finding[];
};

export type Trust5 = {
  readonly dimensions: readonly DimensionResult[];
  /** The mean of the scores; null when there is none. */
  readonly score: number | null;
  readonly ok: boolean;
  /** Findings of the audit, and secrets; null when neither was measured. */
  readonly securityIssues: number | null;
};

/** What a team's log keeps of it. */
export type Trust5Summary = Omit<Trust5, 'dimensions'> & {
  readonly dimensions: readonly Omit<DimensionResult, 'findings'>[];
};

/** A part of a dimension, which has one or two. */
type Part = {
  /** What `quality.required` calls it; missing: it names no such part. */
  readonly name?: Commanded;
  readonly outcome: CheckOutcome;
  /** How much of it is as it should be, from 0 to 1. */
  readonly share: number;
  /** When it fails, so does its dimension, whatever the score. */
  readonly isHard: boolean;
  /** It fails as it did before: nobody is to make it measurable. */
  readonly isOld?: true;
  readonly figure: string;
  readonly source: string | null;
  readonly findings: readonly Finding[];
};

/** What is said of a file that nobody wrote for a task, as far as the team's log tells. */
export const UNDER_NO_TASK = 'changed under no task that the log knows';

/** One decimal, never rounded up: 5 is a whole one. */
function score(value: number): number {
  return Math.floor(value * 10 + 1e-9) / 10;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? '' : 's'}`;
}

function unmeasured(part: string, why: string): Part {
  return {
    outcome: 'not_measured',
    share: 0,
    isHard: false,
    figure: textOf(refusal(GATE_CODES.part_not_measured, { part, why })),
    source: null,
    findings: [],
  };
}

/** A part of which a share may be missing. */
function sharedPart(
  share: number,
  part: { readonly figure: string; readonly source: string; readonly findings: readonly Finding[] },
): Part {
  return { outcome: share >= 1 ? 'passed' : 'failed', share, isHard: false, ...part };
}

const PLACE = /^((?:\.\/)?[^\s:()]+\.\w+)[:(](\d+)(?:[:,]\d+)?\)?:?\s*(.*)$/;

/** A line of a tool's output as a finding, with its place where it begins with one. */
function findingOf(text: string): Finding {
  const [, path, line, words] = PLACE.exec(text.trim()) ?? [];
  if (path === undefined) return { path: null, line: null, words: oneLine(text) };
  return { path: path.replace(/^\.\//, ''), line: Number(line), words: oneLine(words || text) };
}

/** A check of the gate as a part; what failed has none of its share, unless `share` says so. */
function checkPart(checks: readonly CheckResult[], name: CheckResult['check'], share = 0): Part {
  const found = checks.find(({ check }) => check === name);
  if (found === undefined || found.outcome === 'not_measured')
    return unmeasured(name, found?.reason ?? 'it was not run');
  const { outcome, reason, details, command } = found;
  if (outcome === 'old_failure')
    return {
      ...unmeasured(name, ''),
      figure: `${name}: old failure: ${oneLine(reason)}`,
      source: command,
      isOld: true,
    };
  const hasFailed = outcome !== 'passed';
  return {
    outcome,
    share: hasFailed ? Math.min(share, 0.99) : 1,
    isHard: true,
    figure: `${name}: ${oneLine(reason)}`,
    source: command,
    findings: hasFailed ? (details.length > 0 ? details.map(findingOf) : [findingOf(reason)]) : [],
  };
}

function commandPart(name: string, facts: CommandFacts | Unmeasured): Part {
  if ('unmeasured' in facts) return unmeasured(name, facts.unmeasured);
  const { source, files, findings } = facts;
  const whole = findings.find(({ path }) => path === null);
  if (whole !== undefined) return sharedPart(0, { figure: `${name}: ${oneLine(whole.words)}`, source, findings });
  const good = Math.max(0, files - new Set(findings.map(({ path }) => path)).size);
  const figure = `${name}: ${good} of ${count(files, 'changed file')} without a finding`;
  return sharedPart(files === 0 ? 1 : good / files, { figure, source, findings });
}

function secretsPart(facts: SecretFacts | Unmeasured): Part {
  if ('unmeasured' in facts) return unmeasured('secrets', facts.unmeasured);
  const { source, lines, allowed, findings } = facts;
  const more = allowed === 0 ? '' : `, and ${allowed} allowed (quality.secrets)`;
  const figure = `secrets: ${findings.length} in ${count(lines, 'added line')}${more}`;
  return { ...sharedPart(findings.length === 0 ? 1 : 0, { figure, source, findings }), isHard: true };
}

function commitFinding({ id, subject, path }: CommitFact, lack: string): Finding {
  return { path, line: null, words: `commit ${id} (${oneLine(subject, 72)}) ${lack}` };
}

function writtenPart({ source, written, spec }: WrittenFacts): Part {
  if ('unmeasured' in written) return unmeasured('files', written.unmeasured);
  if (written.length === 0) return unmeasured('files', 'nothing was changed');
  const loose = written.filter(({ task }) => task === null);
  const tied = written.length - loose.length;
  return sharedPart(tied / written.length, {
    figure: `files: ${tied} of ${written.length} written under a task${spec === null ? '' : ` of ${spec}`}`,
    source,
    findings: loose.map(({ path }) => ({ path, line: null, words: UNDER_NO_TASK })),
  });
}

function originParts(facts: Trust5Facts['commits']): readonly Part[] {
  return 'written' in facts ? [writtenPart(facts)] : commitParts(facts);
}

/** Said where nothing but a person's commits is there. */
const PERSONS_COUNT = 'a commit of your own counts when';

function personsWords({ spec, tasks }: CommitFacts): string {
  const ids = tasks === null || tasks.length === 0 ? '' : ` (${tasks.join(', ')})`;
  const both = spec === null ? '' : `, and names ${spec}`;
  return `${PERSONS_COUNT} its message has \`Task: <id>\` on a line of its own${ids}${both}: git commit --amend`;
}

function commitParts(facts: CommitFacts | Unmeasured): readonly Part[] {
  if ('unmeasured' in facts) return [unmeasured('commits', facts.unmeasured)];
  const { source, spec } = facts;
  // What a person has committed is held to no rule of the team's, and counts where it says what it is for.
  const isTied = ({ task, namesSpec }: CommitFact) => task !== null && (spec === null || namesSpec);
  const commits = facts.commits.filter((commit) => commit.isTeams || isTied(commit));
  const left = facts.commits.length - commits.length;
  const others = left === 0 ? '' : `; ${left} by nobody of the team, not counted`;
  if (commits.length === 0) {
    const how = left === 0 ? '' : `; ${personsWords(facts)}`;
    return [unmeasured('commits', `there is no commit of the team${others}${how}`)];
  }
  const part = (loose: readonly CommitFact[], name: string) => {
    const tied = commits.length - loose.length;
    return sharedPart(tied / commits.length, {
      figure: `commits: ${tied} of ${commits.length} ${tied === 1 ? 'names' : 'name'} ${name}${others}`,
      source,
      findings: loose.map((commit) => commitFinding(commit, `does not name ${name}`)),
    });
  };
  const tasks = part(
    commits.filter(({ task }) => task === null),
    'a task',
  );
  if (spec === null) return [tasks];
  return [
    tasks,
    part(
      commits.filter(({ namesSpec }) => !namesSpec),
      spec,
    ),
  ];
}

/** Begins what is said of parts that are not measured and have to be. */
const REQUIRED = 'quality.required names';

function judge(
  dimension: Dimension,
  parts: readonly Part[],
  { required, trust5: { minScore } }: QualitySettings,
): DimensionResult {
  const measured = parts.filter(({ outcome }) => outcome !== 'not_measured');
  const reached = measured.length === 0 ? null : score(5 * mean(measured.map(({ share }) => share)));
  const isBroken = measured.some(({ outcome, isHard }) => isHard && outcome === 'failed');
  const isBelow = reached !== null && reached < minScore;
  const hasFailed = isBroken || isBelow;
  const lacking = parts.flatMap(({ name, outcome, isOld }) =>
    name !== undefined && outcome === 'not_measured' && isOld !== true && required.includes(name) ? [name] : [],
  );
  const isUnmeasured = measured.length === 0 || lacking.length > 0;
  const state = hasFailed ? 'failed' : isUnmeasured ? 'not_measured' : 'passed';
  return {
    dimension,
    state,
    score: state === 'not_measured' ? null : reached,
    figures: [
      ...parts.map(({ figure }) => figure),
      ...(isBelow && !isBroken ? [`expected at least ${minScore}`] : []),
      ...(lacking.length > 0 ? [`${REQUIRED} ${lacking.join(' and ')}`] : []),
    ],
    source: [...new Set(parts.flatMap(({ source }) => source ?? []))].join('; ') || 'nothing',
    findings: parts.flatMap(({ findings }) => findings),
  };
}

function securityIssues(checks: readonly CheckResult[], secrets: Trust5Facts['secrets']): number | null {
  const audit = checks.find(({ check }) => check === 'security');
  const found =
    audit === undefined || audit.outcome === 'not_measured'
      ? null
      : audit.outcome === 'passed'
        ? 0
        : Math.max(1, audit.details.length);
  const known = [...(found === null ? [] : [found]), ...('unmeasured' in secrets ? [] : [secrets.findings.length])];
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0);
}

/** The scores. What is not measured neither passes nor fails, unless `quality.required` names it; something has to be measured. */
export function trust5Of(facts: Trust5Facts, settings: QualitySettings): Trust5 {
  const { checks, coverage } = facts.gate;
  const { coverageTarget: target } = settings;
  const reached = coverage === null ? 0 : target === 0 ? 1 : Math.min(1, coverage / target);
  const covered = checkPart(checks, 'coverage', reached);
  // Nothing is asked of it: its share is that of any figure.
  const isWaived = target === 0 && covered.outcome === 'not_measured';
  const parts: Readonly<Record<Dimension, readonly Part[]>> = {
    tested: [
      { name: 'tests', ...checkPart(checks, 'tests') },
      { name: 'coverage', ...covered, ...(isWaived ? { outcome: 'passed', share: 1 } : {}) },
    ],
    readable: [
      { name: 'lint', ...checkPart(checks, 'lint') },
      { name: 'complexity', ...commandPart('complexity', facts.complexity) },
    ],
    unified: [{ name: 'format', ...commandPart('formatter', facts.format) }],
    secured: [{ name: 'security', ...checkPart(checks, 'security') }, secretsPart(facts.secrets)],
    trackable: originParts(facts.commits),
  };
  const dimensions = DIMENSIONS.map((dimension) => judge(dimension, parts[dimension], settings));
  const scores = dimensions.flatMap((one) => one.score ?? []);
  return {
    dimensions,
    score: scores.length === 0 ? null : score(mean(scores)),
    ok: scores.length > 0 && !dimensions.some(isInTheWay),
    securityIssues: securityIssues(checks, facts.secrets),
  };
}

/** Whether it keeps TRUST 5 from being passed. */
export function isInTheWay({ state, figures }: Pick<DimensionResult, 'state' | 'figures'>): boolean {
  return state === 'failed' || (state === 'not_measured' && figures.some((figure) => figure.startsWith(REQUIRED)));
}

export function summaryOf({ dimensions, ...rest }: Trust5): Trust5Summary {
  return { ...rest, dimensions: dimensions.map(({ findings: _, ...one }) => one) };
}

/** One line for each dimension, and one for all: for a report, a screen, an agent. */
export function trust5Lines({ dimensions, score: total, ok }: Trust5Summary): readonly string[] {
  const words = (value: number | null) => (value === null ? '–' : value.toFixed(1));
  return [
    ...dimensions.map(
      ({ dimension, state, score: one, figures, source }) =>
        `${dimension.padEnd(9)} ${words(one).padStart(3)} ${state.replace('_', ' ').padEnd(12)} ${figures.join('; ')} [${source}]`,
    ),
    `TRUST 5   ${words(total).padStart(3)} ${ok ? 'passed' : `not passed: ${dimensions.filter(isInTheWay).map(nameOf).join(', ') || 'nothing is measured'}`}`,
  ];
}

type Summed = Trust5Summary['dimensions'][number];

function nameOf({ dimension, state }: Summed): string {
  return `${dimension} ${state.replace('_', ' ')}`;
}

/** In one line why it is not passed: what failed, with its figures, and what is not measured. */
export function trust5Reason({ dimensions }: Trust5Summary): string {
  const parts = dimensions
    .filter(isInTheWay)
    .map((one) => (one.state === 'failed' ? `${nameOf(one)} (${one.figures.join('; ')})` : nameOf(one)));
  const values = { dimensions: parts.join(', ') || 'nothing is measured' };
  return textOf(refusal(GATE_CODES.trust5_not_passed, values));
}
