// Pull requests of the forge with the state of its Git repository: head, conflicts, rules of the branch, merge, and the time of the last change.

import { isObject } from '../../../base/rules/values.ts';
import { cloneEnvironment, tryGit } from '../../../git/git.ts';
import type { Account, Accounts } from './accounts.ts';
import { type Answer, type Call, errorAnswer, type Fields, fieldsOf, invalidAnswer, json } from './answers.ts';
import type { ReviewTally } from './reviews.ts';

export type PullRequestsOptions = {
  readonly owner: string;
  /** `/repos/<owner>/<repo>` */
  readonly base: string;
  /** The bare repository. */
  readonly repository: string;
  readonly accounts: Accounts;
  readonly reviews: (number: number) => ReviewTally;
  /** Checks of a commit by name, with whether each has passed. */
  readonly checks: (commit: string) => ReadonlyMap<string, boolean>;
  readonly upstream: (method: string, path: string, authorization?: string, body?: string) => Promise<Answer>;
};

/** The protection of the base branch. `isStrict`: the base has to be in the head. */
export type BranchRules = {
  readonly approvals?: number;
  readonly checks?: readonly string[];
  readonly isStrict?: boolean;
  readonly resolvedThreads?: boolean;
};

type Pull = {
  head: string | undefined;
  /** ms since the epoch, whole seconds. */
  changedAt: number;
  shownAt: number;
  merged: { readonly sha: string; readonly at: string } | null;
  /** Set by hand; undefined: Git tells. */
  conflicts: boolean | undefined;
  /** The last pair of commits for which somebody asked whether they can be merged. */
  asked: string;
  mergeable: boolean | null;
};

const SECOND_MS = 1000;

function wholeSeconds(ms: number): number {
  return ms - (ms % SECOND_MS);
}

function refOf(row: Fields, end: 'head' | 'base'): string {
  const value = row[end];
  return isObject(value) ? String(value.ref) : '';
}

export class PullRequests {
  readonly #options: PullRequestsOptions;
  readonly #pulls = new Map<number, Pull>();
  /** What has to hold before anything is merged. */
  rules: BranchRules = {};

  constructor(options: PullRequestsOptions) {
    this.#options = options;
  }

  /** Conflicts that Git does not see; undefined: as Git tells. */
  setConflicts(number: number, conflicts: boolean | undefined): void {
    this.#pull(number).conflicts = conflicts;
  }

  /** Two changes within one second have two times here, so that no test depends on the clock. */
  changed(number: number): void {
    const pull = this.#pull(number);
    pull.changedAt = Math.max(wholeSeconds(Date.now()), pull.shownAt + SECOND_MS);
  }

  /** Undefined: there is none. */
  async row(number: number): Promise<Fields | undefined> {
    const { status, body } = await this.#options.upstream('GET', `${this.#options.base}/pulls/${number}`);
    return status === 200 ? fieldsOf(body) : undefined;
  }

  /** A review that somebody was asked for is given. */
  async reviewed(number: number, { login }: Account): Promise<void> {
    const path = `${this.#options.base}/pulls/${number}/requested_reviewers`;
    await this.#options.upstream('DELETE', path, this.#admin(), JSON.stringify({ reviewers: [login] }));
  }

