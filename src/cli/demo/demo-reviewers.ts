// Plays two parties of `tool demo --follow`: the runner of the checks on each commit, and the maintainer who reviews.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runProgram } from '../../base/processes/program.ts';
import { failure } from '../../base/rules/errors.ts';
import { lastLines } from '../../base/rules/text.ts';
import { isObject } from '../../base/rules/values.ts';
import { git } from '../../git/git.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { OWNER } from './demo-daemon.ts';
import { FOLLOW_CHECKS, FOLLOW_REVIEW } from './demo-follow-project.ts';
import type { Fields } from './forge/answers.ts';
import type { Forge } from './forge/forge.ts';

const LOOK_MS = 100;
const CHECK = 'build';

/** Tells one event, and who it comes from. */
export type Say = (who: string, text: string) => void;

export type ReviewersOptions = {
  readonly forge: Forge;
  /** `/repos/<owner>/<repo>` */
  readonly base: string;
  /** The bare repository of the forge. */
  readonly repository: string;
  /** Commits are checked in directories below it. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly say: Say;
};

export type CheckedCommit = {
  readonly commit: string;
  readonly conclusion: 'success' | 'failure';
  /** The command that failed. */
  readonly step: string | null;
};

export type PullRequestView = {
  readonly number: number;
  readonly url: string;
  readonly head: string;
  /** Nothing conflicts, the last check passed, the last review approves. */
  readonly isMergeable: boolean;
  readonly checks: readonly CheckedCommit[];
  /** States of the reviews, oldest first. */
  readonly reviews: readonly string[];
};

export class ReviewersPlayed {
  readonly #options: ReviewersOptions;
  readonly #checks: CheckedCommit[] = [];
  #answers = 0;

  constructor(options: ReviewersOptions) {
    this.#options = options;
  }

  /** Checks and reviews until the pull request is approved or the demo ends. */
  async play(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pull = await this.pullRequest();
      if (pull?.reviews.at(-1) === 'APPROVED') return;
      if (pull !== null) await this.#look(pull, signal);
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The first pull request; null: there is none yet. */
  async pullRequest(): Promise<PullRequestView | null> {
    const [row] = await this.#list('/pulls?state=all');
    if (row === undefined) return null;
    const number = Number(row.number);
    const { mergeable } = await this.#call('GET', `/pulls/${number}`);
    const head = isObject(row.head) ? String(row.head.sha) : '';
    const reviews = (await this.#list(`/pulls/${number}/reviews`))
      .filter(({ user }) => isObject(user) && user.login === OWNER)
      .map(({ state }) => String(state));
    const isGreen = this.#checks.some(({ commit, conclusion }) => commit === head && conclusion === 'success');
    return {
      number,
      url: String(row.html_url),
      head,
      isMergeable: mergeable === true && isGreen && reviews.at(-1) === 'APPROVED',
      checks: this.#checks,
      reviews,
    };
  }

  async #look(pull: PullRequestView, signal: AbortSignal): Promise<void> {
    const { say } = this.#options;
    const known = this.#checks.find(({ commit }) => commit === pull.head);
    if (known === undefined) {
      say('daemon', `commit ${pull.head.slice(0, 7)} is on pull request #${pull.number}`);
      await this.#check(pull.head, signal);
    } else if (known.conclusion === 'success') await this.#review(pull);
  }

  /** Runs the commands of the project on a commit, as the forge's own machines would. */
  async #check(commit: string, signal: AbortSignal): Promise<void> {
    const { forge, repository, root, env, say } = this.#options;
    const run = forge.checks.start(commit, CHECK);
    const directory = mkdtempSync(join(root, 'check-'));
    await git(['clone', '--quiet', '--no-checkout', repository, directory], { cwd: root, env });
    await git(['checkout', '--quiet', '--detach', commit], { cwd: directory, env });
    for (const [program = '', ...args] of FOLLOW_CHECKS) {
      const { exitCode, stdout, stderr } = await runProgram(program, args, { cwd: directory, env, signal });
      if (signal.aborted) return;
      if (exitCode === 0) continue;
      const step = [program, ...args].join(' ');
      const log = stdout + stderr;
      forge.checks.finish(run, 'failure', { step, log });
      this.#checks.push({ commit, conclusion: 'failure', step });
      say(CHECK, `fails in "${step}": ${lastLines(log, 1)}`);
      return;
    }
    forge.checks.finish(run, 'success');
    this.#checks.push({ commit, conclusion: 'success', step: null });
    say(CHECK, `passes on ${commit.slice(0, 7)}`);
  }

  async #review({ number, reviews }: PullRequestView): Promise<void> {
    const { say } = this.#options;
    const { path, line, body, comment } = FOLLOW_REVIEW;
    if (reviews.length === 0) {
      const comments = [{ path, line, body: comment }];
      await this.#call('POST', `/pulls/${number}/reviews`, { event: 'REQUEST_CHANGES', body, comments });
      say(OWNER, `asks for changes in ${path}: ${comment}`);
      return;
    }
    const [first, ...answers] = await this.#list(`/pulls/${number}/comments`);
    for (const { body: words } of answers.slice(this.#answers)) say('agent', `answers: ${shown(words)}`);
    this.#answers = answers.length;
    if (answers.length === 0 || this.#checks.filter(({ conclusion }) => conclusion === 'success').length < 2) return;
    this.#options.forge.reviews.resolve(Number(first?.id));
    await this.#call('POST', `/pulls/${number}/reviews`, { event: 'APPROVE' });
    say(OWNER, 'approves');
  }

  async #request(method: string, path: string, body?: unknown): Promise<unknown> {
    const { forge, base } = this.#options;
    const { status, data } = await forge.call(OWNER, method, `${base}${path}`, body);
    if (status >= 300)
      throw failure(CLI_CODES.demo_failed, { said: `${method} ${path}: ${status} ${JSON.stringify(data)}` });
    return data;
  }

  async #call(method: string, path: string, body?: unknown): Promise<Fields> {
    const data = await this.#request(method, path, body);
    return isObject(data) ? data : {};
  }

  async #list(path: string): Promise<readonly Fields[]> {
    const data = await this.#request('GET', path);
    return Array.isArray(data) ? data.filter(isObject) : [];
  }
}

/** The words of a comment, without what its writer hides in it. */
function shown(body: unknown): string {
  return String(body)
    .replace(/<!--[\s\S]*?-->/g, '')
    .trim();
}
