// The policy of the write guard as a profile of Seatbelt, the sandbox of macOS. The last rule that matches a write decides.

import { escapeRegExp } from '../../base/rules/text.ts';
import { isBelow, patternsByPrecedence, SHARED } from './ownership.ts';
import { type Policy, policyLine, simpleGlobs } from './policy.ts';

/** What the kernel guard looks up at each write, and a profile states in advance. */
export type SeatbeltInput = {
  /** Of paths from the project's root. */
  readonly leases: readonly { readonly member: string; readonly path: string }[];
  /** Directories from the project's root that git ignores. */
  readonly ignored: readonly string[];
};

/** Before a row of the table of git's calls: a comment of the profile, which our git reads. */
export const GIT_ROW_PREFIX = ';git';

/** Seatbelt asks the rules of the finer operations first, so each rule names them. */
const WRITES = 'file-write* file-write-create file-write-unlink';

/**
 * From the least to the most specific rule, in the order in which native/write-guard.c decides. Paths have no links in them.
 * @throws {RangeError} a value that cannot stand in a profile
 */
export function seatbeltProfile(policy: Policy, { leases, ignored }: SeatbeltInput): string {
  const { root, member } = policy;
  const inside = (path: string): string => `${root}/${path}`;
  const above = policy.elsewhere.filter(({ path }) => isBelow(root, path));
  const beside = policy.elsewhere.filter(({ path }) => !isBelow(root, path));
  const outputs = ignored.map((path) => subpath(inside(path)));
  const globs = member === null ? [] : globsOf(policy);
  const owned = globs.toReversed().flatMap(({ owner, glob, expression }) => {
    const filter = `(regex ${quoted(expression)})`;
    if (owner === member) return [allow(filter)];
    const isExempt = outputs.length > 0 && !isLiteral(owner, glob);
    return [deny(filter), ...(isExempt ? [allow(`(require-all ${filter} (require-any ${outputs.join(' ')}))`)] : [])];
  });
  const held = leases.flatMap(({ member: holder, path }) => {
    const rule = globs.find(({ expression }) => new RegExp(expression, 's').test(inside(path)));
    const isOutput = ignored.some((directory) => isBelow(path, directory));
    if (rule?.owner === member || (isOutput && (rule === undefined || !isLiteral(rule.owner, rule.glob)))) return [];
    return [(holder === member ? allow : deny)(`(literal ${quoted(inside(path))})`)];
  });
  const parents = new Set(globs.flatMap(({ owner, glob }) => (owner === member ? [] : parentsOf(glob))));
  const rules = [
    '(version 1)',
    '(allow default)',
    ...above.map(({ path }) => deny(subpath(path))),
    (member !== null && policy.claims ? allow : deny)(subpath(root)),
    ...outputs.map(allow),
    ...owned,
    ...held,
    // A directory that is moved takes the files in it along.
    ...[...parents].map((path) => `(deny file-write-unlink (literal ${quoted(`${root}${path}`)}))`),
    `(allow file-write-create (require-all ${subpath(root)} (vnode-type DIRECTORY)))`,
    // Seatbelt cannot tell git, which may write every file there, from other programs.
    ...policy.gitTrees.map((path) => allow(subpath(path))),
    ...policy.keep.map((path) => deny(subpath(inside(path)))),
    ...policy.allow.map((path) => allow(subpath(inside(path)))),
    ...beside.map(({ path }) => deny(subpath(path))),
    ...policy.gitDirectories.map((path) => allow(subpath(path))),
    ...policy.gitDirectories.map((path) => deny(subpath(path.endsWith('/hooks') ? path : `${path}/hooks`))),
    ...policy.git.map(({ call, refusal }) => policyLine([GIT_ROW_PREFIX, call, refusal])),
  ];
  return `${rules.join('\n')}\n`;
}

function allow(filter: string): string {
  return `(allow ${WRITES} ${filter})`;
}

function deny(filter: string): string {
  return `(deny ${WRITES} ${filter})`;
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function quoted(text: string): string {
  return `"${policyLine([text]).replace(/["\\]/g, '\\$&')}"`;
}

type Glob = { readonly owner: string; readonly glob: string; readonly expression: string };

/** The first one that matches a path decides. */
function globsOf({ root, ownership }: Policy): readonly Glob[] {
  return patternsByPrecedence(ownership).flatMap(({ owner, pattern }) =>
    simpleGlobs(pattern).map((glob) => ({ owner, glob, expression: `^${escapeRegExp(root)}/${expressionOf(glob)}$` })),
  );
}

/** Whether the glob also means what git ignores: `**` and a name does not mean files in node_modules. */
function isLiteral(owner: string, glob: string): boolean {
  return owner !== SHARED && /^[^*?[]/.test(glob);
}

/** The directories that a glob names, from the project's root down, each behind a slash; '': the root. */
function parentsOf(glob: string): readonly string[] {
  const parts = glob.split('/');
  const wild = parts.findIndex((part) => /[*?[\\]/.test(part));
  const literal = parts.slice(0, wild < 0 ? -1 : wild);
  return ['', ...literal.map((_, at) => `/${literal.slice(0, at + 1).join('/')}`)];
}

/** A glob as an extended regular expression of POSIX, which JavaScript reads alike. */
function expressionOf(glob: string): string {
  const parts = glob.split('/').filter((part, at, all) => part !== '**' || all[at - 1] !== '**');
  const last = parts.length - 1;
  const one = (part: string, at: number): string => {
    if (part === '**') return at < last ? '(.*/)?' : at === 0 ? '.*' : '(/.*)?';
    return `${segmentOf(part)}${at === last || (at === last - 1 && parts[last] === '**') ? '' : '/'}`;
  };
  return parts.map(one).join('');
}

/** A part between slashes. */
function segmentOf(part: string): string {
  const token = /\\(.)|\[(\^?)((?:\\.|[^\]])+)\]|./gsu;
  return part.replace(token, (text, plain?: string, not?: string, set?: string) => {
    if (plain !== undefined) return escapeRegExp(plain);
    if (set !== undefined) return setOf(set, not === '^');
    return text === '*' ? '[^/]*' : text === '?' ? '[^/]' : escapeRegExp(text);
  });
}

/** A set of characters, without those that POSIX and JavaScript do not read alike in a set. */
function setOf(set: string, isNegated: boolean): string {
  const apart = new Set<string>();
  const plain = set.replace(/\\(.)|\^|^-|-$/gs, (text: string, char: string = text) => {
    if (!'^-]\\'.includes(char)) return char;
    apart.add(char);
    return '';
  });
  if (!isNegated) return `(${[...(plain === '' ? [] : [`[${plain}]`]), ...[...apart].map(escapeRegExp)].join('|')})`;
  if (apart.has(']') || apart.has('\\')) throw new RangeError(`[^${set}] cannot stand in a profile`);
  return `[^/${plain}${apart.has('^') ? '^' : ''}${apart.has('-') ? '-' : ''}]`;
}
