// Name, path and key of an issue on the pages: with its repository, where there are many.

import type { Row } from '../daemon/view-rows.ts';

/** `path`: of its page, and below `/api/v1` of its data. `key`: for ids of elements. */
export type IssuePlace = { readonly name: string; readonly path: string; readonly key: string };

export function issuePlace(
  { issue_number: number, issue_identifier: identifier }: IssueId,
  isMany: boolean,
): IssuePlace {
  if (!isMany) return { name: `#${number}`, path: `/issues/${number}`, key: `${number}` };
  const [repository = ''] = identifier.split('#');
  return { name: identifier, path: `/repositories/${repository}/issues/${number}`, key: `${number}-${repository}` };
}

export type IssueId = Pick<Row, 'issue_number' | 'issue_identifier'>;
