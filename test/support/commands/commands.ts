// Shell commands with the verdict that backend-dev, who owns src/api and src/services, deserves for each.

import { insideProject, ownerOf } from '../../../src/guard/rules/ownership.ts';
import { DEFAULT_OWNERSHIP } from '../../../src/team/rules/default-ownership.ts';
import { OWNED, READING } from './commands-allowed.ts';
import { CAUTIOUS, FOREIGN } from './commands-denied.ts';
import { UNKNOWN } from './commands-unresolved.ts';
import type { Row } from './rows.ts';

export const COMMANDS: readonly Row[] = [...READING, ...OWNED, ...FOREIGN, ...UNKNOWN, ...CAUTIOUS];

/** @param path from the project's root */
export function isOwned(path: string): boolean {
  const inside = insideProject(path);
  return inside !== null && ownerOf(inside, DEFAULT_OWNERSHIP).owner === 'backend-dev';
}
