// The doctor's row of a repository's own WORKFLOW.md: at which commit it holds, and what is wrong with it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageIn } from '../../base/rules/codes.ts';
import { judgeOwnFile, type OwnStatus, readLastGood, readOwnFile } from '../../daemon/config/repository-file.ts';
import { LAST_GOOD_FILE, OWN_FILE, ownFileWords } from '../../daemon/rules/own-file.ts';
import { readsOwnFile } from '../../daemon/rules/repository-workflow.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { Comparison } from '../../daemon/workspaces/mirror/comparison.ts';
import { tryGit } from '../../git/git.ts';
import { type DoctorCheck, failedBy, ok, warn } from './doctor-row.ts';

export const OWN_FILE_ROW = "the repository's file";

/** From the daemon's copy, as it was fetched last. No row where repositories may set nothing. */
export async function checkOwnFile(workflow: Workflow): Promise<DoctorCheck[]> {
  if (!readsOwnFile(workflow)) return [];
  const copy = join(workflow.stateDir, 'repo.git');
  if (!existsSync(join(copy, 'HEAD'))) return [ok(OWN_FILE_ROW, `tool serve reads ${OWN_FILE} at its first start`)];
  const signal = AbortSignal.timeout(20_000);
  const comparison = new Comparison({
    try: (args, ending, maxBytes) =>
      tryGit(args, { cwd: copy, signal: ending, ...(maxBytes !== undefined && { maxBytes }) }),
    tip: async () => '',
    relate: async () => undefined,
  });
  try {
    const { stdout } = await tryGit(['rev-parse', 'HEAD'], { cwd: copy, signal });
    const commit = stdout.trim();
    const good = await readLastGood(join(workflow.stateDir, LAST_GOOD_FILE), comparison, signal);
    const status = judgeOwnFile(await readOwnFile(comparison, commit, signal), workflow, good);
    return [...rowOf(status, commit)];
  } catch (error) {
    return [failedBy(OWN_FILE_ROW, error, 'tool serve, which makes its copy anew')];
  }
}

function rowOf({ workflow: { own }, warnings }: OwnStatus, commit: string): readonly DoctorCheck[] {
  const [first] = warnings;
  const none = `the default branch at ${commit.slice(0, 7)} sets nothing; the file of the operator holds`;
  const says = own === undefined || own.sets.length === 0 ? none : ownFileWords(own);
  if (first === undefined) return [ok(OWN_FILE_ROW, says)];
  const mend = `correct ${OWN_FILE} on the default branch, or allow its keys`;
  return [{ ...warn(OWN_FILE_ROW, first, mend), says: `${says}. ${messageIn(first)}` }];
}
