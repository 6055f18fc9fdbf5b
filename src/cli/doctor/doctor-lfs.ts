// The doctor's row of Git LFS: none where the repository does not use it.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { oneLine } from '../../base/rules/text.ts';
import { cloneUrlOf } from '../../daemon/github/clone-url.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { grepFor, settingsIn } from '../../daemon/workspaces/mirror/lfs.ts';
import { objectsIn } from '../../daemon/workspaces/mirror/lfs-prune.ts';
import { cloneEnvironment, isOnPath, tryGit } from '../../git/git.ts';
import { lfsServerOf } from '../../git/rules/lfs.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import { type DoctorCheck, fail, ok, warn } from './doctor-row.ts';

const NAME = 'Git LFS';

/** Looks into the daemon's own copy, or before there is one into the repository where the workflow file is. */
export async function checkLfs({ stateDir, path, tracker }: Workflow, env: Environment): Promise<DoctorCheck[]> {
  const copy = join(stateDir, 'repo.git');
  const options = {
    cwd: existsSync(join(copy, 'HEAD')) ? copy : dirname(path),
    env: cloneEnvironment(env),
  };
  if ((await tryGit(grepFor('HEAD'), options)).exitCode !== 0) return [];
  if (!isOnPath('git-lfs', env))
    return [fail(NAME, refusal(DOCTOR_CODES.lfs_not_installed, {}), 'install git-lfs, then start the daemon again')];
  const { stdout } = await tryGit(['config', '--blob', 'HEAD:.lfsconfig', '--list', '-z'], options);
  const place = lfsServerOf(cloneUrlOf(tracker.apiUrl, tracker.slug), settingsIn(stdout));
  if (place.kind === 'elsewhere')
    return [
      warn(
        NAME,
        refusal(DOCTOR_CODES.lfs_objects_elsewhere, { host: oneLine(place.host, 100) }),
        'take lfs.url and lfs.pushurl out of .lfsconfig',
      ),
    ];
  const version =
    /git-lfs\/(\S+)/.exec((await tryGit(['lfs', 'version'], options)).stdout)?.[1] ?? 'of no known version';
  return [ok(NAME, `git-lfs ${version}, objects at ${place.download}${storeWords(join(stateDir, 'repo.lfs'))}`)];
}

/** Number and size of the copies that the daemon keeps; nothing where there is none. */
function storeWords(store: string): string {
  const sizes = [...objectsIn(store).values()];
  if (sizes.length === 0) return '';
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return `; ${sizes.length} ${sizes.length === 1 ? 'copy' : 'copies'}, ${(bytes / 1e6).toFixed(1)} MB, in ${store}`;
}
