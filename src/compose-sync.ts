// Wires the sync of a SPEC: loaded by the command and the hook that make one, and by nothing that has to start fast.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSpecHistory } from './adapters/git/spec-history.ts';
import type { Project } from './adapters/project.ts';
import { approvalOf, recordApproval } from './adapters/spec-approvals.ts';
import { listSpecs, readTexts, replaceFile } from './adapters/specs.ts';
import { specDirectory } from './domain/spec/spec.ts';
import type { Teams } from './engine/ports.ts';
import type { SyncContext } from './engine/team/phases/sync.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** @param now milliseconds since the epoch */
export function composeSync({ root, main }: Project, env: Environment, teams: Teams, now: () => number): SyncContext {
  const history = createSpecHistory(root);
  const changelog = join(root, 'CHANGELOG.md');
  return {
    ...history,
    teams,
    specs: () => listSpecs(main),
    texts: (id) => readTexts(main, id),
    approval: (id) => approvalOf(main, id, env),
    write: (texts) => {
      // First the record: who is killed in between leaves the words that were approved before.
      recordApproval(main, texts, env, now());
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
