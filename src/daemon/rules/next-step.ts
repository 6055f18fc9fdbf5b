// Next step for an issue that no agent works on, derived from its state alone.
// After a restart, the daemon continues at that step and repeats no finished one.

import { assertNever } from '../../base/rules/errors.ts';
import type { GateSettings } from './gate-settings.ts';
import type { StateLabels } from './issue.ts';
import { activeLabelsOf, sameLabel } from './issue.ts';
import { labelAddKey, labelRemoveKey } from './label-keys.ts';
import type { PullRequest } from './record.ts';
import { isUnreviewed, reviewKey, shownReview } from './review.ts';
import type { Entry } from './state.ts';

export type Step =
  | { readonly kind: 'gate'; readonly key: string; readonly sha: string }
  | { readonly kind: 'review'; readonly key: string; readonly sha: string }
  /** Not an effect: what failed goes back to the agent, or ends the issue. */
  | { readonly kind: 'send_back' }
  /** The base, after a wait for another change of the same paths. */
  | { readonly kind: 'take_base'; readonly key: string; readonly sha: string }
  /** Not an effect: whether the change has to wait for another one of the same paths. */
  | { readonly kind: 'serialize'; readonly sha: string }
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

/** Whether finished work is measured, or is not pushed yet: what people write can still go into it. */
export function isUnpublished({ phase, head, effects }: Pick<Entry, 'phase' | 'head' | 'effects'>): boolean {
  if (phase !== 'publishing' || head === null) return false;
  return effects[`gate:${head}`] === 'started' || effects[`push:${head}`] === undefined;
}

/** The known open pull request; null: ask the tracker. */
export function openPullRequest(entry: Entry): PullRequest | null {
  return finished(entry, pullRequestKey(entry)) ? entry.pullRequest : null;
}

function finished(entry: Entry, key: string): boolean {
  return entry.effects[key] === 'finished';
}

function dropLabels(entry: Entry, unwanted: (label: string) => boolean): Step | undefined {
  for (const label of entry.stateLabels.filter(unwanted)) {
    const key = labelRemoveKey(label);
    if (!finished(entry, key)) return { kind: 'label_remove', key, label };
  }
  return undefined;
}

/** Effect key of the comment with the question of an attempt. */
export function questionKey(attempt: number): string {
  return `comment:question:${attempt}`;
}

/** What is left to do until an open question stands on its issue: the comment, then the label. */
export function questionStep({
  question,
  effects,
}: Entry): Extract<Step, { kind: 'comment' | 'label_add' }> | undefined {
  if (question === null || !question.isOpen) return undefined;
  const comment = questionKey(question.attempt);
  if (effects[comment] !== 'finished') return { kind: 'comment', key: comment };
  const add = labelAddKey(question.label);
  return effects[add] === 'finished' ? undefined : { kind: 'label_add', key: add, label: question.label };
}

/** Takes the label of a question off that nothing waits for any more. */
export function dropQuestion({ question, effects }: Entry): Extract<Step, { kind: 'label_remove' }> | undefined {
  if (question === null || question.isOpen || effects[labelAddKey(question.label)] === undefined) return undefined;
  const key = labelRemoveKey(question.label);
  return effects[key] === 'finished' ? undefined : { kind: 'label_remove', key, label: question.label };
}

/** Adds the new label before it removes old ones: an issue without a state label would be forgotten. */
function swapLabels(entry: Entry, wanted: string): Step {
  const add = labelAddKey(wanted);
  if (!finished(entry, add)) return { kind: 'label_add', key: add, label: wanted };
  const dropped = dropLabels(entry, (label) => !sameLabel(label, wanted)) ?? dropQuestion(entry);
  return dropped ?? { kind: 'observe', label: wanted };
}

/**
 * Before the first attempt, old done and failed labels are removed, so that one state label remains. After the last
 * attempt, the work is measured, reviewed and published, or given up. In between, a question is put on it and its label taken off.
 * @param serializes whether `agent.serialize_paths` names any
 * @param reviewer `review.agent`
 */
export function nextStep(
  entry: Entry,
  states: StateLabels,
  gate: Pick<GateSettings, 'mode'>,
  { serializes = false, reviewer = null }: { readonly serializes?: boolean; readonly reviewer?: string | null } = {},
): Step | undefined {
  switch (entry.phase) {
    case 'claimed':
      return dropLabels(entry, (label) => sameLabel(label, states.done) || sameLabel(label, states.failed));
    case 'publishing': {
      if (entry.head === null) return swapLabels(entry, states.done);
      const { serial } = entry;
      if (serial?.isBehind === true) return { kind: 'take_base', key: `take_base:${entry.head}`, sha: entry.head };
      const isMeasured = entry.evidence?.commit === entry.head;
      if (gate.mode !== 'off' && !isMeasured) return { kind: 'gate', key: `gate:${entry.head}`, sha: entry.head };
      if (gate.mode === 'required' && entry.evidence?.ok === false) return { kind: 'send_back' };
      if (reviewer !== null && isUnreviewed(entry))
        return { kind: 'review', key: reviewKey(entry.head), sha: entry.head };
      const isFirst = serial?.goesFirst === true && serial.sha === entry.head;
      if (serializes && !isFirst && openPullRequest(entry) === null) return { kind: 'serialize', sha: entry.head };
      const push = `push:${entry.head}`;
      if (!finished(entry, push)) return { kind: 'push', key: push, sha: entry.head };
      // One that is followed is known, and no other takes its place.
      if (entry.follow === null && openPullRequest(entry) === null)
        return { kind: 'pull_request', key: pullRequestKey(entry) };
      const evidence = `evidence:${entry.head}`;
      if ((isMeasured || shownReview(entry) !== null) && !finished(entry, evidence))
        return { kind: 'evidence', key: evidence };
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
      return dropLabels(entry, isActive) ?? dropQuestion(entry) ?? { kind: 'observe', label: null };
    }
    case 'reviving': {
      const label = activeLabelsOf(entry.stateLabels, states)[0] ?? states.active[0] ?? '';
      const key = labelAddKey(label);
      return finished(entry, key) ? { kind: 'observe', label } : { kind: 'label_add', key, label };
    }
    case 'asking':
      return questionStep(entry);
    case 'retrying':
      return dropQuestion(entry);
    case 'running':
    case 'held_back':
    case 'parked':
      return undefined;
    default:
      return assertNever(entry.phase);
  }
}
