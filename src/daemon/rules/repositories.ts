// Many repositories in one workflow: the workflow of each of them, and their names.

import { formatSlug, parseSlug, type RepoSlug } from '../../git/rules/repository.ts';
import type { Workflow } from './workflow.ts';

/** In place of a repository's name: all repositories of the owner. */
export const EVERY = '*';

export function isEvery({ repo }: RepoSlug): boolean {
  return repo === EVERY;
}

/** Parses `<owner>/<repo>` or `<owner>/*`; undefined when it is neither. */
export function parsePattern(text: string): RepoSlug | undefined {
  const [, owner = ''] = /^(.*)\/\*$/.exec(text) ?? [];
  const parsed = parseSlug(owner === '' ? text : `${owner}/x`);
  return parsed && (owner === '' ? parsed : { owner, repo: EVERY });
}

/** The service tells names apart by their letters, not by their case. */
export function slugKey(slug: RepoSlug): string {
  return formatSlug(slug).toLowerCase();
}

/** A place below one that many repositories share. */
export function placeOf(directory: string, { owner, repo }: RepoSlug): string {
  return `${directory}/${owner}/${repo}`;
}

/** The workflow of one of `tracker.repositories`: as if the file named it alone. */
export function workflowOf(workflow: Workflow, slug: RepoSlug): Workflow {
  const { tracker, workspace, stateDir, agent } = workflow;
  const { maxConcurrent, maxCostPerDayUsd } = agent.perRepository;
  return Object.freeze({
    ...workflow,
    tracker: { ...tracker, slug, repositories: null },
    workspace: { ...workspace, root: placeOf(workspace.root, slug) },
    stateDir: placeOf(stateDir, slug),
    agent: {
      ...agent,
      maxConcurrent: Math.min(agent.maxConcurrent, maxConcurrent ?? agent.maxConcurrent),
      maxCostPerDayUsd,
    },
  });
}
