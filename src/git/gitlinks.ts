// Gitlinks that a commit adds: a link names a commit of another repository, whose files and commits go nowhere with a push.

import type { GitResult } from './git.ts';

type Read = (args: readonly string[], signal: AbortSignal) => Promise<GitResult>;

const LINK = '160000';

/** Paths that are links in the newer tree only. @param raw of `git diff --raw -z --no-renames` */
function parseNewLinks(raw: string): readonly string[] {
  const fields = raw.split('\0');
  return fields.flatMap((field, index) => {
    const [, before, after] = /^:(\d+) (\d+) /.exec(field) ?? [];
    return after === LINK && before !== LINK ? [fields[index + 1] ?? ''] : [];
  });
}

/** Paths of links that `sha` adds to what it has in common with `base`; submodules that its .gitmodules names are left out. */
export async function newLinks(read: Read, base: string, sha: string, signal: AbortSignal): Promise<readonly string[]> {
  const diff = ['diff', '--raw', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=none', `${base}...${sha}`];
  const links = parseNewLinks((await read(diff, signal)).stdout);
  if (links.length === 0) return links;
  const paths = ['config', '--blob', `${sha}:.gitmodules`, '-z', '--get-regexp', '^submodule\\..*\\.path$'];
  const rows = (await read(paths, signal)).stdout.split('\0');
  const known = new Set(rows.map((row) => row.slice(row.indexOf('\n') + 1)));
  return links.filter((link) => !known.has(link));
}
