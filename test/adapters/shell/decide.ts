// The verdict of a member who owns src/api and src/services.

import { relative } from 'node:path';
import { parseScript } from '../../../src/adapters/checks/syntax.ts';
import type { ShellEffects, ShellWrite } from '../../../src/adapters/shell/effects.ts';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { onlyReads } from '../../../src/adapters/shell/node-code.ts';
import { isWithin } from '../../../src/adapters/shell/paths.ts';
import { readShell } from '../../../src/adapters/shell/read-shell.ts';
import { DEFAULT_OWNERSHIP, insideProject, ownerOf } from '../../../src/domain/team/ownership.ts';
import type { Verdict } from './rows.ts';
import { list, type Scratch } from './scratch-project.ts';

export function readIn(command: string, scratch: Scratch): ShellEffects {
  return readShell(command, {
    cwd: scratch.project,
    home: scratch.env.HOME ?? '',
    env: scratch.env,
    ...fileView,
    onlyReads: (code) => onlyReads(parseScript(code)),
  });
}

/** @param path from the project's root */
export function isOwned(path: string): boolean {
  const inside = insideProject(path);
  return inside !== null && ownerOf(inside, DEFAULT_OWNERSHIP).owner === 'backend-dev';
}

const OWN = DEFAULT_OWNERSHIP.find(({ owner }) => owner === 'backend-dev')?.patterns ?? [];

function isAllowed(write: ShellWrite, project: string): boolean {
  const path = relative(project, write.path);
  // of what a script writes, what is nobody's is let be
  if (write.script !== undefined && !write.tree)
    return path.startsWith('..') || isOwned(path) || ownerOf(path, DEFAULT_OWNERSHIP).owner === null;
  const isAround = path === '' || isWithin(project, write.path);
  if (write.directory === true && OWN.some((pattern) => pattern.startsWith(`${path}/`))) return true;
  if (!write.tree) return path.startsWith('..') || isOwned(path);
  if (isAround) return false;
  if (path.startsWith('..')) return true;
  const below = fileView.kindOf(write.path) === 'directory' ? [...list(write.path).keys()] : [];
  return [path, `${path}/new`, ...below.map((one) => relative(project, one))].every(isOwned);
}

export function decide(effects: ShellEffects, project: string): Verdict {
  if (effects.writes.some((write) => !isAllowed(write, project))) return 'deny';
  return effects.unresolved.length > 0 ? 'unresolved' : 'allow';
}

export function isCovered(path: string, effects: ShellEffects): boolean {
  return effects.writes.some((write) => (write.tree ? isWithin(path, write.path) : write.path === path));
}
