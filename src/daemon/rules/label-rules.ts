// Rules between the labels of a workflow.

import { got } from '../../base/rules/text.ts';
import { hasLabel, sameLabel } from './issue.ts';
import type { Workflow } from './workflow.ts';

/** A key with the value that came, and what was expected. */
export type LabelProblem = { readonly key: string; readonly expected: string; readonly came: string };

type Labels = {
  readonly active: readonly string[];
  readonly done: string;
  readonly failed: string;
  readonly question: string;
  readonly priority: readonly string[];
};

export function labelsOf({ labels, tracker, agent }: Workflow): Labels {
  return { ...labels, question: tracker.questionLabel, priority: agent.priorityLabels };
}

/** Labels that do not hold together. The service compares names without regard to case. */
export function labelProblems({ active, done, failed, question, priority }: Labels): LabelProblem[] {
  const problems: LabelProblem[] = [];
  const add = (key: string, expected: string, came: string) => problems.push({ key, expected, came });
  // The service's list of issues takes labels separated by commas, and knows no way to write one that has a comma.
  const refuseCommas = (key: string, names: readonly string[]) => {
    for (const name of names.filter((one) => one.includes(',')))
      add(key, 'labels without a comma (one item for each label)', got(name));
  };
  refuseCommas('active_states', active);
  const ends = [
    ['tracker.done_label', done],
    ['tracker.failed_label', failed],
  ] as const;
  for (const [key, label] of ends)
    if (hasLabel(active, label)) add(key, 'a label that is not an active one', got(label));
  const states = [...active, done, failed];
  if (hasLabel(states, question)) add('tracker.question_label', 'a label that is no state of an issue', got(question));
  if (sameLabel(done, failed))
    add('tracker.failed_label', 'another label than tracker.done_label', `${got(failed)} for both`);
  // A state label says where an issue stands, so it tells nothing about its urgency.
  refuseCommas('agent.priority_labels', priority);
  for (const [index, label] of priority.entries()) {
    if (hasLabel(priority.slice(0, index), label)) add('agent.priority_labels', 'each label once', got(label));
    if (hasLabel(states, label)) add('agent.priority_labels', 'labels that are no state of an issue', got(label));
  }
  return problems;
}
