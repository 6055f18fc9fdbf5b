// What is asked of whom when the gate does not pass: messages and tasks, never for somebody who only reads.

import { type CheckResult, type GateResult, isForLackOfTests, type QualitySettings } from '../quality.ts';
import { oneLine, visibleLines } from '../text.ts';
import { type DimensionResult, isFine, type Trust5, UNDER_NO_TASK } from '../trust5.ts';
import type { Finding } from '../trust5-facts.ts';
import { areaOf, subjectOf } from './areas.ts';
import type { Content, MessageType } from './message.ts';
import { type Ownership, ownerOf, SHARED } from './ownership.ts';

export type RemedyMessage = { readonly to: string; readonly type: MessageType; readonly content: Content };

export type RemedyTask = {
  readonly subject: string;
  readonly description: string;
  readonly owner: string;
  /** Each its owner's, or nobody's. */
  readonly files: readonly string[];
};

export type Remedies = {
  readonly messages: readonly RemedyMessage[];
  readonly tasks: readonly RemedyTask[];
  /** What nobody of the team can mend: one line each, for the user. */
  readonly notes: readonly string[];
};

export type RemedyInput = {
  readonly gate: GateResult;
  /** null: it was not measured. */
  readonly trust5: Trust5 | null;
  readonly settings: QualitySettings;
  readonly ownership: readonly Ownership[];
  /** Names of those who write in the team, whether or not anybody plays them now. */
  readonly writers: readonly string[];
  /** Names of those who begin nothing any more: they are asked for what is theirs alone. */
  readonly spent: ReadonlySet<string>;
  /** The repository's tracked paths. */
  readonly files: readonly string[];
};

const BACKEND = 'backend-dev';
const TESTER = 'tester';
/** So many lines of what was found stand in one message or task. */
const SHOWN = 20;

function isTestPath(path: string): boolean {
  return areaOf(path, []) === 'tests';
}

/** The member that a role's work goes to: the role's own, else who builds, else whoever writes. */
function memberFor(role: string | null, { writers, spent }: Pick<RemedyInput, 'writers' | 'spent'>): string | null {
  if (role !== null && writers.includes(role)) return role;
  const able = writers.filter((name) => !spent.has(name));
  return able.find((name) => name === BACKEND) ?? able[0] ?? null;
}

/** Whose a path is among those who write; a test that is nobody's is the tester's. */
function writerOf(path: string | null, input: RemedyInput): string | null {
  if (path === null) return memberFor(null, input);
  const { owner } = ownerOf(path, input.ownership);
  return memberFor(owner === null || owner === SHARED ? (isTestPath(path) ? TESTER : null) : owner, input);
}

function grouped<T>(items: readonly T[], ownerOfItem: (item: T) => string | null): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const owner = ownerOfItem(item);
    if (owner !== null) groups.set(owner, [...(groups.get(owner) ?? []), item]);
  }
  return groups;
}

function lines(all: readonly string[]): string {
  const more = all.length > SHOWN ? [`… and ${all.length - SHOWN} more`] : [];
  return visibleLines([...all.slice(0, SHOWN), ...more].map((line) => `- ${oneLine(line)}`).join('\n'));
}

