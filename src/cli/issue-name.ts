// An issue as operators name it: `<number>`, or `<owner>/<repo>#<number>` of many repositories.

import { InvalidArgumentError } from 'commander';
import { parseSlug, type RepoSlug } from '../git/rules/repository.ts';

/** `repository`: null where it is not named. */
export type IssueName = { readonly number: number; readonly repository: RepoSlug | null };

/** Takes one argument of a command. */
export function issueName(text: string): IssueName {
  const [, name, digits = ''] = /^(?:([^#]+)#)?([1-9]\d{0,9})$/.exec(text) ?? [];
  const slug = name === undefined ? null : parseSlug(name);
  if (digits === '' || slug === undefined)
    throw new InvalidArgumentError(
      `Expected the number of an issue, or <owner>/<repo>#<number>; got ${text || 'nothing'}.`,
    );
  return { number: Number(digits), repository: slug };
}

export function formatIssue({ number, repository }: IssueName): string {
  return repository === null ? `#${number}` : `${repository.owner}/${repository.repo}#${number}`;
}
