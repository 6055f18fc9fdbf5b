// Reads the body of a request, up to a limit.

import type { IncomingMessage } from 'node:http';

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
