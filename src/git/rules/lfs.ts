// Git LFS: what a pointer says, and which server has the objects of a repository.

export type LfsPointer = { readonly oid: string; readonly size: number };

/** A larger file is no pointer. */
export const MAX_POINTER_BYTES = 1024;

const VERSION = /^version https:\/\/(git-lfs|hawser)\.github\.com\/spec\/v?1\n/;

/** What git holds in the place of a file; null for any other text. */
export function parsePointer(text: string): LfsPointer | null {
  if (text.length >= MAX_POINTER_BYTES || !VERSION.test(text)) return null;
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return oid === undefined || size === undefined ? null : { oid, size: Number(size) };
}

/** The text of a pointer, as git-lfs writes it. */
export function pointerText({ oid, size }: LfsPointer): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
}

/** `elsewhere`: on another host than the repository's own, which alone gets the daemon's credential. */
export type LfsServer =
  | { readonly kind: 'here'; readonly download: string; readonly upload: string }
  | { readonly kind: 'elsewhere'; readonly host: string };

/** The address, without a user; null when it is not on the remote's own scheme, host and port. */
function onSameHost(address: string, remoteUrl: string): string | null {
  try {
    const url = new URL(address);
    if (url.origin === 'null' || url.origin !== new URL(remoteUrl).origin) return null;
    return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  } catch {
    return null;
  }
}

/** The host of an address of any form; a user and a password in it are left out. */
function hostIn(address: string): string {
  const rest = address.replace(/^[\w+.-]+:\/\//, '').replace(/^[^/]*@/, '');
  return rest.replace(/\/.*$/s, '') || 'no host at all';
}

/** @param settings of the repository's `.lfsconfig`, by their names in lower case */
export function lfsServerOf(remoteUrl: string, settings: ReadonlyMap<string, string>): LfsServer {
  const remote = remoteUrl.replace(/\/+$/, '');
  const own = `${remote.endsWith('.git') ? remote : `${remote}.git`}/info/lfs`;
  const download = settings.get('lfs.url') ?? settings.get('remote.origin.lfsurl') ?? own;
  const upload =
    settings.get('lfs.pushurl') ?? settings.get('lfs.url') ?? settings.get('remote.origin.lfspushurl') ?? download;
  for (const address of [download, upload])
    if (onSameHost(address, remoteUrl) === null) return { kind: 'elsewhere', host: hostIn(address) };
  return {
    kind: 'here',
    download: onSameHost(download, remoteUrl) ?? own,
    upload: onSameHost(upload, remoteUrl) ?? own,
  };
}

/** What a clone's own git needs: it makes pointers of files and files of pointers, and asks no server for any. */
export const LFS_SETTINGS = {
  'filter.lfs.clean': 'git-lfs clean -- %f',
  'filter.lfs.smudge': 'git-lfs smudge -- %f',
  'filter.lfs.process': 'git-lfs filter-process',
  'filter.lfs.required': 'true',
  // Nothing is there: the daemon alone fetches. An object that is missing leaves its pointer.
  'lfs.url': 'file:///nonexistent',
  'lfs.skipDownloadErrors': 'true',
} as const;

/** Where there is no git-lfs: pointers stay, whatever other settings name as the filter. */
export const LFS_OFF: Readonly<Record<string, string>> = {
  'filter.lfs.clean': '',
  'filter.lfs.smudge': '',
  'filter.lfs.process': '',
  'filter.lfs.required': 'false',
};

const LINES = `[filter "lfs"]
	clean = ${LFS_SETTINGS['filter.lfs.clean']}
	smudge = ${LFS_SETTINGS['filter.lfs.smudge']}
	process = ${LFS_SETTINGS['filter.lfs.process']}
	required = ${LFS_SETTINGS['filter.lfs.required']}
[lfs]
	url = ${LFS_SETTINGS['lfs.url']}
	skipDownloadErrors = ${LFS_SETTINGS['lfs.skipDownloadErrors']}
	repositoryFormatVersion = 0
`;

/** The text of a clone's settings with those of LFS, as its last ones, so that they count. */
export function withLfs(config: string): string {
  if (config.includes(LINES)) return config;
  return `${config}${config === '' || config.endsWith('\n') ? '' : '\n'}${LINES}`;
}