  /** Undefined: the call is for something else. @param rest path below that of the repository */
  async answer(call: Call, rest: string): Promise<Answer | undefined> {
    const { method } = call;
    const [, number, action] = /^\/pulls\/(\d+)(?:\/(merge|requested_reviewers))?$/.exec(rest) ?? [];
    if (number === undefined) return undefined;
    if (action === undefined && (method === 'GET' || method === 'PATCH')) return this.#pass(call);
    const [isMerge, isAsk] = [method === 'PUT' && action === 'merge', method === 'POST' && action !== 'merge'];
    if (!(isMerge || isAsk) || action === undefined) return undefined;
    const row = await this.row(Number(number));
    if (row === undefined) return errorAnswer(404, 'Not Found');
    if (!this.#options.accounts.mayWrite(call.account))
      return errorAnswer(call.account === undefined ? 401 : 403, 'Resource not accessible by personal access token');
    return isMerge ? this.#merge(call, row) : this.#requestReviewers(call, row);
  }

  async #pass(call: Call): Promise<Answer> {
    const { path, method, authorization, body } = call;
    return this.withState(await this.#options.upstream(method, path, authorization, body));
  }

  /** The answer with what the repository says of each pull request in it. */
  async withState(answer: Answer): Promise<Answer> {
    if (answer.status >= 300) return answer;
    const value: unknown = JSON.parse(answer.body);
    const rows = (Array.isArray(value) ? value : [value]).filter(isObject);
    if (rows.length === 0) return answer;
    const heads = await this.#heads();
    const own: Fields[] = [];
    for (const row of rows) own.push(await this.#withState(row, heads, !Array.isArray(value)));
    return { ...answer, body: JSON.stringify(Array.isArray(value) ? own : own[0]) };
  }

  #pull(number: number): Pull {
    const known = this.#pulls.get(number);
    if (known !== undefined) return known;
    const pull: Pull = {
      ...{ head: undefined, changedAt: 0, shownAt: 0, merged: null },
      ...{ conflicts: undefined, asked: '', mergeable: null },
    };
    this.#pulls.set(number, pull);
    return pull;
  }

  /** @param isAlone a list does not say whether it can be merged */
  async #withState(row: Fields, heads: ReadonlyMap<string, string>, isAlone: boolean): Promise<Fields> {
    const number = Number(row.number);
    const pull = this.#pull(number);
    const isOpen = row.state === 'open';
    const head = isOpen ? heads.get(refOf(row, 'head')) : undefined;
    if (head !== undefined && pull.head !== undefined && head !== pull.head) this.changed(number);
    pull.head = head ?? pull.head;
    const emulated = Date.parse(String(row.updated_at));
    pull.shownAt = Math.max(wholeSeconds(Number.isNaN(emulated) ? 0 : emulated), pull.changedAt);
    const base = heads.get(refOf(row, 'base'));
    const mergeable = isOpen && isAlone ? await this.#isMergeable(pull, base, pull.head) : null;
    const state = mergeable === null ? 'unknown' : await this.#stateOf(row, mergeable, base, pull.head);
    const { merged } = pull;
    return {
      ...row,
      ...(pull.head === undefined || !isObject(row.head) ? {} : { head: { ...row.head, sha: pull.head } }),
      ...(isAlone ? { merged: merged !== null, mergeable, rebaseable: mergeable, mergeable_state: state } : {}),
      ...(merged === null ? {} : { merged_at: merged.at, merge_commit_sha: merged.sha }),
      updated_at: new Date(pull.shownAt).toISOString(),
    };
  }

  async #stateOf(row: Fields, mergeable: boolean, base = '', head = ''): Promise<string> {
    if (!mergeable) return 'dirty';
    if (row.draft === true) return 'draft';
    const { approvals = 0, checks: required = [], isStrict = false, resolvedThreads = false } = this.rules;
    const reviews = this.#options.reviews(Number(row.number));
    const checks = this.#options.checks(head);
    const isReviewed = reviews.approvals >= approvals && !(approvals > 0 && reviews.isRefused);
    const isChecked = required.every((name) => checks.get(name) === true);
    if (!isReviewed || !isChecked || (resolvedThreads && reviews.openThreads > 0)) return 'blocked';
    if (isStrict && (await this.#git('merge-base', base, head)) !== base) return 'behind';
    return [...checks.values()].includes(false) ? 'unstable' : 'clean';
  }

  /** The original answers the first question about two commits with null, and works it out until the next one. */
  async #isMergeable(pull: Pull, base: string | undefined, head: string | undefined): Promise<boolean | null> {
    if (pull.conflicts !== undefined) return !pull.conflicts;
    const pair = `${base} ${head}`;
    if (pull.asked !== pair) {
      pull.asked = pair;
      pull.mergeable = null;
      return null;
    }
    pull.mergeable ??= base !== undefined && head !== undefined && (await this.#mergedTree(base, head)) !== undefined;
    return pull.mergeable;
  }

  /** Branches by name, with their commits. */
  async #heads(): Promise<ReadonlyMap<string, string>> {
    const text = await this.#git('for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads/');
    const lines = (text ?? '').split('\n').filter((line) => line !== '');
    return new Map(lines.map((line) => [line.slice(0, -41), line.slice(-40)]));
  }

