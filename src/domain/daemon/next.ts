// What is left to do for an issue whose attempts are over, read off its state: so a restart goes on where the last
// process stopped, and each step is done once.

import { assertNever } from '../errors.ts';
import type { StateLabels } from '../issue.ts';
import { sameLabel } from '../issue.ts';
import type { PullRequest } from './record.ts';
import type { Entry } from './state.ts';

export type Step =
  | { readonly kind: 'push'; readonly key: string; readonly sha: string }
  | { readonly kind: 'pull_request'; readonly key: string }
  | { readonly kind: 'comment'; readonly key: string }
  | { readonly kind: 'label_add'; readonly key: string; readonly label: string }
  | { readonly kind: 'label_remove'; readonly key: string; readonly label: string }
  | { readonly kind: 'observe'; readonly label: string };

/** Once in each claim, attempt and pushed commit the tracker is asked for the open pull request. */
export function pullRequestKey(entry: Entry): string {
  return `pull_request:${entry.branch}`;
}

/** The pull request that is known to be open; null when the tracker is to be asked. */
export function openPullRequest(entry: Entry): PullRequest | null {
  return finished(entry, pullRequestKey(entry)) ? entry.pullRequest : null;
}

function finished(entry: Entry, key: string): boolean {
  return entry.effects[key] === 'finished';
}

export function labelRemoveKey(label: string): string {
  return `label_remove:${label.toLowerCase()}`;
}

function dropLabels(entry: Entry, unwanted: (label: string) => boolean): Step | undefined {
  for (const label of entry.stateLabels.filter(unwanted)) {
    const key = labelRemoveKey(label);
    if (!finished(entry, key)) return { kind: 'label_remove', key, label };
  }
  return undefined;
}

/** The new label is added before the old ones go, so that at no moment an issue is without one and forgotten. */
function swapLabels(entry: Entry, wanted: string): Step {
  const add = `label_add:${wanted.toLowerCase()}`;
  if (!finished(entry, add)) return { kind: 'label_add', key: add, label: wanted };
  return dropLabels(entry, (label) => !sameLabel(label, wanted)) ?? { kind: 'observe', label: wanted };
}

/**
 * The next step for an issue that no agent works on: before its first attempt the end labels of an earlier time go, so
 * that it carries one state label; after its last one it is published or given up. Undefined when an attempt is next.
 */
export function nextStep(entry: Entry, states: StateLabels): Step | undefined {
  switch (entry.phase) {
    case 'claimed':
      return dropLabels(entry, (label) => sameLabel(label, states.done) || sameLabel(label, states.failed));
    case 'publishing': {
      if (entry.head === null) return swapLabels(entry, states.done);
      const push = `push:${entry.head}`;
      if (!finished(entry, push)) return { kind: 'push', key: push, sha: entry.head };
      if (openPullRequest(entry) === null) return { kind: 'pull_request', key: pullRequestKey(entry) };
      return swapLabels(entry, states.done);
    }
    case 'giving_up': {
      const comment = `comment:gave_up:${entry.attempt}`;
      if (!finished(entry, comment)) return { kind: 'comment', key: comment };
      return swapLabels(entry, states.failed);
    }
    case 'running':
    case 'retrying':
    case 'parked':
      return undefined;
    default:
      return assertNever(entry.phase);
  }
}
