// The routes of `tool doctor` to the hosting service: each is tried, with the proxy and the authorities that the daemon uses.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GIT_SETTINGS } from '../../agents/isolation.ts';
import { noProxyForGit, proxyFor } from '../../base/proxy-route.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import type { OpenedTracker } from '../../compose/trackers.ts';
import { type AuthorityFile, authorityForGit, readAuthorities } from '../../daemon/github/authority.ts';
import { cloneUrlOf } from '../../daemon/github/clone-url.ts';
import type { HostingCredential } from '../../daemon/github/credential.ts';
import { TrackerError } from '../../daemon/rules/tracker-error.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { explain, isAccessDenied, networkEnvironment, SETTINGS_VARIABLE, tryGit } from '../../git/git.ts';
import { keptSetting, writePersonSettings } from '../../git/person-settings.ts';
import { dropRepositoryVariables } from '../../git/repository-variables.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { type DoctorCheck, fail, failedBy, ok } from './doctor-row.ts';

const LIMIT_MS = 20_000;
const MEND = 'check HTTPS_PROXY, HTTP_PROXY, NO_PROXY and tracker.ca_file, then tool doctor';
const MEND_GIT = MEND.replace(' and', ', http.proxy of your git settings and');

export type Network = { readonly authorities: readonly AuthorityFile[] };

/** What git is run with, as the daemon runs it. */
export type GitRoute = {
  readonly env: Environment;
  /** The same without the bundles of authorities that are made for git. */
  readonly own: Environment;
  /** For the time of the checks alone. */
  readonly directory: string;
};

/** The settings of the network, or the row of the one that cannot be used. */
export function readNetwork({ tracker }: Workflow, env: Environment): Network | DoctorCheck {
  try {
    for (const url of [tracker.apiUrl, cloneUrlOf(tracker.apiUrl, tracker.slug)]) proxyFor(url, env);
    return { authorities: readAuthorities(tracker.caFile, env) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return failedBy('network', error, 'mend the key or variable named here');
  }
}

/** Has git checked with the person's settings and the authorities that the daemon's own git has, in a directory of its own. */
export async function withGitRoute<T>(
  { tracker }: Workflow,
  { authorities }: Network,
  env: Environment,
  use: (git: GitRoute) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'toolcrew-doctor-'));
  try {
    const settings = join(directory, GIT_SETTINGS);
    const own: Record<string, string | undefined> = { ...env, [SETTINGS_VARIABLE]: settings };
    dropRepositoryVariables(own);
    await writePersonSettings(settings, own);
    const bundles = await authorityForGit(authorities, directory, cloneUrlOf(tracker.apiUrl, tracker.slug), own);
    return await use({ directory, own, env: { ...own, ...bundles } });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Where a request goes, and who may sign the certificate. User and password of a proxy stay out. */
function routeOf(url: string, way: string, authorities: readonly string[]): string {
  const { host, protocol } = new URL(url);
  if (protocol === 'http:') return `${host} ${way}, without a certificate`;
  return `${host} ${way}, authorities: ${['the usual ones', ...authorities].join(', ')}`;
}

function wayOf(url: string, env: Environment): string {
  const proxy = proxyFor(url, env);
  return proxy === undefined ? 'directly' : `through the proxy ${proxy.host} (${proxy.variable})`;
}

const namesOf = ({ authorities }: Network) => authorities.map(({ name, path }) => `${path} (${name})`);

/** Host and port of an address as git takes it: with a scheme or without, and maybe with user and password. */
function hostOfProxy(address: string): string {
  return oneLine(
    address
      .replace(/^[\w+.-]*:\/\//, '')
      .replace(/^.*@/s, '')
      .replace(/[/?#].*$/s, ''),
    100,
  );
}

/** As git goes: its own setting outranks the variables of proxies, but NO_PROXY. */
async function wayOfGit(url: string, env: Environment): Promise<string> {
  const proxy = await keptSetting('proxy', url, env);
  if (proxy === undefined || noProxyForGit(url, env) !== undefined) return wayOf(url, env);
  const setting = 'http.proxy of your git settings';
  return proxy === '' ? `directly (${setting} is empty)` : `through the proxy ${hostOfProxy(proxy)} (${setting})`;
}

/** A variable of the person's stands alone; their setting stands beside the files. */
async function authoritiesOfGit(url: string, network: Network, env: Environment): Promise<readonly string[]> {
  const variable = env.GIT_SSL_CAINFO;
  if (variable) return [`${variable} (GIT_SSL_CAINFO)`];
  const setting = await keptSetting('sslCAInfo', url, env);
  return [...namesOf(network), ...(setting ? [`${setting} (http.sslCAInfo of your git settings)`] : [])];
}

function broken(route: string, said: string): Refusal {
  return refusal(CLI_CODES.network_route_failed, { route, said });
}

/** Any answer of the service says that the route holds. */
export async function checkApiRoute(
  workflow: Workflow,
  network: Network,
  { reach }: Pick<OpenedTracker, 'reach'>,
  env: Environment,
): Promise<DoctorCheck> {
  const name = 'API route';
  const { apiUrl } = workflow.tracker;
  const route = routeOf(apiUrl, wayOf(apiUrl, env), namesOf(network));
  try {
    await reach(AbortSignal.timeout(LIMIT_MS));
  } catch (error) {
    if (!(error instanceof TrackerError)) return fail(name, broken(route, messageOf(error)), MEND);
    if (error.failure === 'unavailable') return fail(name, broken(route, error.message), MEND);
  }
  return ok(name, route);
}

/** Asks the remote for its HEAD, as the daemon's git does. */
export async function checkGitRoute(
  { tracker }: Workflow,
  network: Network,
  credential: Pick<HostingCredential, 'gitSecret'> | undefined,
  { env, own, directory }: GitRoute,
): Promise<DoctorCheck> {
  const name = 'git route';
  const url = cloneUrlOf(tracker.apiUrl, tracker.slug);
  const route = routeOf(url, await wayOfGit(url, own), await authoritiesOfGit(url, network, own));
  try {
    const secret = credential === undefined ? null : await credential.gitSecret();
    const { exitCode, stderr } = await tryGit(['ls-remote', '--quiet', url, 'HEAD'], {
      cwd: directory,
      env: networkEnvironment(env, url),
      timeoutMs: LIMIT_MS,
      ...(secret === null ? {} : { secret }),
    });
    // A credential that is turned away has a row of its own; the route holds.
    if (exitCode === 0 || isAccessDenied(stderr)) return ok(name, route);
    return fail(name, broken(route, oneLine(explain(stderr), 400)), MEND_GIT);
  } catch (error) {
    return fail(name, broken(route, messageOf(error)), MEND_GIT);
  }
}
