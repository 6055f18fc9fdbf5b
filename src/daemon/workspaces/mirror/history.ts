// Commits beyond the default branch, read from the log: messages, whether they change anything, links that they may add.

/** What a commit is to the default branch; `unrelated`: they have no commit in common. */
export type BranchRelation = 'changes' | 'nothing' | 'unrelated';

/**
 * `relation` is null when the log alone does not tell.
 * `mayAddLinks` is false only when no commit adds a link to another repository.
 */
export type History = {
  readonly relation: BranchRelation | null;
  readonly messages: readonly string[];
  readonly mayAddLinks: boolean;
};

/** So many commits are read; of these so many have their messages told. */
const MAX_COMMITS = 100;
const MAX_MESSAGES = 50;

/** Arguments of git for what `parseLog` reads. */
function logArguments(base: string, sha: string): string[] {
  const diff = ['--raw', '--no-renames', '--ignore-submodules=none'];
  return ['log', `--max-count=${MAX_COMMITS}`, ...diff, '--format=%H%n%T%n%P%n%B%x00', `${base}..${sha}`];
}

type Commit = {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
};

type Log = {
  /** The newest first. */
  readonly commits: readonly Commit[];
  /** Whether any of them changes a file by itself. */
  readonly hasRows: boolean;
  readonly mayAddLinks: boolean;
};

const SHA = /^[0-9a-f]{40,64}$/;
const LINK_ROW = /^:+[0-7 ]* 160000 /m;

/** A row of changes stands behind the commit that it belongs to, and so at the beginning of what follows the NUL. */
function parseLog(log: string): Log {
  const commits: Commit[] = [];
  let isClear = true;
  for (const text of log.split('\0')) {
    const lines = text.split('\n');
    const start = lines.findIndex((line) => line !== '' && !line.startsWith(':'));
    if (start === -1) continue;
    const [sha = '', tree = '', parents = '', ...message] = lines.slice(start);
    isClear &&= SHA.test(sha) && SHA.test(tree);
    commits.push({ sha, tree, parents: parents.split(' ').filter(Boolean), message: message.join('\n').trim() });
  }
  // Git shows no changes of a merge.
  const isWhole = isClear && commits.length < MAX_COMMITS && commits.every(({ parents }) => parents.length < 2);
  return { commits, hasRows: /\0\s*:/.test(log), mayAddLinks: !isWhole || LINK_ROW.test(log) };
}

/** Of commits that are not merges, oldest first. */
function messagesOf(commits: readonly Commit[]): readonly string[] {
  return commits
    .filter(({ parents, message }) => parents.length < 2 && message !== '')
    .slice(0, MAX_MESSAGES)
    .map(({ message }) => message)
    .reverse();
}

/** @param treeOf gives the tree of a commit that the default branch has */
async function relationOf(
  { commits, hasRows }: Log,
  treeOf: (sha: string) => Promise<string>,
): Promise<BranchRelation | null> {
  const [tip] = commits;
  if (tip === undefined) return 'nothing';
  if (commits.length === MAX_COMMITS) return null;
  const own = new Set(commits.map(({ sha }) => sha));
  const [base, ...others] = new Set(commits.flatMap(({ parents }) => parents.filter((parent) => !own.has(parent))));
  if (base === undefined) return 'unrelated';
  if (others.length > 0) return null;
  if (commits.length === 1) return hasRows ? 'changes' : 'nothing';
  return tip.tree === (await treeOf(base)) ? 'nothing' : 'changes';
}

/** A commit is asked about when it is collected and when its pull request is written, which is soon after. */
const MAX_KNOWN = 50;

/** Histories that were read not long ago. */
export class Histories {
  readonly #read: (args: readonly string[], signal: AbortSignal) => Promise<string>;
  readonly #known = new Map<string, History>();
  readonly #trees = new Map<string, string>();

  /** @param read runs git in the repository */
  constructor(read: (args: readonly string[], signal: AbortSignal) => Promise<string>) {
    this.#read = read;
  }

  /** What `sha` has beyond `base`, both of them commits. */
  async of(base: string, sha: string, signal: AbortSignal): Promise<History> {
    if (base === sha) return { relation: 'nothing', messages: [], mayAddLinks: false };
    return remembered(this.#known, `${base} ${sha}`, async () => {
      const log = parseLog(await this.#read(logArguments(base, sha), signal));
      const relation = await relationOf(log, (commit) => this.#treeOf(commit, signal));
      return { relation, messages: messagesOf(log.commits), mayAddLinks: log.mayAddLinks };
    });
  }

  /** Many issues begin at the same commit. */
  #treeOf(commit: string, signal: AbortSignal): Promise<string> {
    const args = ['rev-parse', '--verify', `${commit}^{tree}`];
    return remembered(this.#trees, commit, async () => (await this.#read(args, signal)).trim());
  }
}

async function remembered<T>(known: Map<string, T>, key: string, read: () => Promise<T>): Promise<T> {
  const value = known.get(key) ?? (await read());
  known.set(key, value);
  const [oldest] = known.keys();
  if (oldest !== undefined && known.size > MAX_KNOWN) known.delete(oldest);
  return value;
}
