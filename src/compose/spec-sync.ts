// Wires the rooms into the sync of a SPEC. Apart from team.ts: only `tool sync` and the hook of a prompt load it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../base/rules/environment.ts';
import { skippedTests } from '../gate/readers/skipped-tests.ts';
import type { Lines } from '../gate/rules/skipped-lines.ts';
import { tryGit } from '../git/git.ts';
import type { Project } from '../git/project.ts';
import { archivedBases } from '../team/log/finished-team.ts';
import type { SyncContext } from '../team/phases/sync.ts';
import type { Teams } from '../team/ports.ts';
import type { TeamSettings } from '../team/rules/settings.ts';
import { specDirectory } from '../team/rules/spec-documents/spec.ts';
import type { TestLine } from '../team/rules/spec-documents/sync.ts';
import { runTeamName } from '../team/rules/team-name.ts';
import { approvalOf, recordApproval } from '../team/spec-documents/spec-approvals.ts';
import { createSpecHistory } from '../team/spec-documents/spec-history.ts';
import { listSpecs, readTexts, replaceFile } from '../team/spec-documents/specs.ts';

export type SyncParts = {
  readonly project: Project;
  readonly env: Environment;
  readonly teams: Teams;
  readonly settings: () => Promise<TeamSettings>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/** Of each line, whether its file, as HEAD holds it, says that it is of a test that is not run. */
async function withSkipped(root: string, lines: readonly TestLine[]): Promise<readonly TestLine[]> {
  const skipped = new Map<string, readonly Lines[]>();
  for (const path of new Set(lines.map((line) => line.path))) {
    const { exitCode, stdout } = await tryGit(['cat-file', 'blob', `HEAD:./${path}`], { cwd: root });
    skipped.set(path, exitCode === 0 ? await skippedTests(path, stdout) : []);
  }
  return lines.map((one) => ({
    ...one,
    isSkipped: skipped.get(one.path)?.some(({ from, to }) => from <= one.line && one.line <= to) === true,
  }));
}

export function composeSync({ project: { root, main }, env, teams, settings, now }: SyncParts): SyncContext {
  const history = createSpecHistory(root);
  const changelog = join(root, 'CHANGELOG.md');
  /** Of teams that are put away, then of one that is still there. */
  const begun = async (id: string): Promise<readonly string[]> => {
    const team = runTeamName(id);
    if (team === undefined) return [];
    const log = teams.open(team);
    await log?.close();
    const there = log?.state.commit ?? null;
    return [...(await archivedBases(main, team)), ...(there === null ? [] : [there])];
  };
  return {
    ...history,
    base: async (id, wanted) => history.base(id, wanted, await begun(id)),
    facts: async (...of) => {
      const facts = await history.facts(...of);
      return { ...facts, lines: await withSkipped(root, facts.lines) };
    },
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
