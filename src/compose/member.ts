// Member: one of the repositories of a daemon, and how far it has come.

import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { isFailure, messageOf, type ToolError } from '../base/rules/errors.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import { workflowOf } from '../daemon/rules/repositories.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { FLEET_CODES } from '../fleet/rules/fleet-codes.ts';
import { formatSlug, type RepoSlug } from '../git/rules/repository.ts';
import type { OpenRepository } from './repository-parts.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';

/** `opened` is null while it cannot be worked on; `problem` says why. */
export type Member = {
  readonly slug: RepoSlug;
  readonly name: string;
  readonly workflow: () => Workflow;
  readonly log: Logger;
  opened: OpenRepository | null;
  problem: string | null;
  /** Until it is opened and begun, or could not be. Gives the failure; never rejects. */
  starting: Promise<unknown> | null;
  isAnnounced: boolean;
  hasBegun: boolean;
  running: Promise<void> | null;
};

/** Lines of a log that name the repository. */
export function logOf(log: Logger, repository: string): Logger {
  return {
    log: (level, source, said, fields = {}) => log.log(level, source, said, { repository, ...fields }),
  };
}

/** Derives the workflow of a repository anew when the file was read again, and not at each question. */
export function derived(workflow: () => Workflow, slug: RepoSlug): () => Workflow {
  let [from, to] = [workflow(), workflowOf(workflow(), slug)];
  return () => {
    if (workflow() !== from) [from, to] = [workflow(), workflowOf(workflow(), slug)];
    return to;
  };
}

export function memberOf(slug: RepoSlug, workflow: () => Workflow, log: Logger, opened: OpenRepository | null): Member {
  const before = { problem: null, starting: null, isAnnounced: false, hasBegun: false, running: null };
  return { slug, name: formatSlug(slug), workflow, log, opened, ...before };
}

/** Another coordinator acts for it, or may: nothing is wrong. */
export function isHeld(error: unknown): error is ToolError {
  return isFailure(error, FLEET_CODES.repository_held) || isFailure(error, FLEET_CODES.repository_forgotten);
}

/** Logs why it cannot be worked on, once. */
export function sayUnusable(member: Pick<Member, 'log' | 'problem'>, error: unknown): void {
  const said = messageOf(error);
  if (said !== member.problem) {
    if (isHeld(error)) member.log.log('warn', 'serve', error.refusal);
    // The lease has said so itself.
    else if (!isFailure(error, FLEET_CODES.repository_lease_lost))
      member.log.log('error', 'serve', refusal(COMPOSE_CODES.repository_unusable, { said }));
  }
  member.problem = said;
}

/** Never rejects: the other repositories go on. */
export async function closeMember({ log }: Pick<Member, 'log'>, opened: Pick<OpenRepository, 'close'>): Promise<void> {
  try {
    await opened.close();
  } catch (error) {
    const what = { task: 'the end of its work', said: messageOf(error) };
    log.log('error', 'serve', refusal(WORK_CODES.background_task_failed, what));
  }
}

/** Runs its loop. One that cannot go on is closed, and is opened again later; never rejects. */
export async function runMember(
  member: Pick<Member, 'log' | 'problem' | 'opened'>,
  opened: Pick<OpenRepository, 'close'> & { readonly orchestrator: { readonly run: () => Promise<void> } },
): Promise<void> {
  try {
    await opened.orchestrator.run();
  } catch (error) {
    sayUnusable(member, error);
    member.opened = null;
    await closeMember(member, opened);
  }
}