/** A path in the words for a failing test, as runners write it: `shouts (test/greet.test.js:7:1)`. */
function pathIn(text: string, files: readonly string[]): string | null {
  const words = text.split(/[\s()[\]'",:]+|::/).map((word) => word.replace(/^(?:\.\/)+/, ''));
  return words.find((word) => files.includes(word)) ?? null;
}

/** The source that a failing test is about: the file that is called like it, the nearest one first; null when there is none. */
function sourceOfTest(test: string, files: readonly string[]): string | null {
  const path = pathIn(test, files);
  if (path === null) return null;
  if (!isTestPath(path)) return path;
  const subject = subjectOf(path);
  const parts = path.split('/');
  const shared = (other: string) => {
    const there = other.split('/');
    const differs = parts.findIndex((part, index) => part !== there[index]);
    return differs === -1 ? parts.length : differs;
  };
  const close = files.filter((file) => file !== path && !isTestPath(file) && subjectOf(file) === subject);
  return [...close].sort((a, b) => shared(b) - shared(a) || a.length - b.length)[0] ?? null;
}

function testRemedies(check: CheckResult, input: RemedyInput): Partial<Remedies> {
  const { files } = input;
  if (isForLackOfTests(check)) {
    const owner = memberFor(TESTER, input);
    const description = `The gate finds no tests: ${check.reason}. Write tests that it runs.`;
    return owner === null
      ? {}
      : { tasks: [{ subject: 'Write tests that the gate runs', description, owner, files: [] }] };
  }
  const failing = check.details.length === 0 ? [check.reason] : check.details;
  const owners = grouped(failing, (test) => {
    const source = sourceOfTest(test, files);
    return writerOf(source, input);
  });
  const messages = [...owners].map(([to, tests]) => ({
    to,
    type: 'bug_report' as const,
    content: {
      test: lines(tests),
      expected: `every test passes: ${check.command}`,
      actual: oneLine(check.reason, 400),
    },
  }));
  return { messages };
}

function coverageRemedies(check: CheckResult, input: RemedyInput): Partial<Remedies> {
  const { gate, settings } = input;
  const to = memberFor(TESTER, input);
  if (to === null) return {};
  if (gate.coverage === null) {
    const description = `The coverage cannot be measured: ${check.reason}. Make it measurable, or have its command or its report named in quality of .tool/config/workflow.yaml.`;
    return { tasks: [{ subject: 'Make the coverage measurable', description, owner: to, files: [] }] };
  }
  const content = {
    current: gate.coverage,
    required: settings.coverageTarget,
    uncoveredFiles: gate.uncoveredFiles.slice(0, SHOWN),
  };
  return { messages: [{ to, type: 'coverage_required', content }] };
}

function place({ path, line, words }: Finding): string {
  return path === null || words.includes(path) ? words : `${path}${line === null ? '' : `:${line}`}: ${words}`;
}

/** One task for each who owns files with findings. */
function tasksFor(
  findings: readonly Finding[],
  words: { readonly subject: string; readonly step: string; readonly again: string },
  input: RemedyInput,
): readonly RemedyTask[] {
  const { subject, step, again } = words;
  return [...grouped(findings, ({ path }) => writerOf(path, input))].map(([owner, own]) => ({
    subject,
    description: `${step}\n${lines(own.map(place))}\nThe gate measured it with: ${again}`,
    owner,
    files: [...new Set(own.flatMap(({ path }) => path ?? []))].filter((path) => {
      const { owner: whose } = ownerOf(path, input.ownership);
      return whose === null || whose === SHARED || whose === owner;
    }),
  }));
}

/** What the gate alone measures, as findings. */
function checkTasks(check: CheckResult, input: RemedyInput): readonly RemedyTask[] {
  const texts = check.details.length === 0 ? [check.reason] : check.details;
  const findings = texts.map((text) => ({ path: pathIn(text, input.files), line: null, words: text }));
  // What names no file goes with what does: a linter's summary is nobody's alone.
  const placed = findings.filter(({ path }) => path !== null);
  const words = {
    lint: { subject: 'Mend what the linter reports', step: 'The linter reports errors. Mend them:' },
    security: { subject: 'Remove the security findings', step: 'The audit has findings. Remove them:' },
    performance: { subject: 'Bring the commands within their budgets', step: 'Commands take longer than they may:' },
  };
  const { check: name } = check;
  if (name === 'tests' || name === 'coverage') return [];
  const again = check.command ?? 'nothing; see the reason';
  return tasksFor(placed.length > 0 ? placed : findings, { ...words[name], again }, input);
}

const STEPS = {
  readable: {
    subject: 'Make functions simpler',
    step: 'These functions take more decisions than they may. Make them simpler, for example by parts of their own:',
  },
  unified: {
    subject: 'Format the changed files',
    step: 'These files are not as the formatter leaves them. Format them:',
  },
  secured: {
    subject: 'Take secrets out of the change',
    step: 'These places hold what looks like a secret. Take it out, read it from the environment, and have it revoked:',
  },
  trackable: {
    subject: 'Name the task in every commit',
    step: 'These commits do not say what they are for. Every commit needs a trailer `Task: <id>`, and the SPEC where there is one:',
  },
} as const;

/** The same as `trackable` where there are no commits: whoever completes the task answers for what it names. */
const LOOSE_FILES = {
  subject: 'Answer for files that were changed under no task',
  step: 'Nobody was at a task when these files were changed. Look at each: take back what nobody asked for, keep what belongs to the work. With this task they count as done for it:',
} as const;

function stepsOf({ dimension, findings }: DimensionResult & { readonly dimension: keyof typeof STEPS }) {
  return findings.some(({ words }) => words === UNDER_NO_TASK) ? LOOSE_FILES : STEPS[dimension];
}

/** Of a dimension, what the checks of the gate do not ask for already. */
function dimensionTasks(
  result: DimensionResult,
  checks: readonly CheckResult[],
  input: RemedyInput,
): readonly RemedyTask[] {
  const { dimension, findings, source } = result;
  if (dimension === 'tested') return [];
  const asked = new Set(
    checks.filter(({ outcome }) => outcome === 'failed').flatMap(({ reason, details }) => [reason, ...details]),
  );
  const isAsked = (finding: Finding) =>
    [...asked].some(
      (text) => oneLine(text).endsWith(finding.words) && (finding.path === null || text.includes(finding.path)),
    );
  return tasksFor(
    findings.filter((finding) => finding.heldBy === undefined && !isAsked(finding)),
    { ...stepsOf({ ...result, dimension }), again: source },
    input,
  );
}

/** What only the history still holds is taken out by no change: one line for all of it. */
function historyNotes({ findings }: DimensionResult): readonly string[] {
  const held = findings.filter(({ heldBy }) => heldBy !== undefined).map((finding) => oneLine(place(finding)));
  if (held.length === 0) return [];
  const more = held.length > SHOWN ? `; and ${held.length - SHOWN} more` : '';
  return [
    `${held.slice(0, SHOWN).join('; ')}${more}: no teammate can mend that. Revoke the credential, and make the branch anew without that commit, or squash it when you merge it`,
  ];
}

/**
 * What has to be asked for so that the gate passes. Nothing is asked where nothing failed; what could not be measured
 * is the user's to settle.
 */
export function remediesFor(input: RemedyInput): Remedies {
  const { gate, trust5, settings } = input;
  const failed = gate.checks.filter(({ outcome }) => outcome === 'failed');
  const dimensions = trust5?.dimensions ?? [];
  const parts: readonly Partial<Remedies>[] = [
    ...failed.map((check) => {
      if (check.check === 'tests') return testRemedies(check, input);
      return check.check === 'coverage' ? coverageRemedies(check, input) : { tasks: checkTasks(check, input) };
    }),
    ...dimensions
      .filter(({ state }) => state === 'failed')
      .map((result) => ({ tasks: dimensionTasks(result, gate.checks, input) })),
  ];
  const unmeasured = dimensions
    .filter((result) => result.state === 'not_measured' && !isFine(result, settings))
    .map(
      ({ dimension, figures }) =>
        `${dimension} is not measured (${figures.filter((figure) => figure.includes('not measured')).join('; ')}): set it up, or name it in quality.trust5.not_measured of .tool/config/workflow.yaml`,
    );
  return {
    messages: parts.flatMap(({ messages = [] }) => messages),
    tasks: parts.flatMap(({ tasks = [] }) => tasks),
    notes: [...dimensions.flatMap(historyNotes), ...unmeasured],
  };
}
