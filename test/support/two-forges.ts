// Embedded forges behind one address: a hosting service with several repositories of one owner.

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Daemon, type DaemonOptions } from './daemon.ts';
import { startForge, type TestForge } from './forge.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

export type Repositories = {
  readonly url: string;
  readonly directory: string;
  /** By the name of the repository. */
  readonly forges: ReadonlyMap<string, TestForge>;
  /** The rows that the list of the owner's repositories has. */
  listed: readonly Readonly<Record<string, unknown>>[];
  /** Requests, by method and path. */
  readonly seen: string[];
  /** Whether a request to this path gets no answer. */
  holds: (path: string) => boolean;
};

/**
 * @param names of the repositories of `maintainer`
 * @param more Apps, which are installed on all of them
 */
export async function startForges(
  t: Cleanup,
  names: readonly string[],
  more: Pick<NonNullable<Parameters<typeof startForge>[2]>, 'apps'> = {},
): Promise<Repositories> {
  const forges = new Map<string, TestForge>();
  for (const repo of names) forges.set(repo, await startForge(t, undefined, { repo, ...more }));
  const server = createServer((request, response) => serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const row = (repo: string) => ({
    full_name: `maintainer/${repo}`,
    owner: { login: 'maintainer' },
    topics: ['agents'],
  });
  const all: Repositories = {
    url,
    directory: tempDir(t),
    forges,
    listed: names.map(row),
    seen: [],
    holds: () => false,
  };
  function serve(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '/';
    all.seen.push(`${request.method} ${path}`);
    if (all.holds(path)) return;
    const answer = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const [, repo = ''] = /^\/(?:repos\/)?maintainer\/([^/?]+?)(?:\.git)?(?:[/?]|$)/.exec(path) ?? [];
    const forge = forges.get(repo) ?? (repo === '' ? forges.get(names[0] ?? '') : undefined);
    // The owner is a person, so no list of an organisation has the repositories.
    if (path.startsWith('/user/repos')) answer(200, all.listed);
    else if (path.startsWith('/orgs/') || forge === undefined) answer(404, { message: 'Not Found' });
    else if (path.endsWith('/access_tokens')) void passToken(path, request, response);
    else pass(forge, path, request, response);
  }
  /** A token of an App is made where the repository is that it is for. */
  async function passToken(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks);
    const forge = [...forges].find(([repo]) => body.includes(`"${repo}"`))?.[1];
    if (forge === undefined) response.writeHead(422).end();
    else
      pass(forge, path, Object.assign(Readable.from([body]), { headers: request.headers, method: 'POST' }), response);
  }
  type Passed = Readable & Pick<IncomingMessage, 'headers' | 'method'>;
  function pass({ forge }: TestForge, path: string, request: Passed, response: ServerResponse): void {
    const { host: _, ...headers } = request.headers;
    const sent = httpRequest(forge.url + path, { method: request.method, headers }, (got) => {
      response.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(response);
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  }
  return all;
}

/** A workflow file with many repositories in place of one. */
export async function daemonFor(
  t: Cleanup,
  all: Repositories,
  names: string,
  yaml: string,
  more: DaemonOptions = {},
): Promise<Daemon> {
  const [forge] = all.forges.values();
  if (forge === undefined) throw new Error('no forge');
  const daemon = await Daemon.create(t, forge, { apiUrl: all.url, yaml, ...more });
  daemon.overwrite(daemon.read().replace('repo: maintainer/project', names));
  return daemon;
}
