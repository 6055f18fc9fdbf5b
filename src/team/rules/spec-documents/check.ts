// All that is wrong with the documents of a SPEC, each by itself and with one another.

import { refusal } from '../../../base/rules/codes.ts';
import { got } from '../../../base/rules/text.ts';
import { conflictLines } from '../../../git/rules/conflict-markers.ts';
import { insideProject } from '../../../guard/rules/ownership.ts';
import { SPEC_CODES } from '../codes/spec-codes.ts';
import { type AcceptanceDocument, parseAcceptance } from './acceptance-document.ts';
import { earsForm, isOtherLanguage } from './ears.ts';
import { type PlanDocument, type PlanTask, parsePlan } from './plan-document.ts';
import { type DocumentName, problemAt, type ReadDocument, type SpecProblem, wrongField, wrongForm } from './problem.ts';
import { parseSpec, type SpecDocument } from './spec-document.ts';

/** A SPEC as text; null: there is no such document. */
export type SpecTexts = {
  /** The name of its directory. */
  readonly id: string;
  readonly spec: string | null;
  readonly plan: string | null;
  readonly acceptance: string | null;
};

/** A SPEC as data. */
export type SpecData = {
  readonly spec: SpecDocument;
  readonly plan: PlanDocument;
  readonly acceptance: AcceptanceDocument;
};

/** A SPEC that says how it is built, as far as its documents can be read. */
export type PlannedSpec = {
  readonly data: SpecData;
  readonly problems: readonly SpecProblem[];
  readonly warnings: readonly SpecProblem[];
};

type Read = {
  readonly spec: ReadDocument<SpecDocument>;
  readonly plan: ReadDocument<PlanDocument>;
  readonly acceptance: ReadDocument<AcceptanceDocument>;
};

const ORDER: readonly DocumentName[] = ['spec.md', 'plan.md', 'acceptance.md'];

function read({ spec, plan, acceptance }: SpecTexts): Read {
  return { spec: parseSpec(spec ?? ''), plan: parsePlan(plan ?? ''), acceptance: parseAcceptance(acceptance ?? '') };
}

/** What the documents hold, as far as they can be read. */
export function readSpecTexts(texts: SpecTexts): SpecData {
  const { spec, plan, acceptance } = read(texts);
  return { spec: spec.data, plan: plan.data, acceptance: acceptance.data };
}

/** Conflicts that a merge left: nothing else of such documents can be read. */
function conflicts({ spec, plan, acceptance }: SpecTexts): readonly SpecProblem[] {
  const documents = { 'spec.md': spec, 'plan.md': plan, 'acceptance.md': acceptance };
  return ORDER.flatMap((file) =>
    conflictLines(documents[file] ?? '').map(({ text, line }) =>
      problemAt(file, line, refusal(SPEC_CODES.spec_conflict_marker, { marker: got(text) })),
    ),
  );
}

/**
 * What does not keep a SPEC from being built, by document and line: requirements whose form nobody checked, files that no commit of
 * the project takes in.
 * @param submodules directories, from the project's root
 */
export function warningsOf({ spec, plan }: SpecTexts, submodules: readonly string[]): readonly SpecProblem[] {
  const asked = parseSpec(spec ?? '');
  const planned = parsePlan(plan ?? '');
  const unchecked = asked.data.requirements
    .filter(({ text }) => earsForm(text) === null && isOtherLanguage(text))
    .map(({ id }) => problemAt('spec.md', asked.lines.get(id) ?? 1, refusal(SPEC_CODES.spec_not_english, { id })));
  const outside = planned.data.tasks.flatMap(({ id, files }) =>
    files.flatMap((file) => {
      const within = submodules.find((one) => `${insideProject(file)}/`.startsWith(`${one}/`));
      if (within === undefined) return [];
      const values = { id, file: got(file), submodule: got(within) };
      const line = planned.lines.get(`${id} files`) ?? 1;
      return [problemAt('plan.md', line, refusal(SPEC_CODES.spec_file_in_submodule, values))];
    }),
  );
  return [...unchecked, ...outside];
}

/** All problems, by document and line. */
export function checkSpec(texts: SpecTexts): readonly SpecProblem[] {
  const unsettled = conflicts(texts);
  if (unsettled.length > 0) return unsettled;
  const all = read(texts);
  const missing = [
    ...absent('spec.md', texts.spec),
    ...absent('plan.md', texts.plan),
    ...absent('acceptance.md', texts.acceptance),
  ];
  const own = [...all.spec.problems, ...all.plan.problems, ...all.acceptance.problems];
  const found = [
    ...own.filter((problem) => !missing.some(({ file }) => file === problem.file)),
    ...missing,
    ...(texts.spec === null ? [] : named(texts.id, all)),
    ...(texts.plan === null ? [] : tasksFit(all, texts.spec !== null)),
    ...(texts.acceptance === null ? [] : scenariosFit(all, texts.spec !== null)),
    ...(texts.spec === null ? [] : covered(all, texts)),
  ];
  return found.sort((a, b) => ORDER.indexOf(a.file) - ORDER.indexOf(b.file) || a.line - b.line);
}

