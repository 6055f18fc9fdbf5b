// Parts of a repository's own WORKFLOW.md: names of its settings, and the file that holds.

/** The file of a repository, in the root of its default branch. */
export const OWN_FILE = 'WORKFLOW.md';

/** In the state directory: the commit of the last good one. */
export const LAST_GOOD_FILE = 'repository-workflow';

/** Labels that a repository may set, each by the key of the operator's file. */
export const OWN_LABELS = ['active_states', 'done_label', 'failed_label', 'question_label', 'priority_labels'] as const;
export type OwnLabel = (typeof OWN_LABELS)[number];

/** Values of `tracker.repository_workflow`; `labels` stands for all of them. */
export const OWN_SETTINGS = ['prompt', 'labels', ...OWN_LABELS] as const;
export type OwnSetting = (typeof OWN_SETTINGS)[number];

export const OWN_HOOKS = ['after_create', 'before_run', 'after_run', 'before_remove'] as const;
export type OwnHook = (typeof OWN_HOOKS)[number];

/** Scripts of the repository, which run beside those of the operator. */
export type OwnHooks = Readonly<Partial<Record<OwnHook, string>>>;

/** The file that holds for a repository: the commit it was read at, and the keys that it sets. */
export type OwnFile = { readonly commit: string; readonly sets: readonly string[]; readonly hooks: OwnHooks };

/** What is recorded of it with an attempt. */
export type OwnFileMark = { readonly commit: string; readonly sets: readonly string[] };

/** `prompt, done_label from WORKFLOW.md at 1a2b3c4` */
export function ownFileWords({ commit, sets }: OwnFileMark): string {
  return `${sets.join(', ')} from ${OWN_FILE} at ${commit.slice(0, 7)}`;
}
