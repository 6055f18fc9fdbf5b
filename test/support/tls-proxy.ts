// A company's proxy that is spoken to over TLS, with a certificate that an authority of its own signs.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConnectProxy } from './connect-proxy.ts';
import { type Cleanup, tempDir } from './temp.ts';
import { TlsFront } from './tls-front.ts';

export type TlsProxy = {
  /** `https://`, with user and password. */
  readonly url: string;
  readonly caFile: string;
  readonly seen: readonly string[];
};

export async function startTlsProxy(t: Cleanup): Promise<TlsProxy> {
  const proxy = await ConnectProxy.start(t);
  const front = await TlsFront.start(t, proxy.url);
  const { username, password } = new URL(proxy.url);
  const url = front.url.replace('https://', `https://${username}:${password}@`);
  return { url, caFile: front.caFile, seen: proxy.seen };
}

/** One file with the authorities of several. */
export function joinAuthorities(t: Cleanup, ...files: readonly string[]): string {
  const path = join(tempDir(t), 'authorities.pem');
  writeFileSync(path, files.map((file) => readFileSync(file, 'utf8')).join(''));
  return path;
}
