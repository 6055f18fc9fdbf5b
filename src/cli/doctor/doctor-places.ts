// The doctor's rows of the directories: root, state, journal; and whether agents can be kept from all others.

import { accessSync, constants, existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { boundsOf, Isolation, notIsolated } from '../../agents/isolation.ts';
import { systemClock } from '../../base/clock.ts';
import { EventLog } from '../../base/files/event-log.ts';
import type { LockHolder } from '../../base/files/process-lock.ts';
import { programPlace } from '../../base/package-root.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { errorCode, isFailure, messageOf } from '../../base/rules/errors.ts';
import { decodeRecord } from '../../daemon/journal/journal-decoder.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { isBegun } from '../../daemon/workspaces/mirror/first-clone.ts';
import { SAVED } from '../../daemon/workspaces/mirror/saved-refs.ts';
import { objectionToRoot } from '../../daemon/workspaces/workspace-root.ts';
import { missingDepth, shallowCommits } from '../../git/clone-depth.ts';
import { git } from '../../git/git.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import { type DoctorCheck, fail, failedBy, ok, warn } from './doctor-row.ts';

function existingPart(path: string): string {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  return existing;
}

/** Why a directory cannot be made or written to, as a sentence that names the place; undefined when it can. */
function objectionToWriting(path: string): string | undefined {
  const existing = existingPart(path);
  const made = existing === path ? '' : `${path} cannot be made: `;
  const { uid } = statSync(existing);
  if (!statSync(existing).isDirectory()) return `${made}${existing} is not a directory`;
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    const owner = uid === process.getuid?.() ? '' : `; it belongs to another user (uid ${uid})`;
    return `${made}${existing} cannot be written to${owner}`;
  }
}

/** @param repository as `<host>/<owner>/<repo>` */
export function checkWorkspaceRoot(workflow: Workflow, repository: string): DoctorCheck {
  const { root } = workflow.workspace;
  const mend = 'name an empty directory in workspace.root';
  try {
    const objection = objectionToWriting(root);
    const unusable = (said: string) => fail('workspace root', refusal(DOCTOR_CODES.root_place_refused, { said }), mend);
    if (objection !== undefined) return unusable(objection);
    if (!existsSync(root)) return ok('workspace root', `${root} will be made`);
    const real = realpathSync(root);
    const why = objectionToRoot(real, repository, workflow.stateDir);
    return why === undefined ? ok('workspace root', real) : unusable(`${real} ${why}`);
  } catch (error) {
    const said = `${root} cannot be read: ${messageOf(error)}`;
    return fail('workspace root', refusal(DOCTOR_CODES.root_place_refused, { said }), mend);
  }
}

/** Directories that a boot clears: a journal there is no journal. */
const CLEARED = ['/tmp', '/var/run', '/run', '/dev/shm'];

export function checkState(workflow: Workflow, holder: LockHolder | undefined): DoctorCheck {
  const { stateDir } = workflow;
  if (holder !== undefined)
    return ok('state', `${stateDir} is held by the daemon with process ${holder.pid}, since ${holder.since}`);
  const objection = objectionToWriting(stateDir);
  if (objection !== undefined)
    return fail(
      'state',
      refusal(DOCTOR_CODES.state_place_refused, { said: objection }),
      'name another directory in state.dir',
    );
  const cleared = CLEARED.find((directory) => `${stateDir}/`.startsWith(`${directory}/`));
  if (cleared !== undefined)
    return warn(
      'state',
      refusal(CLI_CODES.state_not_durable, { path: stateDir, cleared }),
      `name a directory outside ${cleared} in state.dir`,
    );
  return ok('state', stateDir);
}

/** Throws when it cannot be told. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** The journal is only read: a torn line is said, a record of a newer version is a failure. */
export function checkJournal(workflow: Workflow, holder: LockHolder | undefined): DoctorCheck {
  const path = join(workflow.stateDir, 'journal.jsonl');
  try {
    if (!isThere(path)) return ok('journal', 'none yet');
  } catch (error) {
    return fail(
      'journal',
      refusal(DOCTOR_CODES.journal_unreadable, { path, said: messageOf(error) }),
      'name another directory in state.dir',
    );
  }
  try {
    const log = new EventLog({ path, decode: decodeRecord, now: systemClock.now, onRecord: () => undefined });
    // What a running daemon has not finished writing is not torn.
    const torn = holder === undefined ? log.incomplete : log.torn.length;
    void log.close();
    return torn === 0
      ? ok('journal', `${log.size} bytes`)
      : warn(
          'journal',
          refusal(DOCTOR_CODES.journal_lines_torn, { lines: torn === 1 ? 'a line was' : `${torn} lines were` }),
          'none needed',
        );
  } catch (error) {
    return failedBy('journal', error, mendOfLog(error, path, `move ${path} away to begin anew`));
  }
}

