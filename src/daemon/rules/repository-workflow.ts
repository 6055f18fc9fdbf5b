// Settings of a repository's own WORKFLOW.md: what it may set, and the workflow that comes of it.

import { OWN_HOOKS, type OwnHook, type OwnHooks, type OwnLabel, type OwnSetting } from './own-file.ts';
import type { Workflow } from './workflow.ts';

/** Values that the file sets and may set. */
export type OwnValues = {
  readonly prompt?: string | undefined;
  readonly active_states?: readonly string[] | undefined;
  readonly done_label?: string | undefined;
  readonly failed_label?: string | undefined;
  readonly question_label?: string | undefined;
  readonly priority_labels?: readonly string[] | undefined;
  readonly hooks?: OwnHooks | undefined;
};

const PLACES: Readonly<Record<string, OwnLabel>> = {
  active_states: 'active_states',
  'tracker.active_states': 'active_states',
  'tracker.done_label': 'done_label',
  'tracker.failed_label': 'failed_label',
  'tracker.question_label': 'question_label',
  'agent.priority_labels': 'priority_labels',
};

/** Whether the operator's file lets repositories set anything. */
export function readsOwnFile({ fromRepository }: Workflow): boolean {
  return fromRepository.settings.length > 0 || fromRepository.hooks;
}

export function mayActivate(settings: readonly OwnSetting[]): boolean {
  return settings.includes('labels') || settings.includes('active_states');
}

export type OwnPlace =
  | { readonly kind: 'prompt' }
  | { readonly kind: 'label'; readonly name: OwnLabel }
  | { readonly kind: 'hook'; readonly name: OwnHook };

/** What a key of the front matter, or `prompt`, stands for. Null: nothing that this repository may set. */
export function allowedPlace(key: string, { fromRepository: { settings, hooks } }: Workflow): OwnPlace | null {
  if (key === 'prompt') return settings.includes('prompt') ? { kind: 'prompt' } : null;
  const hook = OWN_HOOKS.find((one) => key === `hooks.${one}`);
  if (hook !== undefined) return hooks ? { kind: 'hook', name: hook } : null;
  const name = Object.hasOwn(PLACES, key) ? PLACES[key] : undefined;
  const isAllowed = name !== undefined && (settings.includes('labels') || settings.includes(name));
  return isAllowed ? { kind: 'label', name } : null;
}

/** The operator's workflow with what the repository sets. */
export function withOwn(workflow: Workflow, commit: string, sets: readonly string[], values: OwnValues): Workflow {
  const { labels, tracker, agent } = workflow;
  return Object.freeze({
    ...workflow,
    prompt: values.prompt ?? workflow.prompt,
    labels: {
      active: values.active_states ?? labels.active,
      done: values.done_label ?? labels.done,
      failed: values.failed_label ?? labels.failed,
    },
    tracker: { ...tracker, questionLabel: values.question_label ?? tracker.questionLabel },
    agent: { ...agent, priorityLabels: values.priority_labels ?? agent.priorityLabels },
    own: { commit, sets, hooks: values.hooks ?? {} },
  });
}
