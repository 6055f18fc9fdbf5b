// Selection of a writer's commits for the team's branch.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { oneLine, visible } from '../../base/rules/text.ts';
import { insideProject, type Ownership } from '../../guard/rules/ownership.ts';
import { changeRequest } from './calls.ts';
import { WORK_CODES } from './codes/work-codes.ts';
import { WRITES_CODES } from './codes/writes-codes.ts';
import { foreignRefusal, ruleOf } from './guard.ts';

/** A commit, as far as its judgement goes: paths from the project's root. */
export type Committed = { readonly sha: string; readonly subject: string; readonly files: readonly string[] };

export type IntegrationRules = {
  readonly ownership: readonly Ownership[];
  /** By member the paths that it has had a lease for: a commit is judged when its lease may be over. */
  readonly leases: ReadonlyMap<string, ReadonlySet<string>>;
  /** Holders of the leases of others, by path. */
  readonly taken: ReadonlyMap<string, string>;
  /** The members of the team: a change is asked of an owner only if it is there. */
  readonly members: ReadonlySet<string>;
  readonly readOnly: boolean;
};

export type RefusedCommit<C extends Committed> = {
  readonly commit: C;
  readonly path: string;
  /** Whose the path is: a member's name, `shared`; null: nobody's. */
  readonly owner: string | null;
  /** Names the commit, the path and its owner, with the call that its author may make instead. */
  readonly refusal: Refusal;
};

/** `accepted`: those before the first that is refused; those after it build upon it. */
export type Judgement<C extends Committed> = {
  readonly accepted: readonly C[];
  readonly refused: RefusedCommit<C> | null;
};

/** So many reasons are named. */
const SHOWN = 5;

/** The paths of a commit that its author may not change: what has to be undone for the rest to be taken. */
export function foreignFiles(
  commit: Pick<Committed, 'files'>,
  member: string,
  rules: IntegrationRules,
): readonly string[] {
  return commit.files.filter((path) => faultOf(path, member, rules) !== null);
}

/** Judges a member's commits, oldest first. */
export function judgeCommits<C extends Committed>(
  commits: readonly C[],
  member: string,
  rules: IntegrationRules,
): Judgement<C> {
  for (const [index, commit] of commits.entries()) {
    for (const path of commit.files) {
      const fault = faultOf(path, member, rules);
      if (fault === null) continue;
      const others = commit.files.slice(commit.files.indexOf(path) + 1);
      const further = others.flatMap((other) => faultOf(other, member, rules)?.refusal ?? []);
      const faults = [fault.refusal, ...further];
      const why = refusal(WORK_CODES.commit_not_merged, {
        ...{ commit: commit.sha.slice(0, 12), subject: oneLine(commit.subject, 80), member },
        faults: faults.slice(0, SHOWN),
        ...(faults.length > SHOWN ? { more: faults.length - SHOWN } : {}),
      });
      return { accepted: commits.slice(0, index), refused: { commit, path, owner: fault.owner, refusal: why } };
    }
  }
  return { accepted: commits, refused: null };
}

function faultOf(
  path: string,
  member: string,
  { ownership, leases, taken, members, readOnly }: IntegrationRules,
): { readonly owner: string | null; readonly refusal: Refusal } | null {
  const shown = visible(path);
  const inside = insideProject(path);
  if (inside === null) return { owner: null, refusal: refusal(WORK_CODES.path_outside_project, { path: shown }) };
  // What stands for bytes that are no text: git could not be told of that file by its name.
  if (inside.includes('\uFFFD')) return { owner: null, refusal: refusal(WORK_CODES.path_not_utf8, { path: shown }) };
  const foreign = foreignRefusal(member, inside, ownership, (owner) => members.has(owner));
  if (readOnly)
    return {
      owner: foreign === null ? member : foreign.owner,
      refusal: refusal(WRITES_CODES.member_read_only, { member, path: shown }),
    };
  const rule = ruleOf(inside);
  if (rule !== null) return { owner: null, refusal: refusal(WRITES_CODES.path_protected, { path: shown, what: rule }) };
  if (leases.get(member)?.has(inside) === true || foreign === null) return null;
  if (foreign.owner !== null) return foreign;
  const holder = taken.get(inside);
  if (holder === undefined) return null;
  const call = changeRequest(holder, inside);
  return { owner: holder, refusal: refusal(WRITES_CODES.lease_held, { path: shown, holder, call }) };
}
