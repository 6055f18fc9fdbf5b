// Decisions about writes while a team is active.

import { visible } from '../../base/rules/text.ts';
import { type Checkout, type GitRow, gitRows, READER_ROWS } from '../../guard/rules/git-calls.ts';
import type { Lease } from '../../guard/rules/lease.ts';
import { nearPatterns } from '../../guard/rules/near-patterns.ts';
import { insideProject, type Ownership, ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import type { Target, Writes } from '../../guard/rules/writes.ts';
import type { Caller } from './caller.ts';
import { startWords } from './calls.ts';
import type { TeamState } from './log/state.ts';
import { LEAD } from './message.ts';
import type { TeamSettings } from './settings.ts';

export type Ruling = {
  /** `ask`: only a person can tell. */
  readonly decision: 'allow' | 'deny' | 'ask';
  readonly reason: string;
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

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** What of the team's rules a path of the project belongs to; null: nothing. */
export function ruleOf(path: string): string | null {
  return RULES.find((one) => isBelow(path, one)) ?? null;
}

function quoted(path: string): string {
  return JSON.stringify(visible(path));
}

/** What the caller may say instead: ready to be sent. */
function changeRequest(owner: string, path: string): string {
  return `SendMessage {"recipient":"${owner}","type":"change_request","content":{"file":${quoted(path)},"requestedChange":"…","reason":"…"}}`;
}

/** `isLeasable`: a lease for the path would do; `isRule`: it is nobody's to change, whoever is asked. */
type Refusal = {
  readonly ok: false;
  readonly reason: string;
  readonly isLeasable?: boolean;
  readonly isRule?: boolean;
};
type Judged = { readonly ok: true } | Refusal;

const FINE: Judged = { ok: true };

function refuse(reason: string, isLeasable = false): Refusal {
  return { ok: false, reason, isLeasable };
}

/** Said to who only reads. */
function onlyReads(name: string): string {
  return `${name} is read-only: it writes nothing. Report your findings with SendMessage or as the result of your task`;
}

/** Outside of the project the user's own permissions decide. */
function judgeOutside({ path, tree }: Target, { hosts, checkout }: WriteContext): Judged {
  const own = hosts.find((one) => isBelow(path, one) || (tree && isBelow(one, path)));
  if (own !== undefined)
    return refuse(
      `${visible(own)} holds the host's settings and hooks: no member may change it while the team is active`,
    );
  if (checkout !== null && isBelow(path, checkout))
    return refuse(
      `${visible(path)} lies outside of your worktree, in the team's main checkout. Write in your own working directory only; the lead merges finished work`,
    );
  return path === '.' ? refuse('this writes the whole project. Name only your own files') : FINE;
}

function leaseRefusal(path: string, { member, until, reason }: Lease): Judged {
  const why = reason === '' ? '' : ` (${reason})`;
  return refuse(
    `${path} is leased to ${member} until ${new Date(until).toISOString()}${why}. Wait for it, or ask: ${changeRequest(member, path)}`,
  );
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
  if (held?.member === name) return FINE;
  if (held !== undefined) return leaseRefusal(path, held);
  const foreign = foreignTo(name, path, settings.ownership, (owner) => state.members.has(owner));
  if (foreign === null) return FINE;
  if (foreign.owner === null && outputs.has(path)) {
    // What lies in it was not judged by itself.
    const below = [...state.leases].find(
      ([file, { member, until }]) => file.startsWith(`${path}/`) && member !== name && until > now,
    );
    return below === undefined ? FINE : leaseRefusal(...below);
  }
  if (foreign.owner !== null && foreign.owner !== SHARED) return refuse(foreign.words);
  if (isFirstWriters(path, directory ?? null, settings)) return FINE;
  if (directory === 'made' && leadsToOwn(path, name, state, settings, now)) return FINE;
  return directory === 'there'
    ? refuse(
        `${visible(path)} is ${foreign.owner === null ? 'an unowned' : 'a shared'} directory, and leases are for files. Name the files, or ask the lead: ${changeRequest(LEAD, path)}`,
      )
    : refuse(foreign.words, true);
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

/** Whose a path is that a member may not change without a lease, and what to do instead; null when it is its own. */
export function foreignTo(
  name: string,
  path: string,
  ownership: readonly Ownership[],
  isMember: (owner: string) => boolean,
): { readonly owner: string | null; readonly words: string } | null {
  const { owner, pattern } = ownerOf(path, nearPatterns(path, ownership));
  if (owner === name) return null;
  if (owner === null || owner === SHARED)
    return {
      owner,
      words: `${visible(path)} is ${owner === null ? 'unowned' : `shared (${pattern})`}. Take a lease for it first: FileLease {"path":${quoted(path)}}`,
    };
  const isThere = isMember(owner);
  return {
    owner,
    words: `${visible(path)} is ${owner}'s (${pattern}). Ask ${isThere ? 'its owner' : 'the lead (the owner is not in this team)'}: ${changeRequest(isThere ? owner : LEAD, path)}`,
  };
}

/** To a run whose place another has taken. */
export function replacedWords(name: string): string {
  return `you were replaced by a newer ${name}. Write nothing more, and end your turn`;
}

function judgeOne(
  target: Target,
  caller: Caller,
  state: TeamState,
  settings: TeamSettings,
  context: WriteContext,
): Judged {
  const { path } = target;
  if (caller.kind === 'outsider' && caller.replaced !== undefined) return refuse(replacedWords(caller.replaced));
  if (caller.kind === 'outsider' || caller.kind === 'unknown') {
    const who = caller.kind === 'outsider' ? caller.who : `an unknown caller (${caller.why})`;
    return refuse(
      `team ${state.team} is active, and ${visible(who)} is not a member: only its teammates may write in the project. /tool:team-restart ${state.team} takes the team over; \`tool team delete ${state.team}\` ends it`,
    );
  }
  if (caller.kind === 'member' && caller.member.readOnly) {
    const isKept = context.temporary.some((directory) => isBelow(path, directory));
    const instead = isKept ? '. Do not keep the output of a command in a file: pipe it to tail or grep instead' : '';
    return refuse(`${onlyReads(caller.name)}${instead}`);
  }
  const inside = path.startsWith('/') ? null : insideProject(path);
  if (inside === null) return judgeOutside(target, context);
  if (caller.kind === 'lead' && isBelow(inside, SPECS)) return FINE;
  const rule = ruleOf(inside);
  if (rule !== null) {
    const reason = `${inside} holds rules of the team (${rule}): nobody may change it while team ${state.team} is active`;
    return { ok: false, reason, isRule: true };
  }
  if (caller.kind === 'member') return judgeMember(inside, target, caller, state, settings, context);
  if (!settings.delegateMode) return FINE;
  const { owner } = ownerOf(inside, nearPatterns(inside, settings.ownership));
  const whom = owner !== null && owner !== SHARED ? owner : null;
  const start =
    whom === null || state.members.has(whom)
      ? ''
      : ` (${whom} is not in this team yet: first start ${startWords([whom], state.team)})`;
  return refuse(
    `the lead delegates (delegate_mode) and writes only ${SPECS}/**. Give ${inside} to ${whom ?? 'a teammate'}${start}: TaskCreate {"subject":${quoted(`Change ${inside}`)},"description":"…"${whom === null ? '' : `,"owner":"${whom}"`},"files":[${quoted(inside)}]} (with the work in place of …)`,
  );
}

/** Said to a member of what lies in a directory that is written as a whole. */
function asPart(directory: string, path: string, { reason, isLeasable, isRule }: Refusal): string {
  const whole = directory === '.' ? 'the project' : visible(directory);
  const request = `For a change in all of ${whole}, ask the lead: ${changeRequest(LEAD, directory)}`;
  const named = isLeasable === true ? `${visible(path)}, for example, is not yours` : reason;
  // Who owns a file is asked for that one alone.
  const isRulesAlone = ruleOf(directory) !== null;
  const why = isLeasable === true || (isRule === true && !isRulesAlone) ? `${named}. ${request}` : named;
  return `this writes all of ${whole}. Name only your own files. ${why}`;
}

/** The refusal that counts of what a target comes to: one that names whom to ask before one that names nobody. */
function firstRefusal(
  judged: readonly Target[],
  judge: (one: Target) => Judged,
): { readonly one: Target; readonly refusal: Refusal } | null {
  let first: { readonly one: Target; readonly refusal: Refusal } | null = null;
  for (const one of judged) {
    const verdict = judge(one);
    if (verdict.ok) continue;
    if (verdict.isRule !== true) return { one, refusal: verdict };
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
      const { one, refusal } = refused;
      const isPart = one !== target && caller.kind === 'member' && !caller.member.readOnly;
      return denied(isPart ? asPart(path, one.path, refusal) : refusal.reason);
    }
    for (const one of judged) paths.push(one.path);
  }
  const [first] = writes.unresolved;
  if (first === undefined && writes.git === null) return { decision: 'allow', reason: '', paths };
  if (mayWriteNothing(caller)) {
    const verdict = judgeOne({ path: '.', tree: true }, caller, state, settings, context);
    const why = writes.git === null ? `It is not known which files this writes: ${first}` : writes.git;
    if (!verdict.ok) return denied(`${verdict.reason}. (${why})`);
  }
  if (writes.git !== null) return denied(writes.git);
  const reason = `it is not known before it runs which files this writes: ${writes.unresolved.join('; ')}`;
  if (context.attended) return { decision: 'ask', reason, paths };
  return denied(
    `${reason}. Write files with Write or Edit, or by redirections with every path named literally (cat > <path> <<'E')`,
  );
}

function denied(reason: string): Ruling {
  return { decision: 'deny', reason, paths: [] };
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
  if (caller.kind === 'member' && caller.member.readOnly) return READER_ROWS;
  const patterns =
    caller.kind === 'member' ? ownership.find(({ owner }) => owner === caller.name)?.patterns : undefined;
  // `src/api/**` is `src/api`; a pattern of names is no path.
  const [own = 'FILE'] = (patterns ?? []).flatMap((one) => /^([^*?[{(]+)\/\*\*$/.exec(one)?.[1] ?? []);
  return gitRows(checkout, own, allowed);
}
