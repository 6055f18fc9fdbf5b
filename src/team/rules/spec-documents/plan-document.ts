// plan.md: how a feature is built, and the tasks that it takes.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import { nearest } from '../../../base/rules/nearest.ts';
import { got } from '../../../base/rules/text.ts';
import { DOMAINS } from '../../../guard/rules/areas.ts';
import { insideProject } from '../../../guard/rules/ownership.ts';
import { SPEC_CODES } from '../codes/spec-codes.ts';
import { idsOf } from './acceptance-document.ts';
import { asWords, type Block, codeSpan, codeSpans, quoteOf, readMarkdown, unclosedCode } from './markdown.ts';
import { fileClashes } from './plan-files.ts';
import {
  byLine,
  problemAt,
  type ReadDocument,
  repeatedItem,
  type SpecProblem,
  wrongField,
  wrongForm,
} from './problem.ts';
import { type OtherLine, othersOf, strayItem, strayItems, TASK } from './stray-items.ts';

export type PlanTask = {
  /** `T1`, never given twice. */
  readonly id: string;
  /** Short and imperative. */
  readonly subject: string;
  /** In lines; may be empty. */
  readonly description: string;
  /** Paths and globs from the project's root. */
  readonly files: readonly string[];
  readonly domain: string;
  /** A role's name; null: whoever owns the files. */
  readonly owner: string | null;
  /** Ids of the tasks that come first. */
  readonly dependsOn: readonly string[];
  /** Ids of the requirements that it is for. */
  readonly requirements: readonly string[];
};

export type PlanDocument = {
  /** The design in lines; may be empty. */
  readonly design: string;
  readonly tasks: readonly PlanTask[];
};

const FILE = 'plan.md';
const FIELDS = ['files', 'domain', 'owner', 'depends on', 'requirements'] as const;
/** What begins a task. */
export const TASK_HEADING = /^(T[1-9]\d*)\s*:\s*(.*)$/;
type FieldName = (typeof FIELDS)[number];

export function renderPlan({ design, tasks }: PlanDocument): string {
  return [
    '# Plan',
    '',
    ...quoteOf(design),
    ...tasks.flatMap((task) => [
      `## ${task.id}: ${asWords(task.subject)}`,
      '',
      ...quoteOf(task.description),
      `- files: ${task.files.map(codeSpan).join(', ')}`,
      `- domain: ${asWords(task.domain)}`,
      ...(task.owner === null ? [] : [`- owner: ${task.owner}`]),
      `- depends on: ${task.dependsOn.join(', ') || 'none'}`,
      `- requirements: ${task.requirements.join(', ')}`,
      '',
    ]),
  ].join('\n');
}

type Open = {
  readonly id: string;
  readonly subject: string;
  readonly line: number;
  readonly description: string[];
  readonly fields: Map<FieldName, { readonly value: string; readonly line: number }>;
};

type Say = (line: number, problem: Refusal) => void;

/** Reads a `plan.md`; never throws. */
export function parsePlan(text: string): ReadDocument<PlanDocument> {
  const problems: SpecProblem[] = [];
  const say: Say = (line, problem) => problems.push(problemAt(FILE, line, problem));
  const design: string[] = [];
  const found: Open[] = [];
  const others: OtherLine[] = [];
  let open: Open | null = null;
  const { blocks, unclosed } = readMarkdown(text);
  if (unclosed !== null) say(unclosed, unclosedCode());
  for (const [at, block] of blocks.entries()) {
    if (block.kind === 'heading') {
      const [numbered, id = '', subject = ''] = TASK_HEADING.exec(block.text) ?? [];
      open = null;
      if (numbered === undefined) {
        const hasFields = hasFieldsBelow(blocks.slice(at + 1));
        others.push(...othersOf(block).map((one) => ({ ...one, hasFields })));
        continue;
      }
      open = { id, subject, line: block.line, description: [], fields: new Map() };
      found.push(open);
      if (subject === '')
        say(block.line, wrongForm(`what is to be done, like "## ${id}: Store the owner"`, 'nothing', { id }));
    } else if (block.kind === 'quote') {
      (open?.description ?? design).push(block.text);
    } else if (block.kind === 'item' && open !== null) {
      readField(open, block.text, block.line, say);
    } else {
      others.push({ text: block.text, line: block.line, isHeading: false });
    }
  }
  const lines = new Map<string, number>();
  const tasks = found.map((one) => taskOf(one, lines, say));
  for (const stray of strayItems(TASK, others, new Set(found.map(({ id }) => id))))
    say(stray.line, strayItem(TASK, stray));
  const lineOf = (id: string) => lines.get(`${id} files`) ?? lines.get(id) ?? 1;
  for (const { line, problem } of fileClashes(tasks, lineOf)) say(line, problem);
  if (tasks.length === 0) say(1, wrongForm('tasks, like "## T1: Store the owner"', 'none'));
  return { data: { design: design.join('\n\n'), tasks }, lines, problems: byLine(problems) };
}

