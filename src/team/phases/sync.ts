// The sync of a SPEC: what was built is held against what was asked for, and the SPEC says what came of it.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { mustBeReadable, withReadable } from '../operations/context.ts';
import type { Teams } from '../ports.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import { SPEC_CODES } from '../rules/codes/spec-codes.ts';
import { withAdded } from '../rules/spec-documents/changelog.ts';
import { readSpecTexts, type SpecTexts } from '../rules/spec-documents/check.ts';
import { withResult } from '../rules/spec-documents/result-section.ts';
import {
  type Approval,
  isSpecId,
  type SpecStatus,
  specDirectory,
  withStatus,
  withUpdated,
} from '../rules/spec-documents/spec.ts';
import {
  isMet,
  type JudgedItem,
  judgeSync,
  resultLines,
  type SyncFacts,
  statusAfter,
} from '../rules/spec-documents/sync.ts';
import { runTeamName } from '../rules/team-name.ts';

/** Where the work on a SPEC began: a commit or an empty tree, and how that was found; or why it cannot be told. */
export type WorkBase =
  | { readonly ok: true; readonly base: string; readonly words: string }
  | { readonly ok: false; readonly refusal: Refusal };

export type SyncContext = {
  readonly teams: Teams;
  readonly specs: () => readonly string[];
  readonly texts: (id: string) => SpecTexts | null;
  readonly approval: (id: string) => Promise<Approval>;
  /** Whether what is built has to be approved. */
  readonly needsApproval: () => Promise<boolean>;
  /** @param wanted a commit that the user named */
  readonly base: (id: string, wanted: string | null) => Promise<WorkBase>;
  /** @param ids of the requirements and scenarios that tests may name */
  readonly facts: (id: string, base: string, ids: readonly string[]) => Promise<SyncFacts>;
  /** Paths that HEAD does not hold as they stand. */
  readonly uncommitted: () => Promise<readonly string[]>;
  /** Writes `spec.md`; one that was approved stays so with these words. */
  readonly write: (texts: SpecTexts & { readonly spec: string }, isApproved: boolean) => void;
  /** The CHANGELOG.md of the project; null: there is none. */
  readonly changelog: () => string | null;
  readonly writeChangelog: (text: string) => void;
  /** ISO date. */
  readonly today: () => string;
};

export type SyncOutcome =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'done';
      readonly id: string;
      readonly status: SpecStatus;
      readonly met: boolean;
      readonly judged: readonly JudgedItem[];
      /** Where the changes begin, in words. */
      readonly since: string;
      readonly uncommitted: readonly string[];
      /** Files that were written, from the project's root. */
      readonly written: readonly string[];
    };

function refused(one: Refusal): SyncOutcome {
  return { kind: 'refused', refusal: one };
}

/** Why it is too early; null: it is not. */
async function workLeft({ teams }: SyncContext, id: string): Promise<Refusal | null> {
  return withReadable(teams, async (logs, unread) => {
    mustBeReadable(unread.filter(({ team }) => team === runTeamName(id)));
    const log = logs.find((one) => one.state.team === runTeamName(id));
    const open = [...(log?.state.tasks.values() ?? [])].filter(({ status }) => status !== 'completed');
    if (log === undefined || open.length === 0) return null;
    const named = open.map((task) => `${task.id} ${task.subject}`);
    return refusal(SPEC_CODES.sync_tasks_open, { count: open.length, team: log.state.team, tasks: named });
  });
}

/**
 * Syncs a SPEC. The same again changes nothing.
 * @param wanted the commit before the work, where the user names one
 */
export async function syncSpec(context: SyncContext, id: string, wanted: string | null): Promise<SyncOutcome> {
  const texts = isSpecId(id) ? context.texts(id) : null;
  if (texts?.spec == null) {
    const known = context.specs();
    return refused(
      refusal(LEAD_CODES.spec_file_not_found, {
        path: `${specDirectory(id)}/spec.md`,
        known: known.length === 0 ? 'no SPEC has been written yet' : `there is ${known.join(', ')}`,
      }),
    );
  }
  const left = await workLeft(context, id);
  if (left !== null) return refused(left);
  const approval = await context.approval(id);
  if (!approval.counts && (await context.needsApproval()))
    return refused(refusal(SPEC_CODES.spec_not_approved, { spec: id, why: approval.why }));
  const base = await context.base(id, wanted);
  if (!base.ok) return refused(base.refusal);
  const data = readSpecTexts(texts);
  const { requirements } = data.spec;
  const { scenarios } = data.acceptance;
  const facts = await context.facts(
    id,
    base.base,
    [...requirements, ...scenarios].map((one) => one.id),
  );
  const judged = judgeSync({ ...data, spec: { ...data.spec, id } }, facts);
  const status = statusAfter(judged, approval.status ?? 'draft');
  const met = isMet(judged);
  const written = [
    ...writeResult(context, { ...texts, spec: texts.spec }, resultLines(judged, base.words), status, approval.counts),
    ...(met ? writeChangelog(context, data.spec.title, id) : []),
  ];
  const uncommitted = (await context.uncommitted()).filter((path) => !written.includes(path));
  return { kind: 'done', id, status, met, judged, since: base.words, uncommitted, written };
}

function writeResult(
  context: SyncContext,
  texts: SpecTexts & { readonly spec: string },
  result: readonly string[],
  status: SpecStatus,
  isApproved: boolean,
): readonly string[] {
  const spec = withStatus(withResult(texts.spec, result), status);
  if (spec === texts.spec) return [];
  context.write({ ...texts, spec: withUpdated(spec, context.today()) }, isApproved);
  return [`${specDirectory(texts.id)}/spec.md`];
}

function writeChangelog(context: SyncContext, title: string, id: string): readonly string[] {
  const text = context.changelog();
  const changed = text === null ? null : withAdded(text, title, id);
  if (changed === null) return [];
  context.writeChangelog(changed);
  return ['CHANGELOG.md'];
}
