// Messages and tasks for teammates when the gate does not pass; a teammate that only reads gets none.

import { oneLine, visibleLines } from '../../base/rules/text.ts';
import { shownPercent } from '../../gate/rules/coverage.ts';
import { fileIn, isTestPath, sourcesOf } from '../../gate/rules/file-in-output.ts';
import { type CheckResult, type GateResult, isForLackOfTests, type QualitySettings } from '../../gate/rules/quality.ts';
import { type DimensionResult, isInTheWay, type Trust5, UNDER_NO_TASK } from '../../gate/rules/trust5.ts';
import type { Finding } from '../../gate/rules/trust5-facts.ts';
import { type Ownership, ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import type { Content, MessageType } from './message.ts';

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

/** `text`: the description of the task. */
export type Asked = { readonly owner: string; readonly text: string };

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
  /** The paths of the tree that was measured. */
  readonly files: readonly string[];
  /** What the gate has asked for before, of whom, and was done with. */
  readonly asked: readonly Asked[];
};

const BACKEND = 'backend-dev';
const TESTER = 'tester';
/** So many lines of what was found stand in one message or task. */
const SHOWN = 20;
const SHOWN_STUBBORN = 3;

/** The member that a role's work goes to: the role's own, else who builds, else whoever writes. */
function memberFor(role: string | null, { writers, spent }: Pick<RemedyInput, 'writers' | 'spent'>): string | null {
  if (role !== null && writers.includes(role)) return role;
  const able = writers.filter((name) => !spent.has(name));
  return able.find((name) => name === BACKEND) ?? able[0] ?? null;
}

/** Whom of those who write a finding may go to, the likeliest first; a test that is nobody's is the tester's. */
function writersFor(path: string | null, input: RemedyInput): readonly string[] {
  const owner = path === null ? null : ownerOf(path, input.ownership).owner;
  if (owner !== null && owner !== SHARED) return known(memberFor(owner, input));
  const first = memberFor(path !== null && isTestPath(path) ? TESTER : null, input);
  return known(first, ...input.writers.filter((name) => !input.spent.has(name)));
}

/** The same for a failing test: its source may be wrong, or the test itself, or what both stand on. */
function writersForTest(test: string, input: RemedyInput): readonly string[] {
  const path = fileIn(test, input.files);
  if (path === null || !isTestPath(path)) return writersFor(path, input);
  const sources = sourcesOf(path, input.files).map((source) => writersFor(source, input)[0] ?? null);
  return known(...sources, ...(sources.length === 0 ? [memberFor(null, input)] : []), ...writersFor(path, input));
}

function known(...names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== null))];
}

