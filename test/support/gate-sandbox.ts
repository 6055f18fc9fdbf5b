// A project's checks as a lead has them run: in the room that it makes for them, with a person's home beside it.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RuntimeDir } from '../../src/base/processes/runtime-dir.ts';
import type { CheckSandbox } from '../../src/gate/run/command.ts';
import { projectState } from '../../src/git/project-state.ts';
import { openGateSandbox } from '../../src/team/members/gate-sandbox.ts';
import { memberBounds } from '../../src/team/members/member-bounds.ts';
import { type Cleanup, tempDir } from './temp.ts';

export const TEAM = 'tool-run-spec-auth-001';

export type GateSandbox = {
  /** The person's. */
  readonly home: string;
  readonly stateDir: string;
  readonly isIsolated: boolean;
  readonly open: () => Promise<CheckSandbox>;
};

/** Where this machine itself has an interpreter by a version manager, that is found by a variable. */
function managers(): Readonly<Record<string, string>> {
  const place = process.env.PYENV_ROOT ?? join(homedir(), '.pyenv');
  return existsSync(place) ? { PYENV_ROOT: place } : {};
}

/**
 * @param root what is measured
 * @param main the main checkout
 * @param more variables of the lead's environment
 */
export async function gateSandbox(
  t: Cleanup,
  root: string,
  main: string,
  more: Readonly<Record<string, string>> = {},
): Promise<GateSandbox> {
  const home = tempDir(t);
  const env = { PATH: process.env.PATH ?? '', ...managers(), HOME: home, ...more };
  const stateDir = projectState(main, env);
  const runtime = new RuntimeDir();
  const bounds = memberBounds({ root: main, main }, 'auto', env, runtime.path);
  t.after(() => runtime.close());
  const options = { stateDir, runtime, env, passed: [], mark: 'gate-test', bounds };
  return {
    home,
    stateDir,
    isIsolated: (await bounds).isolation.active,
    open: () => openGateSandbox(options, { main, team: TEAM, root }),
  };
}
