// Conversion between the API URL of a hosting service and the clone URLs of its repositories.

import { formatSlug, type RemoteRepository, type RepoSlug } from '../../git/rules/repository.ts';

/** `https://api.github.com` → `github.com`, `https://api.acme.ghe.com` → `acme.ghe.com`, `https://host/api/v3` → `host`. */
export function hostOf(apiUrl: string): string {
  const { host, pathname } = new URL(apiUrl);
  // A server with its API below `/api/v3` has the host of the API.
  const below = /\/api\/v3\/*$/.test(pathname);
  return host.startsWith('api.') && !below ? host.slice('api.'.length) : host;
}

/** `https://api.github.com` → `https://github.com/o/r.git`; `https://host/api/v3` → `https://host/o/r.git`. */
export function cloneUrlOf(apiUrl: string, slug: RepoSlug): string {
  const url = new URL(apiUrl);
  const path = url.pathname.replace(/\/+$/, '').replace(/\/api\/v3$/, '');
  return `${url.protocol}//${hostOf(apiUrl)}${path}/${formatSlug(slug)}.git`;
}

/** API URL for a remote. Any host but github.com and *.ghe.com counts as an enterprise server. */
export function apiUrlOf({ host, origin }: Pick<RemoteRepository, 'host' | 'origin'>): string {
  const isHosted = host === 'github.com' || host.endsWith('.ghe.com');
  return isHosted ? `https://api.${host}` : `${origin}/api/v3`;
}
