// A writer's finished work on its way into the team's branch: committed, held against ownership, brought together with what
// others have finished, and merged; what does not merge is a task.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { visible } from '../../base/rules/text.ts';
import type { HeldSecret } from '../../gate/rules/secrets.ts';
import type { Merge, ResolvedFile, TeamWorktrees } from '../../git/worktrees/team-worktrees-port.ts';
import type { Ownership } from '../../guard/rules/ownership.ts';
import type { TeamLog } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { foreignFiles, type IntegrationRules, judgeCommits } from '../rules/integration.ts';
import { lockCommand, lockWords } from '../rules/lock-files.ts';
import { rejectionKey, specOf, type Member as TeamMember, type TeamState } from '../rules/log/state.ts';
import { LEAD } from '../rules/message.ts';
import type { Task } from '../rules/task.ts';
import { subject } from '../rules/task-draft.ts';
import { makeTask, type TeamCaller, type TeamContext, tellLead } from './context.ts';
import { restoreBranch } from './moved-branch.ts';
import { type ExcludedFiles, findLeftOut, keepLeftOut } from './uncommitted-files.ts';

/** A finding that stands in the way, with what tells it from another. */
export type Objection = {
  readonly refusal: Refusal;
  readonly fingerprint: string;
  /** It is not let through, however often it is made: the work would be lost. */
  readonly isFinal?: true;
};

type Member = Extract<TeamCaller, { kind: 'member' }>;

/** Rejections for changes of others' files, and for what cannot be merged, count apart: those of the checks come in between. */
export const FOREIGN_CHANGE = 'foreign_change';
const CHECKED_OUT = 'checked out';

/** Whether its work was kept from the team's branch since a person had that checked out, the last time it could not be merged. */
export function isLeftToPerson({ rejections }: TeamState, name: string): boolean {
  return rejections.get(rejectionKey(FOREIGN_CHANGE, name, ''))?.fingerprint === CHECKED_OUT;
}

/** A commit's message: what was done, for which SPEC, and the task by which it is found again. */
function messageFor(words: string, task: Pick<Task, 'id'>, state: TeamState): string {
  const spec = specOf(state);
  return `${words}\n\n${spec === null ? '' : `For ${spec}.\n\n`}Task: ${task.id}`;
}

const OUTCOMES: Readonly<Record<ResolvedFile['kept'], (name: string) => string>> = {
  own: (name) => `${name}'s version was kept, the team's was dropped`,
  team: (name) => `the team's version was kept, ${name}'s was dropped`,
  both: () => 'combined from both sides',
};

/** The lead hears what settling a conflict changed: no test finds a side that was dropped. */
async function tellSettled(log: TeamLog, id: string, name: string, settled: readonly ResolvedFile[]): Promise<void> {
  if (settled.length === 0) return;
  const parts = settled.map(({ path, kept }) => `${visible(path)}: ${OUTCOMES[kept](name)}.`);
  const locks = settled.flatMap(({ path }) => {
    const command = lockCommand(path);
    return command === null ? [] : `To bring ${visible(path)} up to date, run \`${command}\`.`;
  });
  await tellLead(log, [`Task ${id} settled a conflict.`, ...parts, ...locks].join(' '));
}

/**
 * What does not merge is a task of its own, which the work waits for, and whose work it collides with is told. It is its
 * author's: commits that change what is somebody else's are taken back before, so each of the files is the author's or was leased
 * to it, and the work that lacks the other's is in its worktree.
 */
