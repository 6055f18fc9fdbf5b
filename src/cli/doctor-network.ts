// The routes of `tool doctor` to the hosting service: each is tried, with the proxy and the authorities that the daemon uses.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { type AuthorityFile, authorityForGit, readAuthorities } from '../adapters/authority.ts';
import { explain, isTurnedAway, networkEnvironment, tryGit } from '../adapters/git/git.ts';
import type { HostingClient } from '../adapters/github/client.ts';
import { cloneUrlOf } from '../adapters/github/clone-url.ts';
import type { Credential, Environment } from '../adapters/github/credential.ts';
import { proxyFor } from '../adapters/proxy-route.ts';
import { messageOf, ToolError } from '../domain/errors.ts';
import { oneLine } from '../domain/text.ts';
import { TrackerError } from '../domain/tracker-error.ts';
import type { Workflow } from '../domain/workflow.ts';
import { type Check, fail, ok } from './check.ts';

const LIMIT_MS = 20_000;
const MEND = 'check HTTPS_PROXY, HTTP_PROXY, NO_PROXY and tracker.ca_file, then tool doctor';

export type Network = { readonly authorities: readonly AuthorityFile[] };

/** The settings of the network, or the row of the one that cannot be used. */
export function readNetwork({ tracker }: Workflow, env: Environment): Network | Check {
  try {
    for (const url of [tracker.apiUrl, cloneUrlOf(tracker.apiUrl, tracker.slug)]) proxyFor(url, env);
    return { authorities: readAuthorities(tracker.caFile, env) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return fail('network', error.message, 'mend the key or variable named here');
  }
}

/** Where a request goes, and who may sign the certificate. User and password of a proxy stay out. */
function routeOf(url: string, { authorities }: Network, env: Environment, more: readonly string[]): string {
  const { host, protocol } = new URL(url);
  const proxy = proxyFor(url, env);
  const way = proxy === undefined ? 'directly' : `through the proxy ${proxy.host} (${proxy.variable})`;
  if (protocol === 'http:') return `${host} ${way}, without a certificate`;
  const added = [...authorities.map(({ name, path }) => `${path} (${name})`), ...more];
  return `${host} ${way}, authorities: ${['the usual ones', ...added].join(', ')}`;
}

/** Any answer of the service says that the route holds. */
export async function checkApiRoute(
  workflow: Workflow,
  network: Network,
  client: HostingClient,
  env: Environment,
): Promise<Check> {
  const name = 'API route';
  const route = routeOf(workflow.tracker.apiUrl, network, env, []);
  try {
    await client.request('GET /rate_limit', {}, z.unknown(), AbortSignal.timeout(LIMIT_MS));
  } catch (error) {
    if (!(error instanceof TrackerError)) return fail(name, `${route}: ${messageOf(error)}`, MEND);
    if (error.failure === 'unavailable') return fail(name, `${route}: ${error.message}`, MEND);
  }
  return ok(name, route);
}

/** Asks the remote for its HEAD, as the daemon's git does. */
export async function checkGitRoute(
  workflow: Workflow,
  network: Network,
  credential: Credential | undefined,
  env: Environment,
): Promise<Check> {
  const name = 'git route';
  const { apiUrl, slug } = workflow.tracker;
  const url = cloneUrlOf(apiUrl, slug);
  const own = env.GIT_SSL_CAINFO;
  const route = own
    ? routeOf(url, { authorities: [] }, env, [`${own} (GIT_SSL_CAINFO)`])
    : routeOf(url, network, env, []);
  const directory = mkdtempSync(join(tmpdir(), 'toolcrew-doctor-'));
  try {
    const authority = await authorityForGit(network.authorities, directory, url, env);
    const secret = credential === undefined ? null : await credential.gitSecret();
    const { exitCode, stderr } = await tryGit(['ls-remote', '--quiet', url, 'HEAD'], {
      cwd: directory,
      env: networkEnvironment({ ...env, ...authority }, url),
      timeoutMs: LIMIT_MS,
      ...(secret === null ? {} : { secret }),
    });
    // A credential that is turned away has a row of its own; the route holds.
    if (exitCode === 0 || isTurnedAway(stderr)) return ok(name, route);
    return fail(name, `${route}: ${oneLine(explain(stderr), 400)}`, MEND);
  } catch (error) {
    return fail(name, `${route}: ${messageOf(error)}`, MEND);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