function absent(file: DocumentName, text: string | null): readonly SpecProblem[] {
  if (text !== null) return [];
  const missing = file === 'spec.md' ? SPEC_CODES.spec_text_missing : SPEC_CODES.spec_file_missing;
  return [problemAt(file, 1, refusal(missing, { file }))];
}

function named(id: string, { spec }: Read): readonly SpecProblem[] {
  if (spec.data.id === '' || spec.data.id === id) return [];
  const problem = wrongField('id', `${id}, the name of its directory`, got(spec.data.id));
  return [problemAt('spec.md', spec.lines.get('id') ?? 1, problem)];
}

function unknown(
  file: DocumentName,
  line: number,
  who: string,
  asked: readonly string[],
  known: readonly string[],
): readonly SpecProblem[] {
  return asked
    .filter((id) => !known.includes(id))
    .map((id) => {
      const values = { who, id, known: known.join(', ') || 'none' };
      return problemAt(file, line, refusal(SPEC_CODES.spec_reference_unknown, values));
    });
}

function tasksFit({ spec, plan }: Read, hasSpec: boolean): readonly SpecProblem[] {
  const { tasks } = plan.data;
  const ids = tasks.map(({ id }) => id);
  const asked = spec.data.requirements.map(({ id }) => id);
  const line = (task: PlanTask, field: string) => plan.lines.get(`${task.id} ${field}`) ?? plan.lines.get(task.id) ?? 1;
  const file = 'plan.md';
  const cycles = cyclesOf(tasks).map((cycle) => {
    const [first = ''] = cycle;
    const at = plan.lines.get(`${first} depends on`) ?? plan.lines.get(first) ?? 1;
    const values = { task: first, cycle: [...cycle, first].join(' → ') };
    return problemAt(file, at, refusal(SPEC_CODES.spec_dependency_cycle, values));
  });
  return [
    ...tasks.flatMap((task) => [
      ...(hasSpec
        ? unknown(file, line(task, 'requirements'), `${task.id}: requirements`, task.requirements, asked)
        : []),
      ...unknown(file, line(task, 'depends on'), `${task.id}: depends on`, task.dependsOn, ids),
    ]),
    ...cycles,
  ];
}

/** Tasks that wait for each other in a ring, each ring once. */
function cyclesOf(tasks: readonly PlanTask[]): readonly (readonly string[])[] {
  const known = new Set(tasks.map(({ id }) => id));
  const left = new Map(tasks.map(({ id, dependsOn }) => [id, dependsOn.filter((one) => known.has(one))]));
  const isFree = ([, needs]: readonly [string, readonly string[]]) => needs.every((one) => !left.has(one));
  for (let free = [...left].filter(isFree); free.length > 0; free = [...left].filter(isFree))
    for (const [id] of free) left.delete(id);
  // Each that is left waits for one that is left: whoever follows that comes to where it was before.
  const seen = new Set<string>();
  return [...left.keys()].flatMap((start) => {
    const way: string[] = [];
    let at: string | undefined = start;
    for (; at !== undefined && !seen.has(at); at = left.get(at)?.find((one) => left.has(one))) {
      seen.add(at);
      way.push(at);
    }
    const begin = at === undefined ? -1 : way.indexOf(at);
    return begin === -1 ? [] : [way.slice(begin)];
  });
}

function scenariosFit({ spec, acceptance }: Read, hasSpec: boolean): readonly SpecProblem[] {
  if (!hasSpec) return [];
  const asked = spec.data.requirements.map(({ id }) => id);
  return acceptance.data.scenarios.flatMap(({ id, requirements }) =>
    unknown('acceptance.md', acceptance.lines.get(id) ?? 1, id, requirements, asked),
  );
}

function covered({ spec, plan, acceptance }: Read, texts: SpecTexts): readonly SpecProblem[] {
  const ids = [...new Set(spec.data.requirements.map(({ id }) => id))];
  const without = (lists: readonly { readonly requirements: readonly string[] }[], expected: string) =>
    ids
      .filter((id) => !lists.some(({ requirements }) => requirements.includes(id)))
      .map((id) => problemAt('spec.md', spec.lines.get(id) ?? 1, wrongForm(expected, 'none', { id })));
  return [
    ...(texts.acceptance === null
      ? []
      : without(acceptance.data.scenarios, 'a scenario in acceptance.md that proves it')),
    ...(texts.plan === null ? [] : without(plan.data.tasks, 'a task in plan.md that is for it')),
  ];
}
