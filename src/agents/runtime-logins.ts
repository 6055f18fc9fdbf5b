// Places of the logins of runtimes and clouds in a person's home.

import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../base/rules/environment.ts';

/** Paths of runtime logins: agents may need them, checks never do. */
export function runtimeLogins(env: Environment): readonly string[] {
  const home = env.HOME ?? homedir();
  const config = env.XDG_CONFIG_HOME ?? join(home, '.config');
  return [
    ...['.claude', '.claude.json', '.codex', '.gemini', '.aws', '.azure', '.kube'].map((name) => join(home, name)),
    ...(env.CLAUDE_CONFIG_DIR === undefined ? [] : [env.CLAUDE_CONFIG_DIR]),
    env.CLOUDSDK_CONFIG ?? join(config, 'gcloud'),
  ];
}
