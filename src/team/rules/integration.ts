// Selection of a writer's commits for the team's branch.

import { oneLine, visible } from '../../base/rules/text.ts';
import { insideProject, type Ownership } from '../../guard/rules/ownership.ts';
import { foreignTo, ruleOf } from './guard.ts';

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
  readonly words: string;
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
      const further = others.flatMap((other) => faultOf(other, member, rules)?.words ?? []);
      const all = [fault.words, ...further].slice(0, SHOWN).join('\n');
      const rest = further.length + 1 > SHOWN ? `\nand ${further.length + 1 - SHOWN} more of its files` : '';
      const words = `commit ${commit.sha.slice(0, 12)} "${oneLine(commit.subject, 80)}" of ${member} is not merged: ${all}${rest}`;
      return { accepted: commits.slice(0, index), refused: { commit, path, owner: fault.owner, words } };
    }
  }
  return { accepted: commits, refused: null };
}

function faultOf(
  path: string,
  member: string,
  { ownership, leases, taken, members, readOnly }: IntegrationRules,
): { readonly owner: string | null; readonly words: string } | null {
  const shown = visible(path);
  const inside = insideProject(path);
  if (inside === null) return { owner: null, words: `${shown} lies outside of the project` };
  // What stands for bytes that are no text: git could not be told of that file by its name.
  if (inside.includes('\uFFFD'))
    return { owner: null, words: `the name of ${shown} is not UTF-8: give the file another name` };
  const foreign = foreignTo(member, inside, ownership, (owner) => members.has(owner));
  if (readOnly)
    return {
      owner: foreign === null ? member : foreign.owner,
      words: `${member} is read-only, and this changes ${shown}. Report your findings with SendMessage or as the result of your task`,
    };
  const rule = ruleOf(inside);
  if (rule !== null) return { owner: null, words: `${shown} holds rules of the team (${rule}): nobody may change it` };
  if (leases.get(member)?.has(inside) === true || foreign === null) return null;
  if (foreign.owner !== null) return foreign;
  const holder = taken.get(inside);
  return holder === undefined ? null : { owner: holder, words: `${shown} is leased to ${holder}` };
}
