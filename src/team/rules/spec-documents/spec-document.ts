// spec.md: what has to hold when a feature is there.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import { nearest } from '../../../base/rules/nearest.ts';
import { got } from '../../../base/rules/text.ts';
import { SPEC_CODES } from '../codes/spec-codes.ts';
import { earsForm, expectedShape, isOtherLanguage } from './ears.ts';
import { asWords, type Block, type Field, frontValue, quoteOf, readMarkdown, unclosedCode } from './markdown.ts';
import {
  byLine,
  problemAt,
  type ReadDocument,
  repeatedItem,
  type SpecProblem,
  wrongField,
  wrongForm,
} from './problem.ts';
import { RESULT_HEADING } from './result-section.ts';
import { isSpecId, SPEC_STATUSES, type SpecStatus } from './spec.ts';
import { isNumberedItem, type OtherLine, othersOf, REQUIREMENT, strayItem, strayItems } from './stray-items.ts';

export type SpecRequirement = {
  /** `R1`, never given twice. */
  readonly id: string;
  /** One line in one of the five EARS forms, or in another language than English. */
  readonly text: string;
};

export type SpecDocument = {
  readonly id: string;
  readonly title: string;
  readonly status: SpecStatus;
  /** ISO dates: `2026-01-31`. */
  readonly created: string;
  readonly updated: string;
  /** What it is about and what for, in lines; may be empty. */
  readonly about: string;
  readonly requirements: readonly SpecRequirement[];
  readonly outOfScope: readonly string[];
};

const FILE = 'spec.md';
const NUMBERED = /^(R[1-9]\d*)\s*:\s*(.*)$/s;

