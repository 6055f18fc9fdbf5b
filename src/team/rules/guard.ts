// Decisions about writes while a team is active.

import { messageIn, type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { visible } from '../../base/rules/text.ts';
import { type Checkout, type GitRow, gitRows, OBVIOUS_ROWS } from '../../guard/rules/git-calls.ts';
import { GUARD_CODES } from '../../guard/rules/guard-codes.ts';
import type { Lease } from '../../guard/rules/lease.ts';
import { nearPatterns } from '../../guard/rules/near-patterns.ts';
import { insideProject, isBelow, type Ownership, ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import type { Target, Writes } from '../../guard/rules/writes.ts';
import type { Caller } from './caller.ts';
import { changeRequest, leaseCall, quotedPath, startWords } from './calls.ts';
import { WRITES_CODES } from './codes/writes-codes.ts';
import type { TeamState } from './log/state.ts';
import { LEAD } from './message.ts';
import type { TeamSettings } from './settings.ts';

export type Ruling = {
  /** `ask`: only a person can tell. */
  readonly decision: 'allow' | 'deny' | 'ask';
  readonly reason: string;
  /** Why it is not simply allowed; null: it is. `reason` is its text. */
  readonly refusal: Refusal | null;
  /** What was allowed, from the project's root. */
  readonly paths: readonly string[];
};

export type WriteContext = {
  /** Whether somebody sits in front of the screen. */
  readonly attended: boolean;
  readonly now: number;
  /** Absolute directories for files that nobody keeps. */
  readonly temporary: readonly string[];
  /** What the host itself goes by, wherever that lies. */
  readonly hosts: readonly string[];
  /** In a worktree, the checkout that it belongs to: with all below it, the work of others; null: in that checkout itself. */
  readonly checkout: string | null;
  /** Paths of the project below a directory, for a write of all of it. */
  readonly below: (directory: string) => readonly string[];
  /** Paths of targets in directories that Git ignores: what is installed or built there is no part of the work. */
  readonly outputs: ReadonlySet<string>;
};

/** What holds the rules themselves: nobody's while a team stands. */
const RULES = ['.claude', '.tool', '.git', '.mcp.json'] as const;
const SPECS = '.tool/specs';

/** What of the team's rules a path of the project belongs to; null: nothing. */
export function ruleOf(path: string): string | null {
  return RULES.find((one) => isBelow(path, one)) ?? null;
}

/** Null: the write is fine. */
type Judged = Refusal | null;

/** A lease for the path would do. */
function isLeasable({ of }: Refusal): boolean {
  return of === WRITES_CODES.path_needs_lease;
}

/** It is nobody's to change, whoever is asked. */
function isOfRule({ of }: Refusal): boolean {
  return of === WRITES_CODES.path_protected;
}

/** Outside of the project the user's own permissions decide. */
function judgeOutside({ path, tree }: Target, { hosts, checkout }: WriteContext): Judged {
  const own = hosts.find((one) => isBelow(path, one) || (tree && isBelow(one, path)));
  if (own !== undefined) return refusal(WRITES_CODES.host_file_protected, { path: visible(own) });
  if (checkout !== null && isBelow(path, checkout))
    return refusal(WRITES_CODES.path_in_main_checkout, { path: visible(path) });
  return path === '.' ? refusal(WRITES_CODES.write_too_broad, { directory: 'the project' }) : null;
}

function leaseRefusal(path: string, { member, until, reason }: Lease): Judged {
  return refusal(WRITES_CODES.lease_held, {
    ...{ path, holder: member, until, call: changeRequest(member, path) },
    ...(reason === '' ? {} : { reason }),
  });
}

function judgeMember(
  path: string,
  { directory }: Target,
  caller: Caller & { kind: 'member' },
  state: TeamState,
  settings: TeamSettings,
  { now, outputs }: WriteContext,
): Judged {
  const { name } = caller;
  const lease = state.leases.get(path);
  const held = lease !== undefined && lease.until > now ? lease : undefined;
  if (held?.member === name) return null;
  if (held !== undefined) return leaseRefusal(path, held);
  const foreign = foreignRefusal(name, path, settings.ownership, (owner) => state.members.has(owner));
  if (foreign === null) return null;
  if (foreign.owner === null && outputs.has(path)) {
    // What lies in it was not judged by itself.
    const below = [...state.leases].find(
      ([file, { member, until }]) => file.startsWith(`${path}/`) && member !== name && until > now,
    );
    return below === undefined ? null : leaseRefusal(...below);
  }
  if (foreign.owner !== null && foreign.owner !== SHARED) return foreign.refusal;
  if (isFirstWriters(path, directory ?? null, settings)) return null;
  if (directory === 'made' && leadsToOwn(path, name, state, settings, now)) return null;
  if (directory !== 'there') return foreign.refusal;
  const kind = foreign.owner === null ? 'an unowned' : 'a shared';
  return refusal(WRITES_CODES.directory_not_leasable, { path: visible(path), kind, call: changeRequest(LEAD, path) });
}

/** Whether the first writer of a path gets a lease of it: a file, or a file to be, that nobody owns. */
export function isFirstWriters(path: string, directory: Target['directory'], { ownership }: TeamSettings): boolean {
  return directory !== 'there' && ownerOf(path, nearPatterns(path, ownership)).owner === null;
}

/** Whether something that the member may write lies below a directory. */
function leadsToOwn(path: string, name: string, state: TeamState, { ownership }: TeamSettings, now: number): boolean {
  const own = ownership.find(({ owner }) => owner === name)?.patterns ?? [];
  const leased = [...state.leases].flatMap(([file, { member, until }]) => (member === name && until > now ? file : []));
  return [...own, ...leased].some((one) => one.startsWith(`${path}/`));
}

/** A path that another member owns. @param isMember whether the owner is in the team and can be asked */
export function ownedByOther(path: string, owner: string, pattern: string | null, isMember: boolean): Refusal {
  return refusal(WRITES_CODES.path_owned_by_other, {
    ...{ path: visible(path), owner },
    ...(pattern === null ? {} : { pattern }),
    whom: isMember ? 'its owner' : 'the lead (the owner is not in this team)',
    call: changeRequest(isMember ? owner : LEAD, path),
  });
}

/** Whose a path is that a member may not change without a lease, and what to do instead; null when it is its own. */
export function foreignRefusal(
  name: string,
  path: string,
  ownership: readonly Ownership[],
  isMember: (owner: string) => boolean,
): { readonly owner: string | null; readonly refusal: Refusal } | null {
  const { owner, pattern } = ownerOf(path, nearPatterns(path, ownership));
  if (owner === name) return null;
  if (owner === null || owner === SHARED)
    return {
      owner,
      refusal: refusal(WRITES_CODES.path_needs_lease, {
        ...{ path: visible(path), owner: owner === null ? 'unowned' : 'shared', call: leaseCall(path) },
        ...(owner === null || pattern === null ? {} : { pattern }),
      }),
    };
  return { owner, refusal: ownedByOther(path, owner, pattern, isMember(owner)) };
}

function judgeOne(
  target: Target,
  caller: Caller,
  state: TeamState,
  settings: TeamSettings,
  context: WriteContext,
  why: string | null = null,
): Judged {
  const { path } = target;
  const about = why === null ? {} : { why };
  if (caller.kind === 'outsider' && caller.replaced !== undefined)
    return refusal(WRITES_CODES.member_replaced, { member: caller.replaced, ...about });
  if (caller.kind === 'outsider' || caller.kind === 'unknown') {
    const who = caller.kind === 'outsider' ? caller.who : `an unknown caller (${caller.why})`;
    return refusal(WRITES_CODES.writer_not_member, { team: state.team, who: visible(who), ...about });
  }
  if (caller.kind === 'member' && caller.member.readOnly) {
    const isKept = context.temporary.some((directory) => isBelow(path, directory));
    const advice = 'Do not keep the output of a command in a file: pipe it to tail or grep instead.';
    return refusal(WRITES_CODES.member_read_only, { member: caller.name, ...(isKept ? { advice } : {}), ...about });
  }
  const inside = path.startsWith('/') ? null : insideProject(path);
  if (inside === null) return judgeOutside(target, context);
  if (caller.kind === 'lead' && isBelow(inside, SPECS)) return null;
  const rule = ruleOf(inside);
  if (rule !== null) return refusal(WRITES_CODES.path_protected, { path: inside, what: rule, team: state.team });
  if (caller.kind === 'member') return judgeMember(inside, target, caller, state, settings, context);
  if (!settings.delegateMode) return null;
  const { owner } = ownerOf(inside, nearPatterns(inside, settings.ownership));
  const whom = owner !== null && owner !== SHARED ? owner : null;
  return refusal(WRITES_CODES.lead_delegates, {
    ...{ path: inside, whom: whom ?? 'a teammate' },
    ...(whom === null ? {} : { owner: whom }),
    ...(whom === null || state.members.has(whom) ? {} : { start: startWords([whom], state.team) }),
    call: `TaskCreate {"subject":${quotedPath(`Change ${inside}`)},"description":"…"${whom === null ? '' : `,"owner":"${whom}"`},"files":[${quotedPath(inside)}]}`,
  });
}

/** Said to a member of what lies in a directory that is written as a whole. */
function asPart(directory: string, path: string, of: Refusal): Refusal {
  const whole = directory === '.' ? 'the project' : visible(directory);
  // Who owns a file is asked for that one alone.
  const isRulesAlone = ruleOf(directory) !== null;
  return refusal(WRITES_CODES.write_too_broad, {
    ...{ directory: whole, path },
    why: isLeasable(of) ? `${visible(path)}, for example, is not yours.` : textOf(of),
    ...(isLeasable(of) || (isOfRule(of) && !isRulesAlone)
      ? { ask: `For a change in all of ${whole}, ask the lead: ${changeRequest(LEAD, directory)}` }
      : {}),
  });
}

/** The refusal that counts of what a target comes to: one that names whom to ask before one that names nobody. */
function firstRefusal(
  judged: readonly Target[],
  judge: (one: Target) => Judged,
): { readonly one: Target; readonly refusal: Refusal } | null {
  let first: { readonly one: Target; readonly refusal: Refusal } | null = null;
  for (const one of judged) {
    const verdict = judge(one);
    if (verdict === null) continue;
    if (!isOfRule(verdict)) return { one, refusal: verdict };
    first ??= { one, refusal: verdict };
  }
  return first;
}

/** Judges all that a call would write, for a caller of a team that stands. The first refusal counts. */
export function judgeWrites(
  writes: Writes,
  caller: Caller,
  state: TeamState,
  settings: TeamSettings,
  context: WriteContext,
): Ruling {
  const paths: string[] = [];
  for (const target of writes.targets) {
    const { path, tree } = target;
    // Of a directory that is written as a whole, what lies in it counts; an empty one counts itself.
    const below = tree && !context.outputs.has(path) ? context.below(path) : [];
    const judged = below.length === 0 ? [target] : below.map((one) => ({ path: one, tree: false }));
    const refused = firstRefusal(judged, (one) => judgeOne(one, caller, state, settings, context));
    if (refused !== null) {
      const { one, refusal: why } = refused;
      const isPart = one !== target && caller.kind === 'member' && !caller.member.readOnly;
      return denied(isPart ? asPart(path, one.path, why) : why);
    }
    for (const one of judged) paths.push(one.path);
  }
  const [first] = writes.unresolved;
  if (first === undefined && writes.git === null) return { decision: 'allow', reason: '', refusal: null, paths };
  if (mayWriteNothing(caller)) {
    const why = writes.git === null ? `It is not known which files this writes: ${first}` : writes.git;
    const verdict = judgeOne({ path: '.', tree: true }, caller, state, settings, context, why);
    if (verdict !== null) return denied(verdict);
  }
  if (writes.git !== null) return denied(refusal(WRITES_CODES.git_refused, { said: writes.git }));
  const unknown = refusal(GUARD_CODES.write_targets_unknown, { why: writes.unresolved });
  return context.attended ? { decision: 'ask', reason: messageIn(unknown), refusal: unknown, paths } : denied(unknown);
}

function denied(why: Refusal): Ruling {
  return { decision: 'deny', reason: textOf(why), refusal: why, paths: [] };
}

function mayWriteNothing(caller: Caller): boolean {
  return (
    caller.kind === 'outsider' || caller.kind === 'unknown' || (caller.kind === 'member' && caller.member.readOnly)
  );
}

/** What is refused to a caller of the calls of git. */
export function gitRowsFor(
  caller: Caller,
  { ownership }: TeamSettings,
  checkout: Checkout,
  allowed: readonly string[] = [],
): readonly GitRow[] {
  if (caller.kind === 'member' && caller.member.readOnly) return OBVIOUS_ROWS;
  const patterns =
    caller.kind === 'member' ? ownership.find(({ owner }) => owner === caller.name)?.patterns : undefined;
  // `src/api/**` is `src/api`; a pattern of names is no path.
  const [own = 'FILE'] = (patterns ?? []).flatMap((one) => /^([^*?[{(]+)\/\*\*$/.exec(one)?.[1] ?? []);
  return gitRows(checkout, own, allowed);
}
