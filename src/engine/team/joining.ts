// A writer's finished work on its way into the team's branch: committed, held against ownership, brought together with what
// others have finished, and merged.

import { foreignFiles, judgeCommits } from '../../domain/team/integration.ts';
import type { Task } from '../../domain/team/task.ts';
import type { TeamLog } from '../ports.ts';
import type { Somebody, TeamContext } from './context.ts';
import type { Workshop } from './workshop-port.ts';

/** A finding that stands in the way, with what tells it from another. */
export type Objection = { readonly reason: string; readonly fingerprint: string };

type Member = Extract<Somebody, { kind: 'member' }>;

function trailer(id: string): string {
  return `Task: ${id}`;
}

function conflict(team: string, files: readonly string[]): Objection {
  return {
    reason: `others have finished work that does not merge with yours: ${files.join(', ')} were changed on both sides. Run \`git merge tool/${team}\`, settle them, commit, and complete the task again.`,
    fingerprint: `conflict ${files.join(' ')}`,
  };
}

/** Before the checks: what stands in the way of merging the work; null when nothing does. */
export async function prepareWork(
  workshop: Workshop,
  context: TeamContext,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  caller: Member,
): Promise<Objection | null> {
  const { state } = log;
  const { team } = state;
  const { name, member } = caller;
  await workshop.save(team, name, `${task.subject}\n\n${trailer(task.id)}`);
  const { ownership } = await context.settings();
  const commits = await workshop.commits(team, name);
  const leased = [...state.leases.values()].filter((one) => one.member === name).map(({ path }) => path);
  const rules = {
    ownership,
    leases: new Map([[name, new Set(leased)]]),
    members: new Set(state.members.keys()),
    readOnly: member.readOnly,
  };
  const { refused } = judgeCommits(commits, name, rules);
  if (refused !== null) {
    const { sha } = refused.commit;
    const kept = await workshop.refuse(team, name, sha, foreignFiles(refused.commit, name, rules));
    return {
      reason: `${refused.words}. Your commits from there on were taken back and are kept as ${kept}.`,
      fingerprint: `commit ${refused.path}`,
    };
  }
  const merge = await workshop.update(team, name);
  return merge.kind === 'conflict' ? conflict(team, merge.files) : null;
}

/** After the checks: the work becomes part of the team's branch; gives what stands in the way. */
export async function joinWork(
  workshop: Workshop,
  log: TeamLog,
  task: Pick<Task, 'id' | 'subject'>,
  { name }: Member,
): Promise<Objection | null> {
  const { team } = log.state;
  const merge = await workshop.merge(team, name, `Merge ${name}: ${task.subject}\n\n${trailer(task.id)}`);
  return merge.kind === 'conflict' ? conflict(team, merge.files) : null;
}
