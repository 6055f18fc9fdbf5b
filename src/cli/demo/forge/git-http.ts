// Git over HTTP for one bare repository: the smart protocol, with git's own programs behind it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { startProgram } from '../../../base/processes/program.ts';
import { cloneEnvironment } from '../../../git/git.ts';
import type { Accounts } from './accounts.ts';

type Service = 'git-upload-pack' | 'git-receive-pack';

function packet(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

function serviceOf(
  path: string,
  query: URLSearchParams,
): { readonly service: Service; readonly advertise: boolean } | undefined {
  const name = path.endsWith('/info/refs') ? query.get('service') : path.split('/').at(-1);
  if (name !== 'git-upload-pack' && name !== 'git-receive-pack') return undefined;
  return { service: name, advertise: path.endsWith('/info/refs') };
}

/** Answers one request for `<repository>.git/…`. Reading is free unless it is private, writing needs an account that may write. */
export async function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  repository: string,
  accounts: Accounts,
  isPrivate = false,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://here');
  const asked = serviceOf(url.pathname, url.searchParams);
  if (asked === undefined) {
    response.writeHead(404).end();
    return;
  }
  const { service, advertise } = asked;
  if (isPrivate && accounts.behind(request.headers.authorization) === undefined) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="forge"' }).end();
    return;
  }
  if (service === 'git-receive-pack') {
    const account = accounts.behind(request.headers.authorization);
    if (account === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="forge"' }).end();
      return;
    }
    if (!accounts.mayWrite(account)) {
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`Permission denied to ${account.login}.\n`);
      return;
    }
  }
  const protocol = request.headers['git-protocol'];
  const env = { ...cloneEnvironment(process.env), ...(typeof protocol === 'string' ? { GIT_PROTOCOL: protocol } : {}) };
  const args = [
    service.slice('git-'.length),
    '--stateless-rpc',
    ...(advertise ? ['--advertise-refs'] : []),
    repository,
  ];
  const program = await startProgram('git', args, { cwd: repository, env });
  program.stderr.resume();
  response.writeHead(200, {
    'content-type': `application/x-${service}-${advertise ? 'advertisement' : 'result'}`,
    'cache-control': 'no-cache',
  });
  if (advertise) {
    program.stdin.end();
    if (protocol !== 'version=2' || service === 'git-receive-pack')
      response.write(`${packet(`# service=${service}\n`)}0000`);
  } else {
    const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
    body.pipe(program.stdin);
  }
  await pipeline(program.stdout, response).catch(() => program.terminate());
  await program.exit;
}
