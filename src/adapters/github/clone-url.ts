// Where a repository is cloned from, given the address of its service's API.

import { formatSlug, type RepoSlug } from '../../domain/repository.ts';

/** `https://api.github.com` → `https://github.com/o/r.git`; `https://host/api/v3` → `https://host/o/r.git`. */
export function cloneUrlOf(apiUrl: string, slug: RepoSlug): string {
  const url = new URL(apiUrl);
  const path = url.pathname.replace(/\/+$/, '').replace(/\/api\/v3$/, '');
  const host = url.host.startsWith('api.') ? url.host.slice('api.'.length) : url.host;
  return `${url.protocol}//${host}${path}/${formatSlug(slug)}.git`;
}
