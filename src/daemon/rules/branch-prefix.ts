// `workspace.branch_prefix`: what the branches of issues begin with, and which branches make them impossible.

export const DEFAULT_PREFIX = 'tool/';

/** A prefix this long leaves room for the number in every service's limit of 255 bytes. */
const MAX_LENGTH = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids these
const FORBIDDEN = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\//;

/** Whether `<prefix>issue-<n>` is a name that `git check-ref-format --branch` accepts. */
export function isBranchPrefix(prefix: string): boolean {
  if (prefix.length > MAX_LENGTH || FORBIDDEN.test(prefix) || prefix.startsWith('/') || prefix.startsWith('-'))
    return false;
  return `${prefix}issue-1`.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}

/** Branches that git cannot have beside those of issues: each is a directory of theirs. `a/b/` → `a`, `a/b`. */
export function branchesInTheWay(prefix: string): string[] {
  const directories = prefix.split('/').slice(0, -1);
  return directories.map((_, index) => directories.slice(0, index + 1).join('/'));
}

/** The branch that git names when it cannot make one beside it; undefined for every other refusal of a push. */
export function branchInTheWay(branch: string, words: string): string | undefined {
  const named = /'refs\/heads\/([^']+)' exists; cannot create/.exec(words)?.[1];
  const isInTheWay = named !== undefined && (branch.startsWith(`${named}/`) || named.startsWith(`${branch}/`));
  return isInTheWay ? named : undefined;
}
