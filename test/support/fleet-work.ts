// Set-up of takeovers and cuts: a hosting service, and agents that note their attempts and wait for a word.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Daemon } from './daemon.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import type { Worker } from './fleet.ts';
import { startForge } from './forge.ts';
import { type Cleanup, tempDir } from './temp.ts';

export const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';

/** `proxy`: before the service. Scripts write into `place`. */
export async function startWork(t: Cleanup) {
  const [forge, place] = await Promise.all([startForge(t), tempDir(t)]);
  const begun = (issue: number) => join(place, `begun-${issue}`);
  return {
    ...{ forge, place, proxy: await FaultyProxy.start(t, forge.forge.url) },
    /** Words of a script: note the attempt, wait for the word. */
    begins: `echo "$TOOL_ATTEMPT" >> ${place}/begun-$TOOL_ISSUE`,
    waits: (word = 'go') => `while [ ! -e ${place}/${word} ]; do sleep 0.1; done`,
    /** Attempts whose agents began, such as `1,2`. */
    attemptsOf: (issue: number) =>
      existsSync(begun(issue)) ? readFileSync(begun(issue), 'utf8').trim().split('\n').join() : '',
    say: (word = 'go') => writeFileSync(join(place, word), ''),
  };
}

/** Bundles and records that a worker keeps. */
export function keptOf({ directory }: Worker): readonly string[] {
  return readdirSync(join(directory, 'state', 'kept'));
}

/** Kills a daemon as a machine that is gone: nothing of it is left. */
export async function vanish(daemon: Daemon): Promise<void> {
  await daemon.stop('SIGKILL');
  for (const path of [daemon.stateDir, daemon.root]) rmSync(path, { recursive: true, force: true });
}
