// Removal of old objects from the daemon's store of Git LFS. Each must be on the server: `git lfs prune` asks for that, in a
// scratch repository of its own, where files of the same names and sizes take the places of the objects.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, open, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { explain, FILES, type GitResult, git } from '../../../git/git.ts';
import { objectPath } from '../../../git/lfs-objects.ts';
import { pointerText } from '../../../git/rules/lfs.ts';
import { gitFailure } from './git-failure.ts';
import { withoutProgress } from './network.ts';

/** Names of objects, and their sizes in bytes. */
export type Objects = ReadonlyMap<string, number>;

/** So many objects are asked for at a time. */
const MAX_ASKED = 1000;
/** git-lfs names an object that the server lacks in such a line. */
const LACKED = /^ \* ([0-9a-f]{64})\b/gm;

function namesIn(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** All objects of a store, or those that were last used before a moment, in ms since the epoch. */
export function objectsIn(store: string, before = Number.POSITIVE_INFINITY): Map<string, number> {
  const found = new Map<string, number>();
  const top = join(store, 'objects');
  for (const first of namesIn(top))
    for (const second of namesIn(join(top, first)))
      for (const oid of namesIn(join(top, first, second))) {
        const status = statSync(join(top, first, second, oid), { throwIfNoEntry: false });
        if (/^[0-9a-f]{64}$/.test(oid) && status?.isFile() === true && status.mtimeMs < before)
          found.set(oid, status.size);
      }
  return found;
}

/** Notes that the objects are in use now. */
export async function touchUsed(store: string, oids: readonly string[]): Promise<void> {
  const now = new Date();
  for (const oid of oids) await utimes(objectPath(store, oid), now, now).catch(() => undefined);
}

/** False when the object is gone already, or has been used meanwhile. Nothing of this process comes between look and removal. */
export function removeUnused(store: string, oid: string, before: number): boolean {
  const place = objectPath(store, oid);
  const used = statSync(place, { throwIfNoEntry: false })?.mtimeMs;
  if (used === undefined || used >= before) return false;
  rmSync(place);
  return true;
}

/** One commit with a pointer to each object, which the remote is said to have, and HEAD on another one without any. */
function commitsOf(objects: Objects, remote: string): string {
  const head = 'committer toolcrew <toolcrew> 0 +0000\ndata 0\n\n';
  const files = [...objects].map(([oid, size]) => {
    const text = pointerText({ oid, size });
    return `M 100644 inline ${oid}\ndata ${text.length}\n${text}\n`;
  });
  return `commit refs/heads/empty\n${head}commit refs/remotes/${remote}/objects\n${head}${files.join('')}`;
}

export type Scratch = {
  /** Removed before and after. */
  readonly path: string;
  /** The remote's name to git-lfs. */
  readonly remote: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs git-lfs there with the server. Its trace is not in the result. */
  readonly ask: (args: readonly string[], store: string) => Promise<GitResult>;
};

async function make({ path, remote, env }: Scratch, objects: Objects, signal: AbortSignal): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  const options = { cwd: path, env, signal };
  await git(['-c', FILES, 'init', '--quiet', '--bare', '--initial-branch=empty', '.'], options);
  await git(['fast-import', '--quiet'], { ...options, input: commitsOf(objects, remote) });
  for (const [oid, size] of objects) {
    const place = objectPath(join(path, 'lfs'), oid);
    await mkdir(dirname(place), { recursive: true });
    const file = await open(place, 'wx');
    await file.truncate(size).finally(() => file.close());
  }
}

/** Those of the objects that the server has. One that git-lfs names as lacking is left out; the others are asked for again. */
async function confirm(scratch: Scratch, objects: Objects, signal: AbortSignal): Promise<readonly string[]> {
  const recent = ['refsdays', 'commitsdays'].flatMap((what) => ['-c', `lfs.fetchrecent${what}=0`]);
  const settings = ['-c', `lfs.pruneremotetocheck=${scratch.remote}`, ...recent];
  const store = join(scratch.path, 'lfs');
  for (let rest = objects; rest.size > 0; ) {
    await make(scratch, rest, signal);
    const result = await scratch.ask([...settings, 'lfs', 'prune', '--verify-remote'], store);
    signal.throwIfAborted();
    if (result.exitCode === 0) return [...rest.keys()].filter((oid) => !existsSync(objectPath(store, oid)));
    const [stderr, stdout] = [result.stderr, result.stdout].map(withoutProgress);
    const lacked = new Set([...`${stderr}\n${stdout}`.matchAll(LACKED)].map(([, oid]) => oid));
    const left = new Map([...rest].filter(([oid]) => !lacked.has(oid)));
    if (left.size === rest.size) throw gitFailure('lfs prune', result, explain(stderr ?? '', stdout));
    rest = left;
  }
  return [];
}

/** Gives those of the objects that the server has, a part at a time. */
export async function* onServer(scratch: Scratch, objects: Objects, signal: AbortSignal) {
  const all = [...objects];
  try {
    for (let at = 0; at < all.length; at += MAX_ASKED)
      yield await confirm(scratch, new Map(all.slice(at, at + MAX_ASKED)), signal);
  } finally {
    await rm(scratch.path, { recursive: true, force: true });
  }
}
