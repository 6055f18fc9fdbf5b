// Calls of git that touch files of everybody: one table, as regular expressions that every platform's guard can use.
// A call is its subcommand and arguments, joined by U+001F. POSIX extended syntax, which JavaScript reads alike.

import { type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { escapeRegExp } from '../../base/rules/text.ts';
import { GUARD_CODES } from './guard-codes.ts';

/** Between a call's subcommand and its arguments. */
const S = '\x1f';

/** `refusal`: what to do instead; '': the call may run. The first row that matches a call decides. */
export type GitRow = { readonly call: string; readonly refusal: string };

const END = `(${S}|$)`;
/** Any arguments before `--`. */
const BEFORE = `(${S}|${S}[^-${S}][^${S}]*|${S}-|${S}-[^-${S}][^${S}]*|${S}--[^${S}]+)*`;

/** Whether one of the words stands before `--`; a short option also in a cluster such as `-am`, unless what precedes it takes a value. */
function withAny(subcommand: string, words: readonly string[], takeValues = ''): string {
  const [first = '', ...more] = words.map((word) => {
    const short = /^-(\w)$/.exec(word)?.[1];
    return short === undefined ? `${S}${escapeRegExp(word)}${END}` : `${S}-[^-${takeValues}${S}]*${short}`;
  });
  return `^${subcommand}${BEFORE}(${[first, ...more].join('|')})`;
}

/** The whole tree, as an argument of git. */
const ALL = ['.', './', ':/', ':', '*'];
const WHOLE = `(${S}(${ALL.map(escapeRegExp).join('|')}))+$`;

/** Calls that take a worktree away, or move it. */
const WORKTREES = `^worktree${S}(move|prune|remove|repair)${END}`;

/** Where a call runs: in the checkout that all share, or in a worktree of the caller's own. */
export type Checkout = 'shared' | 'own';

/**
 * The table for one caller.
 * @param own a path of the caller's own, for the advice
 * @param allowed calls that the caller is told to make (`merge tool/shop`), as typed behind `git`
 */
export function gitRows(checkout: Checkout, own: string, allowed: readonly string[] = []): readonly GitRow[] {
  const free = (call: string): GitRow => ({ call, refusal: '' });
  const refused = (why: Refusal, ...calls: readonly string[]): readonly GitRow[] =>
    calls.map((call) => ({ call, refusal: textOf(why) }));
  const save = refusal(GUARD_CODES.git_changes_files_of_all, { own });
  const stay = refusal(GUARD_CODES.git_changes_branch, {});
  const rows = [
    ...allowed.map((call) => free(`^${call.split(' ').map(escapeRegExp).join(S)}$`)),
    free(withAny('[a-z-]+', ['-h', '--help'], 'A-Za-z')),
    ...refused(stay, `^(switch|merge|rebase)${END}`),
    ...refused(refusal(GUARD_CODES.git_changes_worktrees, {}), WORKTREES),
  ];
  if (checkout === 'own') return rows;
  return [
    ...rows,
    free(`^stash${S}(list|show|create)${END}`),
    ...refused(save, `^stash${END}`),
    free(withAny('pull', ['--dry-run'])),
    ...refused(stay, `^(pull|cherry-pick|revert|am|bisect|filter-branch|sparse-checkout)${END}`),
    ...refused(save, withAny('reset', ['--hard', '--merge', '--keep'])),
    ...refused(
      refusal(GUARD_CODES.git_restores_files_of_all, { own }),
      `^(checkout|restore)${BEFORE}(${S}--)?${WHOLE}`,
    ),
    free(`^checkout${S}.*${S}--${S}`),
    free(`^checkout${S}--${S}`),
    ...refused(refusal(GUARD_CODES.git_may_change_branch, { own }), `^checkout${END}`),
    free(withAny('clean', ['-n', '--dry-run'], 'e')),
    free(`^clean(${S}-[^${S}]*)*${S}[^-.:*${S}]`),
    ...refused(refusal(GUARD_CODES.git_removes_files_of_all, { own }), `^clean${END}`),
    free(`^add(${S}-[^${S}]*)*${S}[^-.:*${S}]`),
    free(`^add(${S}-[^${S}]*)*${S}[.]/?[^./${S}]`),
    free(withAny('add', ['-n', '--dry-run'])),
    ...refused(
      refusal(GUARD_CODES.git_adds_files_of_all, { own }),
      withAny('add', ['-A', '--all', '-u', '--update']),
      `^add${BEFORE}(${S}--)?${WHOLE}`,
    ),
    ...refused(refusal(GUARD_CODES.git_commits_files_of_all, { own }), withAny('commit', ['-a', '--all'], 'mFCctuS')),
    ...refused(save, withAny('read-tree', ['-u']), withAny('checkout-index', ['-a', '--all'])),
    free(withAny('config', ['--get', '--get-all', '--get-regexp', '--list', '-l', 'get', 'list'])),
    ...refused(
      refusal(GUARD_CODES.git_changes_settings, {}),
      `^config${BEFORE}${S}([Cc][Oo][Rr][Ee]|[Aa][Ll][Ii][Aa][Ss]|[Ii][Nn][Cc][Ll][Uu][Dd][Ee]([Ii][Ff])?)[.][^${S}]*${S}`,
      `${withAny('config', ['--unset', '--unset-all', '--remove-section', '--rename-section', 'unset', 'remove-section'])}.*([Cc][Oo][Rr][Ee]|[Aa][Ll][Ii][Aa][Ss]|[Ii][Nn][Cc][Ll][Uu][Dd][Ee])`,
    ),
  ];
}

const WRITING =
  'add|am|apply|checkout|cherry-pick|clean|commit|merge|mv|pull|push|rebase|reset|restore|revert|rm|stash|switch';

/** The table for a caller that may write nothing. */
export const OBVIOUS_ROWS: readonly GitRow[] = [
  { call: withAny('[a-z-]+', ['-h', '--help'], 'A-Za-z'), refusal: '' },
  { call: withAny('[a-z-]+', ['--dry-run']), refusal: '' },
  { call: withAny('apply', ['--check', '--stat', '--numstat', '--summary']), refusal: '' },
  { call: `^stash${S}(list|show)${END}`, refusal: '' },
  {
    call: `^(${WRITING})${END}|${WORKTREES}`,
    refusal: GUARD_CODES.git_writes_for_reader.message,
  },
];

/** What to say about a call of git, as its arguments stand behind the program's name; null: it may run. */
export function refusalOf(args: readonly string[], rows: readonly GitRow[]): string | null {
  let at = 0;
  while (at < args.length && args[at]?.startsWith('-')) at += WITH_VALUE.has(args[at] ?? '') ? 2 : 1;
  const call = args.slice(at).join(S);
  if (call === '') return null;
  const row = rows.find((one) => new RegExp(one.call).test(call));
  return row === undefined || row.refusal === '' ? null : row.refusal;
}

/** Options of git itself that take the next argument. */
export const WITH_VALUE: ReadonlySet<string> = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--config-env',
]);

/** Calls that end a step of git that is under way. */
const ENDS = ['merge', 'rebase', 'am', 'cherry-pick', 'revert'].flatMap((step) => [
  `${step} --continue`,
  `${step} --abort`,
]);

/** Calls that a teammate in a worktree of its own is told to make when its work cannot be merged. */
export function waysToMerge(team: string, member: string): readonly string[] {
  const branch = `tool/${team}`;
  return [`merge ${branch}`, `merge --no-edit ${branch}`, `checkout ${branch}--${member}`, ...ENDS, 'merge -'];
}
