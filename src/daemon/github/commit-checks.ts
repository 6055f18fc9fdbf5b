// Checks of a commit on GitHub's REST API: check runs and statuses, and why one of them failed.

import * as z from 'zod';
import { type Check, type CheckFailure, LOG_SHOWN } from '../rules/pull-request-status.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { ConditionalLists } from './conditional-lists.ts';
import { readableEnd } from './log-end.ts';
import { isMissing, type RepositoryClient } from './repository-client.ts';

/** So much of a log's end is read: the times of its lines and the colours are taken out later. */
const LOG_BYTES = 32 * LOG_SHOWN;
/** The check runs of so many commits are known to be refused. */
const KEPT_REFUSALS = 500;

const PASSED = ['success', 'neutral', 'skipped'];

function runState(status: string, conclusion: string | null | undefined): Check['state'] {
  if (status !== 'completed') return 'pending';
  return PASSED.includes(conclusion ?? '') ? 'passed' : 'failed';
}

const words = z.string().nullish();

const runRow = z
  .object({
    id: z.number().int(),
    name: z.string(),
    status: z.string(),
    conclusion: z.string().nullish(),
    html_url: words,
    details_url: words,
    app: z.object({ slug: words }).nullish(),
    check_suite: z.object({ id: z.number().int() }).nullish(),
    output: z.object({ title: words, summary: words, text: words }).nullish(),
  })
  .transform(({ id, name, status, conclusion, html_url, details_url, app, check_suite, output }) => {
    const said = [output?.title, output?.summary, output?.text].filter(Boolean).join('\n\n');
    const [url, summary] = [html_url ?? details_url ?? null, readableEnd(said, LOG_SHOWN)];
    const check = { name, state: runState(status, conclusion), url, run: id, summary };
    return { id, check, app: app?.slug ?? '', suite: check_suite?.id ?? 0 };
  });

const STATES = { success: 'passed', pending: 'pending', failure: 'failed', error: 'failed' } as const;

const statusRow = z
  .object({
    context: z.string(),
    state: z.enum(['success', 'pending', 'failure', 'error']),
    description: words,
    target_url: words,
  })
  .transform(({ context, state, description, target_url }) => {
    const [url, summary] = [target_url ?? null, readableEnd(description ?? '', LOG_SHOWN)];
    return { name: context, state: STATES[state], url, run: null, summary };
  });

const runRows = z.object({ check_runs: z.array(runRow) }).transform(({ check_runs }) => check_runs);
const statusRows = z.object({ statuses: z.array(statusRow) }).transform(({ statuses }) => statuses);
const workflowRow = z.object({ check_suite_id: z.number().int(), workflow_id: z.number().int(), event: z.string() });
const workflowRows = z.object({ workflow_runs: z.array(workflowRow) }).transform(({ workflow_runs }) => workflow_runs);
const jobRow = z.object({ steps: z.array(z.object({ name: z.string(), conclusion: z.string().nullish() })).nullish() });

type Run = z.output<typeof runRow>;

const ACTIONS = 'github-actions';

/** Of the runs with one key, the newest; a run that is started again has another id. */
function newestOf(runs: readonly Run[], keyOf: (run: Run) => string): readonly Run[] {
  const byKey = new Map<string, Run>();
  for (const run of runs) {
    const other = byKey.get(keyOf(run));
    if (other === undefined || other.id < run.id) byKey.set(keyOf(run), run);
  }
  return [...byKey.values()];
}

/** Whether jobs of one name stand in several suites: of several workflows, or of one that ran again. */
function areAmbiguous(runs: readonly Run[]): boolean {
  const jobs = runs.filter(({ app }) => app === ACTIONS);
  return newestOf(jobs, ({ check }) => check.name).length < jobs.length;
}

/** The credential may not read it. */
function isForbidden(error: unknown): boolean {
  return error instanceof TrackerError && error.status === 403;
}

export class CommitChecks {
  readonly #repository: RepositoryClient;
  readonly #runs: ConditionalLists<Run>;
  readonly #statuses: ConditionalLists<Check>;
  readonly #workflows: ConditionalLists<z.output<typeof workflowRow>>;
  /** Lists of commits, the last refused one at the end. */
  readonly #refused = new Set<string>();

  constructor(repository: RepositoryClient) {
    this.#repository = repository;
    const commit = '/repos/{owner}/{repo}/commits/{ref}';
    this.#runs = new ConditionalLists(repository, `GET ${commit}/check-runs`, runRows);
    this.#statuses = new ConditionalLists(repository, `GET ${commit}/status`, statusRows);
    this.#workflows = new ConditionalLists(repository, 'GET /repos/{owner}/{repo}/actions/runs', workflowRows);
  }

  async list(commit: string, signal: AbortSignal): Promise<readonly Check[]> {
    const runs = await this.#unlessRefused(this.#runs, { ref: commit }, signal);
    const { rows: statuses } = await this.#statuses.read({ ref: commit }, signal);
    const last = newestOf(runs, await this.#keysFor(commit, runs, signal));
    return [...last.map(({ check }) => check), ...statuses];
  }

  /**
   * What makes two runs the same check: app and name. Jobs have the name that their workflow gives them, so they are the
   * same in runs of one workflow for one event only.
   */
  async #keysFor(commit: string, runs: readonly Run[], signal: AbortSignal): Promise<(run: Run) => string> {
    const rows = areAmbiguous(runs) ? await this.#unlessRefused(this.#workflows, { head_sha: commit }, signal) : [];
    const suites = new Map(rows.map((row) => [row.check_suite_id, `workflow ${row.workflow_id} ${row.event}`]));
    const group = ({ app, suite }: Run) => (app === ACTIONS ? (suites.get(suite) ?? `suite ${suite}`) : '');
    return (run) => JSON.stringify([run.app, group(run), run.check.name]);
  }

  /** A refusal costs quota each time, so it holds for the commit: a permission that is granted counts from the next one on. */
  async #unlessRefused<T>(
    lists: ConditionalLists<T>,
    parameters: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const list = JSON.stringify(parameters);
    if (this.#refused.has(list)) return [];
    try {
      return (await lists.read(parameters, signal)).rows;
    } catch (error) {
      if (isMissing(error)) return [];
      if (!isForbidden(error)) throw error;
      this.#refused.add(list);
      for (const oldest of this.#refused) {
        if (this.#refused.size <= KEPT_REFUSALS) break;
        this.#refused.delete(oldest);
      }
      return [];
    }
  }

  async explain(check: Check, signal: AbortSignal): Promise<CheckFailure> {
    const { run, summary } = check;
    if (run === null) return { step: null, log: summary };
    try {
      // The check run of a job of GitHub Actions has the id of the job; those of other apps have none.
      const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}';
      const { data } = await this.#repository.request(route, { job_id: run }, jobRow, signal);
      const step = data.steps?.find(({ conclusion }) => conclusion === 'failure')?.name ?? null;
      return { step, log: (await this.#log(run, signal)) ?? summary };
    } catch (error) {
      if (isMissing(error) || isForbidden(error)) return { step: null, log: summary };
      throw error;
    }
  }

  /** Null: there is none, not any more, or not for this credential. */
  async #log(job: number, signal: AbortSignal): Promise<string | null> {
    const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs';
    let location: string | null;
    try {
      location = await this.#repository.locate(route, { job_id: job }, signal);
    } catch (error) {
      if (isMissing(error) || isForbidden(error)) return null;
      throw error;
    }
    const end = location === null ? null : await this.#repository.client.readEnd(location, LOG_BYTES, signal);
    return end === null ? null : readableEnd(end, LOG_SHOWN);
  }
}
