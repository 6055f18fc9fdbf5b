// Checks of the forge's commits, as a test or the demo sets them: check runs, statuses, and jobs with their logs.
// The forge runs none of them.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tryGit } from '../../../git/git.ts';
import type { Accounts } from './accounts.ts';
import { type Answer, type Call, errorAnswer, type Fields, fieldsOf, json, paged } from './answers.ts';

type Conclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'
  | 'startup_failure'
  | 'stale';

export type RunOptions = {
  /** `github-actions` unless given: the runs of other apps are no jobs. */
  readonly app?: string;
  /** The list shows the newest run of each name in each suite. */
  readonly suite?: number;
  /** The workflow that the suite is a run of; `ci` unless given. */
  readonly workflow?: string;
};

export type RunResult = {
  readonly title?: string;
  readonly summary?: string;
  readonly text?: string;
  /** Name of the step that failed. */
  readonly step?: string;
  /** Pieces of a log that is too long for one text. None: there is no log. */
  readonly log?: string | Iterable<string>;
};

type Run = {
  readonly id: number;
  readonly commit: string;
  readonly name: string;
  readonly app: string;
  readonly suite: number;
  readonly workflow: string;
  readonly startedAt: string;
  conclusion: Conclusion | null;
  result: RunResult;
};

type Status = { readonly id: number; readonly context: string; readonly state: string; readonly fields: Fields };

export type ChecksOptions = {
  /** Address that callers know. */
  readonly url: string;
  /** `/repos/<owner>/<repo>` */
  readonly base: string;
  /** The bare repository. */
  readonly repository: string;
  readonly accounts: Accounts;
  readonly onRun: (run: Fields) => void;
};

const ACTIONS = 'github-actions';
const LOGS = '/signed-logs/';
const PASSED = ['success', 'neutral', 'skipped'];
const STATES = ['error', 'failure', 'pending', 'success'];

function now(): string {
  return new Date().toISOString();
}

/** The last of those with one key. */
function lastOf<T>(all: readonly T[], key: (one: T) => string): readonly T[] {
  return [...new Map(all.map((one) => [key(one), one])).values()];
}

export class Checks {
  readonly #options: ChecksOptions;
  readonly #runs: Run[] = [];
  readonly #statuses = new Map<string, Status[]>();
  readonly #commits = new Set<string>();
  /** Numbers of runs by the signature of an address. */
  readonly #signed = new Map<string, number>();
  #lastId = 40_000_000_000;

  constructor(options: ChecksOptions) {
    this.#options = options;
  }

  /** Starts a run of a check; gives its id. A run of the same name in the same suite takes the place of the one before. */
  start(commit: string, name: string, { app = ACTIONS, suite = 1, workflow = 'ci' }: RunOptions = {}): number {
    this.#lastId += 1;
    const id = this.#lastId;
    const run: Run = { id, commit, name, app, suite, workflow, startedAt: now(), conclusion: null, result: {} };
    this.#runs.push(run);
    this.#options.onRun(this.#run(run));
    return id;
  }

  finish(id: number, conclusion: Conclusion, result: RunResult = {}): void {
    const run = this.#runs.find((one) => one.id === id);
    if (run === undefined) throw new Error(`there is no check run ${id}`);
    run.conclusion = conclusion;
    run.result = result;
    this.#options.onRun(this.#run(run));
  }

