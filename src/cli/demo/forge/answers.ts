// Calls and answers of the embedded forge's REST service, and the fields of JSON bodies.

import { isObject } from '../../../base/rules/values.ts';
import type { Account } from './accounts.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly account: Account | undefined;
  readonly authorization: string | undefined;
};

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function json(status: number, value: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(value) };
}

export function errorAnswer(status: number, message: string): Answer {
  return json(status, { message, documentation_url: 'https://docs.github.com/rest' });
}

export function invalidAnswer(resource: string, message: string): Answer {
  return json(422, {
    message: 'Validation Failed',
    errors: [{ resource, code: 'custom', message }],
    documentation_url: 'https://docs.github.com/rest',
  });
}

const PER_PAGE = 30;
const MOST_PER_PAGE = 100;

/** One page of rows, with the links to the others. @param wrap makes the body of the page's rows */
export function paged(
  call: Call,
  url: string,
  rows: readonly Fields[],
  wrap: (page: readonly Fields[]) => unknown = (page) => page,
): Answer {
  const numberIn = (name: string, otherwise: number) => {
    const value = Number(call.query.get(name) ?? otherwise);
    return Number.isInteger(value) && value >= 1 ? value : otherwise;
  };
  const size = Math.min(MOST_PER_PAGE, numberIn('per_page', PER_PAGE));
  const [page, last] = [numberIn('page', 1), Math.max(1, Math.ceil(rows.length / size))];
  const link = (to: number, rel: string) => {
    const query = new URLSearchParams(call.query);
    query.set('page', String(to));
    return `<${url}${call.path}?${query.toString()}>; rel="${rel}"`;
  };
  const links = page < last ? [link(page + 1, 'next'), link(last, 'last')] : [];
  const answer = json(200, wrap(rows.slice((page - 1) * size, page * size)));
  return links.length === 0 ? answer : { ...answer, headers: { ...answer.headers, link: links.join(', ') } };
}