/** Whether a field of a task stands there, before the next heading. */
function hasFieldsBelow(blocks: readonly Block[]): boolean {
  const end = blocks.findIndex(({ kind }) => kind === 'heading');
  return blocks
    .slice(0, end === -1 ? undefined : end)
    .some(({ kind, text }) => kind === 'item' && /^(?:files|requirements)\s*:/i.test(text));
}

function readField(open: Open, text: string, line: number, say: Say): void {
  const [, key = '', value = ''] = /^([a-z ]+?)\s*:\s*(.*)$/is.exec(text) ?? [];
  const name = FIELDS.find((one) => one === key.toLowerCase());
  if (name === undefined) {
    const meant = key === '' ? undefined : nearest(key, FIELDS);
    say(line, wrongForm(`one of ${FIELDS.join(', ')}`, got(text), { id: open.id, meant }));
  } else if (open.fields.has(name)) say(line, refusal(SPEC_CODES.spec_item_repeated, { id: open.id, field: name }));
  else open.fields.set(name, { value: value.trim(), line });
}

function taskOf({ id, subject, line, description, fields }: Open, lines: Map<string, number>, say: Say): PlanTask {
  if (lines.has(id)) say(line, repeatedItem(id, lines.get(id)));
  else {
    lines.set(id, line);
    for (const [name, field] of fields) lines.set(`${id} ${name}`, field.line);
  }
  const value = (name: FieldName) => fields.get(name)?.value ?? '';
  const at = (name: FieldName) => fields.get(name)?.line ?? line;
  const files = codeSpans(value('files'));
  if (files.length === 0) say(at('files'), wrongField('files', 'the paths that it touches', 'none', { id }));
  const paths = files.map(insideProject);
  for (const [index, file] of files.entries()) {
    const path = paths[index] ?? null;
    if (path === null)
      say(at('files'), wrongField('files', 'a path inside the project, from its root', got(file), { id }));
    else if (paths.indexOf(path) < index)
      say(at('files'), wrongField('files', `${got(file)} once`, 'it again', { id }));
  }
  const domain = value('domain');
  if (!DOMAINS.some((one) => one === domain)) {
    const meant = domain === '' ? undefined : nearest(domain, DOMAINS);
    const came = got(domain === '' ? undefined : domain);
    say(at('domain'), wrongField('domain', `one of ${DOMAINS.join(', ')}`, came, { id, meant }));
  }
  const owner = /^(?:none|-|–)?$/i.test(value('owner')) ? null : value('owner');
  if (owner !== null && (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(owner) || owner.startsWith('team-')))
    say(at('owner'), wrongField('owner', 'a role like backend-dev', got(owner), { id }));
  const requirements = idsOf(value('requirements'));
  if (requirements.length === 0)
    say(at('requirements'), wrongField('requirements', 'those that it is for, like R1', 'none', { id }));
  const dependsOn = idsOf(value('depends on'));
  return { id, subject, description: description.join('\n\n'), files, domain, owner, dependsOn, requirements };
}
