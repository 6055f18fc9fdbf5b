// The home directory and the paths that a daemon depends on, checked before anything is made in them.

import { existsSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter } from 'node:path';
import { messageIn, type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import type { Workflow } from '../rules/workflow.ts';

/** Throws when neither HOME nor the system's list of users names a home directory. */
export function requireHome(): void {
  try {
    homedir();
  } catch (error) {
    const user = String(process.getuid?.() ?? '');
    throw failure(CONFIG_CODES.home_missing, { user, said: messageOf(error) }, { cause: error });
  }
}

/** The paths that cannot be used, each with why. Lists like PATH and git's alternates have no escape for a colon. */
function refusedPlaces({ stateDir, workspace }: Workflow): readonly Refusal[] {
  const places = [
    ['state.dir', stateDir],
    ['workspace.root', workspace.root],
    ['TMPDIR', tmpdir()],
  ] as const;
  return places.flatMap(([key, place]) =>
    (existsSync(place) ? [place, realpathSync(place)] : [place])
      .filter((each) => each.includes(delimiter))
      .slice(0, 1)
      .map((path) => refusal(CONFIG_CODES.path_with_delimiter, { key, delimiter, path })),
  );
}

/** Why the paths cannot be used; undefined when they can. */
export function objectionToPlaces(workflow: Workflow): string | undefined {
  const found = refusedPlaces(workflow);
  return found.length === 0 ? undefined : found.map(messageIn).join(' ');
}

/** Throws when paths cannot be used, and names each. */
export function requirePlaces(workflow: Workflow): void {
  const [first, ...more] = refusedPlaces(workflow);
  if (first === undefined) return;
  if (more.length === 0) throw new ToolError(first);
  throw failure(CONFIG_CODES.paths_with_delimiter, { problems: [first, ...more] });
}
