// Next step for an issue that no agent works on, derived from its state alone.
// After a restart, the daemon continues at that step and repeats no finished one.

import { assertNever } from '../../base/rules/errors.ts';
import type { GateSettings } from './gate-settings.ts';
import type { StateLabels } from './issue.ts';
import { activeLabelsOf, sameLabel } from './issue.ts';
import type { PullRequest } from './record.ts';
import type { Entry } from './state.ts';

export type Step =
  | { readonly kind: 'gate'; readonly key: string; readonly sha: string }
  /** Not an effect: what failed goes back to the agent, or ends the issue. */
  | { readonly kind: 'send_back' }
  | { readonly kind: 'push'; readonly key: string; readonly sha: string }
  | { readonly kind: 'pull_request'; readonly key: string }
  /** The figures of the gate in the text of the pull request. */
  | { readonly kind: 'evidence'; readonly key: string }
  | { readonly kind: 'comment'; readonly key: string }
  | { readonly kind: 'label_add'; readonly key: string; readonly label: string }
  | { readonly kind: 'label_remove'; readonly key: string; readonly label: string }
  | { readonly kind: 'review_request'; readonly key: string; readonly reviewers: readonly string[] }
  /** `null`: no active label is left. */
  | { readonly kind: 'observe'; readonly label: string | null }
  /** Not an effect: following is over. */
  | { readonly kind: 'conclude' };

/** Effect key: the daemon asks the tracker for the open pull request once per claim, attempt and pushed commit. */
export function pullRequestKey(entry: Entry): string {
  return `pull_request:${entry.branch}`;
}

/** The known open pull request; null: ask the tracker. */
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

/** Adds the new label before it removes old ones: an issue without a state label would be forgotten. */
function swapLabels(entry: Entry, wanted: string): Step {
  const add = `label_add:${wanted.toLowerCase()}`;
  if (!finished(entry, add)) return { kind: 'label_add', key: add, label: wanted };
  return dropLabels(entry, (label) => !sameLabel(label, wanted)) ?? { kind: 'observe', label: wanted };
}

/**
 * Before the first attempt, old done and failed labels are removed, so that one state label remains. After the last
 * attempt, the issue is measured and published, or given up. Undefined in every other phase.
 */
export function nextStep(entry: Entry, states: StateLabels, gate: Pick<GateSettings, 'mode'>): Step | undefined {
  switch (entry.phase) {
    case 'claimed':
      return dropLabels(entry, (label) => sameLabel(label, states.done) || sameLabel(label, states.failed));
    case 'publishing': {
      if (entry.head === null) return swapLabels(entry, states.done);
      const isMeasured = entry.evidence?.commit === entry.head;
      if (gate.mode !== 'off' && !isMeasured) return { kind: 'gate', key: `gate:${entry.head}`, sha: entry.head };
      if (gate.mode === 'required' && entry.evidence?.ok === false) return { kind: 'send_back' };
      const push = `push:${entry.head}`;
      if (!finished(entry, push)) return { kind: 'push', key: push, sha: entry.head };
      // One that is followed is known, and no other takes its place.
      if (entry.follow === null && openPullRequest(entry) === null)
        return { kind: 'pull_request', key: pullRequestKey(entry) };
      const evidence = `evidence:${entry.head}`;
      if (isMeasured && !finished(entry, evidence)) return { kind: 'evidence', key: evidence };
      const reviewers = entry.follow?.reviewers ?? [];
      const ask = `review_request:${entry.head}`;
      if (reviewers.length > 0 && !finished(entry, ask)) return { kind: 'review_request', key: ask, reviewers };
      return swapLabels(entry, states.done);
    }
    case 'following': {
      if (entry.follow === null || entry.follow.stopped === null) return undefined;
      const comment = `comment:follow_stopped:${entry.attempt}`;
      return finished(entry, comment) ? { kind: 'conclude' } : { kind: 'comment', key: comment };
    }
    case 'giving_up': {
      const comment = `comment:gave_up:${entry.attempt}`;
      if (!finished(entry, comment)) return { kind: 'comment', key: comment };
      return swapLabels(entry, states.failed);
    }
    case 'cancelling': {
      const isActive = (label: string) => !sameLabel(label, states.done) && !sameLabel(label, states.failed);
      return dropLabels(entry, isActive) ?? { kind: 'observe', label: null };
    }
    case 'reviving': {
      const label = activeLabelsOf(entry.stateLabels, states)[0] ?? states.active[0] ?? '';
      const key = `label_add:${label.toLowerCase()}`;
      return finished(entry, key) ? { kind: 'observe', label } : { kind: 'label_add', key, label };
    }
    case 'running':
    case 'retrying':
    case 'parked':
      return undefined;
    default:
      return assertNever(entry.phase);
  }
}