/** A finding's words without what moves with the lines around it, and without what JSON does to them. */
function bare(text: string): string {
  return text.replace(/\\n/g, '\n').replace(/["\\]/g, '').replace(/:\d+/g, '');
}

function wasAsked(finding: string, { text }: Asked): boolean {
  const [words, all] = [bare(`- ${oneLine(finding)}`), bare(text)];
  const at = all.indexOf(words);
  return at !== -1 && /^(?:\n|,|$)/.test(all.slice(at + words.length));
}

/** How often somebody was asked for this very finding, which is there still. */
function timesAsked(name: string, finding: string, { asked }: RemedyInput): number {
  return asked.filter((one) => one.owner === name && wasAsked(finding, one)).length;
}

/** The one to ask: of those that it may go to, the first who was asked for it the fewest times. */
function firstOf(names: readonly string[], finding: string, input: RemedyInput): string | null {
  const [first] = [...names].sort((a, b) => timesAsked(a, finding, input) - timesAsked(b, finding, input));
  return first ?? null;
}

type Placed = { readonly words: string; readonly names: readonly string[] };

/** What everybody was asked for who can mend it, and is there still: for the user to know, one line. */
function stubbornNotes(all: readonly Placed[], input: RemedyInput): readonly string[] {
  const left = all.filter(
    ({ words, names }) => names.length > 0 && names.every((name) => timesAsked(name, words, input) > 0),
  );
  if (left.length === 0) return [];
  const names = [...new Set(left.flatMap((one) => one.names))].join(', ');
  const more = left.length > SHOWN_STUBBORN ? `; and ${left.length - SHOWN_STUBBORN} more` : '';
  const words = left.slice(0, SHOWN_STUBBORN).map((one) => oneLine(one.words));
  return [`asked of ${names} before, without a change: ${words.join('; ')}${more}`];
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

function testRemedies(check: CheckResult, input: RemedyInput): Partial<Remedies> {
  if (isForLackOfTests(check)) {
    const owner = memberFor(TESTER, input);
    const description = `The gate finds no tests: ${check.reason}. Write tests that it runs.`;
    return owner === null
      ? {}
      : { tasks: [{ subject: 'Write tests that the gate runs', description, owner, files: [] }] };
  }
  const failing = check.details.length === 0 ? [check.reason] : check.details;
  const placed = failing.map((words) => ({ words, names: writersForTest(words, input) }));
  const messages = [...grouped(placed, ({ words, names }) => firstOf(names, words, input))].map(([to, tests]) => ({
    to,
    type: 'bug_report' as const,
    content: {
      test: lines(tests.map(({ words }) => words)),
      expected: `every test passes: ${check.command}`,
      actual: oneLine(check.reason, 400),
    },
  }));
  return { messages, notes: stubbornNotes(placed, input) };
}

function coverageRemedies(check: CheckResult, input: RemedyInput): Partial<Remedies> {
  const { gate, settings } = input;
  const to = memberFor(TESTER, input);
  if (to === null) return {};
  if (gate.coverage === null) {
    const description = `The coverage cannot be measured: ${check.reason}. Make it measurable, or ask the user to name its command or report in quality of .tool/config/workflow.yaml, or to waive it there (coverage_target: 0).`;
    return { tasks: [{ subject: 'Make the coverage measurable', description, owner: to, files: [] }] };
  }
  if (gate.coverage >= settings.coverageTarget) {
    const subject = 'Find out why the command that measures the coverage fails';
    const description = `${oneLine(check.reason, 400)}. Have it end with 0.`;
    return { tasks: [{ subject, description, owner: to, files: [] }] };
  }
  const content = {
    current: shownPercent(gate.coverage),
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
): Partial<Remedies> {
  const { subject, step, again } = words;
  const placed = findings.map((finding) => ({
    ...finding,
    words: place(finding),
    names: writersFor(finding.path, input),
  }));
  const tasks = [...grouped(placed, (one) => firstOf(one.names, one.words, input))].map(([owner, own]) => ({
    subject,
    description: `${step}\n${lines(own.map((one) => one.words))}\nThe gate measured it with: ${again}`,
    owner,
    files: [...new Set(own.flatMap(({ path }) => path ?? []))].filter((path) => {
      const { owner: whose } = ownerOf(path, input.ownership);
      return whose === null || whose === SHARED || whose === owner;
    }),
  }));
  return { tasks, notes: stubbornNotes(placed, input) };
}

/** What the gate alone measures, as findings. */
function checkTasks(check: CheckResult, input: RemedyInput): Partial<Remedies> {
  const texts = check.details.length === 0 ? [check.reason] : check.details;
  const findings = texts.map((text) => ({ path: fileIn(text, input.files), line: null, words: text }));
  // What names no file goes with what does: a linter's summary is nobody's alone.
  const placed = findings.filter(({ path }) => path !== null);
  const words = {
    lint: { subject: 'Fix the linter errors', step: 'The linter reports errors. Fix them:' },
    security: { subject: 'Remove the security findings', step: 'The audit has findings. Remove them:' },
    performance: {
      subject: 'Bring the commands within their budgets',
      step: 'These commands take longer than their budget. Make them faster:',
    },
  };
  const { check: name } = check;
  if (name === 'tests' || name === 'coverage') return {};
  const again = check.command ?? 'nothing; see the reason';
  return tasksFor(placed.length > 0 ? placed : findings, { ...words[name], again }, input);
}

const STEPS = {
  readable: {
    subject: 'Make functions simpler',
    step: 'These functions exceed the complexity limit. Simplify them, for example by splitting them:',
  },
  unified: {
    subject: 'Format the changed files',
    step: 'The formatter would change these files. Format them:',
  },
  secured: {
    subject: 'Take secrets out of the change',
    step: 'These places look like secrets. Take each one out, read it from the environment, and ask the lead to have it revoked. If it is no secret, use a value that cannot be taken for one (`not-a-secret`), or ask the lead to have it named in quality.secrets of .tool/config/workflow.yaml:',
  },
  trackable: {
    subject: 'Name the task in every commit',
    step: 'These commits do not name their task. Every commit needs a trailer `Task: <id>`, and the SPEC if there is one:',
  },
} as const;

/** The same as `trackable` where there are no commits: whoever completes the task answers for what it names. */
const LOOSE_FILES = {
  subject: 'Check files that were changed under no task',
  step: 'These files were changed while nobody had a task in progress. Check each: revert changes that nobody asked for, keep those that belong to the work. Completing this task accounts for them:',
} as const;

function stepsOf({ dimension, findings }: DimensionResult & { readonly dimension: keyof typeof STEPS }) {
  return findings.some(({ words }) => words === UNDER_NO_TASK) ? LOOSE_FILES : STEPS[dimension];
}

/** Of a dimension, what the checks of the gate do not ask for already. */
function dimensionTasks(
  result: DimensionResult,
  checks: readonly CheckResult[],
  input: RemedyInput,
): Partial<Remedies> {
  const { dimension, findings, source } = result;
  if (dimension === 'tested') return {};
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
    `${held.slice(0, SHOWN).join('; ')}${more}: no teammate can fix that. Revoke the credential and rebuild the branch without that commit. If it is no secret, name it in quality.secrets of .tool/config/workflow.yaml (allowed_paths, allowed_values)`,
  ];
}

/** Of coverage that has to be measured: who writes tests may write what measures them too, and is asked once. */
function measurableTask({ reason }: CheckResult, input: RemedyInput): Remedies['tasks'] {
  const { settings } = input;
  const to = memberFor(TESTER, input);
  const subject = 'Make the coverage measurable';
  const isAsked = settings.coverageTarget > 0 && settings.required.includes('coverage');
  if (!isAsked || to === null || timesAsked(to, subject, input) > 0) return [];
  const description = `- ${subject}\nNothing measures the coverage: ${oneLine(reason, 400)}. Configure it in the project's own files, or have the tests write a report. Do not install a tool unless the user agrees.`;
  return [{ subject, description, owner: to, files: [] }];
}

/**
 * What has to be asked for so that the gate passes. Nothing is asked where nothing failed; what could not be measured
 * is the user's to settle.
 */
export function remediesFor(input: RemedyInput): Remedies {
  const { gate, trust5 } = input;
  const failed = gate.checks.filter(({ outcome }) => outcome === 'failed');
  const dimensions = trust5?.dimensions ?? [];
  const parts: readonly Partial<Remedies>[] = [
    ...failed.map((check) => {
      if (check.check === 'tests') return testRemedies(check, input);
      return check.check === 'coverage' ? coverageRemedies(check, input) : checkTasks(check, input);
    }),
    ...dimensions.filter(({ state }) => state === 'failed').map((result) => dimensionTasks(result, gate.checks, input)),
  ];
  const asked = gate.checks.filter(({ check, outcome }) => check === 'coverage' && outcome === 'not_measured');
  const measurable = asked.flatMap((check) => measurableTask(check, input));
  const unmeasured = dimensions
    .filter((result) => result.state === 'not_measured' && isInTheWay(result) && measurable.length === 0)
    .map(({ dimension, figures }) => {
      const why = figures.filter((figure) => figure.includes('not measured')).join('; ');
      return `${dimension} is required and not measured (${why}). Set that up, or remove it from quality.required in .tool/config/workflow.yaml`;
    });
  return {
    messages: parts.flatMap(({ messages = [] }) => messages),
    tasks: [...parts.flatMap(({ tasks = [] }) => tasks), ...measurable],
    notes: [...parts.flatMap(({ notes = [] }) => notes), ...dimensions.flatMap(historyNotes), ...unmeasured],
  };
}
