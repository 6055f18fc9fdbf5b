// SPEC sync: checks each requirement and scenario of a SPEC against the changes and the tests.

import picomatch from 'picomatch';
import { areaOf } from '../../../guard/rules/areas.ts';
import type { SpecData } from './check.ts';
import { asWords } from './markdown.ts';
import type { PlanTask } from './plan-document.ts';
import type { SpecStatus } from './spec.ts';

/** Line of a test file at HEAD. */
export type TestLine = {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** The line belongs to a test that its file skips. */
  readonly isSkipped?: boolean;
};

/** Input of a sync. */
export type SyncFacts = {
  /** Paths that differ between HEAD and the commit where the work began. */
  readonly changed: readonly string[];
  /** Lines of tests that name a requirement, a scenario or a SPEC. */
  readonly lines: readonly TestLine[];
  /** Files of commits since then whose message names the SPEC. */
  readonly committed: readonly string[];
};

export type JudgedItem = {
  readonly id: string;
  readonly kind: 'requirement' | 'scenario';
  /** Test that names it, `tests/login.test.ts:12`; null: none. */
  readonly test: string | null;
  /** Missing parts, one line each; empty: it is met. */
  readonly missing: readonly string[];
};

/** Data files and documents hold no tests, even in a directory of tests. */
const NO_TEST = /\.(?:md|mdx|rst|adoc|txt|json|ya?ml|toml|lock|snap|csv|html?)$/i;

/** Marks of skipped tests, which prove nothing. */
const SKIPPED =
  /\b(?:test|it|describe|suite)\.(?:skip|todo)\b|\bx(?:it|test|describe)\s*\(|\bskip:\s*true\b|@(?:Ignore|Disabled|unittest\.skip)\b|pytest\.mark\.skip\b|\bt\.Skip\(|#\[ignore\b/;

/** Whether a file may hold tests. @param isInTests whether its directory or name is that of tests */
export function mayHoldTests(path: string, isInTests: boolean): boolean {
  // Rust keeps unit tests in the source file.
  return (isInTests || path.endsWith('.rs')) && !NO_TEST.test(path);
}

const SPEC_NAMED = /SPEC(?:-[A-Z0-9]+)+-\d{3}(?![\w-])/g;
const ID_NAMED = /(?<![\w-])[RA][1-9]\d*(?![\w-])/g;

/**
 * First test that names each id of a SPEC, as `path:line` by id. A line that names SPECs counts for these only.
 * Any other line counts by the SPECs that its file names:
 * - none: the SPEC of a commit of the file;
 * - one: this SPEC;
 * - several: the SPEC named last above the line.
 */
export function testsOf(spec: string, { lines, committed }: SyncFacts): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [path, own] of byPath(lines)) {
    const all = new Set(own.flatMap(({ text }) => text.match(SPEC_NAMED) ?? []));
    let last: string | null = null;
    // True below a skipped group of tests, until another line names a SPEC.
    let isSkipped = false;
    for (const { line, text, isSkipped: isNotRun } of [...own].sort((a, b) => a.line - b.line)) {
      const named: readonly string[] = text.match(SPEC_NAMED) ?? [];
      last = named.at(-1) ?? last;
      if (named.length > 0) isSkipped = SKIPPED.test(text);
      const isOurs =
        named.length > 0
          ? named.includes(spec)
          : all.size === 0
            ? committed.includes(path)
            : all.size === 1
              ? all.has(spec)
              : last === spec;
      if (!isOurs || isSkipped || isNotRun === true || SKIPPED.test(text)) continue;
      // The id of a SPEC may contain the id of a requirement: SPEC-R2-001.
      for (const id of text.replace(SPEC_NAMED, ' ').match(ID_NAMED) ?? [])
        if (!found.has(id)) found.set(id, `${path}:${line}`);
    }
  }
  return found;
}

function byPath(lines: readonly TestLine[]): ReadonlyMap<string, readonly TestLine[]> {
  const groups = new Map<string, TestLine[]>();
  for (const line of lines) {
    const group = groups.get(line.path);
    if (group === undefined) groups.set(line.path, [line]);
    else group.push(line);
  }
  return groups;
}

function isOfTask(path: string, { files }: PlanTask): boolean {
  return files.some(
    (file) =>
      path === file || path.startsWith(`${file.replace(/\/+$/, '')}/`) || picomatch.isMatch(path, file, { dot: true }),
  );
}

/** Whether a task is about tests and nothing else. */
function isOfTests({ files }: PlanTask): boolean {
  return files.length > 0 && files.every((file) => areaOf(file, []) === 'tests');
}

/** Results for every requirement, then for every scenario. */
export function judgeSync(data: SpecData, facts: SyncFacts): readonly JudgedItem[] {
  const { spec, plan, acceptance } = data;
  const tests = testsOf(spec.id, facts);
  const testsFor = (task: PlanTask) => {
    const proofs = acceptance.scenarios.filter((one) => one.requirements.some((id) => task.requirements.includes(id)));
    return [...task.requirements, ...proofs.map(({ id }) => id)].flatMap(
      (id) => tests.get(id)?.replace(/:\d+$/, '') ?? [],
    );
  };
  const isDone = (task: PlanTask) =>
    facts.changed.some((path) => isOfTask(path, task)) ||
    // A task of tests is done by tests of its ids in any changed file, not only in the files that the plan names.
    (isOfTests(task) && testsFor(task).some((path) => facts.changed.includes(path)));
  const judged = (id: string, kind: JudgedItem['kind'], requirements: readonly string[]): JudgedItem => {
    const test = tests.get(id) ?? null;
    const tasks = plan.tasks.filter((task) => task.requirements.some((one) => requirements.includes(one)));
    const missing = [
      ...(test === null ? [`no test names it, like "${spec.id} ${id}"`] : []),
      ...(tasks.length === 0 ? ['no task of plan.md is for it'] : []),
      ...tasks
        .filter((task) => !isDone(task))
        .map((task) => `no file of ${task.id} changed: ${task.files.join(', ') || 'it names none'}`),
    ];
    return { id, kind, test, missing };
  };
  return [
    ...spec.requirements.map(({ id }) => judged(id, 'requirement', [id])),
    ...acceptance.scenarios.map(({ id, requirements }) => judged(id, 'scenario', requirements)),
  ];
}

/** Whether everything is met; false when there is nothing to judge. */
export function isMet(judged: readonly JudgedItem[]): boolean {
  return judged.length > 0 && judged.every(({ missing }) => missing.length === 0);
}

/** Lines of the result that the SPEC records. */
export function resultLines(judged: readonly JudgedItem[], since: string): readonly string[] {
  const met = judged.filter(({ missing }) => missing.length === 0).length;
  return [
    `${met} of ${judged.length} met, held against the changes since ${since}.`,
    '',
    ...judged.map(({ id, test, missing }) =>
      missing.length === 0 ? `- ${id}: met, by ${asWords(test ?? '')}` : `- ${id}: not met: ${missing.join('; ')}`,
    ),
  ];
}

/** Status after a sync: `completed` when everything is met; else `completed` becomes `approved`, others stay. */
export function statusAfter(judged: readonly JudgedItem[], status: SpecStatus): SpecStatus {
  if (isMet(judged)) return 'completed';
  return status === 'completed' ? 'approved' : status;
}