async function conflict(
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  { name, epoch }: Member,
  { files, tasks: behind }: Extract<Merge, { kind: 'conflict' }>,
): Promise<Objection> {
  const { state } = log;
  const branch = `tool/${state.team}`;
  const shown = files.map(visible).join(', ');
  const how = `Run \`git merge ${branch}\` in your worktree, keep the purpose of both sides, and commit${lockWords(files)}`;
  const fingerprint = `conflict ${files.join(' ')}`;
  const held = state.tasks.get(task.id);
  if (held === undefined || held.holdsUp !== undefined)
    return { refusal: refusal(WORK_CODES.work_conflicts, { files: shown, how }), fingerprint, isFinal: true };
  const others = behind.flatMap((id) => state.tasks.get(id) ?? []);
  const doers = [...new Set(others.flatMap(({ claim }) => claim?.member ?? []))].filter((one) => one !== name);
  const theirs =
    others.map(({ id, subject: words, claim }) => `${claim?.member ?? LEAD} for task ${id} "${words}"`).join(', ') ||
    'somebody else';
  const made = await makeTask(log, {
    type: 'task_created',
    subject: subject('Settle a conflict', shown),
    description: `${shown} changed on both sides: ${name} changed it for task ${held.id} "${held.subject}", ${theirs}; the latter is in ${branch}. ${how}. Complete this task, then task ${held.id}. If it is not clear what to keep, ask ${doers.join(', ') || LEAD}.`,
    owner: name,
    files,
    blocked_by: [],
    holds_up: held.id,
    by: name,
  });
  const settling = made?.id ?? '';
  const content = `Task ${settling}: ${shown} changed on both sides, by you for task ${behind.join(', ')} and by ${name} for task ${held.id}. ${name} resolves it: tell ${name} what to keep of yours.`;
  for (const to of doers)
    await log.append({ type: 'message_sent', to, kind: 'progress', content, in_reply_to: null, by: name, epoch });
  const why = refusal(WORK_CODES.work_conflicts_with_task, { files: shown, others: theirs, settling, how });
  return { refusal: why, fingerprint, isFinal: true };
}

/**
 * `upTo`: where its branch stood when it was looked at; what its author adds meanwhile waits for the next time. Null: there is none.
 * `without`: files that are no part of it.
 * `unsettled`: files that hold a conflict as git left it.
 */
export type PreparedWork =
  | {
      readonly ok: true;
      readonly upTo: string | null;
      readonly without: ExcludedFiles;
      readonly unsettled: readonly string[];
    }
  | { readonly ok: false; readonly objection: Objection };

/** What a member's work is held against as it stands now. */
export function rulesFor(
  { leases, members, tasks, written }: TeamState,
  { name, readOnly }: Pick<TeamMember, 'name' | 'readOnly'>,
  ownership: readonly Ownership[],
): IntegrationRules {
  const held = [...leases.values()].filter((one) => one.member === name).map(({ path }) => path);
  const done = [...tasks.values()].filter(({ claim, status }) => claim?.member === name && status === 'completed');
  const since = Math.max(0, ...done.map(({ endedAt }) => endedAt ?? 0));
  // What was given back was changed while it was held; what was completed since is in the team's branch.
  const had = [...written].flatMap(([path, by]) =>
    by.some(({ member, at }) => member === name && at >= since) ? path : [],
  );
  const leased = [...held, ...had];
  const others = [...leases.values()].filter((one) => one.member !== name);
  return {
    ownership,
    leases: new Map([[name, new Set(leased)]]),
    taken: new Map(others.map(({ path, member }) => [path, member])),
    members: new Set(members.keys()),
    readOnly,
  };
}

/**
 * Before the checks: the work is committed, brought together with others', and looked at; what may not be there collides with nobody.
 * @param before what stood in the way the last time
 */
export async function prepareWork(
  teamWorktrees: TeamWorktrees,
  context: Pick<TeamContext, 'settings' | 'newSecrets'>,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  caller: Member,
  before: string | undefined,
): Promise<PreparedWork> {
  const { state } = log;
  const { team } = state;
  const { name, member } = caller;
  const astray = await teamWorktrees.astray(team, name);
  // However often it comes: what is elsewhere is not in the work, and what is on the branch would be undone by it.
  if (astray !== null) {
    const why = refusal(WORK_CODES.worktree_not_on_branch, { where: astray });
    return { ok: false, objection: { refusal: why, fingerprint: 'astray', isFinal: true } };
  }
  const left = await findLeftOut(teamWorktrees, state, task.id, name, before);
  if ('objection' in left) return { ok: false, objection: left.objection };
  await teamWorktrees.save(team, name, messageFor(task.subject, task, state));
  const merge = await teamWorktrees.update(team, name);
  const { ownership, quality } = await context.settings();
  const { tip, commits } = await teamWorktrees.commits(team, name);
  const rules = rulesFor(state, member, ownership);
  const { refused } = judgeCommits(commits, name, rules);
  if (refused === null) {
    if (merge.kind === 'conflict') return { ok: false, objection: await conflict(log, task, caller, merge) };
    if (commits.length === 0) return { ok: true, upTo: null, without: left.without, unsettled: [] };
    const all = commits.map(({ sha }) => sha);
    const secrets = await context.newSecrets(all, quality.secrets);
    const [first] = all.filter((sha) => secrets.some(({ commit }) => commit !== null && sha.startsWith(commit)));
    if (first !== undefined) {
      const kept = await teamWorktrees.refuse(team, name, first, []);
      return { ok: false, objection: heldSecrets(secrets, kept) };
    }
    return { ok: true, upTo: tip, without: left.without, unsettled: await teamWorktrees.unsettled(team, name) };
  }
  const kept = await teamWorktrees.refuse(team, name, refused.commit.sha, foreignFiles(refused.commit, name, rules));
  const why = { ...refused.refusal, values: { ...refused.refusal.values, kept } };
  // However often it comes: what was taken back is not in the work, and a completion would hide that.
  return { ok: false, objection: { refusal: why, fingerprint: `commit ${refused.path}`, isFinal: true } };
}

