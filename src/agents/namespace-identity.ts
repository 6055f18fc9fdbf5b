// Owner of the current namespaces: a teammate's name is stored as the source of a mount.
// Programs inside cannot remove the mount, so it overrides environment variables.

import { readFileSync } from 'node:fs';
import { lazyCrypto } from '../base/lazy-crypto.ts';
import type { Identity } from './member-environment.ts';

const PREFIX = 'toolcrew:';

/** Prefix per project: other projects ignore the mount. */
function prefixOf(main: string): string {
  return `${PREFIX}${lazyCrypto().createHash('sha256').update(main).digest('hex').slice(0, 16)}:`;
}

/** Source of the mount. It contains no spaces, since names of teams and teammates have none. */
export function namespaceIdentity(
  main: string,
  owner: { readonly team: string; readonly name: string; readonly epoch: number },
) {
  return `${prefixOf(main)}${owner.team}:${owner.name}:${owner.epoch}`;
}

/** @param table in the format of /proc/self/mountinfo; mounts of outer namespaces come first */
export function parseNamespaceIdentity(table: string, main: string): Identity | undefined {
  if (!table.includes(PREFIX)) return undefined;
  const prefix = prefixOf(main);
  for (const row of table.split('\n')) {
    // After the dash: file system type, mount source.
    const source = row.slice(row.indexOf(' - ') + 3).split(' ')[1] ?? '';
    if (!source.startsWith(prefix)) continue;
    const [team, teammate, epoch] = source.slice(prefix.length).split(':');
    if (team !== undefined && teammate !== undefined) return { team, teammate, epoch: Number(epoch) };
  }
  return undefined;
}

/** Owner of this process's namespaces; undefined: no teammate of that project. */
export function ownNamespaceIdentity(main: string): Identity | undefined {
  try {
    return parseNamespaceIdentity(readFileSync('/proc/self/mountinfo', 'utf8'), main);
  } catch {
    return undefined;
  }
}
