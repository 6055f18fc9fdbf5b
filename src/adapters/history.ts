// What a commit has beyond the default branch, told from one look at the log.

/** What a commit is to the default branch; `unrelated`: they have no commit in common. */
export type Standing = 'changes' | 'nothing' | 'unrelated';

/** `standing` is null when the log alone does not tell. */
export type History = { readonly standing: Standing | null; readonly messages: readonly string[] };

/** So many commits are read; of these so many have their messages told. */
const MAX_COMMITS = 100;
const MAX_MESSAGES = 50;

/** Arguments of git for what `parseHistory` reads. */
export function historyArguments(base: string, sha: string): string[] {
  return ['log', '--boundary', `--max-count=${MAX_COMMITS}`, '--format=%m%n%T%n%P%n%B%x00', `${base}..${sha}`];
}

/** Reads the log: the newest commit first, what the default branch has as well marked as boundary. */
export function parseHistory(log: string): History {
  const commits = log
    .split('\0')
    .map((text) => text.replace(/^\n/, '').split('\n'))
    .filter(([mark]) => mark === '>' || mark === '-')
    .map(([mark, tree = '', parents = '', ...lines]) => ({
      isOwn: mark === '>',
      tree,
      isMerge: parents.includes(' '),
      message: lines.join('\n').trim(),
    }));
  const own = commits.filter((commit) => commit.isOwn);
  const messages = own
    .filter((commit) => !commit.isMerge && commit.message !== '')
    .slice(0, MAX_MESSAGES)
    .map((commit) => commit.message)
    .reverse();
  return {
    standing: standingOf(
      own,
      commits.filter((commit) => !commit.isOwn),
      commits.length,
    ),
    messages,
  };
}

type Commit = { readonly tree: string };

function standingOf(own: readonly Commit[], shared: readonly Commit[], count: number): Standing | null {
  const [tip] = own;
  if (tip === undefined) return 'nothing';
  if (count >= MAX_COMMITS || shared.length > 1) return null;
  const [base] = shared;
  if (base === undefined) return 'unrelated';
  return tip.tree === base.tree ? 'nothing' : 'changes';
}