  /** Checks and statuses of a commit by name, with whether each has passed. */
  tally(commit: string): ReadonlyMap<string, boolean> {
    const runs = lastOf(
      this.#runs.filter((run) => run.commit === commit),
      ({ suite, name }) => `${suite} ${name}`,
    );
    const statuses = lastOf(this.#statuses.get(commit) ?? [], ({ context }) => context);
    return new Map([
      ...runs.map(({ name, conclusion }) => [name, PASSED.includes(conclusion ?? '')] as const),
      ...statuses.map(({ context, state }) => [context, state === 'success'] as const),
    ]);
  }

  /** Undefined: the call is for something else. @param rest path below that of the repository */
  async answer(call: Call, rest: string): Promise<Answer | undefined> {
    const { method } = call;
    const [, commit, list] = /^\/commits\/([^/]+)\/(check-runs|status)$/.exec(rest) ?? [];
    if (commit !== undefined && method === 'GET') {
      if (call.account?.withheld?.includes(list === 'status' ? 'statuses' : 'checks') === true)
        return errorAnswer(403, 'Resource not accessible by personal access token');
      const sha = await this.#resolve(decodeURIComponent(commit));
      if (sha === undefined) return errorAnswer(422, `No commit found for SHA: ${decodeURIComponent(commit)}`);
      return list === 'status' ? this.#listStatuses(call, sha) : this.#listRuns(call, sha);
    }
    const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? [];
    if (sha !== undefined && method === 'POST') return this.#addStatus(call, sha);
    if (rest === '/actions/runs' && method === 'GET') return this.#listWorkflows(call);
    const [, job, logs] = /^\/actions\/jobs\/(\d+)(\/logs)?$/.exec(rest) ?? [];
    if (job === undefined || method !== 'GET') return undefined;
    const run = this.#runs.find(({ id, app }) => id === Number(job) && app === ACTIONS);
    if (run === undefined) return errorAnswer(404, 'Not Found');
    return logs === undefined ? json(200, this.#job(run)) : this.#redirect(call, run);
  }

  /** @param name a commit, or a branch */
  async #resolve(name: string): Promise<string | undefined> {
    if (this.#commits.has(name)) return name;
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    const { exitCode, stdout } = await tryGit(args, { cwd: this.#options.repository });
    if (exitCode !== 0) return undefined;
    this.#commits.add(stdout.trim());
    return stdout.trim();
  }

  #listRuns(call: Call, commit: string): Answer {
    const all = this.#runs.filter((run) => run.commit === commit);
    const isAll = call.query.get('filter') === 'all';
    const runs = isAll ? all : lastOf(all, ({ suite, name }) => `${suite} ${name}`);
    const rows = runs.map((run) => this.#run(run)).reverse();
    return paged(call, this.#options.url, rows, (page) => ({ total_count: rows.length, check_runs: page }));
  }

  #run({ id, commit, name, app, suite, startedAt, conclusion, result }: Run): Fields {
    const { url, base } = this.#options;
    const { title = null, summary = null, text = null } = result;
    return {
      id,
      name,
      head_sha: commit,
      status: conclusion === null ? 'in_progress' : 'completed',
      conclusion,
      started_at: startedAt,
      html_url: `${url}${base.slice('/repos'.length)}/runs/${id}`,
      url: `${url}${base}/check-runs/${id}`,
      app: { slug: app },
      check_suite: { id: suite },
      output: { title, summary, text },
    };
  }

  /** Runs of workflows on a commit: each is a suite of check runs. */
  #listWorkflows(call: Call): Answer {
    const commit = call.query.get('head_sha');
    const runs = this.#runs.filter((run) => run.app === ACTIONS && (commit === null || run.commit === commit));
    const names = [...new Set(this.#runs.map(({ workflow }) => workflow))];
    const rows = lastOf(runs, ({ suite }) => String(suite)).map(({ suite, workflow, commit: head_sha }) => ({
      ...{ id: 7_000 + suite, name: workflow, workflow_id: 900 + names.indexOf(workflow) },
      ...{ check_suite_id: suite, event: 'pull_request', head_sha },
    }));
    return paged(call, this.#options.url, rows, (page) => ({ total_count: rows.length, workflow_runs: page }));
  }

  #job({ id, name, commit, conclusion, result }: Run): Fields {
    const status = conclusion === null ? 'in_progress' : 'completed';
    const failed = result.step === undefined ? [] : [{ name: result.step, status, conclusion: 'failure', number: 2 }];
    const steps = [{ name: 'Set up job', status: 'completed', conclusion: 'success', number: 1 }, ...failed];
    return { id, name, head_sha: commit, status, conclusion, steps };
  }

  #redirect(call: Call, { id, result }: Run): Answer {
    if (call.account === undefined) return errorAnswer(403, 'Must have admin rights to Repository.');
    if (result.log === undefined) return errorAnswer(404, 'Not Found');
    const signature = randomUUID();
    this.#signed.set(signature, id);
    return { status: 302, headers: { location: `${this.#options.url}${LOGS}${id}.txt?sig=${signature}` }, body: '' };
  }

  serves(path: string): boolean {
    return path.startsWith(LOGS);
  }

  /** Answers a signed address, as a store of files does: whoever authenticates in another way as well is refused. */
  async serveLog(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://here');
    request.resume();
    const id = this.#signed.get(url.searchParams.get('sig') ?? '');
    const log = this.#runs.find((run) => run.id === id)?.result.log;
    const isTwice = request.headers.authorization !== undefined;
    if (request.method !== 'GET' || isTwice || log === undefined || url.pathname !== `${LOGS}${id}.txt`) {
      response.writeHead(isTwice ? 400 : 403, { 'content-type': 'application/xml' }).end('<Error/>');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    // Whoever hangs up has read enough.
    await pipeline(Readable.from(typeof log === 'string' ? [log] : log), response).catch(() => response.destroy());
  }

  #addStatus(call: Call, commit: string): Answer {
    if (!this.#options.accounts.mayWrite(call.account))
      return errorAnswer(call.account === undefined ? 401 : 403, 'Resource not accessible by personal access token');
    const { state, context = 'default', description = null, target_url = null } = fieldsOf(call.body);
    if (typeof state !== 'string' || !STATES.includes(state)) return errorAnswer(422, 'Validation Failed');
    this.#lastId += 1;
    const fields = { id: this.#lastId, state, context, description, target_url, created_at: now(), updated_at: now() };
    const status = { id: this.#lastId, context: String(context), state, fields };
    this.#statuses.set(commit, [...(this.#statuses.get(commit) ?? []), status]);
    return json(201, fields);
  }

  #listStatuses(call: Call, commit: string): Answer {
    const last = lastOf(this.#statuses.get(commit) ?? [], ({ context }) => context);
    const states = new Set(last.map(({ state }) => state));
    const isFailed = states.has('failure') || states.has('error');
    const state = isFailed ? 'failure' : states.has('pending') || last.length === 0 ? 'pending' : 'success';
    const rows = last.map(({ fields }) => fields);
    return paged(call, this.#options.url, rows, (statuses) => ({
      state,
      sha: commit,
      total_count: rows.length,
      statuses,
    }));
  }
}