/** What makes a log readable that is not. `last`: what is left where its contents are at fault. */
export function mendOfLog(error: unknown, path: string, last: string): string {
  const words = messageOf(error);
  if (isFailure(error, BASE_CODES.record_version_newer) || /record of version/.test(words))
    return 'install the newest toolcrew, in its clone: git pull && npm ci && npm pack && npm install -g ./toolcrew-*.tgz';
  return /\b(?:EACCES|EPERM|EROFS|ENOSPC)\b/.test(words) ? `make ${path} one that you can write to` : last;
}

/** A copy of the repository that had to be made anew is kept beside it: what could not be read may still be in there. */
export function checkDamaged(workflow: Workflow): DoctorCheck[] {
  const path = join(workflow.stateDir, 'repo.git.damaged');
  if (!existsSync(path)) return [];
  return [
    warn(
      'repository copy',
      refusal(CLI_CODES.clone_copy_damaged, { path }),
      `git -C ${path} for-each-ref refs/toolcrew; rm -r ${path} if nothing is missed`,
    ),
  ];
}

/** Number and size of what was saved and never published; no row where there is nothing. */
export async function checkSaved(workflow: Workflow): Promise<DoctorCheck[]> {
  const cwd = join(workflow.stateDir, 'repo.git');
  if (!existsSync(join(cwd, 'HEAD'))) return [];
  const name = 'saved work';
  const see = `git -C ${cwd} for-each-ref ${SAVED}`;
  try {
    const listed = await git(['for-each-ref', '--format=%(refname)', SAVED], { cwd });
    const count = listed.split('\n').filter((ref) => ref !== '').length;
    if (count === 0) return [];
    const only = ['--objects', `--glob=${SAVED}*`, '--not', '--branches', '--tags'];
    const bytes = Number((await git(['rev-list', '--disk-usage', ...only], { cwd })).trim());
    const { savedKeepDays: days } = workflow.workspace;
    const kept = days === 0 ? 'kept for ever' : `each kept for ${days} days`;
    const what = `${count} ${count === 1 ? 'ref' : 'refs'}, ${(bytes / 1e6).toFixed(1)} MB`;
    return [ok(name, `${what}, ${kept} (workspace.saved_keep_days); to see them: ${see}`)];
  } catch (error) {
    return [warn(name, refusal(DOCTOR_CODES.saved_work_unreadable, { said: messageOf(error) }), see)];
  }
}

/** How far back the daemon's own copy of the repository goes, and whether its first clone broke off. */
export async function checkClone(workflow: Workflow): Promise<DoctorCheck> {
  const name = 'clone';
  const { cloneDepth } = workflow.workspace;
  const copy = join(workflow.stateDir, 'repo.git');
  const wanted = cloneDepth === null ? 'all of its past' : `${cloneDepth} commits of each branch, more as needed`;
  if (isBegun(`${copy}.new`)) return ok(name, `${wanted}; it broke off, and goes on in steps from ${copy}.new`);
  if (!existsSync(copy)) return ok(name, `${wanted}; none is made yet`);
  const ends = shallowCommits(copy);
  if (cloneDepth === null) return ok(name, ends.length === 0 ? wanted : `${wanted}; the next fetch completes it`);
  if (ends.length === 0) return ok(name, 'all of its past: it was whole before workspace.clone_depth was set');
  try {
    const list = await git(['rev-list', '--first-parent', 'HEAD'], { cwd: copy });
    const lack = missingDepth(ends, cloneDepth, list.trimEnd().split('\n'));
    return ok(name, lack === null ? wanted : `${wanted}; the next fetch brings ${lack} that it has too few`);
  } catch (error) {
    const what = refusal(DOCTOR_CODES.clone_unreadable, { path: copy, said: messageOf(error) });
    return warn(name, what, 'none needed: the next fetch clones it anew');
  }
}

/** Does once what each agent is started with; what describes the bounds is put in a place that is gone afterwards. */
export async function checkIsolation(workflow: Workflow, env: Environment): Promise<DoctorCheck> {
  const name = 'isolation';
  const { isolation: mode } = workflow.tool;
  const mend =
    process.platform === 'linux'
      ? 'allow user namespaces (Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0), or run the daemon as a user of its own'
      : 'run the daemon as a user of its own, or on a machine of its own';
  const tables = mkdtempSync(join(tmpdir(), 'toolcrew-doctor-'));
  try {
    const bounds = boundsOf({
      stateDir: workflow.stateDir,
      workspaceRoot: workflow.workspace.root,
      workflowPath: workflow.path,
      packageRoot: programPlace(),
      env,
      runtimeDir: null,
    });
    const { active, reason } = await Isolation.probe(mode, { ...bounds, tables });
    if (active) return ok(name, 'agents run in namespaces of their own');
    return warn(name, notIsolated(reason), mode === 'off' ? 'tool.isolation: auto' : mend);
  } catch (error) {
    return failedBy(name, error, mend);
  } finally {
    rmSync(tables, { recursive: true, force: true });
  }
}
