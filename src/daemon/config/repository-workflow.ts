// Parser of a repository's own WORKFLOW.md. It takes what the operator's file allows, names the rest, and resolves no variable.

import * as z from 'zod';
import { decode, failWithProblems } from '../../base/config/decode.ts';
import { parseFrontMatter } from '../../base/config/front-matter.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { oneLine, visibleLines } from '../../base/rules/text.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import { labelProblems, labelsOf } from '../rules/label-rules.ts';
import { OWN_FILE, OWN_HOOKS } from '../rules/own-file.ts';
import { allowedPlace, withOwn } from '../rules/repository-workflow.ts';
import type { Workflow } from '../rules/workflow.ts';
import { templateProblems } from './template.ts';

export type OwnParsed = {
  /** The operator's workflow with the values of the repository. */
  readonly workflow: Workflow;
  /** Keys that the file sets and may not set. */
  readonly refused: readonly string[];
};

const PROMPT = 'prompt';
/** Each active label costs a request per poll, and another one for each label of priority. */
const MOST_LABELS = 10;
const MOST_REQUESTS = 20;
/** The service takes no longer name. */
const LABEL_CHARS = 50;

const label = z.string().regex(new RegExp(`^(?!\\s)[^\\p{Cc}\\p{Cf}]{1,${LABEL_CHARS}}(?<!\\s)$`, 'u'), {
  message: `a label of at most ${LABEL_CHARS} characters, without control characters and outer spaces`,
});
const many = (least: number) => z.union([label.transform((one) => [one]), z.array(label).min(least).max(MOST_LABELS)]);

const schema = z.object({
  active_states: many(1).optional(),
  done_label: label.optional(),
  failed_label: label.optional(),
  question_label: label.optional(),
  priority_labels: many(0).optional(),
  hooks: z.object(Object.fromEntries(OWN_HOOKS.map((name) => [name, z.string().min(1).optional()]))).optional(),
});

type Leaf = readonly [key: string, value: unknown];

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys of the file down to the second level, those without a value left out. */
function leavesOf(data: object): readonly Leaf[] {
  return Object.entries(data)
    .flatMap(([key, value]: Leaf): readonly Leaf[] =>
      isMapping(value) ? Object.entries(value).map(([name, inner]) => [`${key}.${name}`, inner]) : [[key, value]],
    )
    .filter(([, value]) => value !== null && value !== undefined);
}

/** A place of the front matter; the prompt has none there. */
function placeOf(key: string, operator: Workflow) {
  const place = key === PROMPT ? null : allowedPlace(key, operator);
  return place?.kind === 'prompt' ? null : place;
}

/**
 * Throws a ToolError that names every problem of what the file may set.
 * @param commit at which the file was read
 */
export function parseOwnFile(text: string, commit: string, operator: Workflow): OwnParsed {
  const { data = {}, content, line } = parseFrontMatter(text, OWN_FILE);
  const about = { path: OWN_FILE, whole: 'front matter' };
  if (!isMapping(data)) failWithProblems(OWN_FILE, [`${about.whole}: expected keys with values`]);
  const refused: string[] = [];
  const sets: string[] = [];
  const labels: Record<string, unknown> = {};
  const hooks: Record<string, unknown> = {};
  const twice: Refusal[] = [];
  const hasPrompt = content.trim() !== '';
  const takesPrompt = hasPrompt && allowedPlace(PROMPT, operator) !== null;
  if (hasPrompt) (takesPrompt ? sets : refused).push(PROMPT);
  // Hidden characters become visible: the people who review the file see what the agent gets.
  const prompt = takesPrompt ? visibleLines(content) : undefined;
  for (const [key, value] of leavesOf(data)) {
    const place = placeOf(key, operator);
    if (place === null) {
      refused.push(oneLine(key, 60));
      continue;
    }
    const into = place.kind === 'hook' ? hooks : labels;
    if (Object.hasOwn(into, place.name)) twice.push(wrong(place.name, 'one such key', 'two'));
    into[place.name] = value;
    sets.push(place.kind === 'hook' ? `hooks.${place.name}` : place.name);
  }
  const workflow = decode(schema, { ...labels, hooks }, about, (input, problems: Refusal[]) => {
    const result = withOwn(operator, commit, [...new Set(sets)], { ...input, prompt });
    problems.push(...twice);
    for (const { key, expected, came } of labelProblems(labelsOf(result))) problems.push(wrong(key, expected, came));
    const requests = result.labels.active.length * (result.agent.priorityLabels.length + 1);
    if (requests > MOST_REQUESTS && [input.active_states, input.priority_labels].some((one) => one !== undefined))
      problems.push(wrong('agent.priority_labels', `at most ${MOST_REQUESTS} requests a poll`, `${requests}`));
    for (const one of templateProblems(prompt ?? ''))
      problems.push(refusal(CONFIG_CODES.template_invalid, { key: PROMPT, ...one, line: line + one.line - 1 }));
    return result;
  });
  return { workflow, refused };
}

function wrong(key: string, expected: string, came: string): Refusal {
  return refusal(BASE_CODES.config_value, { key, expected, got: came });
}
