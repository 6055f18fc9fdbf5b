// A task before it is created, and the words that all tasks are written in.

import { fence, oneLine, visibleLines } from '../../base/rules/text.ts';
import type { Ownership } from '../../guard/rules/ownership.ts';
import type { Phase } from './role.ts';
import type { Selection } from './select/selection.ts';

export type TaskDraft = {
  /** Unique among the tasks; others are blocked by it under this name. */
  readonly key: string;
  /** Short and imperative. */
  readonly subject: string;
  readonly description: string;
  /** A role's name. */
  readonly owner: string;
  /** Paths that it is expected to touch, each its owner's. */
  readonly files: readonly string[];
  readonly blockedBy: readonly string[];
  /** It may be begun before those are completed, and ends after them. */
  readonly early?: true;
};

export type Decomposition = {
  /** Every task stands after all that it is blocked by. */
  readonly tasks: readonly TaskDraft[];
  /** Roles with nothing to do, files that nobody owns with owners for them: one line each. */
  readonly notes: readonly string[];
};

export type DecompositionInput = {
  readonly phase: Phase;
  readonly roles: readonly string[];
  /** The feature's words, the SPEC, or what is said of a failure. */
  readonly text: string;
  readonly selection: Selection;
  readonly ownership: readonly Ownership[];
  /** The repository's tracked paths. */
  readonly files: readonly string[];
};

/** Lines as data, in a fence that they cannot close. */
export function quoted(lines: readonly string[]): string {
  return fence(visibleLines(lines.join('\n')));
}

/** A subject of at most 72 characters. */
export function subject(start: string, about: string): string {
  return oneLine(about.trim() === '' ? start : `${start}: ${about}`, 72);
}

const SHOWN = 8;

/** The first files of a list, and how many more there are. */
export function listed(files: readonly string[]): string {
  const rest = files.length - SHOWN;
  return `${files.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** About files without an owner that a task is likely to change. */
export function freeWords(files: readonly string[]): readonly string[] {
  return files.length === 0
    ? []
    : [`Files without an owner; the first write to one lends it to you: ${listed(files)}.`];
}