  /** What Git prints about the repository; undefined: it fails. */
  async #git(...args: string[]): Promise<string | undefined> {
    const { owner, repository } = this.#options;
    const [name, email] = [owner, `${owner}@localhost`];
    const people = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
      [`GIT_${role}_NAME`, name],
      [`GIT_${role}_EMAIL`, email],
    ]);
    const env = { ...cloneEnvironment(process.env), ...Object.fromEntries(people) };
    const { exitCode, stdout } = await tryGit(args, { cwd: repository, env });
    return exitCode === 0 ? stdout.trim() : undefined;
  }

  /** Undefined: there are conflicts. */
  #mergedTree(base: string, head: string): Promise<string | undefined> {
    return this.#git('merge-tree', '--write-tree', base, head);
  }

  #admin(): string {
    return `token ${this.#options.accounts.named(this.#options.owner)?.token ?? ''}`;
  }

  async #merge(call: Call, row: Fields): Promise<Answer> {
    const [number, ref] = [Number(row.number), refOf(row, 'base')];
    const heads = await this.#heads();
    const [base, head] = [heads.get(ref), heads.get(refOf(row, 'head'))];
    const refused = errorAnswer(405, 'Pull Request is not mergeable');
    const pull = this.#pull(number);
    if (row.state !== 'open' || base === undefined || head === undefined || pull.conflicts === true) return refused;
    if (row.draft === true) return errorAnswer(405, 'Pull Request is still a draft');
    const { sha: wanted = head } = fieldsOf(call.body);
    if (wanted !== head) return errorAnswer(409, 'Head branch was modified. Review and try the merge again.');
    const tree = await this.#mergedTree(base, head);
    if (tree === undefined || ['blocked', 'behind'].includes(await this.#stateOf(row, true, base, head)))
      return refused;
    const words = `Merge pull request #${number} from ${this.#options.owner}/${refOf(row, 'head')}`;
    const sha = await this.#git('commit-tree', tree, '-p', base, '-p', head, '-m', words);
    if (sha === undefined || (await this.#git('update-ref', `refs/heads/${ref}`, sha, base)) === undefined)
      return errorAnswer(409, 'Base branch was modified. Review and try the merge again.');
    const path = `${this.#options.base}/pulls/${number}`;
    await this.#options.upstream('PATCH', path, this.#admin(), JSON.stringify({ state: 'closed' }));
    pull.head = head;
    pull.merged = { sha, at: new Date().toISOString() };
    this.changed(number);
    return json(200, { sha, merged: true, message: 'Pull Request successfully merged' });
  }

  async #requestReviewers(call: Call, row: Fields): Promise<Answer> {
    const { reviewers } = fieldsOf(call.body);
    const logins = Array.isArray(reviewers) ? reviewers.map(String) : [];
    if (logins.length === 0) return errorAnswer(422, 'Validation Failed');
    const author = isObject(row.user) ? row.user.login : undefined;
    if (logins.some((login) => login === author))
      return invalidAnswer('PullRequest', 'Review cannot be requested from pull request author.');
    const accounts = logins.map((login) => this.#options.accounts.named(login));
    if (!accounts.every((account) => account?.type === 'User' && account.role !== 'none'))
      return invalidAnswer('PullRequest', 'Reviews may only be requested from collaborators.');
    const answer = await this.#pass(call);
    this.changed(Number(row.number));
    return answer.status === 200 ? { ...answer, status: 201 } : answer;
  }
}
