// Sandbox for the quality gate: checks run code of teammates, so they are isolated as teammates are.
// They have a home of their own and, where available, namespaces that hide the person's logins.

import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { createAgentHome, passedEnvironment } from '../../agents/agent-home.ts';
import { runtimeLogins } from '../../agents/runtime-logins.ts';
import { toolchainVariables } from '../../agents/toolchains.ts';
import { removeTree } from '../../base/files/remove-tree.ts';
import { ensureRealDirectory } from '../../base/files/safe-directory.ts';
import { NAMESPACE_VARIABLE } from '../../base/processes/processes.ts';
import type { CheckSandbox } from '../../gate/run/command.ts';
import { type MemberHomeOptions, withGitSettings } from './member-home.ts';
import { homesOf } from './team-homes.ts';

/** No teammate can have this name. */
const GATE = '@gate';

/** Installed packages of the main checkout: worktrees lack untracked files. */
function installedIn(main: string): { readonly path: readonly string[]; readonly env: Record<string, string> } {
  const venv = ['.venv', 'venv'].map((name) => join(main, name)).find((place) => existsSync(join(place, 'bin')));
  return {
    path: [join(main, 'node_modules', '.bin'), ...(venv === undefined ? [] : [join(venv, 'bin')])],
    env: venv === undefined ? {} : { VIRTUAL_ENV: venv },
  };
}

type Measured = { readonly main: string; readonly team: string; readonly root: string };

/**
 * Creates the sandbox for one measurement; the caller closes it afterwards.
 * @param main the lead's checkout: worktrees of teams share its packages
 * @param root the worktree that is measured
 */
export async function openGateSandbox(
  { stateDir, runtime, env, passed, mark, bounds }: MemberHomeOptions,
  { main, team, root }: Measured,
): Promise<CheckSandbox> {
  const place = join(homesOf(stateDir, team), GATE);
  // The build cache is kept for the next measurement.
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const cache = ensureRealDirectory(join(place, 'cache'));
  const stay = mkdtempSync(join(place, 'gate-'));
  const tmp = runtime.make(basename(stay));
  const run = `${mark}.${team}.${GATE}.1`;
  const home = await createAgentHome({
    ...{ stateDir: stay, issue: 0, attempt: 1, run, tmp, env, passed, carry: null },
  });
  const { isolation: all, safe } = await bounds;
  const isolation = all.hiding(runtimeLogins(env));
  const installed = installedIn(main);
  const own = passedEnvironment(env, passed);
  return {
    tmp,
    installedIn: [main],
    env: withGitSettings(
      {
        ...toolchainVariables(env, cache),
        ...home.env,
        ...installed.env,
        XDG_CACHE_HOME: cache,
        // Constant: PATH is part of the key of cached results. Checks do not need the agents' own commands.
        PATH: [...installed.path, own.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter),
        ...(isolation.active ? { [NAMESPACE_VARIABLE]: '1' } : {}),
      },
      safe,
    ),
    wrap: (file, args) => isolation.wrap(file, args, [root, home.path, cache, tmp]),
    close: async () => {
      runtime.remove(tmp);
      // Leftovers are removed with the team.
      await removeTree(stay).catch(() => undefined);
    },
  };
}
