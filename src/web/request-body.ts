// Bodies of requests: read up to a limit, and what one holds.

import type { IncomingMessage } from 'node:http';
import { failure } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';

export const MAX_BODY_BYTES = 64 * 1024;

/** Whether a request says that it has no body. */
export function isEmpty({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return length === '0' || (length === undefined && encoding === undefined);
}

/** The text of `{"text": "…"}`. */
export function toldIn(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = undefined;
  }
  const text = typeof value === 'object' && value !== null && 'text' in value ? value.text : undefined;
  if (typeof text === 'string') return text;
  throw failure(WORK_CODES.request_invalid, {
    problems: [`expected {"text": "…"}, got ${oneLine(body, 100) || 'nothing'}`],
  });
}

export class TooLarge extends Error {}

/**
 * @param limit in bytes
 * @param take called with the size of each part, before it is kept
 * @throws TooLarge
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  take: (bytes: number) => void = () => undefined,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new TooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Whoever breaks off may still answer: the connection stays.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > limit) throw new TooLarge();
    take(part.length);
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}
