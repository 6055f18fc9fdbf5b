// Calls and answers of the embedded forge's REST service, and the fields of JSON bodies.

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

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

export function json(status: number, value: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(value) };
}

export function refusal(status: number, message: string): Answer {
  return json(status, { message, documentation_url: 'https://docs.github.com/rest' });
}

export function invalid(resource: string, message: string): Answer {
  return json(422, {
    message: 'Validation Failed',
    errors: [{ resource, code: 'custom', message }],
    documentation_url: 'https://docs.github.com/rest',
  });
}
