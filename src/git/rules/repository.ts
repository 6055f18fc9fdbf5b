// A repository's slug `<owner>/<repo>`, and how it is read from a Git remote.

export type RepoSlug = { readonly owner: string; readonly repo: string };

const OWNER = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
const REPO = /^[A-Za-z0-9._-]+$/;

/** Parses `<owner>/<repo>`; undefined when it is not one. */
export function parseSlug(text: string): RepoSlug | undefined {
  const [owner, repo, ...rest] = text.split('/');
  if (owner === undefined || repo === undefined || rest.length > 0) return undefined;
  if (!OWNER.test(owner) || !REPO.test(repo) || repo === '.' || repo === '..') return undefined;
  return { owner, repo };
}

export function formatSlug(slug: RepoSlug): string {
  return `${slug.owner}/${slug.repo}`;
}

/** `host`: in lower case, with a port that is not the usual one; `origin`: where the host answers to HTTP. */
export type RemoteRepository = { readonly host: string; readonly origin: string; readonly slug: RepoSlug };

/** What a directory's Git remote names; `says` completes "this directory …" when that is no repository of a service. */
export type Remote =
  | ({ readonly kind: 'repository' } & RemoteRepository)
  | { readonly kind: 'none'; readonly says: string };

/** The other names under which a service answers to git. */
const ALIASES: Readonly<Record<string, string>> = { 'www.github.com': 'github.com', 'ssh.github.com': 'github.com' };

/** Reads a Git remote's address: `https://host/o/r.git`, `ssh://git@host/o/r`, `git@host:o/r.git`. */
export function parseRemoteUrl(url: string): RemoteRepository | undefined {
  const trimmed = url.trim();
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/)(.+)$/.exec(trimmed);
  const full = /^([a-z+]+):\/\/(?:[^@/]+@)?([^/:]+)(:\d+)?\/(.+)$/i.exec(trimmed);
  const scheme = full?.[1]?.toLowerCase() ?? 'ssh';
  const name = (full?.[2] ?? scp?.[1])?.toLowerCase();
  const path = full?.[4] ?? scp?.[2];
  if (name === undefined || path === undefined || scheme === 'file') return undefined;
  const slug = parseSlug(path.replace(/\/+$/, '').replace(/\.git$/, ''));
  if (slug === undefined) return undefined;
  // The port of another protocol than HTTP says nothing about where the service's API is.
  const isHttp = scheme === 'http' || scheme === 'https';
  const host = `${ALIASES[name] ?? name}${isHttp ? (full?.[3] ?? '') : ''}`;
  return { host, origin: `${scheme === 'http' ? 'http' : 'https'}://${host}`, slug };
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether two hosts are one machine's: ports, which differ between git and HTTP, are left out. */
export function sameHost(a: string, b: string): boolean {
  const [one, other] = [a, b].map((host) => host.toLowerCase().replace(/:\d+$/, ''));
  if (one === undefined || other === undefined) return false;
  return one === other || (LOOPBACK.test(one) && LOOPBACK.test(other));
}
