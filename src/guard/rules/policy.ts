// The policy of the write guard: the rules for one caller, as lines of words and values between tabs (see native/write-guard.c).

import { expandBraces } from './braces.ts';
import type { GitRow } from './git-calls.ts';
import { type Ownership, patternsByPrecedence } from './ownership.ts';

export type Policy = {
  /** Absolute, as all directories here. */
  readonly root: string;
  /** null: the caller writes nothing in the project. */
  readonly member: string | null;
  readonly ownership: readonly Ownership[];
  /** One file per lease; null: nobody can hold one. */
  readonly leases: string | null;
  /** Whether the first write takes a lease of a path that nobody owns. */
  readonly claims: boolean;
  /** Paths of the project that are always writable; they outrank those that never are. */
  readonly allow: readonly string[];
  readonly keep: readonly string[];
  /** Directories and files outside of the project that are never writable. */
  readonly elsewhere: readonly { readonly owner: string; readonly path: string }[];
  readonly gitDirectories: readonly string[];
  /** Worktrees of the caller's own, where git itself may write every file. */
  readonly gitTrees: readonly string[];
  readonly gitPrograms: readonly string[];
  /** Of tracked files: what follows the last dot, or the whole name. */
  readonly endings: readonly string[];
  readonly git: readonly GitRow[];
};

/** A policy without rules of its own. */
export const BARE_POLICY: Omit<Policy, 'root' | 'member' | 'ownership'> = {
  leases: null,
  claims: false,
  allow: [],
  keep: [],
  elsewhere: [],
  gitDirectories: [],
  gitTrees: [],
  gitPrograms: [],
  endings: [],
  git: [],
};

/** Paths that no member of a team can change. */
export const PROTECTED_PATHS = ['.claude', '.tool', '.mcp.json'] as const;

/** @throws {RangeError} a value that cannot stand in a line */
export function policyText(policy: Policy): string {
  const { member, leases, claims } = policy;
  const own = patternsByPrecedence(policy.ownership).flatMap(({ owner, pattern }) =>
    simpleGlobs(pattern).map((one) => ['own', owner, one]),
  );
  const lines: readonly (readonly string[])[] = [
    ['root', policy.root],
    ...(member === null ? [] : [['member', member]]),
    ...(member === null ? [] : own),
    ...(leases === null ? [] : [['leases', leases]]),
    ...(claims ? [['claim', 'yes']] : []),
    ...policy.allow.map((path) => ['allow', path]),
    ...policy.keep.map((path) => ['keep', path]),
    ...policy.elsewhere.map(({ owner, path }) => ['elsewhere', owner, path]),
    ...policy.gitDirectories.map((path) => ['git-dir', path]),
    ...policy.gitTrees.map((path) => ['git-tree', path]),
    ...policy.gitPrograms.map((path) => ['git-program', path]),
    ...policy.endings.map((ending) => ['ending', ending]),
    ...policy.git.map(({ call, refusal }) => ['git', call, refusal]),
  ];
  return lines.map((fields) => `${policyLine(fields)}\n`).join('');
}

/** The globs of the guard that one of the settings stands for: without alternatives, and `[!a]` is a set of two there. */
export function simpleGlobs(pattern: string): readonly string[] {
  return expandBraces(pattern).map((one) => one.replaceAll('[!', '[\\!'));
}

/** @throws {RangeError} a field that cannot stand in a line */
export function policyLine(fields: readonly string[]): string {
  const bad = fields.find((field) => /[\t\n\0]/.test(field));
  if (bad !== undefined)
    throw new RangeError(`${JSON.stringify(bad)} cannot stand in a policy: it has a tab or a line break`);
  return fields.join('\t');
}

/** The endings of names, as a policy lists them. */
export function endingsOf(paths: Iterable<string>): readonly string[] {
  const endings = new Set<string>();
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const dot = name.lastIndexOf('.');
    endings.add(dot <= 0 ? name : name.slice(dot + 1));
  }
  return [...endings].sort();
}

export type CallerRules = Pick<Policy, 'member' | 'ownership' | 'claims' | 'allow' | 'keep' | 'git'> & {
  /** Whether git may write the repository itself: its index, branches and history. */
  readonly writesHistory: boolean;
};
