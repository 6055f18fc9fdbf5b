// The parts of undici that are used. Its index loads mocks, caches and web sockets as well, and takes twice as long.

import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const load = createRequire(import.meta.url);

function part<Name extends keyof typeof Undici>(path: string): (typeof Undici)[Name] {
  return load(`undici/lib/${path}`);
}

export const Agent = part<'Agent'>('dispatcher/agent.js');
export const Pool = part<'Pool'>('dispatcher/pool.js');
export const ProxyAgent = part<'ProxyAgent'>('dispatcher/proxy-agent.js');
const loaded: Pick<typeof Undici, 'fetch'> = load('undici/lib/web/fetch/index.js');
export const fetch = loaded.fetch;

// As its index does it: the proxy's agent makes its tunnel by one of these.
Object.assign(part<'Dispatcher'>('dispatcher/dispatcher.js').prototype, load('undici/lib/api/index.js'));
