// Wires the sync of a SPEC: loaded by the command and the hook that make one, and by nothing that has to start fast.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSpecHistory } from './adapters/git/spec-history.ts';
import type { Project } from './adapters/project.ts';
import { approvalOf, recordApproval } from './adapters/spec-approvals.ts';
import { listSpecs, readTexts, replaceFile } from './adapters/specs.ts';
import { specDirectory } from './domain/spec/spec.ts';
import type { TeamSettings } from './domain/team/settings.ts';
import type { Teams } from './engine/ports.ts';
import type { SyncContext } from './engine/team/phases/sync.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type SyncParts = {
  readonly project: Project;
  readonly env: Environment;
  readonly teams: Teams;
  readonly settings: () => Promise<TeamSettings>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

export function composeSync({ project: { root, main }, env, teams, settings, now }: SyncParts): SyncContext {
  const history = createSpecHistory(root);
  const changelog = join(root, 'CHANGELOG.md');
  return {
    ...history,
    teams,
    specs: () => listSpecs(main),
    texts: (id) => readTexts(main, id),
    approval: (id) => approvalOf(main, id, env),
    needsApproval: async () => (await settings()).requirePlanApproval,
    write: (texts, isApproved) => {
      // First the record: who is killed in between leaves the words that were approved before.
      if (isApproved) recordApproval(main, texts, env, now());
      replaceFile(join(main, specDirectory(texts.id), 'spec.md'), texts.spec);
    },
    changelog: () => {
      try {
        return readFileSync(changelog, 'utf8');
      } catch {
        return null;
      }
    },
    writeChangelog: (text) => replaceFile(changelog, text),
    today: () => new Date(now()).toISOString().slice(0, 10),
  };
}
