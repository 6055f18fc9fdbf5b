// The doctor's rows of the repository: what the token may do with it, and its submodules, each asked for as the daemon asks.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import type { OpenedTracker } from '../../compose/trackers.ts';
import { cloneUrlOf } from '../../daemon/github/clone-url.ts';
import type { HostingCredential } from '../../daemon/github/credential.ts';
import { TrackerError } from '../../daemon/rules/tracker-error.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { withServer } from '../../daemon/workspaces/mirror/module-copies.ts';
import { explain, tryGit } from '../../git/git.ts';
import { formatSlug } from '../../git/rules/repository.ts';
import { isPlainName, parseSubmodules, type Submodule, submoduleAddressOf } from '../../git/rules/submodules.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import type { GitRoute } from './doctor-network.ts';
import { type DoctorCheck, fail, failedBy, ok, warn } from './doctor-row.ts';

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
): Promise<DoctorCheck[]> {
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
      refusal(DOCTOR_CODES.submodules_stay_empty, { found: count, count: empty.length, rest, which: empty.join('\n') }),
      'give them http(s) or relative addresses in .gitmodules, and the account the right to read them',
    ),
  ];
}

export async function checkRepository(workflow: Workflow, opened: OpenedTracker): Promise<DoctorCheck[]> {
  const signal = AbortSignal.timeout(20_000);
  const repository = await checkRights(opened, workflow, signal);
  if (repository.status === 'fail') return [repository];
  return [
    repository,
    await checkPrefix(opened, workflow, signal),
    ...checkDrafts(workflow),
    ...(await checkFollowing(opened, workflow, signal)),
  ];
}

/** What the token may read of pull requests after they were opened. No row where they are not followed. */
export async function checkFollowing(
  { tracker }: Pick<OpenedTracker, 'tracker'>,
  { follow }: Pick<Workflow, 'follow'>,
  signal: AbortSignal,
): Promise<DoctorCheck[]> {
  if (follow.until === 'open' || tracker.feed === null) return [];
  const name = 'following';
  try {
    const lacking = (await tracker.feed.lacks(signal)).map((permission) => `"${permission}: read"`);
    if (lacking.length === 0) return [ok(name, 'pull requests, checks, statuses and actions can be read')];
    const says = refusal(DOCTOR_CODES.permissions_lacking, { permissions: lacking });
    return [warn(name, says, 'give the token these permissions, or set follow.until: open')];
  } catch (error) {
    return [warn(name, refusal(DOCTOR_CODES.permissions_unknown, { said: messageOf(error) }), 'tool doctor, again')];
  }
}

/** The service tells nowhere whether it takes drafts, until one is opened. */
function checkDrafts({ tracker }: Workflow): DoctorCheck[] {
  if (!tracker.draft) return [];
  return [
    ok('drafts', 'where the service takes none, as in a private repository of a free plan, a plain one is opened'),
  ];
}

async function checkRights(opened: OpenedTracker, workflow: Workflow, signal: AbortSignal): Promise<DoctorCheck> {
  const slug = formatSlug(workflow.tracker.slug);
  try {
    const { mayPush, archived } = await opened.repository(signal);
    if (archived) {
      const one = refusal(CLI_CODES.repository_archived, { repository: slug });
      return fail('repository', one, 'unarchive it, or name another one in tracker.repo');
    }
    // The service tells what a person may do, not what an App may.
    return mayPush || workflow.tracker.app !== null
      ? ok('repository', `${slug} can be read and pushed to`)
      : fail(
          'repository',
          refusal(CLI_CODES.push_not_allowed, { repository: slug }),
          'give it write access to contents, issues and pull requests',
        );
  } catch (error) {
    // What gave no usable answer says nothing of the token.
    const isAway = error instanceof TrackerError && error.failure === 'unavailable';
    const mend = isAway
      ? 'mend the route to the service first; the row "API route" says which one is taken'
      : 'check tracker.repo, tracker.api_url and what the token may do';
    return failedBy('repository', error, mend, `${slug}: `);
  }
}

/** A branch that is a directory of the issues' branches. */
async function checkPrefix(opened: OpenedTracker, workflow: Workflow, signal: AbortSignal): Promise<DoctorCheck> {
  const { branchPrefix } = workflow.workspace;
  const name = 'branch prefix';
  const rename = (branch: string) =>
    `rename the branch ${branch} on the remote, or set workspace.branch_prefix in ${workflow.path}`;
  try {
    const taken = await opened.takenPrefix(signal);
    return taken === undefined
      ? ok(name, `${branchPrefix}issue-<n>`)
      : fail(
          name,
          refusal(DOCTOR_CODES.branch_prefix_blocked, { taken, branch: `${branchPrefix}issue-1` }),
          rename(taken),
        );
  } catch (error) {
    return warn(
      name,
      refusal(DOCTOR_CODES.branch_prefix_unknown, { branch: `${branchPrefix}issue-1`, said: messageOf(error) }),
      'tool doctor, again',
    );
  }
}
