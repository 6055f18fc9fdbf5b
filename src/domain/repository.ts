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

/** Reads host and slug from a Git remote's address: `https://host/o/r.git`, `ssh://git@host/o/r`, `git@host:o/r.git`. */
export function parseRemoteUrl(url: string): { host: string; slug: RepoSlug } | undefined {
  const trimmed = url.trim();
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/)(.+)$/.exec(trimmed);
  const full = /^[a-z+]+:\/\/(?:[^@/]+@)?([^/:]+(?::\d+)?)\/(.+)$/i.exec(trimmed);
  const match = full ?? scp;
  if (match === null) return undefined;
  const [, host, path] = match;
  if (host === undefined || path === undefined) return undefined;
  const slug = parseSlug(path.replace(/\/+$/, '').replace(/\.git$/, ''));
  return slug === undefined ? undefined : { host: host.toLowerCase(), slug };
}
