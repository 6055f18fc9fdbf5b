// The submodules that a .gitmodules names: words of the repository, judged before anything is asked for.

export type Submodule = { readonly name: string; readonly path: string; readonly url: string };

export type SubmoduleAddress =
  | { readonly kind: 'address'; readonly url: string }
  /** `why` completes "its address …". */
  | { readonly kind: 'refused'; readonly why: string };

/** Reads what `git config --list -z` prints of a .gitmodules; what has no path or no address is left out. */
export function parseSubmodules(listing: string): readonly Submodule[] {
  const found = new Map<string, { path?: string; url?: string }>();
  for (const row of listing.split('\0')) {
    const end = row.indexOf('\n');
    const [, name, key] = /^submodule\.(.+)\.(path|url)$/s.exec(row.slice(0, end === -1 ? 0 : end)) ?? [];
    if (name === undefined || key === undefined) continue;
    found.set(name, { ...found.get(name), [key]: row.slice(end + 1) });
  }
  return [...found].flatMap(([name, { path, url }]) =>
    path === undefined || url === undefined ? [] : [{ name, path, url }],
  );
}

/** Whether git takes the name without a doubt: as part of a path, and as a key on a command line. */
export function isPlainName(name: string): boolean {
  return /^[^\p{Cc}="\\]+$/u.test(name) && !name.startsWith('-') && !name.split('/').includes('..');
}

/** `git@host:o/r.git` and `ssh://git@host/o/r.git`. */
function overSsh(url: string): { readonly host: string; readonly path: string } | undefined {
  const full = /^(?:ssh|git\+ssh|ssh\+git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.+)$/i.exec(url);
  const short = full ?? /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/|:)\/*(.+)$/.exec(url);
  const [, host, path] = short ?? [];
  return host === undefined || path === undefined ? undefined : { host: host.toLowerCase(), path };
}

/**
 * Where git gets a submodule, without user or password.
 * @param parent the address of the repository whose .gitmodules this is: relative addresses begin there
 * @param remote the address of the daemon's repository: ssh on its host is asked for over HTTP
 */
export function submoduleAddressOf(url: string, parent: string, remote: string): SubmoduleAddress {
  if (/^\.\.?(\/|$)/.test(url)) {
    const found = new URL(url, `${parent.replace(/\/+$/, '')}/`);
    return { kind: 'address', url: found.href.replace(/\/+$/, '') };
  }
  if (/^https?:\/\//i.test(url)) {
    if (!URL.canParse(url)) return { kind: 'refused', why: 'cannot be read' };
    const found = new URL(url);
    found.username = '';
    found.password = '';
    found.hash = '';
    return { kind: 'address', url: found.href };
  }
  const ssh = overSsh(url);
  const { origin, hostname } = new URL(remote);
  if (ssh === undefined) return { kind: 'refused', why: 'is neither http(s), nor ssh, nor relative' };
  if (ssh.host !== hostname) return { kind: 'refused', why: `is ssh on another host than ${hostname}` };
  return { kind: 'address', url: new URL(ssh.path, `${origin}/`).href };
}
