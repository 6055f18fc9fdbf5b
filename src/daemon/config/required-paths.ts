// The home directory and the paths that a daemon depends on, checked before anything is made in them.

import { existsSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter } from 'node:path';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import type { Workflow } from '../rules/workflow.ts';

/** Throws when neither HOME nor the system's list of users names a home directory. */
export function requireHome(): void {
  try {
    homedir();
  } catch (error) {
    throw new ToolError(
      'prerequisite',
      `HOME: expected a home directory, got none: it is not set, and user ${process.getuid?.() ?? ''} has no entry in /etc/passwd (${messageOf(error)}); set HOME to a directory that this user can write to`,
      { cause: error },
    );
  }
}

/** Why the paths cannot be used; undefined when they can. Lists like PATH and git's alternates have no escape for a colon. */
export function objectionToPlaces({ stateDir, workspace }: Workflow): string | undefined {
  const places = [
    ['state.dir', stateDir],
    ['workspace.root', workspace.root],
    ['TMPDIR', tmpdir()],
  ] as const;
  const found = places.flatMap(([name, path]) =>
    (existsSync(path) ? [path, realpathSync(path)] : [path])
      .filter((each) => each.includes(delimiter))
      .slice(0, 1)
      .map((each) => `${name}: expected a path without "${delimiter}", got ${each}`),
  );
  return found.length === 0 ? undefined : found.join('; ');
}

/** Throws when a path cannot be used. */
export function requirePlaces(workflow: Workflow): void {
  const objection = objectionToPlaces(workflow);
  if (objection !== undefined) throw new ToolError('prerequisite', `${objection}; name another directory`);
}
