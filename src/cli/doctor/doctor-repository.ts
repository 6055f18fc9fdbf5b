// The doctor's row of the repository's submodules, each asked for as the daemon asks.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { cloneUrlOf } from '../../daemon/github/clone-url.ts';
import type { HostingCredential } from '../../daemon/github/credential.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { withServer } from '../../daemon/workspaces/mirror/module-copies.ts';
import { explain, tryGit } from '../../git/git.ts';
import { isPlainName, parseSubmodules, type Submodule, submoduleAddressOf } from '../../git/rules/submodules.ts';
import type { GitRoute } from './doctor-network.ts';
import { type Check, ok, warn } from './doctor-row.ts';

/** Servers are asked at once; so many are enough to tell. */
const MAX_ASKED = 20;
const LIMIT_MS = 20_000;

/** Those of the daemon's copy; before its first start those of the directory of the workflow file. */
async function submodulesOf({ stateDir, path }: Workflow): Promise<readonly Submodule[]> {
  const copy = join(stateDir, 'repo.git');
  const cwd = existsSync(join(copy, 'HEAD')) ? copy : dirname(path);
  const { stdout } = await tryGit(['config', '--blob', 'HEAD:.gitmodules', '--list', '-z'], { cwd });
  return parseSubmodules(stdout);
}

/** No row where the default branch has no submodules. */
export async function checkSubmodules(
  workflow: Workflow,
  credential: Pick<HostingCredential, 'gitSecret'> | undefined,
  { env, directory }: Pick<GitRoute, 'env' | 'directory'>,
): Promise<Check[]> {
  const modules = await submodulesOf(workflow);
  if (modules.length === 0) return [];
  const count = modules.length === 1 ? '1 submodule' : `${modules.length} submodules`;
  if (!workflow.workspace.submodules) return [ok('submodules', `${count}, left empty (workspace.submodules: false)`)];
  const remoteUrl = cloneUrlOf(workflow.tracker.apiUrl, workflow.tracker.slug);
  const options = {
    remoteUrl,
    secret: async () => (await credential?.gitSecret()) ?? null,
    env,
    cwd: directory,
    timeoutMs: LIMIT_MS,
    signal: AbortSignal.timeout(LIMIT_MS),
  };
  const objectionTo = async ({ name, url }: Submodule): Promise<string | null> => {
    if (!isPlainName(name)) return `its name ${oneLine(name, 80)} is refused`;
    const place = submoduleAddressOf(url, remoteUrl, remoteUrl);
    if (place.kind === 'refused') return `its address ${oneLine(url, 120)} ${place.why}`;
    try {
      const { exitCode, stderr } = await withServer(['ls-remote', '--quiet', place.url, 'HEAD'], place.url, options);
      return exitCode === 0 ? null : oneLine(explain(stderr), 200);
    } catch (error) {
      return messageOf(error);
    }
  };
  const asked = await Promise.all(
    modules.slice(0, MAX_ASKED).map(async (module) => {
      const objection = await objectionTo(module);
      return objection === null ? [] : [`${oneLine(module.path, 80)}: ${objection}`];
    }),
  );
  const empty = asked.flat();
  const rest = modules.length > MAX_ASKED ? `, the first ${MAX_ASKED} were asked for` : '';
  if (empty.length === 0) return [ok('submodules', `${count}, can be reached${rest}`)];
  return [
    warn(
      'submodules',
      [`${count}, of which ${empty.length} stay empty${rest}:`, ...empty].join('\n'),
      'give them http(s) or relative addresses in .gitmodules, and the account the right to read them',
    ),
  ];
}
