// The files of a task: the owner's own, shared ones, ones without an owner, ones of an absent role.

import { ownerOf } from './ownership.ts';
import type { PathIndex } from './path-index.ts';
import type { Requirement } from './requirement.ts';
import { onlyReads } from './role.ts';
import { roleOfArea, suggestOwnership } from './suggest-ownership.ts';
import { type DecompositionInput, listed } from './task-draft.ts';

/** A line of what is asked for with where it leads. */
export type Line = Requirement & { readonly files: readonly string[]; readonly roles: ReadonlySet<string> };

/** What the tasks of a team are made from. */
export type Work = {
  readonly input: DecompositionInput;
  readonly roles: readonly string[];
  readonly lines: readonly Line[];
  readonly title: string;
  readonly index: PathIndex;
};

// Of the roles that come with the program, those that build nothing themselves.
export const TESTER = 'tester';
export const QUALITY = 'quality';
export const DESIGNER = 'designer';
export const FRONTEND = 'frontend-dev';
export const BACKEND = 'backend-dev';

export function isBuilder(role: string): boolean {
  return role !== TESTER && role !== DESIGNER && !onlyReads(role);
}

export type Files = {
  readonly own: readonly string[];
  /** Shared: a lease first. */
  readonly leased: readonly string[];
  /** Without an owner: the first write takes a lease. */
  readonly free: readonly string[];
  /** Of a role that is not in this team. */
  readonly absent: readonly { readonly file: string; readonly owner: string }[];
};

export const NOTHING: Files = { own: [], leased: [], free: [], absent: [] };

export function filesFor(role: string, lines: readonly Line[], work: Work, more: readonly string[] = []): Files {
  const areas = new Map(work.index.entries.map((entry) => [entry.path, entry.area]));
  const all = [...new Set([...lines.flatMap((line) => line.files), ...more])].sort();
  const owned = all.map((file) => ({ file, owner: ownerOf(file, work.input.ownership).owner }));
  const isMine = (file: string) => {
    const area = areas.get(file);
    const suited = area === undefined ? null : roleOfArea(area);
    return suited === role || (role !== TESTER && isBuilder(role) && (suited === null || !work.roles.includes(suited)));
  };
  return {
    own: owned.filter((one) => one.owner === role).map((one) => one.file),
    leased: owned.filter((one) => one.owner === 'shared' && isMine(one.file)).map((one) => one.file),
    free: owned.filter((one) => one.owner === null && isMine(one.file)).map((one) => one.file),
    absent: owned.flatMap(({ file, owner }) =>
      owner !== null && owner !== 'shared' && !work.roles.includes(owner) && isMine(file) ? [{ file, owner }] : [],
    ),
  };
}

/** The files that nobody owns, and who could. */
export function unownedNotes({ selection, ownership, files }: DecompositionInput): readonly string[] {
  const unowned = selection.files.filter((file) => ownerOf(file, ownership).owner === null);
  if (unowned.length === 0) return [];
  const suggested = suggestOwnership(files).flatMap(({ owner, patterns }) => {
    const useful = patterns.filter((pattern) =>
      unowned.some((file) => ownerOf(file, [{ owner, patterns: [pattern] }]).owner !== null),
    );
    return useful.length === 0 ? [] : [`${owner}: ${listed(useful)}`];
  });
  return [
    `nobody owns ${listed(unowned)}: the first teammate that writes one holds it until its task ends`,
    ...(suggested.length === 0 ? [] : [`workflow.team.file_ownership could have ${suggested.join('; ')}`]),
  ];
}
