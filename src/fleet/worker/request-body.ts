// Bodies of a worker's requests, each made anew for another try, and texts of answers.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

type Headers = Readonly<Record<string, string>>;

export type Body =
  | { readonly kind: 'none'; readonly headers: Headers }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'file'; readonly path: string | null; readonly headers: Headers };

export async function readText(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** @returns what is sent, and its headers */
export async function contentOf(body: Body): Promise<readonly [Readable | string | null, Headers]> {
  if (body.kind === 'none') return [null, body.headers];
  if (body.kind === 'json') return [JSON.stringify(body.value), { 'content-type': 'application/json' }];
  if (body.path === null) return ['', body.headers];
  const { size } = await stat(body.path);
  return [createReadStream(body.path), { ...body.headers, 'content-length': String(size) }];
}