/** A secret that is merged once stays in the history of what is pushed, whatever takes it out. */
function heldSecrets(secrets: readonly HeldSecret[], kept: string): Objection {
  return {
    refusal: refusal(WORK_CODES.commits_hold_secrets, { ...placesOf(secrets), kept }),
    fingerprint: `secrets ${placeWords(secrets)}`,
    isFinal: true,
  };
}

/** What stands in the way of work that lies where all work. */
export function presentSecrets(secrets: readonly HeldSecret[]): Objection {
  return {
    refusal: refusal(WORK_CODES.files_hold_secrets, placesOf(secrets)),
    fingerprint: `secrets ${placeWords(secrets)}`,
  };
}

function placesOf(secrets: readonly HeldSecret[]): { readonly places: readonly string[]; readonly more?: number } {
  const places = [...new Set(secrets.map(({ path, line, kind }) => `${path}:${line} (${kind})`))];
  const more = places.length - SECRETS_SHOWN;
  return { places: places.slice(0, SECRETS_SHOWN), ...(more > 0 ? { more } : {}) };
}

function placeWords(secrets: readonly HeldSecret[]): string {
  const { places, more } = placesOf(secrets);
  return `${places.join(', ')}${more === undefined ? '' : ` and ${more} more`}`;
}

const SECRETS_SHOWN = 5;

/** So often a merge is tried on a branch that others move meanwhile. */
const MERGE_TRIES = 5;

/** After the checks: merges the work into the team's branch; returns what prevents that. */
export async function integrateWork(
  teamWorktrees: TeamWorktrees,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  caller: Member,
  { upTo, without }: Pick<Extract<PreparedWork, { ok: true }>, 'upTo' | 'without'>,
): Promise<Objection | null> {
  const apart = upTo === null ? null : await mergeWork(teamWorktrees, log, task, caller, upTo);
  if (apart === null) await keepLeftOut(teamWorktrees, log, task.id, caller, without);
  return apart;
}

async function mergeWork(
  teamWorktrees: TeamWorktrees,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  caller: Member,
  upTo: string,
): Promise<Objection | null> {
  const { name } = caller;
  const { team } = log.state;
  const message = messageFor(`Merge ${name}: ${task.subject}`, task, log.state);
  const held = log.state.tasks.get(task.id);
  const settled = held?.holdsUp === undefined ? [] : await teamWorktrees.settled(team, name, upTo, held.files);
  let merge = await teamWorktrees.merge(team, name, message, upTo);
  for (let tries = 0; merge.kind === 'moved' && tries < MERGE_TRIES; tries += 1) {
    await restoreBranch(teamWorktrees, log, () => undefined);
    merge = await teamWorktrees.merge(team, name, message, upTo);
  }
  if (merge.kind === 'moved') {
    const why = refusal(WORK_CODES.team_branch_moving, { tries: MERGE_TRIES });
    return { refusal: why, fingerprint: 'moved', isFinal: true };
  }
  if (merge.kind === 'checked_out') {
    const why = refusal(WORK_CODES.team_branch_taken, { said: merge.words });
    return { refusal: why, fingerprint: CHECKED_OUT, isFinal: true };
  }
  if (merge.kind === 'conflict') return conflict(log, task, caller, merge);
  await tellSettled(log, task.id, name, settled);
  return null;
}
