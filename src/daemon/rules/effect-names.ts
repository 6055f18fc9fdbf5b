// Every kind of side effect the daemon has. Each is wrapped in a pair of journal records, so that a crash on either
// side of it is resumed; the suite kills the daemon before and after each of them.

export const EFFECTS = [
  'workspace',
  'hook',
  'agent',
  'gate',
  'take_base',
  'review',
  'push',
  'pull_request',
  'evidence',
  'review_request',
  'reply',
  'comment',
  'label_add',
  'label_remove',
  'workspace_remove',
] as const;

export type Effect = (typeof EFFECTS)[number];
