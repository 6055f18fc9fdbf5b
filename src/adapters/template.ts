// The prompt's template: strict Liquid. Unknown variables and filters are errors, nothing is read from disk, and what
// comes out of a variable is text that is never expanded again.

import { Liquid } from 'liquidjs';
import type { Issue } from '../domain/issue.ts';
import { fence, oneLine } from '../domain/text.ts';

export type PromptValues = {
  readonly issue: Issue;
  readonly attempt: { readonly number: number; readonly last_error: string | null };
  readonly repo: { readonly owner: string; readonly repo: string; readonly slug: string };
  readonly workspace: { readonly path: string; readonly branch: string };
};

export interface Template {
  render(values: PromptValues): string;
  /** Renders once with a made-up issue, so that an unknown variable is found when the file is read. */
  check(repo: PromptValues['repo']): void;
}

const engine = () => {
  const liquid = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    relativeReference: false,
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

/** Parses the template; throws with line and column when it is not valid. */
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
  return {
    render,
    check(repo) {
      const issue: Issue = {
        number: 1,
        title: 'A title',
        body: 'A body',
        url: 'https://example.invalid/issues/1',
        state: 'open',
        labels: ['a label'],
        author: { login: 'someone', type: 'User' },
        createdAt: '2026-01-01T00:00:00Z',
        updatedAt: '2026-01-01T00:00:00Z',
      };
      for (const attempt of [
        { number: 1, last_error: null },
        { number: 2, last_error: 'words of the last error' },
      ]) {
        render({ issue, attempt, repo, workspace: { path: '/workspace', branch: 'tool/issue-1' } });
      }
    },
  };
}