/** Whether it is a day of the calendar, as `2026-01-31`. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

export function renderSpec(spec: SpecDocument): string {
  const { about, requirements, outOfScope } = spec;
  return [
    '---',
    `id: ${spec.id}`,
    `title: ${frontValue(spec.title)}`,
    `status: ${spec.status}`,
    `created: ${spec.created}`,
    `updated: ${spec.updated}`,
    '---',
    '',
    `# ${asWords(spec.title)}`,
    '',
    ...quoteOf(about),
    '## Requirements',
    '',
    ...requirements.map(({ id, text }) => `- ${id}: ${asWords(text)}`),
    '',
    ...(outOfScope.length === 0 ? [] : ['## Out of scope', '', ...outOfScope.map((one) => `- ${asWords(one)}`), '']),
  ].join('\n');
}

type Say = (line: number, problem: Refusal) => void;

function readFront(front: readonly Field[], say: Say) {
  const first = (key: string) => front.find((field) => field.key === key);
  for (const [index, { key, line }] of front.entries())
    if (front.findIndex((field) => field.key === key) < index)
      say(line, refusal(SPEC_CODES.spec_item_repeated, { field: key }));
  const text = (key: string, expected: string): string => {
    const field = first(key);
    if (field === undefined || field.value === '') say(field?.line ?? 1, wrongField(key, expected, 'nothing'));
    return field?.value ?? '';
  };
  const date = (key: string): string => {
    const value = text(key, 'a date like 2026-01-31');
    if (value !== '' && !isDate(value))
      say(first(key)?.line ?? 1, wrongField(key, 'a date like 2026-01-31', got(value)));
    return value;
  };
  const id = text('id', 'the name of the directory, like SPEC-AUTH-001');
  if (id !== '' && !isSpecId(id))
    say(first('id')?.line ?? 1, wrongField('id', 'SPEC-<NAME>-<NNN>, like SPEC-AUTH-001', got(id)));
  const title = text('title', 'what it is about, in a line');
  const stated = text('status', `one of ${SPEC_STATUSES.join(', ')}`);
  const status = SPEC_STATUSES.find((one) => one === stated);
  if (stated !== '' && status === undefined) {
    const meant = nearest(stated, SPEC_STATUSES);
    const expected = `one of ${SPEC_STATUSES.join(', ')}`;
    say(first('status')?.line ?? 1, wrongField('status', expected, got(stated), { meant }));
  }
  const created = date('created');
  const updated = date('updated');
  if (isDate(created) && isDate(updated) && updated < created)
    say(first('updated')?.line ?? 1, wrongField('updated', `${created} or later`, updated));
  return { id, title, status: status ?? ('draft' as const), created, updated };
}

type SectionName = 'about' | 'requirements' | 'out of scope' | 'result' | 'other';

function placeOf({ text, level }: Extract<Block, { kind: 'heading' }>, before: SectionName): SectionName {
  if (level > 2) return before;
  if (text === RESULT_HEADING) return 'result';
  if (level === 1) return 'about';
  if (/^requirements\b/i.test(text)) return 'requirements';
  return /^(?:out of scope|non-?goals|not in scope)\b/i.test(text) ? 'out of scope' : 'other';
}

/** Reads a `spec.md`; never throws. */
export function parseSpec(text: string): ReadDocument<SpecDocument> {
  const problems: SpecProblem[] = [];
  const say: Say = (line, problem) => problems.push(problemAt(FILE, line, problem));
  const { front, blocks, unclosed } = readMarkdown(text);
  if (front === null) say(1, wrongForm('front matter between two lines of ---', 'none'));
  if (unclosed !== null) say(unclosed, unclosedCode());
  const fields = front === null ? null : readFront(front, say);
  const lines = new Map<string, number>((front ?? []).map(({ key, line }) => [key, line]));
  const requirements: SpecRequirement[] = [];
  const outOfScope: string[] = [];
  const about: string[] = [];
  let place: SectionName = 'about';
  const others: OtherLine[] = [];
  // Of the section that is read: lines, and whether requirements stand among them.
  let section: OtherLine[] = [];
  let hasItems = false;
  const closeSection = () => {
    others.push(...section.filter((line) => line.isHeading || hasItems || isNumberedItem(REQUIREMENT, line)));
    section = [];
    hasItems = false;
  };
  for (const block of blocks) {
    if (block.kind === 'heading') {
      if (block.level <= 2) closeSection();
      place = placeOf(block, place);
      hasItems ||= place === 'requirements';
    }
    // The title may begin as it likes.
    const isTitle = block.kind === 'heading' && block.level === 1;
    if (place !== 'result' && place !== 'out of scope' && !isTitle) section.push(...othersOf(block));
    if (block.kind === 'heading') continue;
    if (block.kind === 'quote' && place === 'about') about.push(block.text);
    else if (block.kind === 'item' && place === 'out of scope') outOfScope.push(block.text);
    else if (block.kind === 'item' && place !== 'result') {
      const [found, id = '', words = ''] = NUMBERED.exec(block.text) ?? [];
      if (found === undefined) {
        if (place === 'requirements')
          say(block.line, wrongForm('a number before the requirement, like "R1: "', got(block.text)));
        else section.push({ text: block.text, line: block.line, isHeading: false });
        continue;
      }
      hasItems = true;
      if (lines.has(id)) say(block.line, repeatedItem(id, lines.get(id)));
      else lines.set(id, block.line);
      if (earsForm(words) === null && !isOtherLanguage(words))
        say(block.line, wrongForm(`"${expectedShape(words)}"`, got(words), { id }));
      requirements.push({ id, text: words });
    }
  }
  closeSection();
  for (const stray of strayItems(REQUIREMENT, others, new Set(requirements.map(({ id }) => id))))
    say(stray.line, strayItem(REQUIREMENT, stray));
  if (requirements.length === 0)
    say(
      blocks.find((block) => block.kind === 'heading' && /^requirements\b/i.test(block.text))?.line ?? 1,
      wrongForm('requirements, like "- R1: The system shall …"', 'none'),
    );
  const empty = { id: '', title: '', status: 'draft', created: '', updated: '' } as const;
  const data = { ...(fields ?? empty), about: about.join('\n\n'), requirements, outOfScope };
  return { data, lines, problems: byLine(problems) };
}
