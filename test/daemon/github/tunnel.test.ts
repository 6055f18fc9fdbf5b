// Requests through proxies that make no tunnel: they end at once, with the proxy named.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import * as z from 'zod';
import { systemClock } from '../../../src/base/clock.ts';
import { HostingClient } from '../../../src/daemon/github/client.ts';
import { TrackerError } from '../../../src/daemon/rules/tracker-error.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const { signal } = new AbortController();

/** @param answer what a CONNECT gets before its connection ends; empty: nothing */
async function proxyAnswering(t: Cleanup, answer: string): Promise<{ readonly url: string; connects: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => server.close());
  const address = server.address();
  const proxy = {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    connects: 0,
  };
  server.on('connect', (_, socket) => {
    proxy.connects += 1;
    socket.on('error', () => undefined);
    socket.end(answer);
  });
  return proxy;
}

const ANSWERS = [
  { what: 'ends the connection', answer: '', words: /The proxy made no tunnel/ },
  {
    what: 'asks for a password',
    answer: 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
    words: /answered 407\. Check the user and the password in HTTPS_PROXY or HTTP_PROXY/,
  },
  { what: 'reaches nothing', answer: 'HTTP/1.1 502 Bad Gateway\r\n\r\n', words: /answered 502/ },
] as const;

for (const scheme of ['http', 'https'])
  for (const { what, answer, words } of ANSWERS)
    test(`a proxy that ${what} ends a request to an ${scheme} address after one try`, async (t) => {
      const proxy = await proxyAnswering(t, answer);
      const before = { ...process.env };
      finallyDo(t, () => {
        for (const name of ['http_proxy', 'https_proxy', 'no_proxy']) {
          const value = before[name];
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
        }
      });
      Object.assign(process.env, { http_proxy: proxy.url, https_proxy: proxy.url, no_proxy: '' });
      const client = new HostingClient({
        apiUrl: `${scheme}://service.invalid`,
        token: async () => 't',
        onUnauthorized: () => undefined,
        userAgent: 'toolcrew/test',
        clock: systemClock,
        timeoutMs: 5_000,
      });
      finallyDo(t, () => client.close());
      await assert.rejects(
        client.request('GET /repos/o/r', {}, z.unknown(), signal),
        (error) => error instanceof TrackerError && error.failure === 'unavailable' && words.test(error.message),
      );
      assert.equal(proxy.connects, 1);
    });
