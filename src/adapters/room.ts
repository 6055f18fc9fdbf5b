// Whose namespaces these are. Those of a teammate carry its name as the source of a mount, which nothing in them can take
// away: no variable counts beside it.

import { readFileSync } from 'node:fs';
import type { Identity } from './identity.ts';
import { lateCrypto } from './late-crypto.ts';

const PREFIX = 'toolcrew:';

/** One project's room says nothing of another's. */
function prefixOf(main: string): string {
  return `${PREFIX}${lateCrypto().createHash('sha256').update(main).digest('hex').slice(0, 16)}:`;
}

/** The source of the mount: a text without blanks, as names of teams and teammates are. */
export function roomOf(main: string, owner: { readonly team: string; readonly name: string; readonly epoch: number }) {
  return `${prefixOf(main)}${owner.team}:${owner.name}:${owner.epoch}`;
}

/** @param table in the form of /proc/self/mountinfo; the mounts of those who stand around come first */
export function roomIn(table: string, main: string): Identity | undefined {
  if (!table.includes(PREFIX)) return undefined;
  const prefix = prefixOf(main);
  for (const row of table.split('\n')) {
    // Behind the dash: the kind of file system, the source.
    const source = row.slice(row.indexOf(' - ') + 3).split(' ')[1] ?? '';
    if (!source.startsWith(prefix)) continue;
    const [team, teammate, epoch] = source.slice(prefix.length).split(':');
    if (team !== undefined && teammate !== undefined) return { team, teammate, epoch: Number(epoch) };
  }
  return undefined;
}

/** Whose room this process is in; undefined: nobody's of that project. */
export function ownRoom(main: string): Identity | undefined {
  try {
    return roomIn(readFileSync('/proc/self/mountinfo', 'utf8'), main);
  } catch {
    return undefined;
  }
}
