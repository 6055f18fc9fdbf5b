// Leases as files: the write guard reads one at each decision about a path, and makes one for the first writer of an unowned path.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lease } from './rules/lease.ts';

const [OFFSET, PRIME, MASK] = [1469598103934665603n, 1099511628211n, (1n << 64n) - 1n];

/** The file's name: FNV-1a of the path, as `leaseFile` in native/write-guard.c computes it. */
export function leaseName(path: string): string {
  let hash = OFFSET;
  for (const byte of Buffer.from(path)) hash = ((hash ^ BigInt(byte)) * PRIME) & MASK;
  return hash.toString(16).padStart(16, '0');
}

function textOf({ member, path, until }: Lease): string {
  return `${member}\n${path}\n${Math.ceil(until / 1000)}\n`;
}

/** undefined: no such file, or none of ours. `until` in seconds; 0: made by the guard, and not in the team's log so far. */
function readLease(path: string): { readonly text: string; readonly until: number } | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, until: Number(text.split('\n')[2] ?? 0) };
  } catch {
    return undefined;
  }
}

/**
 * Writes the leases that hold, and removes those that are over. A lease that the guard made stays: its record comes with the notes.
 * @param leases of the team's state, by path
 */
export function placeLeases(directory: string, leases: ReadonlyMap<string, Lease>, now: number): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const wanted = new Map(
    [...leases.values()].flatMap((lease) =>
      lease.until > now && !/[\n\0]/.test(lease.path) ? [[leaseName(lease.path), textOf(lease)] as const] : [],
    ),
  );
  for (const name of readdirSync(directory)) {
    const there = readLease(join(directory, name));
    if (there !== undefined && there.until !== 0 && !wanted.has(name)) rmSync(join(directory, name), { force: true });
  }
  for (const [name, text] of wanted) {
    const path = join(directory, name);
    if (readLease(path)?.text === text) continue;
    const fresh = `${path}.${process.pid}`;
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, path);
  }
}

/** Paths that are held now, and by whom. */
export function readLeases(
  directory: string,
  now: number,
): readonly { readonly member: string; readonly path: string }[] {
  return (existsSync(directory) ? readdirSync(directory) : []).flatMap((name) => {
    const lease = readLease(join(directory, name));
    const [member = '', path = ''] = lease?.text.split('\n') ?? [];
    return lease !== undefined && path !== '' && (lease.until === 0 || lease.until * 1000 > now)
      ? [{ member, path }]
      : [];
  });
}

/** Removes the leases that the guard made for a member and nobody has put on record. */
export function dropUnrecorded(directory: string, member: string): void {
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    const lease = readLease(join(directory, name));
    if (lease?.until === 0 && lease.text.startsWith(`${member}\n`)) rmSync(join(directory, name), { force: true });
  }
}
