// The body of a worker's request, and the text of the answer.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Of a file: null for a path means that it is empty. */
export type Body =
  | { readonly kind: 'none'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'file'; readonly path: string | null; readonly headers: Readonly<Record<string, string>> };

export async function readText(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** What is sent, and the headers that tell of it. */
export async function contentOf(
  body: Body,
): Promise<readonly [Readable | string | null, Readonly<Record<string, string>>]> {
  if (body.kind === 'none') return [null, body.headers];
  if (body.kind === 'json') return [JSON.stringify(body.value), { 'content-type': 'application/json' }];
  if (body.path === null) return ['', body.headers];
  const { size } = await stat(body.path);
  return [createReadStream(body.path), { ...body.headers, 'content-length': String(size) }];
}
