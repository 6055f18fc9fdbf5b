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
  const records = log
    .split('\0')
    .map((text) => text.replace(/^\n/, ''))
    .filter((text) => text !== '')
    .map((text) => text.split('\n'));
  const isClear = records.every(([mark]) => mark === '>' || mark === '-');
  const commits = records
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
  const shared = commits.filter((commit) => !commit.isOwn);
  const standing = isClear && commits.length < MAX_COMMITS ? standingOf(own, shared) : null;
  return { standing, messages };
}

type Commit = { readonly tree: string };

function standingOf(own: readonly Commit[], shared: readonly Commit[]): Standing | null {
  const [tip] = own;
  if (tip === undefined) return 'nothing';
  const [base] = shared;
  if (base === undefined) return 'unrelated';
  if (shared.length > 1) return null;
  return tip.tree === base.tree ? 'nothing' : 'changes';
}

/** A commit is asked about when it is collected and when its pull request is written, which is soon after. */
const MAX_KNOWN = 50;

/** Histories that were read not long ago. */
export class Histories {
  readonly #read: (args: readonly string[], signal: AbortSignal) => Promise<string>;
  readonly #known = new Map<string, History>();

  /** @param read runs git in the repository */
  constructor(read: (args: readonly string[], signal: AbortSignal) => Promise<string>) {
    this.#read = read;
  }

  /** What `sha` has beyond `base`, both of them commits. */
  async of(base: string, sha: string, signal: AbortSignal): Promise<History> {
    const key = `${base} ${sha}`;
    const history = this.#known.get(key) ?? parseHistory(await this.#read(historyArguments(base, sha), signal));
    this.#known.set(key, history);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MAX_KNOWN) this.#known.delete(oldest);
    return history;
  }
}
