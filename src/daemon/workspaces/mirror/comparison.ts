// Comparison of commits with the default branch: whether they change it, by which commits, and which links they add.

import { failure } from '../../../base/rules/errors.ts';
import { explain, type GitResult } from '../../../git/git.ts';
import { newLinks } from '../../../git/gitlinks.ts';
import type { Changes } from '../../ports.ts';
import { WORKSPACES_CODES } from '../../rules/codes/workspaces-codes.ts';
import { gitFailure } from './git-failure.ts';
import { type BranchRelation, Histories, type History } from './history.ts';

export type ComparisonOptions = {
  /** Runs git where the commits are. Of output that is longer than `maxBytes`, the middle is left out. */
  readonly try: (args: readonly string[], signal?: AbortSignal, maxBytes?: number) => Promise<GitResult>;
  /** The commit of the default branch. */
  readonly tip: (signal: AbortSignal) => Promise<string>;
  /** Has all be there in which the histories of two commits differ. */
  readonly relate: (first: string, second: string, signal: AbortSignal) => Promise<void>;
};

export type TreeEntry = { readonly mode: string; readonly object: string; readonly bytes: number };

/** So much of a diff is read; nobody is shown more. */
const DIFF_BYTES = 1024 * 1024;

export class Comparison {
  readonly #options: ComparisonOptions;
  readonly #histories: Histories;

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.#histories = new Histories(async (args, signal) => {
      const result = await options.try(args, signal);
      if (result.exitCode === 0) return result.stdout;
      throw gitFailure(args[0] ?? '', result, explain(result.stderr || result.stdout));
    });
  }

  /** What the commit would change on the default branch. */
  async relationOf(sha: string, signal: AbortSignal): Promise<BranchRelation> {
    const { base, history } = await this.#historyOf(sha, signal);
    if (history.relation !== null) return history.relation;
    const args = ['diff', '--quiet', '--no-ext-diff', '--no-textconv', `${base}...${sha}`];
    const result = await this.#options.try(args, signal);
    const { exitCode, stderr } = result;
    if (exitCode === 0 || exitCode === 1) return exitCode === 1 ? 'changes' : 'nothing';
    if (/no merge base/.test(stderr)) return 'unrelated';
    throw gitFailure('diff', result, explain(stderr));
  }

  /** Links to other repositories that the commit adds and that are no submodules. */
  async newLinks(sha: string, signal: AbortSignal): Promise<readonly string[]> {
    const { base, history } = await this.#historyOf(sha, signal);
    return history.mayAddLinks ? newLinks(this.#options.try, base, sha, signal) : [];
  }

  /** The newest commit that `sha` and the default branch have in common; where there is none, that of the default branch. */
  async baseOf(sha: string, signal: AbortSignal): Promise<string> {
    const tip = await this.#options.tip(signal);
    if (tip === sha) return tip;
    await this.#options.relate(tip, sha, signal);
    const { exitCode, stdout } = await this.#options.try(['merge-base', tip, sha], signal);
    return exitCode === 0 ? stdout.trim() : tip;
  }

  /** Paths that `sha` changes on the default branch; a file that was moved counts as removed and added. */
  async changedPaths(sha: string, signal: AbortSignal): Promise<readonly string[]> {
    const tip = await this.#options.tip(signal);
    await this.#options.relate(tip, sha, signal);
    const how = ['--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none'];
    const result = await this.#options.try(['diff', ...how, `${tip}...${sha}`], signal);
    if (/no merge base/.test(result.stderr))
      throw failure(WORKSPACES_CODES.history_unrelated, { branch: sha, base: tip });
    if (result.exitCode !== 0) throw gitFailure('diff', result, explain(result.stderr));
    return result.stdout.split('\0').filter((path) => path !== '');
  }

  /** Paths in which two commits conflict; none as well when git cannot tell. */
  async conflicts(first: string, second: string, signal: AbortSignal): Promise<readonly string[]> {
    await this.#options.relate(first, second, signal);
    const how = ['--write-tree', '-z', '--name-only', '--no-messages'];
    const { exitCode, stdout } = await this.#options.try(['merge-tree', ...how, first, second], signal);
    if (exitCode !== 1) return [];
    const [, ...paths] = stdout.split('\0').filter((part) => part !== '');
    return [...new Set(paths)].sort();
  }

  /** Paths in which `younger` conflicts with `older`, without those in which `older` conflicts with what `younger` began on. */
  async conflictsOfOwn(older: string, younger: string, signal: AbortSignal): Promise<readonly string[]> {
    const all = await this.conflicts(older, younger, signal);
    if (all.length === 0) return all;
    const inherited = await this.conflicts(older, await this.baseOf(younger, signal), signal);
    return all.filter((path) => !inherited.includes(path));
  }

  /** Whether a commit has another one in its history. Rejects when git cannot tell. */
  async goesOn(from: string, commit: string, signal: AbortSignal): Promise<boolean> {
    await this.#options.relate(from, commit, signal);
    const result = await this.#options.try(['merge-base', '--is-ancestor', from, commit], signal);
    if (result.exitCode === 0 || result.exitCode === 1) return result.exitCode === 0;
    // The whole history of `commit` is here: a commit that is missing is no part of it.
    const there = await this.#options.try(['cat-file', '-e', from], signal);
    if (there.exitCode === 1 && there.stderr === '') return false;
    throw gitFailure('merge-base', result, explain(result.stderr));
  }

  /** Paths in which a commit conflicts with the default branch. */
  async conflictsWithTip(sha: string, signal: AbortSignal): Promise<readonly string[]> {
    return this.conflicts(await this.#options.tip(signal), sha, signal);
  }

  /** The messages of the commits that `sha` has beyond the default branch, oldest first. */
  async commitMessages(sha: string, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#historyOf(sha, signal)).history.messages;
  }

  /** Files that the commit changes, each after a letter for its kind, and the text of the changes. */
  async changes(base: string, sha: string, signal: AbortSignal): Promise<Omit<Changes, 'base'>> {
    const read = async (how: readonly string[], maxBytes?: number) => {
      const args = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', ...how, base, sha];
      const result = await this.#options.try(args, signal, maxBytes);
      if (result.exitCode === 0) return result.stdout;
      throw gitFailure('diff', result, explain(result.stderr || result.stdout));
    };
    const names = (await read(['--name-status'])).split('\n').filter((row) => row !== '');
    return { files: names.map((row) => row.replaceAll('\t', ' ')), diff: await read([], DIFF_BYTES) };
  }

  /** The text of a file in a commit; null: it has none there. */
  async fileIn(commit: string, path: string, signal: AbortSignal): Promise<string | null> {
    const { exitCode, stdout } = await this.#options.try(['cat-file', 'blob', `${commit}:${path}`], signal);
    return exitCode === 0 ? stdout : null;
  }

  /** Mode, bytes and object of a path in a commit; null: there is none. Rejects when the commit cannot be read. */
  async entryIn(commit: string, path: string, signal: AbortSignal): Promise<TreeEntry | null> {
    const result = await this.#options.try(['ls-tree', '--long', commit, '--', path], signal);
    if (result.exitCode !== 0) throw gitFailure('ls-tree', result, explain(result.stderr));
    const [, mode, object, size] = /^(\d{6}) \w+ (\w+) +(\d+|-)\t/.exec(result.stdout) ?? [];
    return mode === undefined || object === undefined ? null : { mode, object, bytes: Number(size) || 0 };
  }

  /** Names in a directory of a commit. */
  async namesIn(commit: string, directory: string, signal: AbortSignal): Promise<readonly string[]> {
    const { exitCode, stdout } = await this.#options.try(['ls-tree', '--name-only', `${commit}:${directory}`], signal);
    return exitCode === 0 ? stdout.split('\n').filter((name) => name !== '') : [];
  }

  async #historyOf(sha: string, signal: AbortSignal): Promise<{ readonly base: string; readonly history: History }> {
    const base = await this.#options.tip(signal);
    await this.#options.relate(base, sha, signal);
    return { base, history: await this.#histories.of(base, sha, signal) };
  }
}
