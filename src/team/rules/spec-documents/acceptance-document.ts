// acceptance.md: how it is seen that the requirements hold.

import type { Refusal } from '../../../base/rules/codes.ts';
import { got } from '../../../base/rules/text.ts';
import { asWords, type Line, readMarkdown, unclosedCode } from './markdown.ts';
import { byLine, problemAt, type ReadDocument, repeatedItem, type SpecProblem, wrongForm } from './problem.ts';
import { othersOf, SCENARIO, strayItem, strayItems } from './stray-items.ts';

export type Scenario = {
  /** `A1`, never given twice. */
  readonly id: string;
  /** Ids of the requirements that it proves. */
  readonly requirements: readonly string[];
  /** Each a line or more, without its first word. */
  readonly given: readonly string[];
  readonly when: readonly string[];
  readonly outcomes: readonly string[];
};

export type AcceptanceDocument = { readonly scenarios: readonly Scenario[] };

type Step = 'given' | 'when' | 'outcomes';

const FILE = 'acceptance.md';
const STEPS: readonly { readonly step: Step; readonly word: string }[] = [
  { step: 'given', word: 'Given' },
  { step: 'when', word: 'When' },
  { step: 'outcomes', word: 'Then' },
];
const NUMBERED = /^(A[1-9]\d*)\s*(?:\(([^)]*)\))?\s*:\s*(.*)$/s;
const IN_ONE_LINE = /^given\s+(.*?),?\s+when\s+(.*?),?\s+then\s+(.*)$/is;

/** Ids in a list; `none` and a dash say that there are none. */
export function idsOf(text: string): readonly string[] {
  return text
    .split(/[\s,]+/)
    .map((one) => one.replaceAll(/^`|`$/g, ''))
    .filter((one) => one !== '' && !/^(?:none|and|-|–)$/i.test(one));
}

export function renderAcceptance({ scenarios }: AcceptanceDocument): string {
  const rendered = scenarios.flatMap(({ id, requirements, ...steps }) => [
    `- ${id} (${requirements.join(', ')}):`,
    ...STEPS.flatMap(({ step, word }) => steps[step].map((text) => `  ${word} ${asWords(text)}`)),
    '',
  ]);
  return ['# Acceptance', '', ...rendered].join('\n');
}

type Steps = Readonly<Record<Step, readonly string[]>>;

function missingOf(steps: Steps): readonly string[] {
  return STEPS.filter(({ step }) => steps[step].every((one) => one === '')).map(({ word }) => word);
}

const STEP_LINE = /^(given|when|then|and|but)\s+(.*)$/i;

function stepOf(begin: string): (typeof STEPS)[number] | undefined {
  return STEPS.find(({ word }) => word.toLowerCase() === begin.toLowerCase());
}

/** The steps of a scenario: one a line, or all of them in one sentence. */
function stepsOf(lines: readonly Line[]): Steps {
  const steps: Record<Step, string[]> = { given: [], when: [], outcomes: [] };
  let open: Step | null = null;
  for (const { text } of lines) {
    const [, begin = '', words = ''] = STEP_LINE.exec(text) ?? [];
    open = stepOf(begin)?.step ?? open;
    if (open === null) continue;
    if (begin !== '') steps[open].push(words);
    else steps[open].push(`${steps[open].pop() ?? ''} ${text}`.trim());
  }
  if (missingOf(steps).length === 0) return steps;
  const sentence = IN_ONE_LINE.exec(lines.map((line) => line.text).join(' '));
  const [, given = '', when = '', outcome = ''] = sentence ?? [];
  return sentence === null ? steps : { given: [given], when: [when], outcomes: [outcome] };
}

/** The first step that begins after one that comes behind it; null: they stand in their order. */
function lateStep(lines: readonly Line[]): { readonly line: number; readonly words: string } | null {
  const begun: (typeof STEPS)[number][] = [];
  for (const { text, line } of lines) {
    const one = stepOf(STEP_LINE.exec(text)?.[1] ?? '');
    if (one === undefined || begun.includes(one)) continue;
    const before = begun.find((other) => STEPS.indexOf(other) > STEPS.indexOf(one));
    if (before !== undefined) return { line, words: `${one.word} after ${before.word}` };
    begun.push(one);
  }
  return null;
}

/** Reads an `acceptance.md`; never throws. */
export function parseAcceptance(text: string): ReadDocument<AcceptanceDocument> {
  const problems: SpecProblem[] = [];
  const lines = new Map<string, number>();
  const scenarios: Scenario[] = [];
  const say = (line: number, problem: Refusal) => problems.push(problemAt(FILE, line, problem));
  const { blocks, unclosed } = readMarkdown(text);
  if (unclosed !== null) say(unclosed, unclosedCode());
  for (const block of blocks) {
    if (block.kind !== 'item') continue;
    const [head] = block.lines;
    const [found, id = '', about = '', rest = ''] = NUMBERED.exec(head?.text ?? '') ?? [];
    if (found === undefined) {
      say(block.line, wrongForm('a scenario like "A1 (R1): Given …, when …, then …"', got(block.text)));
      continue;
    }
    if (lines.has(id)) say(block.line, repeatedItem(id, lines.get(id)));
    else lines.set(id, block.line);
    const own = [...(rest === '' ? [] : [{ text: rest, line: block.line }]), ...block.lines.slice(1)];
    const steps = stepsOf(own);
    const missing = missingOf(steps);
    if (missing.length > 0) {
      const came = missing.length === STEPS.length ? 'none of them' : `no ${missing.join(' and no ')}`;
      say(block.line, wrongForm('Given, When and Then', came, { id }));
    }
    const late = missing.length > 0 ? null : lateStep(own);
    if (late !== null) say(late.line, wrongForm('Given, When and Then in this order', late.words, { id }));
    const requirements = idsOf(about);
    if (requirements.length === 0)
      say(block.line, wrongForm(`the requirements that it proves, like "${id} (R1):"`, 'none', { id }));
    scenarios.push({ id, requirements, ...steps });
  }
  for (const stray of strayItems(SCENARIO, blocks.flatMap(othersOf), new Set(lines.keys())))
    say(stray.line, strayItem(SCENARIO, stray));
  if (scenarios.length === 0) say(1, wrongForm('scenarios, like "- A1 (R1): Given …, when …, then …"', 'none'));
  return { data: { scenarios }, lines, problems: byLine(problems) };
}
