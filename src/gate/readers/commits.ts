// The commits of a change: which task and which SPEC each of them says that it is for.

import { randomUUID } from 'node:crypto';
import { isOfTeam } from '../../git/worktree-git.ts';
import type { CommitFact } from '../rules/trust5-facts.ts';
import { type Range, readGit, unquotePath } from './diff.ts';

/** A line of a message as a squash leaves it: indented, or behind a mark. */
const TASK_LINE = /^[\s>*-]*Task:(.*)$/i;

type Commit = CommitFact & { readonly hash: string; readonly parents: readonly string[] };

/** All of them, merges too, the oldest first. */
async function readAll(range: Range, spec: string | null, tasks: readonly string[] | null): Promise<readonly Commit[]> {
  const mark = `commit-${randomUUID()}`;
  const format = ['', '%H', '%P', '%h', '%ce', '%s', '%(trailers:key=Task,valueonly)', '%B', ''].join('%x00');
  const text = await readGit(range, [
    'log',
    '--reverse',
    '--topo-order',
    '--no-renames',
    '--name-only',
    `--format=${mark}${format}`,
    `${range.base}..${range.head}`,
    '--',
  ]);
  return text
    .split(`${mark}\0`)
    .slice(1)
    .map((part) => {
      const [hash = '', parents = '', id = '', by = '', subject = '', trailers = '', message = '', files = ''] =
        part.split('\0');
      const isTeams = isOfTeam(by);
      const isOwn = !isTeams && !parents.includes(' ');
      const values = isOwn
        ? message.split('\n').flatMap((line) => TASK_LINE.exec(line)?.[1]?.split(/,|\band\b/) ?? [])
        : trailers.split('\n');
      const named = values.map((value) => value.trim().replace(/^#/, ''));
      const [path = ''] = files.split('\n').filter((file) => file !== '');
      return {
        hash,
        parents: parents.split(' ').filter((parent) => parent !== ''),
        id,
        subject,
        task: named.find((value) => value !== '' && (tasks === null || tasks.includes(value))) ?? null,
        isTeams,
        namesSpec: spec !== null && message.split(/[^\w-]+/).includes(spec),
        path: path === '' ? null : unquotePath(path),
      };
    });
}

function reachable(from: readonly string[], commits: ReadonlyMap<string, Commit>): ReadonlySet<string> {
  const seen = new Set<string>();
  const next = [...from];
  for (let hash = next.pop(); hash !== undefined; hash = next.pop()) {
    const commit = commits.get(hash);
    if (commit === undefined || seen.has(hash)) continue;
    seen.add(hash);
    next.push(...commit.parents);
  }
  return seen;
}

/**
 * The commits in between, merges left out, the oldest first. What a merge brings in is for what the merge names, unless
 * it says so itself.
 * @param tasks ids that a trailer may name; null: any
 */
export async function readCommits(
  range: Range,
  spec: string | null,
  tasks: readonly string[] | null,
): Promise<readonly CommitFact[]> {
  const all = await readAll(range, spec, tasks);
  const commits = new Map(all.map((commit) => [commit.hash, commit]));
  const merges = all.flatMap(({ parents: [first = '', ...others], task, namesSpec }) => {
    if (others.length === 0 || (task === null && !namesSpec)) return [];
    const before = reachable([first], commits);
    const brought = [...reachable(others, commits)].filter((hash) => !before.has(hash));
    return [{ task, namesSpec, brought: new Set(brought) }];
  });
  return all
    .filter(({ parents }) => parents.length < 2)
    .map(({ hash, parents: _, ...commit }) => {
      // The innermost merge comes first: it says most of what it brings.
      const by = merges.filter(({ brought }) => brought.has(hash));
      return {
        ...commit,
        task: commit.task ?? by.find(({ task }) => task !== null)?.task ?? null,
        isTeams: commit.isTeams || by.some(({ task }) => task !== null),
        namesSpec: commit.namesSpec || by.some(({ namesSpec }) => namesSpec),
      };
    });
}
