// Replies of the status server: their headers, and the forms of a refusal.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, textOf } from '../base/rules/codes.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';
import type { Refused } from './access-control.ts';
import { ISSUE_PAGE } from './routes.ts';

export function wantsHtml(request: IncomingMessage): boolean {
  return /\btext\/html\b/.test(request.headers.accept ?? '');
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Not no-referrer: under that a browser's own form says Origin: null.
    'referrer-policy': 'same-origin',
    vary: 'accept',
    ...headers,
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, status, 'application/json; charset=utf-8', `${JSON.stringify(value, null, 2)}\n`, headers);
}

export function sendHtml(response: ServerResponse, status: number, render: (nonce: string) => string): void {
  const nonce = randomBytes(16).toString('base64');
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
  send(response, status, 'text/html; charset=utf-8', render(nonce), { 'content-security-policy': policy });
}

export function refuse(response: ServerResponse, { status, why, headers }: Refused): void {
  sendJson(response, status, { error: { code: why.of.code, message: textOf(why) } }, headers);
}

/** A browser that asks for the page of an issue gets a sentence. */
export async function refuseReader(
  response: ServerResponse,
  status: number,
  code: string,
  why: Refusal,
): Promise<void> {
  const { req } = response;
  const message = textOf(why);
  const path = req.url?.replace(/^\/repositories\/[^/]+\/[^/]+/, '');
  if (path?.startsWith(ISSUE_PAGE) === true && wantsHtml(req)) {
    const { sentencePage } = await import('./page-parts.ts');
    sendHtml(response, status, (nonce) => sentencePage(nonce, message));
  } else sendJson(response, status, { error: { code, message } });
}

/** Whatever is missing, the answer has one code. */
export function missing(response: ServerResponse, why: Refusal): Promise<void> {
  return refuseReader(response, 404, HTTP_CODES.not_found.code, why);
}
