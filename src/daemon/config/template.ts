// The prompt's template: strict Liquid. Unknown variables and filters are errors, nothing is read from disk, and what
// comes out of a variable is text that is never expanded again.

import { Liquid, LiquidError, type Template as Piece, type Variable } from 'liquidjs';
import { messageOf } from '../../base/rules/errors.ts';
import { nearest } from '../../base/rules/nearest.ts';
import { fence, oneLine } from '../../base/rules/text.ts';
import { NO_BLOCKERS } from '../rules/blockers.ts';
import type { Issue } from '../rules/issue.ts';

export type PromptValues = {
  readonly issue: Issue;
  readonly attempt: { readonly number: number; readonly last_error: string | null };
  readonly repo: { readonly owner: string; readonly repo: string; readonly slug: string };
  readonly workspace: { readonly path: string; readonly branch: string };
};

export interface Template {
  render(values: PromptValues): string;
}

/** `line`, `column`: in the template, from 1. `near`, `known`: names that may have been meant. */
export type TemplateProblem = {
  readonly line: number;
  readonly column: number;
  readonly said: string;
  readonly near?: string;
  readonly known?: readonly string[];
};

/** What a template may name. */
const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  issue: ['number', 'title', 'body', 'url', 'author', 'labels', 'created_at', 'updated_at'],
  attempt: ['number', 'last_error'],
  repo: ['owner', 'repo', 'slug'],
  workspace: ['path', 'branch'],
};
const FULL_NAMES = Object.entries(VARIABLES).flatMap(([name, fields]) => fields.map((field) => `${name}.${field}`));

const engine = () => {
  const liquid = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    relativeReference: false,
    // Liquidjs would ask for the machine's, which takes as long as all else that it loads.
    locale: 'en-US',
    dynamicPartials: false,
    templates: {},
    parseLimit: 1e6,
    renderLimit: 2000,
    memoryLimit: 5e7,
  });
  liquid.registerFilter('fence', (value: unknown) => fence(String(value ?? '')));
  liquid.registerFilter('inline', (value: unknown) => oneLine(String(value ?? ''), 500));
  return liquid;
};

/** Parses the template; throws when it is not valid, which `templateProblems` says better. */
export function createTemplate(source: string): Template {
  const liquid = engine();
  const parsed = liquid.parse(source);
  const render = (values: PromptValues): string => {
    const { issue } = values;
    return String(
      liquid.renderSync(parsed, {
        issue: {
          number: issue.number,
          title: issue.title,
          body: issue.body,
          url: issue.url,
          labels: [...issue.labels],
          author: issue.author?.login ?? '',
          created_at: issue.createdAt,
          updated_at: issue.updatedAt,
        },
        attempt: { ...values.attempt },
        repo: { ...values.repo },
        workspace: { ...values.workspace },
      }),
    );
  };
  return { render };
}

/** The tag or the output that holds the place, as it stands in the template; empty when there is none. */
function around(source: string, index: number): string {
  const start = Math.max(source.lastIndexOf('{%', index), source.lastIndexOf('{{', index));
  const end = /[%}]\}/.exec(source.slice(Math.max(start, 0)));
  return start < 0 ? '' : oneLine(source.slice(start, end === null ? undefined : start + end.index + 2), 80);
}

function problemOf(error: unknown, source: string): TemplateProblem {
  if (!LiquidError.is(error)) return { line: 1, column: 1, said: messageOf(error) };
  const [line = 1, column = 1] = error.token.getPosition();
  const said = oneLine(error.originalError?.message ?? error.message.replace(/, line:\d+, col:\d+.*$/s, ''), 200);
  const place = around(source, error.token.begin);
  return { line, column, said: place === '' || said.includes(place) ? said : `${place}: ${said}` };
}

/** Each unknown filter parses the template once more. */
const MOST_PROBLEMS = 20;

/** Parses with every unknown filter made known, so that one does not hide the others, nor anything else. */
function parseAll(liquid: Liquid, source: string, problems: TemplateProblem[]): Piece[] | undefined {
  const known = Object.keys(liquid.filters);
  while (problems.length < MOST_PROBLEMS) {
    try {
      return liquid.parse(source);
    } catch (error) {
      const name = /^undefined filter: (.*)$/.exec(
        LiquidError.is(error) ? (error.originalError?.message ?? '') : '',
      )?.[1];
      const problem = problemOf(error, source);
      if (name === undefined || Object.hasOwn(liquid.filters, name)) {
        problems.push(problem);
        return undefined;
      }
      const near = nearest(name, known);
      const advice = near === undefined ? { known: ['those of Liquid', 'fence', 'inline'] } : { near };
      problems.push({ ...problem, said: `unknown filter ${oneLine(name, 40)}`, ...advice });
      liquid.registerFilter(name, (value: unknown) => value);
    }
  }
  return undefined;
}

/** undefined when the variable is a known one. What lies below a known one is found out by rendering. */
function objectionTo({ segments }: Variable): Pick<TemplateProblem, 'said' | 'near' | 'known'> | undefined {
  const [root, field] = segments;
  const fields = typeof root === 'string' && Object.hasOwn(VARIABLES, root) ? VARIABLES[root] : undefined;
  if (fields !== undefined && (typeof field !== 'string' || fields.includes(field))) return undefined;
  const name = segments.slice(0, 2).filter((segment) => typeof segment === 'string' || typeof segment === 'number');
  const shown = oneLine(name.join('.'), 60);
  const known = fields === undefined ? Object.keys(VARIABLES) : fields.map((one) => `${String(root)}.${one}`);
  const near = nearest(shown, FULL_NAMES);
  return { said: `unknown variable ${shown}`, ...(near === undefined ? { known } : { near }) };
}

const ISSUE: Issue = {
  number: 1,
  title: 'A title',
  body: 'A body',
  url: 'https://example.invalid/issues/1',
  state: 'open',
  labels: ['a label'],
  author: { login: 'someone', type: 'User' },
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  blockers: NO_BLOCKERS,
};

/** What is wrong with the template, the first 20 problems: its tags, its filters, its variables wherever they stand. */
export function templateProblems(source: string): TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const liquid = engine();
  const pieces = parseAll(liquid, source, problems);
  const globals = pieces === undefined ? {} : liquid.analyzeSync(pieces, { partials: false }).globals;
  for (const variable of Object.values(globals).flat()) {
    if (problems.length >= MOST_PROBLEMS) break;
    const objection = objectionTo(variable);
    if (objection !== undefined)
      problems.push({ line: variable.location.row, column: variable.location.col, ...objection });
  }
  if (problems.length === 0) problems.push(...renderingProblems(source));
  return problems.sort((one, other) => one.line - other.line || one.column - other.column);
}

/** What is seen only when it runs: once as the first attempt's prompt, once as a later one's. */
function renderingProblems(source: string): TemplateProblem[] {
  const template = createTemplate(source);
  const repo = { owner: 'owner', repo: 'repo', slug: 'owner/repo' };
  const workspace = { path: '/workspace', branch: 'tool/issue-1' };
  for (const attempt of [
    { number: 1, last_error: null },
    { number: 2, last_error: 'words of the last error' },
  ]) {
    try {
      template.render({ issue: ISSUE, attempt, repo, workspace });
    } catch (error) {
      return [problemOf(error, source)];
    }
  }
  return [];
}
