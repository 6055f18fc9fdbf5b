// The parts of undici that are used. Its index loads mocks, caches and web sockets as well, and takes twice as long.

import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const part = createRequire(import.meta.url);

function load<Name extends keyof typeof Undici>(path: string): (typeof Undici)[Name] {
  return part(`undici/lib/${path}`);
}

export const Agent = load<'Agent'>('dispatcher/agent.js');
export const Pool = load<'Pool'>('dispatcher/pool.js');
export const ProxyAgent = load<'ProxyAgent'>('dispatcher/proxy-agent.js');
const { fetch: found }: typeof Undici = part('undici/lib/web/fetch/index.js');
export const fetch = found;
