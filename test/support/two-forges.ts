// Embedded forges behind one address: a hosting service with several repositories of one owner.

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Daemon } from './daemon.ts';
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

/** @param names of the repositories of `maintainer` */
export async function startForges(t: Cleanup, names: readonly string[]): Promise<Repositories> {
  const forges = new Map<string, TestForge>();
  for (const repo of names) forges.set(repo, await startForge(t, undefined, { repo }));
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
    else pass(forge, path, request, response);
  }
  function pass({ forge }: TestForge, path: string, request: IncomingMessage, response: ServerResponse): void {
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
export async function daemonFor(t: Cleanup, all: Repositories, names: string, yaml: string): Promise<Daemon> {
  const [forge] = all.forges.values();
  if (forge === undefined) throw new Error('no forge');
  const daemon = await Daemon.create(t, forge, { apiUrl: all.url, yaml });
  daemon.overwrite(daemon.read().replace('repo: maintainer/project', names));
  return daemon;
}
