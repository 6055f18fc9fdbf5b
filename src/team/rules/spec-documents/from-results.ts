// A planning team's results as a SPEC, or the problems of each result.

import { clip } from '../../../base/rules/text.ts';
import { parseAcceptance } from './acceptance-document.ts';
import { checkSpec } from './check.ts';
import { asWords, type Block, codeAfter, readMarkdown } from './markdown.ts';
import { type NewSpec, specTextsOf } from './new-spec.ts';
import { parsePlan, TASK_HEADING } from './plan-document.ts';
import type { SpecProblem } from './problem.ts';
import { type SpecStatus, specName } from './spec.ts';
import { parseSpec } from './spec-document.ts';
import { looksLike, othersOf, SCENARIO, strayItems, TASK } from './stray-items.ts';
import { usualPlan, usualRequirements } from './usual-forms.ts';

export type PlanResults = {
  /** Null: there is none. */
  readonly researcher: string | null;
  readonly analyst: string | null;
  readonly architect: string | null;
};

export type ResultProblem = { readonly role: 'analyst' | 'architect'; readonly words: string };

export type FromResults =
  | { readonly ok: true; readonly spec: NewSpec }
  | { readonly ok: false; readonly problems: readonly ResultProblem[] };

const TITLE_MAX = 100;
/** What a `spec.md` has before its first word; a result has none of it. */
const FRONT = [
  '---',
  'id: SPEC-X-001',
  'title: x',
  'status: draft',
  'created: 2026-01-01',
  'updated: 2026-01-01',
  '---',
];
const HEADING = /^\s{0,3}#{1,6}\s+(.*)$/;

/** The lines of a result; a fence around all of it is no part of it. */
function linesOf(result: string): readonly string[] {
  const lines = result.split(/\r\n?|\n/);
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  const code = codeAfter(null, lines[first] ?? '');
  const isWrapped = first < last && code !== null && codeAfter(code, lines[last] ?? '') === null;
  return isWrapped ? lines.map((line, at) => (at === first || at === last ? '' : line)) : lines;
}

/**
 * Lines below the headings that say so; all others are empty, and the numbers stay as they are. A heading that should be an item
 * ends nothing.
 */
function section(lines: readonly string[], wanted: RegExp): string {
  let isIn = false;
  let code: string | null = null;
  return lines
    .map((line) => {
      const [, heading] = code === null ? (HEADING.exec(line) ?? []) : [];
      code = codeAfter(code, line);
      if (heading !== undefined) isIn = wanted.test(heading) || (isIn && looksLike(SCENARIO, heading));
      return isIn ? line : '';
    })
    .join('\n');
}

/** What blocks say, line for line, without the marks that would make a document of it. */
function proseOf(blocks: readonly Block[]): string {
  let text = '';
  let last = 0;
  for (const block of blocks) {
    const words = block.kind === 'item' ? `- ${block.text}` : block.kind === 'heading' ? `${block.text}:` : block.text;
    const length = block.kind === 'item' ? block.lines.length : block.text.split('\n').length;
    text += `${text === '' ? '' : block.line === last + 1 ? '\n' : '\n\n'}${words}`;
    last = block.line + length - 1;
  }
  return text;
}

/** Plain words count as a quotation, which is how the documents tell words from what they are made of. */
function withQuotes(lines: readonly string[]): string {
  const { blocks } = readMarkdown(lines.join('\n'));
  const tasks = new Set(blocks.flatMap(({ kind, text }) => (kind === 'heading' && TASK_HEADING.exec(text)?.[1]) || []));
  const strays = strayItems(TASK, blocks.flatMap(othersOf), tasks).map(({ line }) => line);
  const prose = new Set(blocks.flatMap(({ kind, line }) => (kind === 'prose' && !strays.includes(line) ? [line] : [])));
  return lines.map((line, at) => (prose.has(at + 1) ? `> ${line.trim()}` : line)).join('\n');
}

/** The blocks of a plan that belong to none of its tasks. */
function aroundTasks(blocks: readonly Block[]): readonly Block[] {
  let isTask = false;
  return blocks.filter((block) => {
    if (block.kind === 'heading') isTask = TASK_HEADING.test(block.text);
    return !isTask && !(block.kind === 'heading' && block.level === 1);
  });
}

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

function said(role: ResultProblem['role'], problems: readonly SpecProblem[], before = 0): readonly ResultProblem[] {
  return problems.map(({ line, words }) => ({
    role,
    words: `line ${Math.max(1, line - before)} of the result: ${words}`,
  }));
}

/** Each once: the acceptance is a part of the whole. */
function unique(problems: readonly ResultProblem[]): readonly ResultProblem[] {
  return problems.filter(({ words }, at) => problems.findIndex((one) => one.words === words) === at);
}

const NONE = 'expected a result in the form that the task shows, got none';

/** All that is wrong with the documents as a whole: what a SPEC without its plan has as well is not the architect's. */
function crossProblems(spec: NewSpec): readonly ResultProblem[] {
  const texts = specTextsOf(`SPEC-${specName(spec.feature)}-001`, spec, '2026-01-01');
  const key = ({ file, line, words }: SpecProblem) => `${file}:${line}: ${words}`;
  const own = new Set(checkSpec({ ...texts, plan: null }).map(key));
  return checkSpec(texts).map((problem) => ({
    role: own.has(key(problem)) ? 'analyst' : 'architect',
    words: problem.words,
  }));
}

/**
 * @param feature what was asked for, in the user's words
 * @param status what the SPEC is to begin as
 */
export function specFromResults(feature: string, results: PlanResults, status: SpecStatus): FromResults {
  const wanted = usualRequirements(linesOf(results.analyst ?? ''));
  const planned = usualPlan(linesOf(results.architect ?? ''));
  const asked = parseSpec([...FRONT, ...wanted].join('\n'));
  const acceptance = parseAcceptance(section(wanted, /^(?:acceptance|scenarios)\b/i));
  const plan = parsePlan(withQuotes(planned));
  const problems = [
    ...(results.analyst === null
      ? [{ role: 'analyst' as const, words: NONE }]
      : unique([...said('analyst', asked.problems, FRONT.length), ...said('analyst', acceptance.problems)])),
    ...(results.architect === null ? [{ role: 'architect' as const, words: NONE }] : said('architect', plan.problems)),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const whole = asWords(feature);
  const title = clip(whole, TITLE_MAX);
  const questions = proseOf(
    readMarkdown(section(wanted, /^(?:open )?questions\b/i)).blocks.filter(({ kind }) => kind !== 'heading'),
  );
  const found = proseOf(readMarkdown(linesOf(results.researcher ?? '').join('\n')).blocks);
  const design = proseOf(aroundTasks(readMarkdown(planned.join('\n')).blocks));
  const spec: NewSpec = {
    feature,
    title,
    status,
    about: paragraphs(
      title === whole ? '' : feature,
      asked.data.about,
      questions === '' ? '' : `Open questions:\n${questions}`,
    ),
    requirements: asked.data.requirements,
    outOfScope: asked.data.outOfScope,
    design: paragraphs(design, found === '' ? '' : `What is there:\n${found}`),
    tasks: plan.data.tasks,
    scenarios: acceptance.data.scenarios,
  };
  const left = crossProblems(spec);
  return left.length === 0 ? { ok: true, spec } : { ok: false, problems: left };
}
