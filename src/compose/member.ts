// Member: one of the repositories of a daemon, and how far it has come.

import type { Logger } from '../base/ports.ts';
import { workflowOf } from '../daemon/rules/repositories.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { formatSlug, type RepoSlug } from '../git/rules/repository.ts';
import type { OpenRepository } from './repository.ts';

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
