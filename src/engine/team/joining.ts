// A writer's finished work on its way into the team's branch: committed, held against ownership, brought together with what
// others have finished, and merged.

import { isSpecId } from '../../domain/spec/spec.ts';
import { foreignFiles, judgeCommits } from '../../domain/team/integration.ts';
import type { TeamState } from '../../domain/team/state.ts';
import type { Task } from '../../domain/team/task.ts';
import type { TeamLog } from '../ports.ts';
import type { Somebody, TeamContext } from './context.ts';
import type { Workshop } from './workshop-port.ts';

/** A finding that stands in the way, with what tells it from another. */
export type Objection = { readonly reason: string; readonly fingerprint: string };

type Member = Extract<Somebody, { kind: 'member' }>;

/** A commit's message: what was done, for which SPEC, and the task by which it is found again. */
function messageFor(words: string, task: Pick<Task, 'id'>, { purpose }: TeamState): string {
  const spec = purpose !== null && isSpecId(purpose.subject) ? `For ${purpose.subject}.\n\n` : '';
  return `${words}\n\n${spec}Task: ${task.id}`;
}

function conflict(team: string, files: readonly string[]): Objection {
  return {
    reason: `others have finished work that does not merge with yours: ${files.join(', ')} were changed on both sides. Run \`git merge tool/${team}\`, settle them, commit, and complete the task again.`,
    fingerprint: `conflict ${files.join(' ')}`,
  };
}

/** `upTo`: where its branch stood when it was looked at; what its author adds meanwhile waits for the next time. Null: there is none. */
export type Prepared =
  | { readonly ok: true; readonly upTo: string | null }
  | { readonly ok: false; readonly objection: Objection };

/** Before the checks: the work is committed, brought together with others', and looked at. */
export async function prepareWork(
  workshop: Workshop,
  context: TeamContext,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  caller: Member,
): Promise<Prepared> {
  const { state } = log;
  const { team } = state;
  const { name, member } = caller;
  await workshop.save(team, name, messageFor(task.subject, task, state));
  const merge = await workshop.update(team, name);
  if (merge.kind === 'conflict') return { ok: false, objection: conflict(team, merge.files) };
  const { ownership } = await context.settings();
  const { tip, commits } = await workshop.commits(team, name);
  const leased = [...state.leases.values()].filter((one) => one.member === name).map(({ path }) => path);
  const rules = {
    ownership,
    leases: new Map([[name, new Set(leased)]]),
    members: new Set(state.members.keys()),
    readOnly: member.readOnly,
  };
  const { refused } = judgeCommits(commits, name, rules);
  if (refused === null) return { ok: true, upTo: commits.length === 0 ? null : tip };
  const kept = await workshop.refuse(team, name, refused.commit.sha, foreignFiles(refused.commit, name, rules));
  const reason = `${refused.words}. Your commits from there on were taken back and are kept as ${kept}.`;
  return { ok: false, objection: { reason, fingerprint: `commit ${refused.path}` } };
}

/** After the checks: the work becomes part of the team's branch; gives what stands in the way. */
export async function joinWork(
  workshop: Workshop,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  { name }: Member,
  upTo: string | null,
): Promise<Objection | null> {
  if (upTo === null) return null;
  const { team } = log.state;
  const message = messageFor(`Merge ${name}: ${task.subject}`, task, log.state);
  const merge = await workshop.merge(team, name, message, upTo);
  return merge.kind === 'conflict' ? conflict(team, merge.files) : null;
}
